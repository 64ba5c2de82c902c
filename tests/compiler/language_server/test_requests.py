"""What an editor is answered about open projects: proposals, what is shown, places, fixes, diagnostics, symbols."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from pygls.protocol import default_converter

from mcpc.diagnostics import Span, diagnose
from mcpc.options import Options
from mcpc.pipeline import CheckResult
from mcpc.reading import SourceTree
from mcpc.reading.source import source_of_text
from mcpc.workbench.language_server import completion, descriptions, fixes, open_project, protocol_values
from mcpc.workbench.language_server.open_project import OpenProject
from mcpc.workbench.language_server.workspace import check_project
from support.needs import ROOT
from support.project_text import parse_project_text, tree_of

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
