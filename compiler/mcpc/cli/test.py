"""`mcpc test`: the cases of a project's `tests` folder in every era over every transport; recording, and fuzzing."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from mcpc.cli import command_options, messages, report
from mcpc.cli.artifact import artifact_environment, built_artifact
from mcpc.cli.build_steps import atomic_write
from mcpc.cli.built_contents import artifact_contents
from mcpc.diagnostics import in_order
from mcpc.diagnostics.model import quoted
from mcpc.model.ir.uri_templates import TemplateError, parse_template
from mcpc.pack.manifest import REQUESTS
from mcpc.pack.prologue import start_of
from mcpc.workbench.testing import running
from mcpc.workbench.testing.case_files import (
    FOLDER,
    SUFFIXES,
    case_sources,
    read_cases,
    unanswerable,
    unknown_targets,
)
from mcpc.workbench.testing.coverage import completed_arguments, coverage, coverage_lines, percentage
from mcpc.workbench.testing.model import BOTH, ERAS, TRANSPORTS
from mcpc.workbench.testing.reports import FORMATS, Run, as_junit, gathered
from mcpc.workbench.testing.running import (
    OutputValidators,
    VariantSelection,
    failed_cases,
    is_read_only,
    remember_failed,
    run_cases,
)
from mcpc.workbench.testing.servers import Connection, Served, has_http
from mcpc.workbench.testing.writing import RecordingError, cases_of_log, updates, with_cases, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.reading import Source
    from mcpc.workbench.testing.model import Case, Fault


def default_jobs() -> int:
    """Return how many calls are made at a time: most of them wait for the server."""
    # A container or `taskset` may leave fewer processors than the machine has.
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(max(usable, FEWEST_JOBS), MOST_JOBS)


GATE_FAILED = 7
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
OWN_OPTIONS = (
    click.option("--cases", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR",
                 help="The folder of cases (default: `tests` of the project, or of this folder)."),
    click.option("-k", "--filter", "pattern", metavar="PATTERN", default="",
                 help="Run only cases whose name, file, tool, prompt or resource has a match of this expression."),
    click.option("--lf", "--last-failed", "is_last_failed", is_flag=True,
                 help="Run only cases that failed when they last ran; all if there is none."),
    click.option("--watch", "is_watched", is_flag=True, help="Run again whenever a file of the project changes."),
    click.option("-x", "--exitfirst", "is_first_only", is_flag=True, help="Stop at the first failure."),
    click.option("--era", type=click.Choice([*ERAS, BOTH]), default=BOTH, help="Call in this era only."),
    click.option("--transport", type=click.Choice([*TRANSPORTS, BOTH]), default=BOTH,
                 help="Call over this transport only."),
    click.option("-j", "--jobs", type=click.IntRange(1, 64), metavar="N", default=default_jobs,
                 help="Make N calls at a time, of those that only read (default: the number of processors, 4 to 16)."),
    click.option("--call-timeout", type=click.FloatRange(min=0, min_open=True), default=60.0, metavar="SECONDS",
                 help="How long one call may take (default: 60)."),
    click.option("--format", "output", type=click.Choice(sorted(FORMATS)), default="text", help="Format of the report"),
    click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write the results as JUnit, too."),
    click.option("--update", "is_updated", is_flag=True, help="Write what was found into the files of cases."),
    click.option("--coverage", "is_measured", is_flag=True, help="Show which definitions and branches have no case."),
    click.option("--min-coverage", type=click.FloatRange(0, 100), metavar="PERCENT",
                 help="Exit with 7 if fewer have a case."),
    click.option("--record", type=FILE, metavar="CALLLOG", help="Make cases of a call log, and run nothing."),
    click.option("-o", "--into", type=click.Path(path_type=Path), metavar="FILE",
                 help="The file that --record adds cases to (default: tests/recorded.yaml of the project)."),
    click.option("--redact", multiple=True, metavar="PATTERN", help="Hide what this matches, beside secrets."),
    click.option("--fuzz", "is_fuzzed", is_flag=True, help="Call read-only tools with arguments of their schemas."),
    click.option("--fuzz-tool", "fuzz_tools", multiple=True, metavar="NAME", help="Fuzz this tool, read-only or not."),
    click.option("--fuzz-all", "has_effects", is_flag=True, help="Fuzz all tools, read-only or not."),
    click.option("--seed", type=click.IntRange(min=0), default=0, metavar="N", help="Other arguments for --fuzz."),
    click.option("--examples", type=click.IntRange(min=1, max=100_000), default=100, metavar="N",
                 help="How many arguments --fuzz makes for a tool (default: 100)."),
)  # fmt: skip
OWN_NAMES = (
    *("is_last_failed", "is_watched"),
    *("cases", "pattern", "is_first_only", "era", "transport", "jobs", "call_timeout", "output", "junit", "is_updated"),
    *("is_measured", "min_coverage", "record", "into", "redact"),
    *("is_fuzzed", "fuzz_tools", "has_effects", "seed", "examples"),
)
"""The names of the options of this command, among those of a build."""


def own_options(command: Any) -> Any:
    """Add the options of this command."""
    for option in reversed(OWN_OPTIONS):
        command = option(command)
    return command


@command_options.command()
@command_options.TARGET_ARGUMENT
@own_options
@command_options.build_options
def command(target: Path, **given: Any) -> None:
    """Test TARGET, a project folder (this one by default) or a built file, with the cases of its `tests` folder.

    Every case runs in both eras of the protocol, over standard input and output and over HTTP.  Exit status 1: a case
    failed, fuzzing found a fault, or a file of cases has errors.
    """
    own = {name: given.pop(name) for name in OWN_NAMES}
    if own["is_watched"]:
        watch_tests(target)
    if own["record"] is not None:
        record_cases(target, own)
        return
    # Who says what to fuzz wants it fuzzed.
    own["is_fuzzed"] |= bool(own["fuzz_tools"]) or own["has_effects"]
    start = time.perf_counter()
    loaded = load_cases(target, own)
    refuse_faulty_cases(loaded, target, given, own)
    with served_target(target, given, own["call_timeout"], is_http=own["transport"] != "stdio") as (served, facts):
        run = run_all(loaded, served, facts, own)
        run = replace(run, faults=tuple(found_faults(served, facts, own, run)), command=repeat_command(target, own))
    run = replace(run, seconds=time.perf_counter() - start)
    items = coverage(facts, loaded.cases) if own["is_measured"] or own["min_coverage"] is not None else []
    run.notes.extend(coverage_lines(items) if items else ())
    write_results(run, own)
    if own["is_updated"]:
        update_files(run, loaded.folder)
    elif run.failed or run.faults:
        raise click.exceptions.Exit(FAILED)
    if own["min_coverage"] is not None and percentage(items) < own["min_coverage"]:
        click.echo(messages.COVERAGE_TOO_LOW.format(least=own["min_coverage"], found=percentage(items)), err=True)
        raise click.exceptions.Exit(GATE_FAILED)


def run_all(loaded: Loaded, served: Served, facts: Mapping[str, Any], own: Mapping[str, Any]) -> Run:
    """Return the results of all cases."""
    selection = selection_of(own, facts)
    check_targets(loaded, facts)
    outputs = OutputValidators({tool["name"]: tool.get("outputSchema") for tool in facts["tools"]})
    results = gathered(run_cases(loaded.cases, served, selection, outputs))
    remember_failed(loaded.folder, results)
    is_partial = (
        bool(results or own["is_fuzzed"]) and "http" not in selection.transports and own["transport"] != "stdio"
    )
    notes = [messages.TESTED_WITHOUT_HTTP] if is_partial else []
    alone = [each.case.name for each in results if each.passed_alone]
    notes += [messages.PASSED_ALONE.format(count=len(alone), names=quoted(alone[:5]))] if alone else []
    return Run(results, loaded.sources, 0.0, loaded.prefix, notes)


def watch_tests(target: Path) -> NoReturn:
    """Run this command without `--watch` again and again, until the user interrupts."""
    # The command's own words: each run is a process of its own, which reads the options again.
    words = [word for word in sys.argv[1:] if word != "--watch"]
    with suppress(KeyboardInterrupt):
        running.watch(target if target.is_dir() else Path(), words[1:], lambda: click.echo(messages.WATCHES, err=True))
    raise click.exceptions.Exit


def write_results(run: Run, own: Mapping[str, Any]) -> None:
    """Print the report, and write the file of JUnit."""
    click.echo(FORMATS[own["output"]](run), nl=False)
    if own["junit"] is not None:
        with atomic_write(own["junit"], as_junit(run).encode(), 0o666):
            pass


def found_faults(served: Served, facts: Mapping[str, Any], own: Mapping[str, Any], run: Run) -> list[Fault]:
    """Return the faults that fuzzing finds; what is left out is noted."""
    if not own["is_fuzzed"]:
        return []
    fuzzing = load_fuzzing()
    ways = selection_of(own, facts).selected
    plan = fuzzing.FuzzPlan(own["seed"], own["examples"], own["fuzz_tools"], own["has_effects"], ways)
    refuse_unknown_tools(own["fuzz_tools"], facts)
    tools, left_out = fuzzing.select_tools(facts["tools"], plan)
    run.notes.append(messages.FUZZED.format(count=len(tools), examples=plan.examples, seed=plan.seed, ways=len(ways)))
    if left_out:
        run.notes.append(messages.NOT_FUZZED.format(count=len(left_out), names=quoted(left_out[:5])))
    with Connection(served) as connection:
        return [fault for tool in tools for fault in fuzzing.fuzz_tool(tool, connection, plan)]


def load_fuzzing() -> Any:
    """Return the module that fuzzes; exit if Hypothesis, which it needs, is not installed."""
    try:
        return importlib.import_module("mcpc.workbench.testing.fuzzing")
    except ModuleNotFoundError as problem:
        # Any other module that is missing is a fault of this installation, which must not be blamed on Hypothesis.
        if (problem.name or "").partition(".")[0] != "hypothesis":
            raise
        raise click.UsageError(messages.HYPOTHESIS_EXPECTED) from None


def refuse_unknown_tools(names: tuple[str, ...], facts: Mapping[str, Any]) -> None:
    """Exit if a tool is to be fuzzed that the server does not have."""
    known = [tool["name"] for tool in facts["tools"]]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise click.UsageError(messages.UNKNOWN_TOOL.format(name=unknown[0], names=quoted(known[:8])))


def repeat_command(target: Path, own: Mapping[str, Any]) -> str:
    """Return the beginning of the command that finds a fault again; the name of the tool follows."""
    ways = "".join(f" --{name} {own[name]}" for name in ("era", "transport") if own[name] != BOTH)
    return f"mcpc test {target} --seed {own['seed']} --examples {own['examples']}{ways} --fuzz-tool"


def update_files(run: Run, folder: Path) -> None:
    """Write what was found into the files of cases."""
    texts, count = updates(run.results, run.sources)
    for path, text in texts.items():
        # All files of cases are directly in the folder, whatever comes before their names in reports.
        write_whole(folder / Path(path).name, text)
    rest = sum(len(each.failures) for each in run.failed) - count
    click.echo(messages.UPDATED.format(count=count, files=len(texts), rest=rest), err=True)
    if rest:
        raise click.exceptions.Exit(FAILED)


def record_cases(target: Path, own: Mapping[str, Any]) -> None:
    """Add the calls of a call log to a file of cases."""
    path = own["into"] or (target if target.is_dir() else Path()) / "tests/recorded.yaml"
    patterns = [compile_expression(each, "--redact") for each in own["redact"]]
    with own["record"].open("rb") as stream:
        cases = [*cases_of_log(stream, patterns)]
    if not cases:
        raise click.UsageError(messages.NO_CALLS.format(path=own["record"]))
    try:
        text = with_cases(path.read_text("utf-8") if path.exists() else "", cases)
    except (RecordingError, UnicodeDecodeError) as problem:
        raise click.UsageError(f"{path}: {problem}") from None
    path.parent.mkdir(exist_ok=True)
    write_whole(path, text)
    click.echo(messages.RECORDED.format(count=len(cases), path=path), err=True)


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
    requests = facts.get(REQUESTS, {})
    problems = (
        *unknown_targets(loaded.cases, offered_names(facts)),
        *unanswerable(loaded.cases, requests.get("tools", {}), requests.get("bases", {})),
    )
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
        bases = facts.get(REQUESTS, {}).get("bases", {})
        served = Served(path.resolve(), folder, inputs, artifact_environment(target), seconds, start_of(path), bases)
        yield served, facts


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
