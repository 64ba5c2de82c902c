"""Every code of the table has a project that has the problem, and a near miss that has not: `MCPnnn.txt`.

Such a file begins with the project and its correction (`support/project_text.py`); what is reported of both follows,
which `make golden` writes.  What only a process, a network or a machine can produce is tested elsewhere.
"""

from __future__ import annotations

import ast
import platform
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcpc.bundling import Bundle
from mcpc.dependencies import declare_packages
from mcpc.dependencies.installation_failures import installation_failure
from mcpc.dependencies.installed_files import UnfitPackageError
from mcpc.dependencies.lock_files import read_lock
from mcpc.dependencies.locked_layer import built_of_sources
from mcpc.diagnostics import CODES, Span, in_order
from mcpc.frontends.toolbox.diagnostics import missing_lock
from mcpc.ir.layer import ResolvedPackage
from mcpc.language_server.checking import case_problems
from mcpc.pipeline import analyse, read_project
from mcpc.releasing.plan import read_plan
from mcpc.selfcontained.executable import run_tool
from mcpc.selfcontained.request import CannotEmbedError
from mcpc.selfcontained.shared_objects import tool_output
from mcpc.sources import Source
from mcpc.testing.case_files import case_sources
from support.needs import ROOT
from support.project_text import ProjectFile, parse_project_text, tree_of, write_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.options import Options

CASES = sorted(path.stem for path in Path(__file__).parent.glob("MCP*.txt"))
FAULTY, CORRECTED = "=== what is reported\n", "=== what is reported of the corrected project\n"
ELSEWHERE = {
    "MCP147": "compiler/test_frontend_mcp_bash_faults.py::test_names_with_line_ends_are_refused",
    "MCP210": "compiler/test_languages_bash.py::test_a_bash_that_cannot_be_run",
    "MCP250": "compiler/test_frontend_toolbox.py::test_what_is_wrong_is_told",
    "MCP255": "compiler/test_frontend_toolbox.py::test_what_is_wrong_is_told",
    "MCP256": "compiler/test_frontend_toolbox.py::test_what_is_wrong_is_told",
    "MCP281": "system/test_import.py::test_what_has_no_word_is_told_and_written_down",
    "MCP284": "system/test_program_faults.py::test_fault",
    "MCP286": "system/test_program_faults.py::test_fault",
    "MCP287": "system/test_program_faults.py::test_a_list_that_needs_a_service_is_made_at_run_time_with_a_note",
    "MCP288": "system/test_program_faults.py::test_templates_with_one_fault_are_one_warning",
    "MCP290": "system/test_program_faults.py::test_fault",
    "MCP291": "system/test_program_faults.py::test_tools_that_cannot_be_listed_are_made_at_run_time_with_a_note",
    "MCP296": "system/test_program_original.py::test_build_check_and_inspect_say_that_the_framework_is_bundled",
    "MCP297": "system/test_program_faults.py::test_modules_that_are_imported_later_are_checked_at_build",
    "MCP298": "system/test_program_demonstrations.py::test_a_demonstration_is_imported_and_not_run",
    "MCP405": "compiler/test_dependencies_upload_dates.py::test_what_is_too_new_is_a_diagnostic",
    "MCP406": "compiler/test_dependencies.py::test_a_platform_that_is_none_is_refused_even_if_nothing_is_carried",
    "MCP407": "compiler/codes/test_codes.py::test_packages_that_cannot_be_bundled_or_are_built",
    "MCP408": "compiler/test_frontend_toolbox.py::test_without_node_nothing_is_bundled",
    "MCP409": "compiler/test_frontend_toolbox.py::test_what_is_wrong_is_told",
    "MCP410": "compiler/test_frontend_toolbox.py::test_machine_code_is_told",
    "MCP411": "compiler/codes/test_codes.py::test_npm_packages_without_a_lock",
    "MCP412": "compiler/test_passes_unused.py::test_wheels_that_are_carried_for_nothing",
    "MCP417": "compiler/test_dependencies_sdists.py::test_what_has_only_sources_is_refused_at_its_requirement",
    "MCP418": "compiler/test_dependencies_sdists.py::test_a_build_that_fails_is_quoted",
    "MCP421": "system/test_lock.py::test_a_plain_build_warns_of_a_stale_lock_at_its_place",
    "MCP422": "system/test_lock.py::test_what_does_not_fit_is_refused_with_one_message",
    "MCP423": "system/test_lock.py::test_offline_names_what_is_missing",
    "MCP424": "system/test_lock.py::test_a_package_without_a_wheel_is_named_with_its_target",
    "MCP714": "compiler/frontends/test_baked_values.py::test_a_value_is_found_wherever_it_is",
    "MCP425": "compiler/codes/test_codes.py::test_packages_that_cannot_be_bundled_or_are_built",
    "MCP426": "compiler/test_locked_digests.py::test_a_package_without_a_digest_is_told_and_the_others_stay_locked",
    "MCP430": "system/test_self_contained.py::test_a_machine_without_a_compiler_is_reported",
    "MCP431": "compiler/codes/test_codes.py::test_a_linker_that_fails",
    "MCP432": "system/test_self_contained.py::test_a_package_with_machine_code_is_refused",
    "MCP442": "compiler/test_bench.py::test_a_budget_is_a_gate_and_is_written_from_a_result",
}
"""Codes that are not produced here, each with the test that produces it."""


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
    path, _, name = ELSEWHERE[code].partition("::")
    text = (ROOT / "tests" / path).read_text("utf-8")
    assert code in text
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
