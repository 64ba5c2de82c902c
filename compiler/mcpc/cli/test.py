"""`mcpc test`: the cases of a project's `tests` folder, in every era over every transport, and fuzzing."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages, report
from mcpc.cli.artifact import artifact_contents, artifact_environment, built_artifact
from mcpc.cli.build_steps import atomic_write
from mcpc.diagnostics import in_order
from mcpc.diagnostics.suggestions import quoted
from mcpc.testing.case_files import FOLDER, SUFFIXES, case_sources, read_cases, unknown_targets
from mcpc.testing.model import BOTH, ERAS, TRANSPORTS
from mcpc.testing.reports import FORMATS, Run, as_junit
from mcpc.testing.results import gathered
from mcpc.testing.running import OutputValidators, VariantSelection, run_cases
from mcpc.testing.servers import Served

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.sources import Source
    from mcpc.testing.model import Case

FAILED, GATE_FAILED = 1, 7
LISTS = {"tool": "tools", "prompt": "prompts"}
"""The lists of a built file that name what cases call."""
OWN_OPTIONS = (
    click.option("--cases", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR",
                 help="The folder of cases (default: `tests` of the project, or of this folder)."),
    click.option("--filter", "pattern", metavar="PATTERN", default="",
                 help="Run only cases whose name, file, tool, prompt or resource has a match of this expression."),
    click.option("-x", "--exitfirst", "is_first_only", is_flag=True, help="Stop at the first failure."),
    click.option("--era", type=click.Choice([*ERAS, BOTH]), default=BOTH, help="Run cases in this era only."),
    click.option("--transport", type=click.Choice([*TRANSPORTS, BOTH]), default=BOTH,
                 help="Run cases over this transport only."),
    click.option("--call-timeout", type=click.FloatRange(min=0, min_open=True), default=60.0, metavar="SECONDS",
                 help="How long one call may take (default: 60)."),
    click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write the results as JUnit, too."),
    click.option("--format", "output", type=click.Choice(sorted(FORMATS)), default="text", help="Format of the report"),
)  # fmt: skip


def own_options(command: Any) -> Any:
    """Add the options of this command."""
    for option in reversed(OWN_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Loaded:
    """The cases of a folder and their files.  `prefix`: of their paths, from the working folder."""

    cases: list[Case]
    sources: Mapping[str, Source]
    prefix: str


@command_options.command()
@click.argument("target", type=click.Path(path_type=Path, exists=True), default=Path())
@own_options
@command_options.build_options
def command(target: Path, **given: Any) -> None:
    """Test TARGET, a project folder (this one by default) or a built file, with the cases of its `tests` folder.

    Every case runs in both eras of the protocol, over standard input and output and over HTTP.  Exit status 1: a case
    failed, or a file of cases has errors.
    """
    own = {name: given.pop(name) for name in OWN_NAMES}
    start = time.perf_counter()
    loaded = load_cases(target, own)
    with served_target(target, given, own["call_timeout"]) as (served, facts):
        selection = selection_of(own, facts)
        check_targets(loaded, facts)
        outputs = OutputValidators({tool["name"]: tool.get("outputSchema") for tool in facts["tools"]})
        outcomes = [*run_cases(loaded.cases, served, selection, outputs)]
    notes = () if "http" in selection.transports or own["transport"] == "stdio" else (messages.TESTED_WITHOUT_HTTP,)
    run = Run(gathered(outcomes), loaded.sources, time.perf_counter() - start, loaded.prefix, notes)
    click.echo(FORMATS[own["output"]](run), nl=False)
    if own["junit"] is not None:
        with atomic_write(own["junit"], as_junit(run).encode(), 0o666):
            pass
    if run.failed:
        raise click.exceptions.Exit(FAILED)


OWN_NAMES = [parameter.name for parameter in command.params if parameter.name in
             ("cases", "pattern", "is_first_only", "era", "transport", "call_timeout", "junit", "output")]  # fmt: skip
"""The names of the options of this command, among those of a build."""


def load_cases(target: Path, own: Mapping[str, Any]) -> Loaded:
    """Return the selected cases; report what is wrong with their files, and exit."""
    base = target if target.is_dir() else Path()
    folder = own["cases"] or base / FOLDER
    name = f"{FOLDER}/" if own["cases"] is None else ""
    sources, problems = case_sources(folder, name)
    cases, found = read_cases(sources)
    report_problems((*problems, *found), sources, base if name else folder)
    prefix = report.relative_to_cwd(base if name else folder)
    loaded = Loaded(cases, sources, "" if prefix == "." else f"{prefix}/")
    if not cases:
        raise click.UsageError(messages.NO_CASES.format(folder=folder, endings=quoted(SUFFIXES, " or ")))
    return replace(loaded, cases=filtered(cases, own["pattern"]))


def filtered(cases: list[Case], pattern: str) -> list[Case]:
    """Return the cases that an expression selects; exit if there is none."""
    try:
        expression = re.compile(pattern, re.IGNORECASE)
    except re.error as problem:
        raise click.UsageError(messages.WRONG_EXPRESSION.format(option="--filter", problem=problem)) from None
    found = [case for case in cases if any(map(expression.search, (case.name, case.file, case.target)))]
    if not found:
        raise click.UsageError(messages.NO_CASE_SELECTED.format(pattern=pattern, count=len(cases)))
    return found


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
def served_target(target: Path, given: dict[str, Any], seconds: float) -> Iterator[tuple[Served, dict[str, Any]]]:
    """Yield what is served, and the facts of the built file; a project is built once, with HTTP."""
    given = {**given, "http": True} if target.is_dir() else given
    with built_artifact(target, given) as path:
        facts = artifact_contents(path)
        facts["tools"] = facts["tools"] if is_list(facts.get("tools")) else []
        folder = (target if target.is_dir() else Path()).resolve()
        inputs = {tool["name"]: tool.get("inputSchema") for tool in facts["tools"]}
        yield Served(path.resolve(), folder, inputs, artifact_environment(target), seconds), facts


def selection_of(own: Mapping[str, Any], facts: Mapping[str, Any]) -> VariantSelection:
    """Return which ways of the cases run: a file that was built without HTTP has one transport."""
    transports = TRANSPORTS if own["transport"] == BOTH else (own["transport"],)
    if not (facts.get("options") or {}).get("http"):
        if own["transport"] == "http":
            raise click.UsageError(messages.BUILT_WITHOUT_HTTP.format(path="the file"))
        transports = TRANSPORTS[:1]
    return VariantSelection(transports, ERAS if own["era"] == BOTH else (own["era"],), own["is_first_only"])
