"""Pages of servers: every part as a value, and whole pages compared with golden HTML and Markdown."""

import html.parser
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpc.workbench.documentation import FORMATS, block, code, escaped_pieces, line, longest_run, page_of, readable
from mcpc.workbench.documentation.page import (
    MAX_EXAMPLES,
    MISSING,
    example_value,
    examples_of,
    icon_of,
    items,
    links_of,
    made_example,
    schema_examples,
    text_in,
    tools_of,
)
from mcpc.workbench.documentation.schema_view import (
    CLOSED,
    MAX_DEPTH,
    Row,
    SchemaView,
    reference_name,
    schema_view,
    type_of,
)
from support.artifact import build, mcpc
from support.needs import ROOT
from support.reference import real_tools
from support.scale import scaled

GOLDEN = ROOT / "tests/golden/documentation"
ICON = "data:image/png;base64,iVBORw0KGgo="
SCHEMA: dict[str, Any] = {
    "title": "Options",
    "description": "All options.",
    "type": "object",
    "properties": {
        "count": {"type": "integer", "minimum": 1, "default": 3, "description": "How many", "examples": [2]},
        "unit": {"enum": ["m", "km"], "title": "Unit", "description": "Unit"},
        "point": {"$ref": "#/$defs/point"},
        "pair": {"type": "array", "prefixItems": [{"const": "x"}, {"type": "integer"}], "items": False},
        "any": True,
        "never": False,
        "either": {"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "string"}]},
        "shape": {"oneOf": [{"type": "object", "properties": {"k": {"const": 1}}}, {"type": "null"}]},
    },
    "required": ["count", "absent"],
    "additionalProperties": False,
    "$defs": {"point": {"type": "object", "properties": {"x": {"type": "number"}, "next": {"$ref": "#/$defs/point"}}}},
}
FACTS: dict[str, Any] = {
    "name": "Weather & more",
    "version": "1.2",
    "serverInfo": {
        "title": "Weather",
        "description": "Forecasts *of* weather.",
        "websiteUrl": "https://example.org",
        "icons": [{"src": "https://x.org/i.png"}, {"src": ICON}],
    },
    "instructions": "Ask first.\n\nThen call.",
    "tools": [
        {
            "name": "forecast",
            "title": "Forecast",
            "description": "Tell the weather.\nOf a place.",
            "inputSchema": SCHEMA,
            "outputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
            "annotations": {"readOnlyHint": True, "openWorldHint": False, "destructiveHint": None},
            "icons": [{"src": ICON}],
        },
        {"name": "Forecast", "annotations": {"title": "Of an annotation"}, "inputSchema": {"type": "object"}},
        {"name": "two words", "inputSchema": {"type": "object", "examples": [{"a": 1}]}},
    ],
    "prompts": [
        {
            "name": "ask",
            "title": "Ask",
            "arguments": [{"name": "a", "required": True, "description": "A."}, {"name": "b"}],
        }
    ],
    "resources": [{"uri": "a://b", "name": "b", "mimeType": "text/plain", "size": 12345, "description": "B."}],
    "resourceTemplates": [{"uriTemplate": "a://{x}", "name": "x", "title": "X"}],
    "skills": [{"frontmatter": {"name": "s", "description": "S."}, "resources": [{"uri": "skill://s", "size": 1000}]}],
    "settings": [
        {"name": "API_KEY", "type": "string", "required": True, "secret": True, "title": "Key"},
        {"name": "UNITS", "choices": ["m", 1], "default": True},
    ],
    "project": {"urls": {"Source": "https://example.org/s", "Plain": "http://example.org"}, "description": "unused"},
    "python": {"requires": ">=3.11"},
    "revisions": ["2025-11-25", "2026-07-28"],
    "platforms": [],
    "serving": ["uvicorn 1"],
}
CASES = {"forecast": [("Of a case", {"count": 1})]}


@pytest.mark.parametrize("name", FORMATS)
def test_a_page_is_exactly_this(name: str, golden: Callable[[Path, str], None]) -> None:
    about = (("Size", "5 bytes"),)
    golden(GOLDEN / f"whole.{name}.txt", FORMATS[name](page_of(FACTS, CASES, about)))
    golden(
        GOLDEN / f"bare.{name}.txt", FORMATS[name](page_of({"name": "!", "tools": 3, "python": {"requires": 3}}, {}))
    )


@pytest.mark.parametrize(("count", "is_open"), [(50, True), (51, False)])
def test_the_types_of_many_tools_are_closed_at_first(count: int, is_open: bool) -> None:
    tools = [{"name": f"t{number}", "inputSchema": SCHEMA} for number in range(count)]
    assert (FORMATS["html"](page_of({"name": "n", "tools": tools}, {})).count("<details open") > 0) is is_open


def test_each_tool_has_an_anchor_of_its_own() -> None:
    names = ("a", "A", "a b", "a/b", "a-b", "A")
    found = [tool.anchor for tool in tools_of([{"name": name} for name in names], {})]
    assert found == ["tool-a", "tool-A--2", "tool-a-b", "tool-a-b--2", "tool-a-b--3", "tool-A--3"]


def test_the_name_of_a_file_is_plain_and_short() -> None:
    names = {"Weather & more": "Weather-more", "!": "server", "x" * 43: "x" * 42, "-a_b-": "a_b"}
    assert {name: page_of({"name": name}, {}).file for name in names} == names
    page = page_of({"name": "n", "project": {"description": " of the project "}}, {})
    assert (page.title, page.description, page.version, page.facts) == ("n", "of the project", "", ())
    assert (page.clients[0].label, page.instructions) == ("claude-desktop", "")


def test_texts_and_items_of_odd_facts_are_empty() -> None:
    assert items({"a": 3, "b": [1, {"c": 1}]}, "b") == [{"c": 1}]
    assert items({"a": 3}, "a") == items({}, "a") == []
    assert [text_in(each, "a") for each in (3, {}, {"a": 1}, {"a": " x "})] == ["", "", "", "x"]
    assert [*links_of({}, {"urls": [("L", "https://l.org"), ("M", 3)]})] == [("L", "https://l.org")]
    assert [*links_of({"websiteUrl": "https://w.org"}, 3)] == [("Website", "https://w.org")]


@pytest.mark.parametrize(("size", "is_shown"), [(64 << 10, True), ((64 << 10) + 1, False)])
def test_an_icon_is_shown_up_to_a_size(size: int, is_shown: bool) -> None:
    source = "data:image/png;base64,".ljust(size, "A")
    assert bool(icon_of({"icons": [{"src": source}]})) is is_shown
    assert icon_of({"icons": 3}) == icon_of(3) == icon_of({"icons": [{"src": "data:text/html;base64,AA"}]}) == ""


def test_examples_are_of_cases_then_of_the_schema() -> None:
    schema = {"examples": [{"a": 1}, {"a": 2}, {}]}
    cases: list[tuple[str, Any]] = [("first", {"a": 2}), ("empty", {}), ("again", {"a": 2})]
    assert examples_of(schema, cases) == [("first", '{\n  "a": 2\n}'), ("", '{\n  "a": 1\n}')]
    many = {"examples": [{"a": number} for number in range(MAX_EXAMPLES + 1)]}
    assert [json.loads(text) for _, text in examples_of(many, [])] == [{"a": 0}, {"a": 1}, {"a": 2}]
    assert examples_of(3, []) == []


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"examples": [], "properties": {"a": {"default": 1}}}, [("", {"a": 1})]),
        ({"examples": {"a": 1}, "properties": {"a": {"default": 1}}}, [("", {"a": 1})]),
        ({"examples": [5]}, [("", 5)]),
        ({"properties": {"a": {}}}, []),
        (True, []),
    ],
)
def test_a_schema_without_examples_has_one_made_of_its_members(schema: object, found: list[Any]) -> None:
    assert [*schema_examples(schema)] == found


@pytest.mark.parametrize(
    ("schema", "made"),
    [
        ({"properties": {"a": {"const": 1}, "b": {}}}, {"a": 1}),
        ({"properties": {"a": {"const": 1}, "b": {}}, "required": ["a"]}, {"a": 1}),
        ({"properties": {"a": {"const": 1}, "b": {}}, "required": ["a", "b"]}, {}),
        ({"properties": {"a": {"const": None}}, "required": ["a"]}, {"a": None}),
        ({"properties": {"a": {"const": 1}}, "required": ["c"]}, {}),
        ({"properties": {"a": {"const": 1}}, "required": "a"}, {"a": 1}),
        ({"properties": 3}, {}),
        ({"properties": {"a": {"const": 1}}, "not": {}}, {}),
    ],
)
def test_an_example_has_every_required_member_or_there_is_none(schema: dict[str, Any], made: dict[str, Any]) -> None:
    assert made_example(schema) == made


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"examples": [1, 2], "enum": [3], "const": 4, "default": 5}, 1),
        ({"examples": [], "enum": [3, 6], "const": 4}, 3),
        ({"examples": 7, "enum": [], "const": 4, "default": 5}, 4),
        ({"default": None}, None),
        ({}, MISSING),
        (True, MISSING),
    ],
)
def test_the_example_of_a_member(schema: object, value: object) -> None:
    assert example_value(schema) == value


def test_a_schema_is_a_row(golden: Callable[[Path, str], None]) -> None:
    schemas = json.loads((ROOT / "tests/compiler/documentation/schemas.json").read_text("utf-8"))
    golden(
        GOLDEN / "rows.txt", "".join(f"{json.dumps(schema)}\n    {schema_view(schema).root}\n" for schema in schemas)
    )


def test_definitions_are_rows_and_short_views_are_lines() -> None:
    view = schema_view({"$defs": {"a": {"const": 1}}, "definitions": {"b": True}})
    assert view.definitions == (Row("a", "1"), Row("b", "any value"))
    assert schema_view({"$defs": 3}).definitions == ()
    lines = {"none": {"type": "object", "additionalProperties": False}, "string": {"type": "string"}, "any value": 3}
    for text, schema in lines.items():
        view = schema_view(schema)
        assert (view.is_short, view.line) == (True, text)
    for schema in ({"minLength": 1}, {"$defs": {"a": True}}, {"properties": {"a": {}}}):
        assert not schema_view(schema).is_short
    assert SchemaView(Row("", "object", facts=(CLOSED, "x"))).is_short is False
    assert Row("", "string", "text").is_plain is False


@pytest.mark.parametrize(("count", "more"), [(100, ""), (101, " … (101 values)")])
def test_many_values_of_an_enumeration_are_counted(count: int, more: str) -> None:
    assert type_of({"enum": [*range(count)]}) == " | ".join(map(str, range(100))) + more
    assert reference_name("other.json") == "as other.json"


def test_what_is_too_deep_is_json() -> None:
    def nested(depth: int) -> Row:
        schema: dict[str, Any] = {"const": 1}
        for _ in range(depth):
            schema = {"properties": {"a": schema}}
        row = schema_view(schema).root
        while row.rows:
            (row,) = row.rows
        return row

    assert nested(MAX_DEPTH - 1) == Row("a", "1")
    assert nested(MAX_DEPTH) == Row("a", "a value", facts=('{"const": 1}',))


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a-b_c 1.5 x: y.", "a-b_c 1.5 x: y."),
        ("*a* _b_ #c -d 1) <x> a|b", "\\*a\\* \\_b\\_ \\#c \\-d 1\\) \\<x\\> a\\|b"),
        ("e.g x:y", "e\\.g x\\:y"),
    ],
)
def test_characters_with_a_meaning_are_escaped(text: str, escaped: str) -> None:
    assert "".join(escaped_pieces(text)) == escaped
    assert line(f" {text}\n") == escaped


def test_code_has_a_fence_that_it_does_not_have() -> None:
    assert [code(each) for each in ("a  b", "", "a`b", "`a", "a`", "a``b`c")] == ["`a b`", "` `", "``a`b``", "`` `a ``", "`` a` ``", "```a``b`c```"]  # fmt: skip
    assert block("a\n```\n") == "````\na\n```\n````"
    assert block("a``") == "```\na``\n```"
    assert [longest_run(each) for each in ("", "`", "a``b`")] == [0, 1, 2]
    assert readable("a\r\nb\rc\x00") == "a\nb\nc<U+0000>"


HOSTILE = "<script>alert(1)</script>\n# Title\n- [link](https://evil.example)\n![x](https://evil.example/x.png) `code` {{ 7 * 7 }} {% if %} https://evil.example www.evil.example \u202e\u0007 </style></script> --> & \"'"
HOSTILE_FACTS = {
    "name": HOSTILE,
    "version": HOSTILE,
    "serverInfo": {
        "title": HOSTILE,
        "description": HOSTILE,
        "websiteUrl": "javascript:alert(1)",
        "icons": [{"src": "https://evil.example/icon.png"}],
    },
    "instructions": HOSTILE,
    "tools": [
        {
            "name": HOSTILE,
            "title": HOSTILE,
            "description": HOSTILE,
            "inputSchema": {
                "type": "object",
                "properties": {HOSTILE: {"enum": [HOSTILE], "description": HOSTILE, "default": HOSTILE}},
                "$defs": {HOSTILE: {"pattern": HOSTILE}},
            },
            "icons": [{"src": "data:text/html;base64,AAAA"}],
        },
        {"name": "tool-1", "inputSchema": {"type": "object", "examples": [{"a": HOSTILE}], "x-other": HOSTILE}},
    ],
    "prompts": [{"name": HOSTILE, "arguments": [{"name": HOSTILE, "description": HOSTILE, "required": True}]}],
    "resources": [{"uri": HOSTILE, "name": HOSTILE, "mimeType": HOSTILE}],
    "resourceTemplates": [{"uriTemplate": HOSTILE, "name": HOSTILE}],
    "skills": [{"frontmatter": {"name": HOSTILE, "description": HOSTILE}, "resources": [{"uri": HOSTILE, "size": 1}]}],
    "settings": [
        {
            "name": "KEY",
            "title": HOSTILE,
            "description": HOSTILE,
            "choices": [HOSTILE],
            "required": True,
            "secret": True,
        }
    ],
    "project": {"urls": {HOSTILE: "https://example.org/a?b=c", "other": "http://example.org"}},
}


class Elements(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def elements(facts: dict[str, Any]) -> Elements:
    found = Elements()
    found.feed(FORMATS["html"](page_of(facts, {})))
    return found


def test_no_text_becomes_markup_of_the_page() -> None:
    plain = re.sub(r"<[^>]*>|[{}]", "", HOSTILE).replace("\n", " ")
    found, other = (
        elements(HOSTILE_FACTS),
        elements(json.loads(json.dumps(HOSTILE_FACTS).replace(json.dumps(HOSTILE)[1:-1], json.dumps(plain)[1:-1]))),
    )
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in other.tags]
    assert [tag for tag, _ in found.tags].count("script") == 1
    assert not any(name.startswith("on") or name == "style" for _, attributes in found.tags for name in attributes)
    assert "<script>alert(1)</script>" in found.text
    assert "<U+202E>" in found.text
    assert "{{ 7 * 7 }}" in found.text


def test_only_https_links_and_icons_that_are_data_are_shown() -> None:
    found = elements(HOSTILE_FACTS)
    links = [
        attributes["href"]
        for tag, attributes in found.tags
        if tag == "a" and not str(attributes["href"]).startswith("#")
    ]
    assert links == ["https://example.org/a?b=c"]
    assert not [tag for tag, _ in found.tags if tag == "img"]
    icon = "data:image/png;base64,iVBORw0KGgo="
    shown = elements({**HOSTILE_FACTS, "serverInfo": {"icons": [{"src": icon}]}})
    assert [attributes["src"] for tag, attributes in shown.tags if tag == "img"] == [icon]


def test_no_text_becomes_markup_of_markdown() -> None:
    text = FORMATS["markdown"](page_of(HOSTILE_FACTS, {}))
    prose = re.sub(r"(?s)(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert not re.search(r"(?<!\\)<(?!https://example\.org/)[a-z!/]", prose)
    assert not re.search(r"(?<!\\)\]\(|(?<!\\)!\[", prose)
    assert not re.search(r"(?m)^# Title|^- \[link", prose)
    assert not re.search(r"(?<!<)https://|www\.evil", prose)
    assert re.findall(r"(?m)^## .*$", text) == [
        "## Tools",
        "## Prompts",
        "## Resources",
        "## Skills",
        "## Settings",
        "## Install",
    ]


def test_pages_of_a_project_and_of_its_file_are_equal_and_have_no_path(tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples/everything", project, ignore=shutil.ignore_patterns("tests"))
    file = build(project, tmp_path / "server.pyz")
    for name in FORMATS:
        one, other = (mcpc("generate", "docs", target, "--format", name) for target in (file, project))
        assert one.stdout == other.stdout != ""
        assert str(ROOT) not in one.stdout
        assert str(tmp_path) not in one.stdout
    for words in ("test_simple_text", "release-notes", "test://template/{id}/data", "MIT"):
        assert words in one.stdout


def test_a_page_is_linear_in_its_tools() -> None:
    tools = [tool for tools in real_tools().values() for tool in tools]
    count = scaled(10_000, 1_000)
    many = [{**tools[at % len(tools)], "name": f"tool_{at}"} for at in range(count)]
    size = {
        number: len(FORMATS["html"](page_of({"name": "n", "tools": many[:number]}, {})))
        for number in (count // 2, count)
    }
    assert size[count] < 2.1 * size[count // 2]


def test_a_server_that_runs_is_documented(tmp_path: Path) -> None:
    file = build(ROOT / "templates/new/python", tmp_path / "server.pyz")
    done = mcpc("generate", "docs", "--format", "markdown", "--", sys.executable, file)
    assert (done.returncode, "### `greet`" in done.stdout) == (0, True), done.stderr
    assert mcpc("generate", "docs", file, "--", sys.executable, file).returncode == 2
