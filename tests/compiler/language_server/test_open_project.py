"""An open project: what changes, what moves along, and what is forgotten; groups and slices of its files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcpc.diagnostics import Span, diagnose
from mcpc.options import Options
from mcpc.pipeline import CheckResult
from mcpc.workbench.language_server import file_groups, open_project, reduction
from mcpc.workbench.language_server.file_groups import FileGroup, groups_in, words_in
from mcpc.workbench.language_server.open_project import OpenProject, by_path, different_slices, moved_span
from mcpc.workbench.language_server.reduction import Slices, blank, definition_key, function_keys, keys_of, slicer_of
from mcpc.workbench.language_server.text_buffer import BufferEdit, TextBuffer
from mcpc.workbench.language_server.workspace import Workspace
from support.projects import tree

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostic

TOOLS = '{"tools": [\n  {"name": "a"},\n  {"name": "b.c", "uri": "d"}\n]}\n'
PYTHON = "import os\n\n\ndef a():\n    pass\n\n\nasync def b_c(\n    x,\n):\n    return x\n\n\nVALUE = 1\n"
FILES = {"tools.json": TOOLS, "tools.py": PYTHON, "notes.md": "# Notes\n"}


def project(**more: str) -> OpenProject:
    return OpenProject(Path("/nowhere"), tree({**FILES, **more}), Options(imports=False))


def at(start: int, end: int, path: str = "tools.json") -> Diagnostic:
    return diagnose("MCP103", Span(path, start, end), f"{start}-{end}")


def accept(opened: OpenProject, *problems: Diagnostic, version: int | None = None) -> bool:
    result = CheckResult(opened.disk.files, problems)
    return opened.accept(result, opened.version if version is None else version, 2.5)


def edit(opened: OpenProject, path: str, old: str, new: str) -> BufferEdit:
    start = opened.buffers[path].text.index(old)
    made = opened.buffers[path].replace(start, start + len(old), new)
    opened.edited(path, made)
    return made


def test_an_open_text_that_differs_is_a_change() -> None:
    opened = project()
    opened.open("tools.json", TOOLS, "utf-16")
    assert (opened.version, opened.dirty) == (0, {})
    opened.open("tools.py", PYTHON + "# more\n", "utf-8")
    opened.open("new.py", "", "utf-8")
    assert (opened.version, opened.dirty) == (2, {"tools.py": None, "new.py": None})
    assert opened.buffers["tools.py"].encoding == "utf-8"
    assert opened.text("tools.py") == PYTHON + "# more\n"
    assert list(opened.tree().files) == ["new.py", "notes.md", "tools.json", "tools.py"]
    opened.dirty.clear()
    opened.close("tools.json")
    assert (opened.version, opened.dirty) == (2, {})
    opened.close("tools.py")
    opened.close("new.py")
    assert (opened.version, opened.dirty) == (4, {"tools.py": None, "new.py": None})
    assert (opened.text("tools.py"), opened.text("new.py"), opened.source("new.py")) == (PYTHON, None, None)


def test_a_byte_order_mark_on_disk_is_no_difference() -> None:
    opened = project(**{"server.json": "\ufeff{}"})
    opened.open("server.json", "{}", "utf-16")
    opened.close("server.json")
    assert opened.version == 0


def test_diagnostics_move_with_the_text_and_go_with_their_place() -> None:
    opened = project()
    opened.open("tools.json", TOOLS, "utf-16")
    whole, before, inside, behind = at(0, 0), at(1, 8), at(12, 20), at(30, 40)
    assert accept(opened, whole, before, inside, behind, at(15, 17), at(20, 21, "tools.py"))
    edit(opened, "tools.json", TOOLS[14:18], "xyzxyz")
    assert [problem.span for problem in opened.found["tools.json"]] == [
        Span("tools.json", *place) for place in ((0, 0), (1, 8), (12, 22), (32, 42))
    ]
    assert [problem.span for problem in opened.found["tools.py"]] == [Span("tools.py", 20, 21)]
    assert opened.now(Span("tools.json", 30, 40)) == Span("tools.json", 32, 42)
    assert opened.now(Span("tools.py", 30, 40)) == Span("tools.py", 30, 40)


def test_a_complete_check_counts_for_its_version_only() -> None:
    opened = project()
    opened.open("tools.json", TOOLS, "utf-16")
    edit(opened, "tools.json", '"a"', '"aa"')
    assert opened.dirty == {"tools.json": {0}}
    assert not accept(opened, at(1, 2), version=0)
    assert (opened.found, opened.checked_version, opened.moves.keys()) == ({"tools.json": []}, -1, {"tools.json"})
    assert accept(opened, at(1, 2), diagnose("MCP009", None, "x"))
    assert (opened.dirty, opened.moves, opened.checked_version, opened.seconds) == ({}, {}, 1, 2.5)
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


def test_a_change_in_a_slice_names_it_and_its_former_keys() -> None:
    opened = project()
    for path in FILES:
        opened.open(path, FILES[path], "utf-16")
    edit(opened, "tools.json", '"b.c"', '"b.d"')
    assert (opened.dirty, opened.touched, opened.outside) == ({"tools.json": {1}}, {"b_c", "d"}, {})
    edit(opened, "tools.json", "},\n", "},\n\n")
    assert opened.dirty == {"tools.json": {1}}, "sliced again, and not yet checked"
    edit(opened, "tools.json", ",\n", ",\n\n")
    assert (opened.dirty, opened.outside.keys()) == ({"tools.json": {0, 1}}, {"tools.json"})
    edit(opened, "tools.py", "import os", "import io")
    assert opened.dirty["tools.py"] == set()
    edit(opened, "tools.py", "def a", "def z")
    assert opened.dirty["tools.py"] == {0}
    assert opened.touched == {"b_c", "d", "a"}
    edit(opened, "notes.md", "Notes", "Note")
    assert opened.dirty["notes.md"] is None
    edit(opened, "tools.json", '{"tools"', '["tools"')
    assert opened.dirty["tools.json"] in (None, {0, 1})


def test_files_that_changed_on_disk_are_sliced_again() -> None:
    opened = project()
    opened.open("tools.json", TOOLS, "utf-16")
    before = {path: opened.slices_of(path) for path in FILES}
    assert (before["notes.md"], opened.slices_of("gone.py")) == (None, None)
    opened.replace_disk(tree({**FILES, "tools.py": PYTHON.replace("def a", "def z"), "tools.json": "{}"}))
    assert opened.slices_of("tools.json") is before["tools.json"]
    slices = opened.slices_of("tools.py")
    assert slices is not None
    assert slices.keys[0] == function_keys("z")


def test_what_changed_between_slices_is_sliced_again_by_the_complete_check() -> None:
    opened = project()
    opened.open("tools.json", TOOLS, "utf-16")
    assert opened.sliced_again() == {}
    edit(opened, "tools.json", "[\n", '[\n  {"name": "new"},\n')
    again = opened.sliced_again()
    assert again.keys() == {"tools.json"}
    found = again["tools.json"]
    assert found is not None
    assert [sorted(keys) for keys in found.keys] == [["new"], ["a"], ["b_c", "d"]]


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


PATHS = (
    "tools.d/a.json", "prompts.d/b/c.json", "tools.json", "src/tools/one.ts", "src/tools/one.test.ts", "tools/two.py", "tools/x/tool.sh",
    "tools/x/tool.meta.json", "tools/y/tool.sh", "prompts/p.txt", "prompts/p.meta.json", "resources/q-r/file.txt", "resources/q-r/x.meta.json", "other/z.py",
)  # fmt: skip


def test_files_that_are_independent() -> None:
    assert dict(groups_in(PATHS)) == {
        "tools.d/a.json": FileGroup("tools.d/a.json"),
        "prompts.d/b/c.json": FileGroup("prompts.d/b/c.json"),
        "src/tools/one.ts": FileGroup("src/tools/one", "one", function_keys("one")),
        "tools/two.py": FileGroup("tools/two", "two", function_keys("two")),
        **dict.fromkeys(("tools/x/tool.sh", "tools/x/tool.meta.json"), FileGroup("tools/x", "x", function_keys("x"))),
        **dict.fromkeys(("prompts/p.txt", "prompts/p.meta.json"), FileGroup("prompts/p", "p", function_keys("p"))),
        **dict.fromkeys(
            ("resources/q-r/file.txt", "resources/q-r/x.meta.json"),
            FileGroup("resources/q-r", "q-r", function_keys("q_r")),
        ),
    } | {path: group for path, group in groups_in(PATHS).items() if path == "src/tools/one.test.ts"}
    assert words_in("a-b c_d.e") == {"a-b", "c_d", "e"}
    assert file_groups.groups_in(()) == {}


BASH = "x=1\ntool_a() {\n  echo\n}\nfunction b.c {\n  if true; then\n  fi\n}\none() { :; }\n"
SLICED = {
    "tools.json": (TOOLS, [{"a"}, {"b_c", "d"}]),
    "tools.py": (PYTHON, [function_keys("a"), function_keys("b_c")]),
    "tools.bash": (BASH, [{"tool_a", "a"}, {"b.c"}]),
    "tools/x.py": ("@mcp_tool\n" + PYTHON[11:], [function_keys("a"), function_keys("b_c")]),
    "server.sh": ("source mcpserver_core\n" + BASH, [{"tool_a", "a"}, {"b.c"}]),
    "assets/tools.json": (TOOLS.replace('"uri"', '"inputSchema"'), [{"a"}, {"b_c"}]),
    "kb/f.json": (TOOLS.replace('"uri"', '"id"'), [{"a"}, {"b_c", "d"}]),
}


@pytest.mark.parametrize("path", SLICED)
def test_slices_and_the_rest_of_a_file(path: str) -> None:
    text, keys = SLICED[path]
    slicer = slicer_of(path)
    assert slicer is not None
    slices = slicer(text)
    assert slices is not None
    assert [set(each) for each in slices.keys] == [set(each) for each in keys]
    kept = "".join(text[start:end] for start, end in zip(slices.starts, slices.ends, strict=True))
    assert slices.blanked.count("\n") == text.count("\n")
    assert not any(word in slices.blanked for word in ("name", "def", "echo"))
    assert slices.with_only(range(len(slices.starts))).text == text
    for start, end, number in zip(slices.starts, slices.ends, range(9), strict=False):
        places = ((start, start), (start + 1, end - 1), (start + 1, end), (start - 1, end - 1))
        assert [slices.at(*place) for place in places] == [-1 if place != places[1] else number for place in places][:4]
    assert kept


def test_files_that_are_not_sliced() -> None:
    for path in ("server.json", "notes.md", "a/b.py", "tests/a.json", "tools.d/x.json", "x.meta.json"):
        slicer = slicer_of(path)
        assert slicer is None or slicer(TOOLS) is None, path
    for path, text in (("tools.json", "{}"), ("tools.py", "x = 1\n"), ("tools/x.py", PYTHON), ("server.sh", BASH)):
        slicer = slicer_of(path)
        assert slicer is not None
        assert slicer(text) is None


def test_gaps_and_keys_around_a_change() -> None:
    slices = reduction.slice_json(TOOLS)
    assert isinstance(slices, Slices)
    (first, second), ends = slices.starts, slices.ends
    assert [slices.gap(offset) for offset in (0, first + 1, ends[0] + 1, second + 1, len(TOOLS))] == [
        (0, first - 1), (first + 1, second - 1), (ends[0], second - 1), (second + 1, len(TOOLS)), (ends[1], len(TOOLS))
    ]  # fmt: skip
    around = {
        place: sorted(slices.keys_around(BufferEdit(*place, place[1])))
        for place in ((0, 1), (first, ends[0]), (ends[0] + 1, ends[0] + 1), (first, second + 1))
    }
    assert around == {
        (0, 1): [],
        (first, ends[0]): ["a"],
        (ends[0] + 1, ends[0] + 1): ["a"],
        (first, second + 1): ["a", "b_c", "d"],
    }
    assert (slices.with_keys(frozenset({"d", "x"})), slices.with_keys(frozenset())) == ([1], [])
    assert (slices.stop_of(0), slices.stop_of(1)) == (second, ends[1])
    partial = slices.with_only([1])
    assert [partial.original(partial.text.index(word)) for word in ('{"name"', '"b.c"', "]}")] == [
        TOOLS.index(word) for word in ('{"name": "b', '"b.c"', "]}")
    ]
    assert partial.original_span(Span("x", 0, 0)) == Span("x", 0, 0)
    low = partial.text.index('"b.c"')
    assert partial.original_span(Span("x", low, low + 5)) == Span("x", TOOLS.index('"b.c"'), TOOLS.index('"b.c"') + 5)
    assert partial.original_span(Span("x", low, low)).end == TOOLS.index('"b.c"')
    assert different_slices(slices, {TOOLS[first : ends[0]]}) == {1}


def test_names_of_slices() -> None:
    assert (blank("ab\nc\n"), blank("ab\ncde"), blank("abc"), blank("")) == ("\n\n", "\n   ", "   ", "")
    assert keys_of('{"name": "a.b", "id": "c", "uri": "d", "name": "e"}', True) == {"a_b", "c", "d"}
    assert (keys_of("x = 1", False), keys_of("def tool_a(): ...\n", False)) == (frozenset(), {"tool_a", "a"})
    assert (function_keys("prompt_tool_x"), definition_key("a.b-c")) == ({"prompt_tool_x", "tool_x"}, "a_b_c")


def test_a_text_that_is_not_open_is_closed_without_effect() -> None:
    closed = list[str]()
    opened = project()
    opened.open("tools.json", TOOLS, "utf-16")
    space = Workspace(Options(), lambda project, paths: closed.extend(paths), closed.append)
    space.projects[opened.root], space.others[Path("/else/a.md")] = opened, "x"
    for path in ("/else/a.md", "/nowhere/tools.py"):
        space.close(Path(path))
    assert (space.others, closed, [*opened.buffers]) == ({}, [], ["tools.json"])


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
