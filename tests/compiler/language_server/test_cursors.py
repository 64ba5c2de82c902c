"""Where every offset of some texts is, as their syntaxes understand them."""

from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest
import yaml

from mcpc.workbench.language_server import cursors, yaml_cursor
from mcpc.workbench.language_server.completion import WRITERS
from mcpc.workbench.language_server.descriptions import CURSORS, cursor_at, ending_of
from support.needs import ROOT

TEXTS = sorted(path.name for path in Path(__file__).with_name("cursors").iterdir())


def described(found: cursors.Cursor | None, text: str) -> str:
    if found is None:
        return "nothing can be written"
    kind = ("key" if found.is_key else "value") + (" or key" if found.may_be_key else "")
    beside = {number: dict(texts) for number, texts in enumerate(found.beside) if texts}
    more = {"keys": found.keys, "beside": beside, "lead": found.lead, "tail": found.tail, "header": found.header}
    shown = "".join(f" {name}={value!r}" for name, value in more.items() if value)
    shown += f" table={found.table!r}" * (found.table is not None) + " colon" * found.has_colon
    where = "/".join(map(str, found.path))
    return f"{kind} of /{where} at {found.start}-{found.end} {text[found.start : found.end]!r}{shown}"


@pytest.mark.parametrize("name", TEXTS)
def test_the_cursor_at_every_offset_of_a_text(name: str, golden: Callable[[Path, str], None]) -> None:
    text = (Path(__file__).parent / "cursors" / name).read_bytes().decode()
    find = CURSORS[ending_of(name)]
    rows = [(described(find(text, offset), text), offset) for offset in range(len(text) + 1)]
    lines = []
    for row, group in groupby(rows, key=lambda each: each[0]):
        offsets = [offset for _, offset in group]
        lines.append(f"{offsets[0]}-{offsets[-1]}: {row}\n")
    golden(ROOT / "tests/golden/language_server/cursors" / f"{name}.txt", "".join(lines))


def test_the_cursor_in_unfinished_texts(golden: Callable[[Path, str], None]) -> None:
    lines = []
    for row in Path(__file__).with_name("marked.txt").read_text("utf-8").splitlines():
        name, _, written = row.partition(" ")
        marked = written.encode().decode("unicode_escape")
        text = marked.replace("|", "", 1)
        lines.append(f"{row}\n  {described(CURSORS[name](text, marked.index('|')), text)}\n")
    golden(ROOT / "tests/golden/language_server/cursors" / "marked.txt", "".join(lines))


def test_the_cursor_in_a_file_is_that_of_its_ending() -> None:
    paths = ("tools.json", "tests/x.yaml", "tests/x.yml", "pyproject.toml", "skills/a/SKILL.md")
    found = {path: cursor_at(path, "---\nk", 5) for path in paths}
    assert {path: place and place.is_key for path, place in found.items()} == {
        path: place and place.is_key for path in paths for place in (CURSORS[ending_of(path)]("---\nk", 5),)
    }
    assert [cursor_at(path, "k", 1) for path in ("json", "x.py", "tools.json.bak", "", "other.json")] == [None] * 5
    assert WRITERS.keys() == CURSORS.keys()


@pytest.mark.skipif(not hasattr(yaml, "CLoader"), reason="PyYAML's own scanner is slower, and reads less")
def test_a_place_behind_a_million_characters_is_not_looked_for() -> None:
    text = f"k:\n  {'v' * 999_991}\nx: "
    found = [yaml_cursor.cursor_in_yaml(f"{text}{more}", 1_000_000 + len(more)) is None for more in ("", " ")]
    assert (len(text), found) == (1_000_000, [False, True])


def test_a_name_of_toml_may_not_be_closed() -> None:
    found = [cursors.name_of(token) for token in ("a", "'b'", "'b", '"\\u0063"', '"d', '"')]
    assert found == ["a", "b", "b", "c", "d", ""]


KEYS = [
    ("json", True, "string", '"k"'), ("json", False, "string", '"k": ""'), ("json", False, "object", '"k": {}'),
    ("json", False, "integer", '"k": '), ("json", False, ["string"], '"k": '), ("yaml", False, "object", "k:"),
    ("yaml", False, "array", "k:"), ("yaml", False, "string", "k: "), ("yaml", True, "string", "k"),
    ("toml", False, "array", "k = []"), ("toml", True, "array", "k"), ("toml", False, "number", "k = "),
]  # fmt: skip


@pytest.mark.parametrize(("name", "has_colon", "kind", "written"), KEYS)
def test_a_key_is_written_with_an_empty_value(name: str, has_colon: bool, kind: object, written: str) -> None:
    place = cursors.Cursor((), True, 0, 0, has_colon=has_colon)
    assert WRITERS[name][0](place, "k", {"type": kind}) == written


OBJECTS = {"type": "array", "items": {"type": "object"}}
TABLES = [
    ({"table": ""}, {"type": "object"}, "[k]"), ({"table": "a."}, {"type": "object"}, "[a.k]"),
    ({"table": "a."}, OBJECTS, "[[a.k]]"), ({"table": "a."}, {"type": "array"}, "k = []"),
    ({"header": "["}, {"type": "object"}, "k"), ({"header": "["}, OBJECTS, None), ({"header": "[["}, OBJECTS, "k"),
    ({"header": "[["}, {"type": "string"}, None), ({}, {"type": "object"}, "k = {}"), ({}, OBJECTS, "k = []"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "schema", "written"), TABLES)
def test_a_table_is_written_as_a_header_where_one_can_stand(
    place: dict[str, str], schema: dict[str, object], written: str | None
) -> None:
    assert WRITERS["toml"][0](cursors.Cursor((), True, 0, 0, **place), "k", schema) == written  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a", ('"a"', "a", '"a"')), ("true", ('"true"', '"true"', '"true"')), ("On", ('"On"', '"On"', '"On"')),
        ("a: b", ('"a: b"', '"a: b"', '"a: b"')), ("a b", ('"a b"', "a b", '"a b"')), (True, ("true", "true", "true")),
        (None, ("null", "null", None)), ("é", ('"\\u00e9"', '"é"', '"é"')), (1.5, ("1.5", "1.5", "1.5")),
    ],
)  # fmt: skip
def test_a_value_is_written_as_its_syntax_has_it(value: object, written: tuple[str | None, ...]) -> None:
    assert tuple(WRITERS[name][1](value) for name in ("json", "yaml", "toml")) == written


def test_limits_of_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_cursor, "MAX_CHARACTERS", 5)
    monkeypatch.setattr(cursors, "MAX_CHARACTERS", 5)
    for find in (yaml_cursor.cursor_in_yaml, cursors.cursor_in_toml):
        assert [find("a\nb\nc\n", offset) is None for offset in (4, 5, 6)] == [False, False, True]
    for most, keys in ((5, ["a"]), (6, ["a", "b"])):
        monkeypatch.setattr(cursors, "MAX_KEYS", most)
        assert cursors.keys_behind(' , "a": 1, "b": 2, "c": 3}', 0) == keys
    monkeypatch.setattr(yaml_cursor, "MAX_LINES", 3)
    found = yaml_cursor.cursor_in_yaml("|\na: 1\nb: 2\nc: 3\n".replace("|", ""), 0)
    assert found is not None
    assert found.keys == ("a", "b")
    monkeypatch.setattr(yaml_cursor, "MAX_PASSED_OVER", 2)
    assert [yaml_cursor.cursor_in_yaml("a:\n  b: {\n" * count + "c: x", 0) is None for count in (1, 2, 3)] == [
        False
    ] * 3
