"""An open project: what changes, what moves along, and what is forgotten."""

from pathlib import Path

import pytest

from mcpc.diagnostics import Diagnostic, Span, diagnose
from mcpc.options import Options
from mcpc.pipeline import CheckResult
from mcpc.workbench.language_server import open_project
from mcpc.workbench.language_server.open_project import (
    BufferEdit,
    OpenProject,
    TextBuffer,
    by_path,
    moved_span,
    with_texts,
)
from support.projects import tree

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
    ("span", "moved"),
    [((0, 3), (0, 3)), ((5, 9), (8, 12)), ((4, 6), (4, 9)), ((2, 5), (2, 5)), ((5, 5), (8, 8))],
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
