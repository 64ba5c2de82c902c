"""What an editor is answered about open projects: proposals, what is shown, places, fixes, diagnostics, symbols."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import yaml
from pygls.protocol import default_converter

from mcpc.diagnostics import Diagnostic, Span, diagnose
from mcpc.options import Options
from mcpc.pipeline import CheckResult
from mcpc.reading import SourceTree
from mcpc.reading.source import source_of_text
from mcpc.workbench.language_server import (
    completion,
    cursors,
    descriptions,
    fixes,
    open_project,
    protocol_values,
    yaml_cursor,
)
from mcpc.workbench.language_server.completion import WRITERS
from mcpc.workbench.language_server.descriptions import CURSORS, cursor_at, ending_of
from mcpc.workbench.language_server.open_project import (
    BufferEdit,
    OpenProject,
    TextBuffer,
    by_path,
    moved_span,
    with_texts,
)
from mcpc.workbench.language_server.workspace import check_project
from support.needs import ROOT
from support.project_text import parse_project_text, tree_of
from support.projects import tree

HERE, GOLDEN = Path(__file__).parent, ROOT / "tests/golden/language_server"
OPTIONS = Options(imports=False)
AS_JSON = default_converter().unstructure


@cache
def checked(name: str) -> tuple[SourceTree, CheckResult]:
    """Return a project's files, and what a check says of them."""
    tree = tree_of(parse_project_text((HERE / "projects" / f"{name}.txt").read_text("utf-8")).faulty)
    texts = {path: source_of_text(path, source.text) for path, source in tree.files.items()}
    return tree, check_project(replace(tree, files=texts), (), OPTIONS)


def opened(name: str, encoding: str = "utf-16") -> OpenProject:
    """Return a project with all of its files open, which was checked."""
    tree, result = checked(name)
    project = OpenProject(Path("/nowhere"), tree, OPTIONS)
    for path, source in tree.files.items():
        project.open(path, source.text, encoding)
    project.accept(tree, result)
    return project


def grouped(project: OpenProject, path: str, answer: Callable[[OpenProject, str, int], Any]) -> Iterator[str]:
    """Yield the answer at every offset of a file, once for offsets with the same one."""
    offsets = range(len(project.text(path) or "") + 1)
    for found, same in groupby(offsets, key=lambda offset: answer(project, path, offset)):
        places = [*same]
        yield f"{path} {places[0]}-{places[-1]}: {found}\n"


def definition(project: OpenProject, path: str, offset: int) -> str:
    """Return which definition a place is in, and which one it handles."""
    found = open_project.definition_at(project, path, offset), open_project.handled_at(project, path, offset)
    shown = [
        f"{each.kind} {each.name} {each.is_function} {each.named} {each.handled}" if each else "-" for each in found
    ]
    return " | ".join(shown)


@pytest.mark.parametrize("name", ["good", "decorated"])
def test_definitions_at_every_offset(name: str, golden: Callable[[Path, str], None]) -> None:
    project = opened(name)
    rows = [row for path in project.disk.files for row in grouped(project, path, definition)]
    golden(GOLDEN / "requests" / f"{name}-definitions.txt", "".join(rows))


@pytest.mark.parametrize("name", ["good", "faulty"])
def test_what_is_shown_at_every_offset(name: str, golden: Callable[[Path, str], None]) -> None:
    project, texts = opened(name), dict[str, int]()

    def shown(project: OpenProject, path: str, offset: int) -> str:
        text, span = descriptions.hover_at(project, path, offset)
        return f"{texts.setdefault(text, len(texts))} {'' if span is None else f'{span.start}-{span.end}'}"

    rows = [row for path in project.disk.files for row in grouped(project, path, shown)]
    known = "".join(f"=== {number}\n{text}\n" for text, number in texts.items())
    golden(GOLDEN / "requests" / f"{name}-shown.txt", "".join(rows) + known)


def test_proposals(golden: Callable[[Path, str], None]) -> None:
    answers = []
    for row in (HERE / "proposals.txt").read_text("utf-8").splitlines():
        name, path, written = row.split(" ", 2)
        project, marked = opened(name), written.encode().decode("unicode_escape")
        project.open(path, marked.replace("|", "", 1), "utf-16")
        found = completion.proposals_at(project, path, marked.index("|"))
        shown = (f"  {each.label!r} -> {each.new!r} {each.start}-{each.end} {each.kind} {each.about}" for each in found)
        answers.append("\n".join((row, *shown)) + "\n")
    golden(GOLDEN / "requests" / "proposals.txt", "".join(answers))


@pytest.mark.parametrize("name", ["faulty", "broken", "lost", "no-files"])
def test_diagnostics_and_fixes(name: str, golden: Callable[[Path, str], None]) -> None:
    project, rows = opened(name), []
    for path, problems in sorted(project.found.items()):
        buffer = protocol_values.buffer_of(project, path, "utf-16")
        for problem, shown in zip(problems, protocol_values.diagnostics_of(project, path, "utf-16"), strict=True):
            assert shown == protocol_values.diagnostic_of(problem, buffer, project)
            actions = [
                protocol_values.code_action(fix, shown, project, "utf-16") for fix in fixes.fixes_of(problem, project)
            ]
            rows += [{"path": path, **AS_JSON(shown)}, *[AS_JSON(each) | {"diagnostics": []} for each in actions]]
    golden(
        GOLDEN / "requests" / f"{name}-fixes.txt", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    )


def test_no_function_is_written_for_a_definition_without_a_name() -> None:
    project = opened("no-files")
    end = len(project.text("tools.json") or "")
    found = [
        fixes.fixes_of(diagnose("MCP004", Span("tools.json", start, end), "no file implements the tools"), project)
        for start in (0, end)
    ]
    assert [len(each) for each in found] == [2, 0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_symbols_and_locations(encoding: str, golden: Callable[[Path, str], None]) -> None:
    project, rows = opened("good", encoding), []
    for each in open_project.definitions_in(project):
        buffer = protocol_values.buffer_of(project, each.whole.path, encoding)
        place = protocol_values.location_of(project, each.handled or each.named, encoding)
        rows += [AS_JSON(protocol_values.symbol_of(each, buffer)), AS_JSON(place)]
    golden(GOLDEN / "requests" / f"symbols-{encoding}.txt", "".join(json.dumps(row) + "\n" for row in rows))


def test_a_proposal_is_an_item_of_the_protocol() -> None:
    project = opened("good")
    project.open("tools.json", '{"😀": 1, "to', "utf-16")
    buffer = protocol_values.buffer_of(project, "tools.json", "utf-16")
    (first, *_) = completion.proposals_at(project, "tools.json", len(buffer.text))
    assert AS_JSON(protocol_values.completion_item(first, buffer)) == {
        "label": "tools", "kind": 5, "filterText": '"tools',
        "textEdit": {
            "newText": '"tools": []',
            "range": {"start": {"line": 0, "character": 10}, "end": {"line": 0, "character": 13}},
        },
    }  # fmt: skip


def test_a_file_that_nobody_knows() -> None:
    project = opened("good")
    assert completion.proposals_at(project, "gone.json", 0) == []
    assert descriptions.hover_at(project, "gone.json", 0) == ("", None)
    assert protocol_values.diagnostics_of(project, "gone.json", "utf-16") == []
    project.server = None
    assert [*open_project.definitions_in(project)] == []


def test_places_of_definitions_move_with_the_text() -> None:
    project = opened("good")
    buffer = project.buffers["tools.py"]
    project.edited("tools.py", buffer.replace(0, 0, "# more\n"))
    before = opened("good")
    for path, number in (("tools.py", 7), ("tools.json", 0)):
        pairs = zip(open_project.definitions_in(before), open_project.definitions_in(project), strict=True)
        moved = [(a.handled, b.handled) for a, b in pairs if a.handled and a.handled.path == path and a.handled.end]
        assert all(b and (b.start - a.start, b.end - a.end) == (number, number) for a, b in moved)


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
    assert found.keys == ("a", "b")
    monkeypatch.setattr(yaml_cursor, "MAX_PASSED_OVER", 2)
    assert [yaml_cursor.cursor_in_yaml("a:\n  b: {\n" * count + "c: x", 0) is None for count in (1, 2, 3)] == [
        False
    ] * 3


TOOLS = '{"tools": [\n  {"name": "a"},\n  {"name": "b.c", "uri": "d"}\n]}\n'
PYTHON = "import os\n\n\ndef a():\n    pass\n"
FILES = {"tools.json": TOOLS, "tools.py": PYTHON, "notes.md": "# Notes\n"}


def project(**more: str) -> OpenProject:
    return OpenProject(Path("/nowhere"), tree({**FILES, **more}), Options(imports=False))


def at(start: int, end: int, path: str = "tools.json") -> Diagnostic:
    return diagnose("MCP103", Span(path, start, end), f"{start}-{end}")


def accept(opened: OpenProject, *problems: Diagnostic) -> None:
    opened.accept(opened.disk, CheckResult(opened.disk.files, problems))


def edit(opened: OpenProject, path: str, old: str, new: str) -> None:
    start = opened.buffers[path].text.index(old)
    opened.edited(path, opened.buffers[path].replace(start, start + len(old), new))


def test_an_open_text_that_differs_is_a_change() -> None:
    opened = project()
    opened.open("tools.json", TOOLS, "utf-16")
    assert opened.version == 0
    opened.open("tools.py", PYTHON + "# more\n", "utf-8")
    opened.open("new.py", "", "utf-8")
    assert opened.version == 2
    assert opened.buffers["tools.py"].encoding == "utf-8"
    assert opened.text("tools.py") == PYTHON + "# more\n"
    opened.close("tools.json")
    assert opened.version == 2
    opened.close("tools.py")
    opened.close("new.py")
    assert opened.version == 4
    assert (opened.text("tools.py"), opened.text("new.py")) == (PYTHON, None)


def test_open_texts_are_over_the_files() -> None:
    disk = tree(FILES)
    found = with_texts(disk, {"tools.py": "é\n", "new.py": ""})
    assert {path: source.text for path, source in found.files.items()} == {**FILES, "tools.py": "é\n", "new.py": ""}
    assert list(found.files) == ["new.py", "notes.md", "tools.json", "tools.py"]
    assert found.files["tools.py"].mode == disk.files["tools.py"].mode


def test_a_byte_order_mark_on_disk_is_no_difference() -> None:
    opened = project(**{"server.json": "\ufeff{}"})
    opened.open("server.json", "{}", "utf-16")
    opened.close("server.json")
    assert opened.version == 0


def test_diagnostics_move_with_the_text_and_go_with_their_place() -> None:
    opened = project()
    opened.open("tools.json", TOOLS, "utf-16")
    whole, before, inside, behind = at(0, 0), at(1, 8), at(12, 20), at(30, 40)
    accept(opened, whole, before, inside, behind, at(15, 17), at(20, 21, "tools.py"))
    edit(opened, "tools.json", TOOLS[14:18], "xyzxyz")
    assert [problem.span for problem in opened.found["tools.json"]] == [
        Span("tools.json", *place) for place in ((0, 0), (1, 8), (12, 22), (32, 42))
    ]
    assert [problem.span for problem in opened.found["tools.py"]] == [Span("tools.py", 20, 21)]
    assert opened.now(Span("tools.json", 30, 40)) == Span("tools.json", 32, 42)
    assert opened.now(Span("tools.py", 30, 40)) == Span("tools.py", 30, 40)


def test_a_check_begins_places_anew() -> None:
    opened = project()
    opened.open("tools.json", TOOLS, "utf-16")
    edit(opened, "tools.json", '"a"', '"aa"')
    assert (opened.found, opened.is_checked, opened.moves.keys()) == ({"tools.json": []}, False, {"tools.json"})
    accept(opened, at(1, 2), diagnose("MCP009", None, "x"))
    assert (opened.moves, opened.is_checked) == ({}, True)
    assert {path: len(found) for path, found in opened.found.items()} == {"tools.json": 1, "": 1}
    assert opened.now(Span("tools.json", 30, 40)) == Span("tools.json", 30, 40)


def test_after_many_changes_places_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_project, "MAX_MOVES", 2)
    opened = project()
    opened.open("notes.md", "# Notes\n", "utf-16")
    for count, moves in ((1, 1), (2, 2), (3, 0)):
        opened.server = opened.server or object()  # type: ignore[assignment]
        edit(opened, "notes.md", "#", "##")
        assert sum(map(len, opened.moves.values())) == moves
        assert (opened.server is None) == (count == 3)


def test_which_paths_are_of_a_project() -> None:
    paths = {
        "a.py": True,
        ".hidden": True,
        "a/b.py": True,
        ".git/x": False,
        "a/__pycache__/x": False,
        "node_modules/x/y": False,
    }
    assert {path: project().belongs(path) for path in paths} == paths
    assert by_path([at(1, 2), diagnose("MCP009", None, "x"), at(3, 4)]).keys() == {"tools.json", ""}


@pytest.mark.parametrize(
    ("span", "moved"), [((0, 3), (0, 3)), ((5, 9), (8, 12)), ((4, 6), (4, 9)), ((2, 5), (2, 5)), ((5, 5), (8, 8))]
)
def test_a_span_moves_with_an_insertion(span: tuple[int, int], moved: tuple[int, int]) -> None:
    assert moved_span(Span("a", *span), BufferEdit(5, 5, 8)) == Span("a", *moved)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_positions_at_the_ends_of_lines(encoding: str) -> None:
    buffer = TextBuffer("aé😀\r\n\nb", encoding)
    width = {"utf-8": 7, "utf-16": 4, "utf-32": 3}[encoding]
    assert [buffer.position(offset) for offset in (-1, 0, 3, 5, 6, 7, 99)] == [
        (0, 0),
        (0, 0),
        (0, width),
        (1, 0),
        (2, 0),
        (2, 1),
        (2, 1),
    ]
    assert [buffer.line_end(line) for line in range(3)] == [3, 5, 7]
    assert [
        buffer.offset(*place) for place in ((0, width), (0, width + 1), (0, -1), (1, 5), (2, 1), (3, 0), (-1, 3))
    ] == [3, 3, 0, 5, 7, 7, 0]
