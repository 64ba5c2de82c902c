"""Every code of the table has a project that has the problem, and a near miss that has not: `MCPnnn.txt`.

Such a file begins with the project and its correction (`support/project_text.py`); what is reported of both follows,
which `make golden` writes.  What only a process, a network or a machine can produce is tested elsewhere.
"""

import ast
import json
import platform
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from mcpc.diagnostics import CODES, Diagnostics, Span, in_order
from mcpc.frontends.toolbox.tool_definitions import missing_lock
from mcpc.interpreters.selfcontained.executable import run_tool
from mcpc.interpreters.selfcontained.request import CannotEmbedError
from mcpc.interpreters.selfcontained.shared_objects import tool_output
from mcpc.languages.bundling import Bundle
from mcpc.model.ir.layer import ResolvedPackage
from mcpc.options import Options
from mcpc.packages import declare_packages
from mcpc.packages.installed_files import UnfitPackageError
from mcpc.packages.lock_files import read_lock
from mcpc.packages.locked_layer import built_of_sources
from mcpc.packages.staging import installation_failure
from mcpc.pipeline import analyse, read_project
from mcpc.reading import Source
from mcpc.release.releasing import read_plan
from mcpc.workbench.language_server.workspace import case_problems
from mcpc.workbench.testing.case_files import case_sources
from support.needs import ROOT
from support.project_text import ProjectFile, parse_project_text, tree_of, write_project

CASES = sorted(path.stem for path in Path(__file__).parent.glob("MCP*.txt"))
FAULTY, CORRECTED = "=== what is reported\n", "=== what is reported of the corrected project\n"
ELSEWHERE: dict[str, str] = json.loads(Path(__file__).with_name("elsewhere.json").read_text("utf-8"))
"""Codes that are not produced here, each with the test that produces it, and its golden file if that has the code."""


@dataclass(frozen=True)
class Requested:
    """A requirement, as far as failures of an installation look at it."""

    name: str
    span: Span | None
    text: str = "x"
    indexes: tuple[str, ...] = ()


def test_packages_that_cannot_be_bundled_or_are_built() -> None:
    first, second = Requested("first", Span("requirements.txt", 0, 5)), Requested("the-second", Span("a.txt", 6, 9))
    for words, span in (("the_Second differs", second.span), ("none", first.span), ("firsts", first.span)):
        found = installation_failure(UnfitPackageError(words), (first, second), None)  # type: ignore[arg-type]
        assert (found.code, found.span, found.message) == ("MCP407", span, words)
    text = (
        'lock-version = "1.0"\ncreated-by = "x"\n\n[[packages]]\nname = "idna"\nversion = "3.10"\n[[packages.wheels]]\n'
    )
    text += f'url = "https://x.test/idna-3.10-py3-none-any.whl"\nhashes = {{sha256 = "{"0" * 64}"}}\n'
    lock = read_lock(Source("pylock.toml", text.encode()))
    for name, span in (("idna", Span("pylock.toml", 52, 65)), ("other", Span("pylock.toml", 0, 20))):
        note = built_of_sources(ResolvedPackage(name, "3.10", "x.tar.gz", "0"), lock)
        assert (note.code, note.span) == ("MCP425", span)


def test_npm_packages_without_a_lock() -> None:
    for files, span in (({"package.json": ProjectFile(b"{}")}, Span("package.json", 0, 0)), ({}, None)):
        (found,) = missing_lock(Bundle({}, {}, {}, unlocked=("left", "right")), tree_of(files))
        assert (found.code, found.span, re.findall("`(.*?)`", found.message)[1:]) == ("MCP411", span, ["left", "right"])
    assert [*missing_lock(Bundle({}, {}, {}), tree_of({}))] == []


def test_a_linker_that_fails(tmp_path: Path) -> None:
    script = "echo one >&2; echo an error here >&2; echo last >&2; exit 3"
    with pytest.raises(CannotEmbedError) as problem:
        run_tool(["sh", "-c", script], str(tmp_path))
    assert (problem.value.diagnostic.code, "an error here" in problem.value.diagnostic.message) == ("MCP431", True)
    with pytest.raises(CannotEmbedError) as problem:
        tool_output("sh", "-c", "exit 1")
    assert problem.value.diagnostic.code == "MCP431"
    assert tool_output("sh", "-c", "echo fine") == "fine\n"


def test_every_code_has_one_test() -> None:
    assert sorted([*CASES, *ELSEWHERE]) == [*CODES]


@pytest.mark.parametrize("code", ELSEWHERE)
def test_a_code_is_in_the_test_that_is_named(code: str) -> None:
    test, _, golden = ELSEWHERE[code].partition(" ")
    path, _, name = test.partition("::")
    text = (ROOT / "tests" / path).read_text("utf-8")
    assert code in ((ROOT / "tests" / golden).read_text("utf-8") if golden else text)
    assert Path(golden).stem in text
    assert name in {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}


def reported(folder: Path, files: Mapping[str, ProjectFile], options: Options) -> tuple[Diagnostics, dict[str, Source]]:
    """Return what is reported of a project, its test cases and its release, and the files."""
    tree, problems = read_project(write_project(folder, files))
    result = analyse(tree, problems, options, bundle=declare_packages)
    sources, unread = case_sources(folder / "tests")
    whole = replace(tree, files={**tree.files, **sources})
    found = (*result.diagnostics, *unread, *case_problems(whole, result), *read_plan(tree.get("pyproject.toml"))[1])
    return in_order(found), {**tree.unpacked, **whole.files}


def lines(found: Diagnostics, files: Mapping[str, Source]) -> Iterator[str]:
    """Yield a line for each problem: where it is, and its texts."""
    for problem in found:
        place, span = "", problem.span
        if span is not None:
            source = files.get(span.path)
            ends = () if source is None else (source.position(span.start), source.position(span.end))
            place = " ".join((span.path, *(f"{line}:{column}" for line, column in ends)))
        texts = (problem.code, place, problem.message, problem.expected, problem.hint)
        yield " | ".join(texts).replace(platform.python_version(), "VERSION").replace("\n", "\\n") + "\n"


@pytest.mark.parametrize("code", CASES)
def test_a_project_and_a_near_miss(code: str, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    path = Path(__file__).with_name(f"{code}.txt")
    written = path.read_text("utf-8").partition(FAULTY)[0]
    project = parse_project_text(written)
    faulty, files = reported(tmp_path / "project", project.faulty, project.options)
    corrected, others = reported(tmp_path / "corrected", project.corrected, project.options)
    assert code in {problem.code for problem in faulty}
    assert code not in {problem.code for problem in corrected}
    before, after = "".join(lines(faulty, files)), "".join(lines(corrected, others))
    golden(path, f"{written}{FAULTY}{before}{CORRECTED}{after}")
