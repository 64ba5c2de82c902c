"""URI templates read backwards: RFC 6570's own examples, what cannot be told apart, and that no uri takes long."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpc.model.ir.uri_templates import MAX_VALUE_LENGTH, TemplateError, parse_template

GOLDEN = Path(__file__).parents[1] / "golden/sources"
TABLES = json.loads((Path(__file__).parent / "sources/uri_templates.json").read_text("utf-8"))

MATCHES: list[tuple[str, str, dict[str, str] | None]] = TABLES["matches"]


@pytest.mark.parametrize(("template", "uri", "found"), MATCHES)
def test_a_uri_is_taken_apart(template: str, uri: str, found: dict[str, str] | None) -> None:
    assert parse_template(template).match(uri) == found


@pytest.mark.parametrize(("template", "uri", "found"), MATCHES)
def test_nothing_may_follow(template: str, uri: str, found: dict[str, str] | None) -> None:
    for ending in ("\n", "\x00", " "):
        assert parse_template(template).match(uri + ending) is None


REFUSED: list[str] = TABLES["refused"]


def printed(text: str) -> str:
    """Return the pattern of a template and its variables, or why it is none."""
    try:
        template = parse_template(text)
    except TemplateError as problem:
        return f"{text}\n  {problem}\n"
    assert template.text == text
    rows = ((one.name, one.kind, one.longest, one.optional, one.exploded) for one in template.variables)
    return f"{text}\n  {template.pattern}\n" + "".join(f"  {row}\n" for row in rows)


def test_what_is_made_of_templates(golden: Callable[[Path, str], None]) -> None:
    texts = dict.fromkeys((*(template for template, _, _ in MATCHES), *(row[0] for row in SLOW), *REFUSED))
    golden(GOLDEN / "uri_templates.txt", "\n".join(map(printed, texts)))


def test_a_template_may_be_long_but_not_longer() -> None:
    longest = "x:".ljust(MAX_VALUE_LENGTH - 3, "a") + "{b}"
    assert parse_template(longest).match(longest.replace("{b}", "c")) == {"b": "c"}
    with pytest.raises(TemplateError, match=f"more than {MAX_VALUE_LENGTH}"):
        parse_template(longest + "a")


def test_kinds_and_what_may_be_absent() -> None:
    template = parse_template("x:{a}{/c*}{?d,e}{#f:3}")
    rows = [(one.name, one.kind, one.optional, one.longest) for one in template.variables]
    assert rows == [
        ("a", "", False, 0),
        ("c", "/*", True, 0),
        ("d", "?", True, 0),
        ("e", "?", True, 0),
        ("f", "#", True, 3),
    ]


SLOW = [
    ("x:{a}-{b}-{c}-{d}", "x:" + "-a" * 20_000 + "/"),
    ("x:{+a}/versions/{b}", "x:" + "/versions" * 5_000 + "?"),
    ("x:a{?b,c,d}", "x:a?" + "b=1&" * 10_000 + "e"),
    ("x:a{;b,c}", "x:a" + ";b=1" * 10_000 + "/"),
    ("x:{a}.json", "x:" + ".json" * 10_000 + "/"),
    ("x:a{/b,c,d}/e", "x:a" + "/" * 40_000),
    ("x:a{.b*}", "x:a" + "." * 40_000 + "/"),
    ("x:{a:9}{.b}", "x:" + "%E2%82%AC" * 10_000),
]
"""Templates, and uris of ten times the length that a server takes, which they nearly match."""


@pytest.mark.parametrize(("template", "uri"), SLOW)
def test_no_uri_takes_long(template: str, uri: str) -> None:
    """A value that may end at several places is the only one such, and in no loop; each is looked at once."""
    parsed = parse_template(template)
    assert len(re.findall(r"\][+*](?![+?])", parsed.pattern)) <= 1, parsed.pattern
    assert parsed.match(uri) is None
