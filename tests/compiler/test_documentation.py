"""Documentation of servers: what is shown of schemas, and that no text of a definition becomes markup."""

import html.parser
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from mcpc.workbench.documentation import FORMATS, page_of
from mcpc.workbench.documentation.schema_view import Row, schema_view
from support.artifact import build, mcpc
from support.needs import ROOT
from support.reference import real_tools
from support.scale import scaled

SCHEMAS: dict[str, Any] = json.loads((ROOT / "tests/compiler/stub_schemas.json").read_text())
HOSTILE = "<script>alert(1)</script>\n# Title\n- [link](https://evil.example)\n![x](https://evil.example/x.png) `code` {{ 7 * 7 }} {% if %} https://evil.example www.evil.example \u202e\u0007 </style></script> --> & \"'"
FACTS = {
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
        elements(FACTS),
        elements(json.loads(json.dumps(FACTS).replace(json.dumps(HOSTILE)[1:-1], json.dumps(plain)[1:-1]))),
    )
    assert [tag for tag, _ in found.tags] == [tag for tag, _ in other.tags]
    assert [tag for tag, _ in found.tags].count("script") == 1
    assert not any(name.startswith("on") or name == "style" for _, attributes in found.tags for name in attributes)
    assert "<script>alert(1)</script>" in found.text
    assert "<U+202E>" in found.text
    assert "{{ 7 * 7 }}" in found.text


def test_only_https_links_and_icons_that_are_data_are_shown() -> None:
    found = elements(FACTS)
    links = [
        attributes["href"]
        for tag, attributes in found.tags
        if tag == "a" and not str(attributes["href"]).startswith("#")
    ]
    assert links == ["https://example.org/a?b=c"]
    assert not [tag for tag, _ in found.tags if tag == "img"]
    icon = "data:image/png;base64,iVBORw0KGgo="
    shown = elements({**FACTS, "serverInfo": {"icons": [{"src": icon}]}})
    assert [attributes["src"] for tag, attributes in shown.tags if tag == "img"] == [icon]


def test_no_text_becomes_markup_of_markdown() -> None:
    text = FORMATS["markdown"](page_of(FACTS, {}))
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


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_keyword_of_a_schema_is_shown(name: str) -> None:
    view = schema_view(SCHEMAS[name])
    shown = " ".join(texts_of(view.root)) + " ".join(text for row in view.definitions for text in texts_of(row))
    assert [word for word in values_of(SCHEMAS[name]) if word not in shown] == []


def texts_of(row: Row) -> list[str]:
    return [row.name, row.type, row.description, *row.facts, *(text for inner in row.rows for text in texts_of(inner))]


def values_of(value: Any, key: str = "") -> list[str]:
    """Return the names and scalars of a schema that a reader has to see."""
    if isinstance(value, dict):
        names = [*value] if key in ("properties", "patternProperties", "$defs") else []
        return [*names, *(text for name, inner in value.items() for text in values_of(inner, name))]
    if isinstance(value, list):
        return [text for inner in value for text in values_of(inner, key)]
    if isinstance(value, bool) or value is None:
        return []
    if key in ("description", "required", "pattern"):
        return [value.strip()]
    return (
        [value.rpartition("/")[2]]
        if key == "$ref" and value != "#"
        else []
        if key == "$ref"
        else [str(value) if key == "type" else json.dumps(value, ensure_ascii=False)]
    )


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
