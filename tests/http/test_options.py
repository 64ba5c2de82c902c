"""Options, settings and variables of serving over HTTP: what is usual, which names are known, and what they choose in both eras."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from mcpc_runtime.artifact.start_options import apply_start_options
from mcpc_runtime.http import options
from mcpc_runtime.http.memory_budget import MemoryBudget
from mcpc_runtime.http.options import OptionError, help_page, parse_address, parse_arguments, parse_environment
from mcpc_runtime.http.serve import ServeError, build_application, prepare, read_settings
from mcpc_runtime.http.sessions import Sessions
from mcpc_runtime.http.settings import (
    COMPILER,
    DEFAULTS,
    GIVEN,
    MIB,
    OPTIONS,
    READ,
    HttpSettings,
    known_variables,
    settings_from,
    unknown_variables,
)
from mcpc_runtime.protocol.constants import CLIENT_INFO_KEY
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server.replicas import signed_tokens
from support.asgi import LEGACY, Client, reply, request, served
from support.http_sample import built, image_of
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


KNOWN = {"name": "claude-code", "version": "1"}
WRONG = {"name": "where_inline", "arguments": {"extra": 1}}


def with_options(*words: str) -> Callable[[], Image]:
    def image() -> Image:
        found = image_of(built("sample"))
        apply_start_options((found,), settings_from([*words], {}).start)
        return found

    return image


@served(with_options("--tools", "echo,where_*"))
async def test_the_chosen_tools_are_listed_and_called_in_both_eras(client: Client) -> None:
    names = ["echo", "where_inline", "where_loop"]
    await client.initialize()
    hidden, unknown = ({"name": name, "arguments": {"text": "x"}} for name in ("quick", "unheard"))
    for era in (client.ask, lambda *said: said_in(client, *said)):
        listed = (await era("tools/list", {}))["result"]["tools"]
        assert [one["name"] for one in listed] == names
        assert (await era("tools/call", {"name": "echo", "arguments": {"text": "x"}}))["result"]["content"]
        refused, absent = (await era("tools/call", hidden), await era("tools/call", unknown))
        assert str(refused) == str(absent).replace("unheard", "quick")
        assert refused["error"]["code"] == -32602


async def said_in(client: Client, method: str, params: Any) -> Any:
    return await reply(await client.say(request(method, params)))


def is_error(answer: Any) -> bool:
    return bool(answer["result"].get("isError"))


@served(with_options("--tolerant"))
async def test_a_tolerant_server_corrects_arguments_in_both_eras(client: Client) -> None:
    await client.initialize()
    assert not is_error(await client.ask("tools/call", WRONG))
    assert not is_error(await said_in(client, "tools/call", WRONG))
    refused = {"name": "late", "arguments": {"seconds": "soon", "extra": 1}}
    assert is_error(await client.ask("tools/call", refused)) and is_error(await said_in(client, "tools/call", refused))


@served(with_options("--tolerant=auto"))
async def test_a_known_client_is_tolerated_in_both_eras(client: Client) -> None:
    assert is_error(await client.ask("tools/call", WRONG))
    assert not is_error(await client.ask("tools/call", {**WRONG, "_meta": {CLIENT_INFO_KEY: KNOWN}}))
    for information, refused in ((KNOWN, False), ({**KNOWN, "name": "t"}, True)):
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": information}
        client.session = (await client.post(request("initialize", params))).headers["mcp-session-id"]
        assert is_error(await said_in(client, "tools/call", WRONG)) is refused


def test_another_replica_knows_a_tolerated_client_by_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signed_tokens, "PROCESS_SIGNER", [signed_tokens.TokenSigner([b"k" * 32])])
    image = image_of(built("quiet"))
    for is_tolerated in (True, False):
        session = Session(image)
        session.wire = image.revision(LEGACY)
        session.is_tolerated, session.capabilities = is_tolerated, {"roots": {}, "elicitation": {"url": {}}}
        found = Sessions(image, HttpSettings()).find(Sessions(image, HttpSettings()).mint(session), "")
        assert (found.session.is_tolerated, found.session.capabilities) == (is_tolerated, session.capabilities)


def test_what_is_refused_ends_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ServeError, match="did you mean echo") as refused:
        build_application(image_of(built("quiet")), settings_from(["--tools", "ecko"], {}))
    assert refused.value.status == 2
    with pytest.raises(ServeError, match="MCPC_READ_ONLY: expected 1 or 0") as refused:
        read_settings([], {"MCPC_READ_ONLY": "yes"})
    assert refused.value.status == 2
    with pytest.raises(OptionError, match="unknown option '--tool'"):
        settings_from(["--tool", "x"], {})
    image = image_of(built("sample"))
    build_application(image, settings_from([], {"MCPC_TOOLS": "echo", "MCPC_TOLERANT": "1"}))
    assert (image.tool("echo") is not None, image.tool("quick"), image.tolerant) == (True, None, "1")


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        *((host, True) for host in ("127.0.0.1", "127.255.0.1", "localhost", "[::1]", "127.0.0.255")),
        *((host, False) for host in ("127.evil.example", "127.0.0.1.example.com", "127.0.0.256", "127.1", "0.0.0.0")),
        *((host, False) for host in ("126.0.0.1", "127.0.0.x", "[::2]", "127.0.0.٣")),
    ],
)
def test_only_this_machine_connects_to_its_loopback(host: str, is_loopback: bool) -> None:
    assert settings_from(["--http", f"{host}:8000"], {}).is_loopback is is_loopback


def test_settings_are_constant_and_have_names() -> None:
    settings = HttpSettings(port=5)
    with pytest.raises(AttributeError, match="port cannot be changed"):
        settings.port = 6
    with pytest.raises(TypeError, match="'x'"):
        HttpSettings(y=1, x=2)
    other = settings.but(path="/a")
    assert (other.port, other.path, settings.path, other.budget is settings.budget) == (5, "/a", "/mcp", True)
    assert HttpSettings().budget is not HttpSettings().budget and isinstance(settings.budget, MemoryBudget)


def test_what_is_usual() -> None:
    plain = {
        name: value for name, value in DEFAULTS.items() if name not in {option.field for option in OPTIONS.values()}
    }
    assert not plain.pop("start").chooses
    assert plain == {
        "host": "127.0.0.1", "port": 0, "head_limit": 32768, "max_streams": 4096, "max_sessions": 4096,
        "decide_seconds": 1.0, "retry_ms": 1000, "resume_events": 256, "resume_bytes": 1048576, "resume_seconds": 300.0,
        "authenticator": None, "spans": None,
    }  # fmt: skip
    assert DEFAULTS["body_limit"] == 18 * 1048576 and DEFAULTS.keys() == vars(HttpSettings()).keys()


NAME = re.compile(r"MCPC_[A-Z]+(?:_[A-Z]+)*")
LISTED = "runtime/mcpc_runtime/http/settings.py"


def named(folder: str, endings: tuple[str, ...]) -> set[str]:
    files = [file for file in (ROOT / folder).rglob("*") if file.suffix in endings and file != ROOT / LISTED]
    return {name for file in files for name in NAME.findall(file.read_text(encoding="utf-8"))}


def test_what_the_runtime_names_is_what_is_known() -> None:
    options = {option.variable for option in OPTIONS.values()}
    mentioned = named("runtime", (".py",)) | (
        named("templates", (".py", ".bash", ".sh", ".mjs", ".j2")) & known_variables()
    )
    assert mentioned - known_variables() == set(), "a variable that is read, and that a server would call unknown"
    assert (READ | GIVEN) - mentioned == set(), "a variable that nothing reads any more"
    assert not (READ | GIVEN | COMPILER) & options


def test_what_the_compiler_reads_is_known() -> None:
    text = "".join(file.read_text() for file in (ROOT / "compiler/mcpc").rglob("*.py"))
    read = set(re.findall(r"environ(?:\.get)?[\[(]\"(MCPC_[A-Z_]+)", text))
    assert read <= known_variables()


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("MCPC_TOKENFILE", "MCPC_TOKEN_FILE"),
        ("MCPC_TOKEN", "MCPC_TOKENS"),
        ("MCPC_ISSUERS", "MCPC_ISSUER"),
        ("MCPC_ALLOWHOST", "MCPC_ALLOW_HOST"),
        ("MCPC_CALLLOG", "MCPC_CALL_LOG"),
    ],
)
def test_a_misspelt_name_is_told_with_the_right_one(name: str, meant: str) -> None:
    said = list(unknown_variables([name, "MCPC_PATH", "PATH"], guarded=True))
    assert said == [f"the variable {name} means nothing to this server; did you mean {meant}?"]


def test_what_is_like_no_name_is_told_without_one() -> None:
    assert list(unknown_variables(["MCPC_QQQQQQ\n"], guarded=False)) == [
        "the variable MCPC_QQQQQQ? means nothing to this server"
    ]
