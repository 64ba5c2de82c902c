"""URI templates read backwards: RFC 6570's own examples, what cannot be told apart, and that no uri takes long."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcpc.ir.uri_templates import MAX_VALUE_LENGTH, TemplateError, parse_template

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parents[1] / "golden/sources"

MATCHES: list[tuple[str, str, dict[str, str] | None]] = [
    # Level 1 and 2 (sections 1.2 and 3.2.2, 3.2.3)
    ("x:{var}", "x:value", {"var": "value"}),
    ("x:{hello}", "x:Hello%20World%21", {"hello": "Hello%20World%21"}),
    ("x:{half}", "x:50%25", {"half": "50%25"}),
    ("x:O{empty}X", "x:OX", None),
    ("x:{+var}", "x:value", {"var": "value"}),
    ("x:{+hello}", "x:Hello%20World!", {"hello": "Hello%20World!"}),
    ("x:{+path}/here", "x:/foo/bar/here", {"path": "/foo/bar"}),
    ("x:here?ref={+path}", "x:here?ref=/foo/bar", {"path": "/foo/bar"}),
    ("x:X{#var}", "x:X#value", {"var": "value"}),
    ("x:X{#var}", "x:X", {}),
    ("x:X{#hello}", "x:X#Hello%20World!", {"hello": "Hello%20World!"}),
    # Level 3 (sections 3.2.2 to 3.2.9)
    ("x:map?{x,y}", "x:map?1024,768", {"x": "1024", "y": "768"}),
    ("x:{x,hello,y}", "x:1024,Hello%20World%21,768", {"x": "1024", "hello": "Hello%20World%21", "y": "768"}),
    ("x:{+x,hello,y}", "x:1024,Hello%20World!,768", {"x": "1024", "hello": "Hello%20World!", "y": "768"}),
    ("x:{+path,x}/here", "x:/foo/bar,1024/here", {"path": "/foo/bar", "x": "1024"}),
    ("x:{#x,hello,y}", "x:#1024,Hello%20World!,768", {"x": "1024", "hello": "Hello%20World!", "y": "768"}),
    ("x:{#path,x}/here", "x:#/foo/bar,1024/here", {"path": "/foo/bar", "x": "1024"}),
    ("x:X{.var}", "x:X.value", {"var": "value"}),
    ("x:X{.x,y}", "x:X.1024.768", {"x": "1024", "y": "768"}),
    ("x:X{.x,y}", "x:X.1024", {"x": "1024"}),
    ("x:a{/var}", "x:a/value", {"var": "value"}),
    ("x:a{/var,x}/here", "x:a/value/1024/here", {"var": "value", "x": "1024"}),
    ("x:a{;x,y}", "x:a;x=1024;y=768", {"x": "1024", "y": "768"}),
    ("x:a{;x,y,empty}", "x:a;x=1024;y=768;empty", {"x": "1024", "y": "768", "empty": ""}),
    ("x:a{;x,y}", "x:a;y=768", {"y": "768"}),
    ("x:a{?x,y}", "x:a?x=1024&y=768", {"x": "1024", "y": "768"}),
    ("x:a{?x,y,empty}", "x:a?x=1024&y=768&empty=", {"x": "1024", "y": "768", "empty": ""}),
    ("x:a{?x,y}", "x:a?y=768&x=1024", {"x": "1024", "y": "768"}),
    ("x:a{?x,y}", "x:a", {}),
    ("x:a{?x,y}", "x:a?z=1", None),
    ("x:a{?x}", "x:a?xx=1", None),
    ("x:a{?x}", "x:a?", None),
    ("x:a?fixed=yes{&x}", "x:a?fixed=yes&x=1024", {"x": "1024"}),
    ("x:a?fixed=yes{&x}", "x:a?fixed=yes", {}),
    ("x:a{&x,y,empty}", "x:a&x=1024&y=768&empty=", {"x": "1024", "y": "768", "empty": ""}),
    # Level 4 (section 2.4): prefixes, and lists in one piece
    ("x:{var:3}", "x:val", {"var": "val"}),
    ("x:{var:3}", "x:value", None),
    ("x:{var:30}", "x:value", {"var": "value"}),
    ("x:{semi:2}", "x:%E2%82%AC%3B", {"semi": "%E2%82%AC%3B"}),
    ("x:{+path:6}/here", "x:/foo/b/here", {"path": "/foo/b"}),
    ("x:X{.var:3}", "x:X.val", {"var": "val"}),
    ("x:a{/var:1}", "x:a/v", {"var": "v"}),
    ("x:a{;hello:5}", "x:a;hello=Hello", {"hello": "Hello"}),
    ("x:a{?var:3}", "x:a?var=val", {"var": "val"}),
    ("x:{list}", "x:red,green,blue", {"list": "red,green,blue"}),
    ("x:{list*}", "x:red,green,blue", {"list": "red,green,blue"}),
    ("x:{list*}", "x:a/b/c.txt", {"list": "a/b/c.txt"}),
    ("x:{+list*}", "x:red,green,blue", {"list": "red,green,blue"}),
    ("x:{#list*}", "x:#red,green,blue", {"list": "red,green,blue"}),
    ("x:X{.list*}", "x:X.red.green.blue", {"list": "red.green.blue"}),
    ("x:a{/list*}", "x:a/red/green/blue", {"list": "red/green/blue"}),
    ("x:a{/list*}/{y}", "x:a/red/green/blue", {"list": "red/green", "y": "blue"}),
    ("x:a{/list*}/{y}", "x:a/red", {"y": "red"}),
    ("x:a{;list*}", "x:a;list=red;list=green", {"list": "list=red;list=green"}),
    ("x:a{?list*}", "x:a?list=red&list=green", {"list": "list=red&list=green"}),
    ("x:a?b{&keys*}", "x:a?b&semi=%3B&dot=.", {"keys": "semi=%3B&dot=."}),
    # What people write
    ("users://{id}/profile", "users://41/profile", {"id": "41"}),
    ("users://{id}/profile", "users://41/2/profile", None),
    ("users://{id}/profile", "users:///profile", None),
    ("file:///{+path}", "file:///a/b.txt", {"path": "a/b.txt"}),
    ("file:///{+path}{?encoding}", "file:///a/b.txt?encoding=utf-8", {"path": "a/b.txt", "encoding": "utf-8"}),
    ("x:{name}.json", "x:a.b.json", {"name": "a.b"}),
    ("x:{owner}-{name}", "x:a-b-c", {"owner": "a", "name": "b-c"}),
    ("x:{+path}/versions/{number}", "x:a/versions/b/versions/3", {"path": "a/versions/b", "number": "3"}),
    ("x:{name}{.ending}", "x:a.txt", {"name": "a", "ending": "txt"}),
    ("x:{name}{.ending}", "x:a", {"name": "a"}),
    ("x:{a.b}/{c_d}", "x:1/2", {"a.b": "1", "c_d": "2"}),
    ("x:é/{id}", "x:%C3%A9/1", {"id": "1"}),
    ("x:a+b(c)/{id}", "x:a+b(c)/1", {"id": "1"}),
    ("x:a+b(c)/{id}", "x:aab(c)/1", None),
]


@pytest.mark.parametrize(("template", "uri", "found"), MATCHES)
def test_a_uri_is_taken_apart(template: str, uri: str, found: dict[str, str] | None) -> None:
    assert parse_template(template).match(uri) == found


@pytest.mark.parametrize(("template", "uri", "found"), MATCHES)
def test_nothing_may_follow(template: str, uri: str, found: dict[str, str] | None) -> None:
    for ending in ("\n", "\x00", " "):
        assert parse_template(template).match(uri + ending) is None


REFUSED = [
    "x:{a}{b}",
    "x:{+a}{b}",
    "x:up{+path}{var}/here",
    "x:{+a}/{+b}",
    "x:{a*}/{b*}",
    "x:{+a}{/b}",
    "{a}:b",
    "{a}",
    "a/{b}",
    "",
    "x:{=a}",
    "x:{a",
    "x:a}",
    "x:{a{b}}",
    "x:{}",
    "x:{a,}",
    "x:{a b}",
    "x:{a-b}",
    "x:{a:0}",
    "x:{a:10000}",
    "x:{é}",
    "x:{a}/{a}",
    "x:{?a,b*}",
    "x: {a}",
    "x:%4{a}",
    "x:{!a}",
    "x:{,a}",
    "x:{+}",
    "x:a{b}c}",
    "x:{a}{.b}{c}",
    "x:{a*}{+b}",
    "x:{#a}{b}",
    "x:{a}%zz",
    "1x:{a}",
]


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
