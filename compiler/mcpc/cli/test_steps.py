"""Steps of `mcpc test`: the cases of a folder, and the built file that they are run against."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import messages, report
from mcpc.cli.artifact import artifact_environment, built_artifact
from mcpc.cli.built_contents import artifact_contents
from mcpc.diagnostics import in_order
from mcpc.diagnostics.suggestions import quoted
from mcpc.model.ir.uri_templates import TemplateError, parse_template
from mcpc.pack.smoke import start_of
from mcpc.workbench.testing.case_files import FOLDER, SUFFIXES, case_sources, read_cases, unknown_targets
from mcpc.workbench.testing.coverage import completed_arguments
from mcpc.workbench.testing.model import BOTH, ERAS, TRANSPORTS
from mcpc.workbench.testing.running import VariantSelection, failed_cases, is_read_only
from mcpc.workbench.testing.servers import Served, has_http

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.reading import Source
    from mcpc.workbench.testing.model import Case

FAILED = 1
FEWEST_JOBS, MOST_JOBS = 4, 16
LISTS = {"tool": "tools", "prompt": "prompts"}
"""The lists of a built file that name what cases call."""
FIXTURES = "tests/files"
"""The folder of a project with files for tests; no case file is in it."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The cases of a folder, their files, and what is wrong.  `prefix`: of their paths, from the working folder."""

    folder: Path
    cases: list[Case]
    sources: Mapping[str, Source]
    prefix: str
    problems: Diagnostics = ()


def load_cases(target: Path, own: Mapping[str, Any]) -> Loaded:
    """Return the selected cases; all, if something is wrong with their files."""
    base = target if target.is_dir() else Path()
    folder = own["cases"] or base / FOLDER
    name = f"{FOLDER}/" if own["cases"] is None else ""
    sources, problems = case_sources(folder, name)
    cases, found = read_cases(sources)
    prefix = report.relative_to_cwd(base if name else folder)
    loaded = Loaded(folder, cases, sources, "" if prefix == "." else f"{prefix}/", (*problems, *found))
    if loaded.problems:
        return loaded
    if not cases and not own["is_fuzzed"]:
        raise click.UsageError(messages.NO_CASES.format(folder=folder, endings=quoted(SUFFIXES, " or ")))
    if not cases:
        return loaded
    cases = filtered(cases, own["pattern"])
    return replace(loaded, cases=last_failed(folder, cases) if own["is_last_failed"] else cases)


def last_failed(folder: Path, cases: list[Case]) -> list[Case]:
    """Return the cases that failed when they last ran; all if there is none, with a note."""
    found = failed_cases(folder, cases)
    if not found:
        click.echo(messages.NONE_FAILED, err=True)
    return found or cases


def filtered(cases: list[Case], pattern: str) -> list[Case]:
    """Return the cases that an expression selects; exit if there is none."""
    expression = compile_expression(pattern, "--filter")
    found = [case for case in cases if any(map(expression.search, (case.name, case.file, case.target)))]
    if not found:
        raise click.UsageError(messages.NO_CASE_SELECTED.format(pattern=pattern, count=len(cases)))
    return found


def compile_expression(pattern: str, option: str) -> re.Pattern[str]:
    """Return an option's regular expression, which ignores case; exit if it is not one."""
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as problem:
        raise click.UsageError(messages.WRONG_EXPRESSION.format(option=option, problem=problem)) from None


def refuse_faulty_cases(loaded: Loaded, target: Path, given: dict[str, Any], own: Mapping[str, Any]) -> None:
    """Report what is wrong with the cases, and exit: what they call as well, if the project can be built."""
    if not loaded.problems:
        return
    unknown: Diagnostics = ()
    if loaded.cases:
        built = served_target(target, given, own["call_timeout"], is_http=own["transport"] != "stdio")
        with suppress(click.exceptions.Exit), built as (_, facts):
            unknown = unknown_targets(loaded.cases, offered_names(facts))
    report_problems((*loaded.problems, *unknown), loaded.sources, Path(loaded.prefix or "."))


def report_problems(problems: Diagnostics, sources: Mapping[str, Source], folder: Path) -> None:
    """Report problems of case files and exit, if there are any."""
    if problems:
        report.report(in_order(problems), sources, "text", folder)
        raise click.exceptions.Exit(FAILED)


def check_targets(loaded: Loaded, facts: Mapping[str, Any]) -> None:
    """Report cases of what the server does not offer, and exit."""
    problems = unknown_targets(loaded.cases, offered_names(facts))
    report_problems(problems, loaded.sources, Path(loaded.prefix or "."))


def offered_names(facts: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the names of what a built file offers, by kind; a list that it makes at run time is not there."""
    offered = {kind: [each["name"] for each in facts[name]] for kind, name in LISTS.items() if is_list(facts.get(name))}
    prompts, templates = facts.get("prompts"), facts.get("resourceTemplates", [])
    if isinstance(prompts, list) and isinstance(templates, list):
        names = [each.name for each in completed_arguments(facts)]
        names += [f"{prompt['name']} {each['name']}" for prompt in prompts for each in prompt.get("arguments", ())]
        with suppress(TemplateError):
            names += [name for each in templates for name in variable_names(each["uriTemplate"])]
            offered["complete"] = [*dict.fromkeys(names)]
    return offered


def variable_names(template: str) -> list[str]:
    """Return a template with each of its variables, as names of what can be completed; raise TemplateError."""
    return [f"{template} {variable.name}" for variable in parse_template(template).variables]


def is_list(value: object) -> bool:
    """Tell whether a built file has a list: a number stands for one that it does not have."""
    return isinstance(value, list)


@contextmanager
def served_target(
    target: Path, given: dict[str, Any], seconds: float, *, is_http: bool = True
) -> Iterator[tuple[Served, dict[str, Any]]]:
    """Yield what is served, and the facts of the built file; a project is built once.

    `seconds`: how long a call may take.  `is_http`: a project is built with HTTP.  What is built from a project runs in
    another folder, as a client starts it: in a copy of `tests/files`, for tools that take the path of a file.
    """
    given = {**given, "http": True} if target.is_dir() and is_http else given
    with built_artifact(target, given) as path, tempfile.TemporaryDirectory(prefix="mcpc-test-") as other:
        facts = artifact_contents(path)
        facts["tools"] = facts["tools"] if is_list(facts.get("tools")) else []
        folder = Path(other if target.is_dir() else "").resolve()
        if (target / FIXTURES).is_dir():
            shutil.copytree(target / FIXTURES, folder, dirs_exist_ok=True)
        inputs = {tool["name"]: tool.get("inputSchema") for tool in facts["tools"]}
        yield Served(path.resolve(), folder, inputs, artifact_environment(target), seconds, start_of(path)), facts


def selection_of(own: Mapping[str, Any], facts: Mapping[str, Any]) -> VariantSelection:
    """Return which ways of the cases run: a file that was built without HTTP has one transport."""
    transports = TRANSPORTS if own["transport"] == BOTH else (own["transport"],)
    if not has_http(facts):
        if own["transport"] == "http":
            raise click.UsageError(messages.BUILT_WITHOUT_HTTP.format(path="the file"))
        transports = TRANSPORTS[:1]
    eras = ERAS if own["era"] == BOTH else (own["era"],)
    read_only = frozenset(tool["name"] for tool in facts["tools"] if is_read_only(tool))
    return VariantSelection(transports, eras, own["is_first_only"], own["jobs"], read_only)


def default_jobs() -> int:
    """Return how many calls are made at a time: most of them wait for the server."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(max(usable, FEWEST_JOBS), MOST_JOBS)
