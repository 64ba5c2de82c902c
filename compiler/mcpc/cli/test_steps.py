"""Steps of `mcpc test`: the cases of a folder, and the built file that they are run against."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import messages, report
from mcpc.cli.artifact import artifact_environment, built_artifact
from mcpc.cli.built_contents import artifact_contents
from mcpc.diagnostics import in_order
from mcpc.diagnostics.suggestions import quoted
from mcpc.testing.case_files import FOLDER, SUFFIXES, case_sources, read_cases, unknown_targets
from mcpc.testing.model import BOTH, ERAS, TRANSPORTS
from mcpc.testing.running import VariantSelection
from mcpc.testing.servers import Served, has_http

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.sources import Source
    from mcpc.testing.model import Case

FAILED = 1
LISTS = {"tool": "tools", "prompt": "prompts"}
"""The lists of a built file that name what cases call."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The cases of a folder and their files.  `prefix`: of their paths, from the working folder."""

    folder: Path
    cases: list[Case]
    sources: Mapping[str, Source]
    prefix: str


def load_cases(target: Path, own: Mapping[str, Any]) -> Loaded:
    """Return the selected cases; report what is wrong with their files, and exit."""
    base = target if target.is_dir() else Path()
    folder = own["cases"] or base / FOLDER
    name = f"{FOLDER}/" if own["cases"] is None else ""
    sources, problems = case_sources(folder, name)
    cases, found = read_cases(sources)
    report_problems((*problems, *found), sources, base if name else folder)
    prefix = report.relative_to_cwd(base if name else folder)
    loaded = Loaded(folder, cases, sources, "" if prefix == "." else f"{prefix}/")
    if not cases and not own["is_fuzzed"]:
        raise click.UsageError(messages.NO_CASES.format(folder=folder, endings=quoted(SUFFIXES, " or ")))
    return replace(loaded, cases=filtered(cases, own["pattern"])) if cases else loaded


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


def report_problems(problems: Diagnostics, sources: Mapping[str, Source], folder: Path) -> None:
    """Report problems of case files and exit, if there are any."""
    if problems:
        report.report(in_order(problems), sources, "text", folder)
        raise click.exceptions.Exit(FAILED)


def check_targets(loaded: Loaded, facts: Mapping[str, Any]) -> None:
    """Report cases of what the server does not offer, and exit."""
    offered = {kind: [each["name"] for each in facts[name]] for kind, name in LISTS.items() if is_list(facts.get(name))}
    problems = unknown_targets(loaded.cases, offered)
    report_problems(problems, loaded.sources, Path(loaded.prefix or "."))


def is_list(value: object) -> bool:
    """Tell whether a built file has a list: a number stands for one that it does not have."""
    return isinstance(value, list)


@contextmanager
def served_target(
    target: Path, given: dict[str, Any], seconds: float, *, is_http: bool = True
) -> Iterator[tuple[Served, dict[str, Any]]]:
    """Yield what is served, and the facts of the built file; a project is built once.

    `seconds`: how long a call may take.  `is_http`: a project is built with HTTP.
    """
    given = {**given, "http": True} if target.is_dir() and is_http else given
    with built_artifact(target, given) as path:
        facts = artifact_contents(path)
        facts["tools"] = facts["tools"] if is_list(facts.get("tools")) else []
        folder = (target if target.is_dir() else Path()).resolve()
        inputs = {tool["name"]: tool.get("inputSchema") for tool in facts["tools"]}
        yield Served(path.resolve(), folder, inputs, artifact_environment(target), seconds), facts


def selection_of(own: Mapping[str, Any], facts: Mapping[str, Any]) -> VariantSelection:
    """Return which ways of the cases run: a file that was built without HTTP has one transport."""
    transports = TRANSPORTS if own["transport"] == BOTH else (own["transport"],)
    if not has_http(facts):
        if own["transport"] == "http":
            raise click.UsageError(messages.BUILT_WITHOUT_HTTP.format(path="the file"))
        transports = TRANSPORTS[:1]
    return VariantSelection(transports, ERAS if own["era"] == BOTH else (own["era"],), own["is_first_only"])
