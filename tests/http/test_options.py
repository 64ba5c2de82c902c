"""What is usual is what the help page says, and adds up to what is promised."""

import re

import pytest

from mcpc_runtime.http import options
from mcpc_runtime.http.options import OptionError, help_page, parse_address, parse_arguments, parse_environment
from mcpc_runtime.http.serve import prepare
from mcpc_runtime.http.settings import MIB, OPTIONS, HttpSettings, settings_from
from support.needs import ROOT

prepare()
from mcpc_runtime.http.embedded.server import KEEPALIVE_AFTER, KEEPALIVE_EVERY, KEEPALIVE_PROBES  # noqa: E402


def test_the_help_page_says_what_is_usual():
    numbers = {}
    for option in OPTIONS.values():
        if found := re.search(r"\((\d+)( MiB)?\)$", option.help_text):
            numbers[option.field] = int(found[1]) * (MIB if found[2] else 1)
    settings = HttpSettings()
    assert numbers == {field: getattr(settings, field) for field in numbers}
    assert {field for field in vars(settings) if field.endswith("_seconds")} - numbers.keys() == {
        "decide_seconds",
        "resume_seconds",
    }


def test_a_client_that_vanishes_is_noticed_within_a_minute():
    """X11: by what is said on its stream, or, where nothing is said, by asking its system."""
    settings = HttpSettings()
    assert settings.comment_seconds + settings.vanished_seconds <= 60
    assert KEEPALIVE_AFTER + KEEPALIVE_EVERY * KEEPALIVE_PROBES <= 60


@pytest.mark.parametrize("option", ["--tasks", "--events"])
@pytest.mark.parametrize("address", ["redis://:secret@host", "redis://me:secret@host:1/0", "redis://host?password=x"])
def test_a_password_is_not_among_the_words(option: str, address: str) -> None:
    name = f"MCPC_{option[2:].upper()}"
    for words in ([option, address], [f"{option}={address}"]):
        with pytest.raises(OptionError, match=f"set {name} instead") as refused:
            settings_from(words, {})
        assert "secret" not in str(refused.value)
    assert getattr(settings_from([], {name: address}), option[2:]) == address
    assert getattr(settings_from([option, "redis://host:1/0"], {}), option[2:]) == "redis://host:1/0"


VALUES = {
    "number": {"0": 0, "007": 7, "9" * 12: 999999999999, "9" * 13: None, "-1": None, "": None, "٣": None, "1.5": None},
    "budget": {"32M": 32 * MIB, "33554432": 32 * MIB, "33554431": None, "31m": None, "1g": 1 << 30, "32768k": 32 * MIB,
               "M": None, "1T": None, "1.5G": None, "": None, "9" * 15: int("9" * 15), "9" * 16: None, "٣٣G": None},
    "seconds": {"10": 10.0, "0.5": 0.5, "999999": 999999.0, "1e6": None, "0": None, "-1": None, "x": None, "nan": None, "inf": None},
    "path": {"/": "/", "/mcp": "/mcp", "/a/b": "/a/b", "mcp": None, "/a/": None, "//a": None, "/a b": None, "/a?b": None,
             "/a%20": None, "/é": None, "/a\n": None, "/a\\b": None, "": None},
    "file": {"a b": "a b", "": None, "a\0b": None},
    "network": {"10.0.0.1": "10.0.0.1/32", "10.1.2.3/8": "10.0.0.0/8", "::1": "::1/128", "10.0.0.0/33": None, "host": None},
    "served_file": {"/a=b=c": ("/a", "b=c"), "/a": None, "a=b": None, "/a=": None},
    "text": {"a b": "a b", "": None, " a": None, "a ": None, "a\tb": None},
    "origin": {"HTTPS://App.Example.com:8443": "https://app.example.com:8443", "http://a": "http://a", "ftp://a": None,
               "https://": None, "https://a/": None, "https://a?b": None, "https://u@a": None, "a": None, "https://a b": None},
    "url": {"https://a/b": "https://a/b", "http://A": "http://A", "ws://a": None, "https://": None, "https://a?b": None,
            "https://a#b": None, "https://u@a": None, "https://a\x7f": None, "a": None},
    "host": {"A.example:1": "a.example:1", "": None, "é": None, "a/b": None, "a b": None, "a\x7f": None, "u@a": None},
}  # fmt: skip


@pytest.mark.parametrize("kind", VALUES)
def test_values_are_parsed_whole_or_refused(kind: str) -> None:
    parse = getattr(options, f"parse_{kind}")
    for text, value in VALUES[kind].items():
        if value is None:
            with pytest.raises(ValueError, match="expected"):
                parse(text)
        else:
            found = parse(text)
            assert getattr(found, "limit", found) == value, text


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("8000", "127.0.0.1", 8000),
        ("0", "127.0.0.1", 0),
        ("65535", "127.0.0.1", 65535),
        ("0.0.0.0:1", "0.0.0.0", 1),
        ("[::1]:8000", "::1", 8000),
        *((text, None, 0) for text in ("65536", "000001", "-1", "", ":8000", "::1:8000", "a:", "[::1]", "٣", "a:b:1")),
    ],
)
def test_an_address_is_a_port_or_a_host_and_a_port(text: str, host: str | None, port: int) -> None:
    if host is None:
        with pytest.raises(ValueError, match="expected"):
            parse_address(text)
    else:
        assert parse_address(text) == {"host": host, "port": port, "listens": True}


def test_options_and_variables_are_the_same_settings() -> None:
    words = ["--http", "[::1]:1", "--sse", "--allow-host=a", "--allow-host", "B", "--also", "/x=y=z", "--grace=2.5"]
    variables = {
        "MCPC_HTTP": "[::1]:1", "MCPC_SSE": "1", "MCPC_ALLOW_HOST": "a  B", "MCPC_ALSO": "/x=y=z", "MCPC_GRACE": "2.5",
    }  # fmt: skip
    expected = {"host": "::1", "port": 1, "listens": True, "sse": True, "hosts": ("a", "b"), "also": (("/x", "y=z"),)}
    assert (
        parse_arguments(OPTIONS, words) == parse_environment(OPTIONS, variables) == {**expected, "grace_seconds": 2.5}
    )
    assert parse_environment(OPTIONS, {"MCPC_SSE": "0", "MCPC_GRACE": "", "MCPC_ALLOW_HOST": " "}) == {"sse": False}
    both = settings_from(["--grace", "3"], {"MCPC_GRACE": "2", "MCPC_PATH": "/p"})
    assert (both.grace_seconds, both.path, both.idle_seconds) == (3.0, "/p", 60.0)


@pytest.mark.parametrize(
    ("words", "variables", "problem"),
    [
        (["--none"], {}, "unknown option '--none' of serve"),
        (["x"], {}, "unknown option 'x' of serve"),
        (["--sse=1"], {}, "--sse takes no value"),
        (["--grace"], {}, "--grace needs a value: SECONDS"),
        (["--grace", "x"], {}, "--grace: expected seconds, such as 10 or 0.5, not 'x'"),
        ([], {"MCPC_GRACE": "x"}, "MCPC_GRACE: expected seconds, such as 10 or 0.5, not 'x'"),
        ([], {"MCPC_SSE": "yes"}, "MCPC_SSE: expected 1 or 0, not 'yes'"),
        (["--tasks", "redis://:p@h"], {}, "--tasks: whoever lists processes would see the password: set MCPC_TASKS instead"),
    ],
)  # fmt: skip
def test_an_option_that_cannot_be_used_is_named(words: list[str], variables: dict[str, str], problem: str) -> None:
    with pytest.raises(OptionError) as refused:
        settings_from(words, variables)
    assert str(refused.value) == problem


@pytest.mark.parametrize(
    ("url", "has"),
    [("redis://h:1", False), ("redis://u@h:1", False), ("redis://u:p@h", True), ("sqlite:a:b@c", False), ("file://a:b@c", False),
     ("redis://h?password=x", True), ("u:p@h", False)],
)  # fmt: skip
def test_a_url_has_a_password(url: str, has: bool) -> None:
    assert options.has_password(url) is has


def test_the_help_page(golden) -> None:
    golden(ROOT / "tests/golden/http/help.txt", help_page(OPTIONS))
