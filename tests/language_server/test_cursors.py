"""Where a cursor (`|`) is in YAML and TOML that is being written, and what is written there."""

from __future__ import annotations

import random
import tomllib
from typing import TYPE_CHECKING

import pytest
import yaml

from mcpc.language_server.syntaxes import SYNTAXES, syntax_of, yaml_text
from mcpc.language_server.toml_cursor import cursor_in_toml
from mcpc.language_server.yaml_cursor import cursor_in_frontmatter, cursor_in_yaml

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.language_server.cursor import Cursor

CASE = ("tests", 0)
YAML: dict[str, tuple[tuple[str | int, ...], str] | None] = {
    "te|": ((), "either"),
    "env: {}\nte|": ((), "key"),
    "tests: |": (("tests",), "value"),
    "tests:|": (("tests",), "value"),
    "tests:\n- |": (CASE, "either"),
    "tests:\n- to|: x": (CASE, "either"),
    "tests:\n- tool: g|": ((*CASE, "tool"), "value"),
    "tests:\n- tool: greet\n  |": (CASE, "key"),
    "tests:\n  - tool: greet\n    ex|\n    name: a": (CASE, "key"),
    "tests:\n  - tool: greet\n  - tool: |": (("tests", 1, "tool"), "value"),
    "tests:\n- tool: a\n- |": (("tests", 1), "either"),
    "tests:\n- tool: greet\n  expect:\n    |": ((*CASE, "expect"), "either"),
    "tests:\n- expect:\n    text: a\n    |": ((*CASE, "expect"), "key"),
    "tests:\n- expect:\n    text: a\n  |": (CASE, "key"),
    "tests:\n- expect:\n    text: a\n|": ((), "key"),
    "tests:\n- expect: {te|": ((*CASE, "expect"), "key"),
    "tests:\n- expect: {text: a, |}": ((*CASE, "expect"), "key"),
    "tests:\n- expect: {error: |}": ((*CASE, "expect", "error"), "value"),
    "tests:\n- expect: {json: {/a: [1, |": ((*CASE, "expect", "json", "/a", 1), "value"),
    "tests:\n- expect:\n    contains:\n    - a\n    - |": ((*CASE, "expect", "contains", 1), "either"),
    "tests:\n- expect:\n    text: >\n      one: two\n      |": None,
    'tests:\n- "to|': (CASE, "either"),
    "tests:\n- 'tool': 'gr|eet'": ((*CASE, "tool"), "value"),
    'tests:\n- name: "a: b|"': ((*CASE, "name"), "value"),
    "tests:\n- name: it's\n  tool: gr|": ((*CASE, "tool"), "value"),
    "tests:\n- name: a # it's: {\n  tool: gr|": ((*CASE, "tool"), "value"),
    "tests:\n- wrong\n  tool: |": None,
    "tests:\n- nope\n  too: {\n- tool: |": (("tests", 1, "tool"), "value"),
    "- |": ((0,), "either"),
    "tests:\n- tool: a\n  exp\n  era: |": ((*CASE, "era"), "value"),
    "tests:\n- tool: greet\n\n  # note\n  |\n  name: x": (CASE, "key"),
    "tests:\n- tool: a b|": ((*CASE, "tool"), "value"),
    "a: *x\nb: |": (("b",), "value"),
    "tests:\n-|": (CASE, "either"),
    "%bad\n\t|": ((), "either"),
}
TOML: dict[str, tuple[tuple[str | int, ...], str] | None] = {
    "|": ((), "key"),
    "[to|": ((), "key"),
    "[tool.|]": (("tool",), "key"),
    "[[tool.mcpc.set|]]": (("tool", "mcpc"), "key"),
    "[tool.mcpc]\n|": (("tool", "mcpc"), "key"),
    "[tool.mcpc]\nlists = |": (("tool", "mcpc", "lists"), "value"),
    '[tool.mcpc]\nlists = "st|': (("tool", "mcpc", "lists"), "value"),
    "[tool.mcpc]\nexclude = [|": (("tool", "mcpc", "exclude", 0), "value"),
    "[tool.mcpc]\nexclude = [\n  'a',\n  |": (("tool", "mcpc", "exclude", 1), "value"),
    "[[tool.mcpc.settings]]\nna|": (("tool", "mcpc", "settings", 0), "key"),
    "[[tool.mcpc.settings]]\n[tool.mcpc.settings.x]\n|": (("tool", "mcpc", "settings", 0, "x"), "key"),
    "[tool.mcpc]\nrelease = { fi|": (("tool", "mcpc", "release"), "key"),
    "[tool.mcpc]\nrelease = { files = ['a'], |": (("tool", "mcpc", "release"), "key"),
    "[tool.mcpc]\nrelease = { files = [|": (("tool", "mcpc", "release", "files", 0), "value"),
    "[call]\np95 = '8x' # x = [\n|": (("call",), "key"),
    "call.|": (("call",), "key"),
    'text = """\n[a]\n""" \n|': ((), "key"),
    "['a.b'.\"c\"]\nd = |": (("a.b", "c", "d"), "value"),
    "[a]\nb = 1.5\n|": (("a",), "key"),
    "[a] |": None,
    "# no|": None,
    "a = [\n'b\n[[c]]\nd = |": (("c", 0, "d"), "value"),
    "[a\nb = |": (("b",), "value"),
}


def place(find: Callable[[str, int], Cursor | None], marked: str) -> tuple[tuple[str | int, ...], str] | None:
    offset = marked.index("|")
    found = find(marked.replace("|", "", 1), offset)
    if found is None:
        return None
    return found.path, "key" if found.is_key else "either" if found.may_be_key else "value"


@pytest.mark.parametrize("marked", [*YAML])
def test_a_cursor_in_unfinished_yaml(marked: str) -> None:
    assert place(cursor_in_yaml, marked) == YAML[marked]


@pytest.mark.parametrize("marked", [*TOML])
def test_a_cursor_in_unfinished_toml(marked: str) -> None:
    assert place(cursor_in_toml, marked) == TOML[marked]


def test_a_cursor_in_frontmatter() -> None:
    assert place(cursor_in_frontmatter, "---\nname: a\nde|\n---\nname: b\n") == ((), "key")
    assert place(cursor_in_frontmatter, "---\nname: |") == (("name",), "value")
    assert place(cursor_in_frontmatter, "---\nname: a\n---\nname: |") is None
    assert place(cursor_in_frontmatter, "# A title\nname: |") is None


@pytest.mark.parametrize(
    ("find", "marked", "token", "keys"),
    [
        (cursor_in_yaml, "a: 1\n|tool: x\nb:\n  c: 1\nd: 2\n", "tool", {"a", "b", "d"}),
        (cursor_in_yaml, "tests:\n- a: 1\n  to|ol: x\n  'b': 1\n- c: 1\n", "tool", {"a", "b"}),
        (cursor_in_yaml, "{a: 1, t|, b: 2}", "t", {"a", "b"}),
        (cursor_in_yaml, "a: gr|eet # note\n", "greet", set()),
        (cursor_in_yaml, 'a: "gr|eet: x"\n', '"greet: x"', set()),
        (cursor_in_toml, "[x]\na = 1\nt|\nb.c = 2\n[y]\nd = 1\n", "t", {"a", "b"}),
        (cursor_in_toml, "[x]\na = {b = 1, t|", "t", {"b"}),
        (cursor_in_toml, 'a = "gr|eet"\n', '"greet"', set()),
    ],
)
def test_the_token_and_the_other_keys(
    find: Callable[[str, int], Cursor | None], marked: str, token: str, keys: set[str]
) -> None:
    text = marked.replace("|", "", 1)
    found = find(text, marked.index("|"))
    assert found is not None
    assert (text[found.start : found.end], {*found.keys}) == (token, keys)


def test_texts_before_the_cursor_are_known() -> None:
    text = "tests:\n- tool: greet\n  arguments:\n    na"
    found = cursor_in_yaml(text, len(text))
    assert found is not None
    assert found.beside[2] == {"tool": "greet"}


@pytest.mark.parametrize("name", [*SYNTAXES])
def test_a_cursor_is_found_in_any_text(name: str) -> None:
    chance, syntax = random.Random(name), syntax_of(f"x.{name}")
    assert syntax is not None
    for _ in range(300):
        text = "".join(chance.choices("ab:- \n\n{}[],\"'#=.|>&*!%\t\r😀---", k=chance.randrange(40)))
        found = syntax.cursor_at(text, chance.randint(0, len(text)))
        assert found is None or 0 <= found.start <= found.end <= len(text)


@pytest.mark.parametrize(
    "text", ["a", "a: b", "yes", "null", "1", "a #b", "- a", "x/y.txt", "é\n", '"', "a.b-c d", "", "~", "@a"]
)
def test_a_written_text_is_that_text(text: str) -> None:
    assert yaml.safe_load(f"k: {yaml_text(text)}") == {"k": text}
    written = SYNTAXES["toml"].write_value(text)
    assert tomllib.loads(f"k = {written}") == {"k": text}
