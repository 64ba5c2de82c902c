"""`mcpc bench`: measure a built file, compare it with a budget, write a budget."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.artifact import built_artifact, start_command
from mcpc.cli.built_contents import artifact_contents
from mcpc.cli.diff import GATE_FAILED, write_text_file
from mcpc.cli.report import FINDINGS, TOOL_ERROR, UNREACHABLE
from mcpc.cli.report import report as report_diagnostics
from mcpc.diagnostics import has_errors
from mcpc.diagnostics.formats.visible import visible, visible_json
from mcpc.diagnostics.suggestions import did_you_mean
from mcpc.reading import Source
from mcpc.workbench.bench import budget, report
from mcpc.workbench.bench.measuring import measure
from mcpc.workbench.bench.model import TRANSPORTS, BenchError, Call, Plan, ToolFailedError
from mcpc.workbench.testing.case_files import case_sources, read_cases
from mcpc_runtime.tools.clients.request import needs_python

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.workbench.bench.budget import Limit
    from mcpc.workbench.bench.model import Measure
    from mcpc.workbench.testing.model import Case

HEADROOM = 1.3


@command_options.command()
@command_options.TARGET_ARGUMENT
@click.option("--tool", metavar="NAME", help="Measure calls of this tool.")
@click.option("--arguments", default="{}", metavar="JSON|@FILE", help="Arguments of the calls.")
@click.option(
    "--cases",
    type=click.Path(path_type=Path, exists=True),
    metavar="PATH",
    help="Measure the calls of these test cases instead: a file, or a folder of files.",
)
@click.option("--calls", "count", type=click.IntRange(1), default=200, show_default=True, help="Number of calls.")
@click.option("--starts", type=click.IntRange(1), default=11, show_default=True, help="Number of starts.")
@click.option("--concurrency", type=click.IntRange(1, 256), default=8, show_default=True, help="Calls at once.")
@click.option("--transport", type=click.Choice(TRANSPORTS), default=TRANSPORTS[0], show_default=True)
@click.option(
    "--budget",
    "limits_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Exit with 7 if a measure is over its limit in FILE (TOML or JSON).",
)
@click.option("--save", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write a budget to FILE.")
@click.option(
    "--headroom",
    type=click.FloatRange(min=1),
    default=HEADROOM,
    show_default=True,
    help="How many times what was found a saved budget allows.",
)
@command_options.build_options
@command_options.JSON_OPTION
def command(target: Path, output: str, **given: Any) -> None:
    """Measure TARGET, a project (this one by default) or a built file: size, start, lists, calls, memory.

    Every measure is compared with a floor of the same run: a bare Python, and one that returns what it is sent.
    Without --tool or --cases no call is measured, because a call may change something.
    """
    own = {name: given.pop(name) for name in ("tool", "arguments", "count", "starts", "concurrency", "transport")}
    limits_file, save, headroom = (given.pop(name) for name in ("limits_file", "save", "headroom"))
    limits = read_limits(limits_file) if limits_file else ()
    calls, folder = chosen_calls(own.pop("tool"), own.pop("arguments"), given.pop("cases"))
    with built_artifact(target, given) as path:
        facts = artifact_contents(path)
        check_tools(facts, calls)
        plan = Plan(server_command(path), calls=calls, folder=folder, **own)
        measures = measured(path, plan)
    found = budget.breaches(limits, measures)
    put(f"{facts['name']} {facts['version']}", plan, (measures, limits, found), output)
    if save is not None:
        write_text_file(save, budget.budget_text(measures, headroom))
        click.echo(messages.BUDGET_WRITTEN.format(path=save), err=True)
    exit_if_over(limits, measures, found)


def read_limits(path: Path) -> tuple[Limit, ...]:
    """Return the limits of a budget; exit with its mistakes."""
    data = path.read_bytes()
    limits, problems = budget.read_budget(path.as_posix(), data)
    if problems:
        report_diagnostics(problems, {path.as_posix(): Source(path.as_posix(), data)}, "text")
        raise click.exceptions.Exit(FINDINGS)
    return limits


def chosen_calls(tool: str | None, arguments: str, cases: Path | None) -> tuple[tuple[Call, ...], str | None]:
    """Return the calls of the options, and the folder in which the server runs: that above the cases' folder."""
    if cases is None:
        return given_calls(tool, arguments), None
    if tool is not None:
        raise click.UsageError(messages.TOOL_OR_CASES)
    place = cases.resolve()
    return calls_of_cases(place, str(cases)), str(place.parent if place.is_dir() else place.parent.parent)


def calls_of_cases(place: Path, shown: str) -> tuple[Call, ...]:
    """Return the calls of cases that need nothing but arguments, and have to succeed; exit with the files' mistakes."""
    if place.is_dir():
        sources, problems = case_sources(place, f"{shown}/")
    else:
        sources, problems = {shown: Source(shown, place.read_bytes())}, ()
    cases, more = read_cases(sources)
    if has_errors((*problems, *more)):
        report_diagnostics((*problems, *more), sources, "text")
        raise click.exceptions.Exit(FINDINGS)
    calls = tuple(Call(case.target, case.arguments) for case in cases if is_measurable(case))
    if not calls:
        raise click.UsageError(messages.CASES_EXPECTED.format(path=shown))
    return calls


def is_measurable(case: Case) -> bool:
    """Tell whether a case is a plain call of a tool that has to succeed."""
    is_failure = case.expect is not None and case.expect.get("error") is not None
    return case.kind == "tool" and not (is_failure or case.answers or case.environment)


def given_calls(tool: str | None, arguments: str) -> tuple[Call, ...]:
    """Return the call of the options."""
    if tool is None:
        if arguments != "{}":
            raise click.UsageError(messages.ARGUMENTS_WITHOUT_TOOL)
        return ()
    try:
        text = Path(arguments[1:]).read_text("utf-8") if arguments.startswith("@") else arguments
        value = json.loads(text)
    except (OSError, ValueError, RecursionError) as problem:
        raise click.UsageError(messages.ARGUMENTS_EXPECTED.format(problem=problem)) from None
    if not isinstance(value, dict):
        raise click.UsageError(messages.ARGUMENTS_EXPECTED.format(problem=f"it is {text[:40]}"))
    return (Call(tool, value),)


def check_tools(facts: dict[str, Any], calls: Sequence[Call]) -> None:
    """Refuse tools that the file does not have; lists made at run time are not known here."""
    tools = facts.get("tools")
    names = [tool["name"] for tool in tools] if isinstance(tools, list) else []
    for call in calls:
        if names and call.tool not in names:
            hint = did_you_mean(call.tool, names)
            raise click.UsageError(messages.UNKNOWN_TOOL.format(name=call.tool) + (f"; {hint}" if hint else ""))


def server_command(path: Path) -> list[str]:
    """Return the command that starts a built file: by this Python, or by itself if it is a program."""
    return start_command(path) if needs_python(str(path)) else [str(path.resolve())]


def measured(path: Path, plan: Plan) -> tuple[Measure, ...]:
    """Return the measures of a file; exit with a message if it cannot be measured."""
    try:
        return measure(plan, path.stat().st_size)
    except ToolFailedError as problem:
        raise failed(path.name, problem, TOOL_ERROR) from None
    except BenchError as problem:
        raise failed(path.name, problem, UNREACHABLE) from None


def failed(name: str, problem: BenchError, status: int) -> click.exceptions.Exit:
    """Print why something could not be measured; return the exit with a status."""
    click.echo(f"Error: {messages.NOT_MEASURED.format(name=name, problem=visible(str(problem)))}", err=True)
    return click.exceptions.Exit(status)


def put(
    name: str, plan: Plan, result: tuple[Sequence[Measure], Sequence[Limit], Sequence[budget.Breach]], output: str
) -> None:
    """Print a result."""
    if output == "json":
        click.echo(visible_json({"server": name, "transport": plan.transport, **report.as_json(*result)}))
        return
    what = f"{plan.starts} starts"
    if plan.calls:
        tools = ", ".join(dict.fromkeys(shlex.quote(call.tool) for call in plan.calls))
        what += f", {plan.count} calls of {tools}, {plan.concurrency} at once"
    click.echo(visible(f"{name} over {plan.transport}: {what}"))
    click.echo(report.table(*result), nl=False)


def exit_if_over(limits: Sequence[Limit], measures: Sequence[Measure], found: Sequence[budget.Breach]) -> None:
    """Exit with the status of a gate if a measure is over its limit, or was not measured."""
    missing = budget.unmeasured(limits, measures)
    for breach in found:
        click.echo(messages.OVER_BUDGET.format(line=report.breach_line(breach)), err=True)
    for limit in missing:
        needs_tool = limit.name.startswith("call.") or limit.name == "throughput"
        why = ": name a tool with --tool" if needs_tool else ": this system does not tell it"
        click.echo(messages.NOT_MEASURED_LIMIT.format(name=limit.name, why=why), err=True)
    if found or missing:
        raise click.exceptions.Exit(GATE_FAILED)
