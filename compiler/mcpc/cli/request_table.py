"""The requests of tools: of a project with their places, and with what was left out of its API documents and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import messages
from mcpc.cli.built_contents import artifact_contents
from mcpc.diagnostics.formats.visible import visible, visible_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from mcpc.pipeline import CheckResult

    Row = dict[str, Any]

LEFT_OUT = ("MCP171", "MCP174")
"""What is reported of an operation without a tool, and of a pattern that means none."""
FOLLOWS = "left out:"


def show_requests(target: Path, given: dict[str, Any], output: str) -> None:
    """Print the table of a project, which is not built, or of a built file, which does not know what was left out."""
    if target.is_dir():
        from mcpc.cli import report  # noqa: PLC0415 - these modules are only imported to read a project
        from mcpc.cli.build_steps import analyse_arguments  # noqa: PLC0415

        analysed, options = analyse_arguments({**given, "project": target})
        table = table_of(analysed)
        report.exit_if_refused(analysed.diagnostics, options)
    else:
        from mcpc.cli.artifact import require_artifact  # noqa: PLC0415 - as above

        require_artifact(target)
        lines = artifact_contents(target).get("requests", {}).get("tools", {})
        table = {"requests": [{"tool": tool, "request": line} for tool, line in lines.items()]}
    if not table["requests"] and not table.get("leftOut"):
        raise click.UsageError(messages.NO_REQUESTS.format(path=target))
    click.echo(visible_json(table) if output == "json" else "\n".join(map(visible, text_of(table))))


def table_of(analysed: CheckResult) -> dict[str, list[Row]]:
    """Return the requests of a project, and what was left out."""
    from mcpc.model.ir.handlers import HttpHandler  # noqa: PLC0415 - as above

    sources = analysed.sources.values()
    tools = () if analysed.server is None else analysed.server.tools
    requests: list[Row] = [
        {"tool": tool.name, "request": tool.handler.line, "place": tool.handler.span.place_in(sources)}
        for tool in tools
        if isinstance(tool.handler, HttpHandler)
    ]
    left_out: list[Row] = [
        {"place": "" if each.span is None else each.span.place_in(sources), "why": each.message, "code": each.code}
        for each in analysed.diagnostics
        if each.code in LEFT_OUT
    ]
    return {"requests": requests, "leftOut": left_out}


def text_of(table: Mapping[str, list[Row]]) -> Iterator[str]:
    """Yield the lines of a table: the operation, its tool, where it stands."""
    rows = table["requests"]
    widths = [max((len(row[key]) for row in rows), default=0) for key in ("request", "tool")]
    for row in rows:
        line = f"{row['request']:<{widths[0]}}  {row['tool']:<{widths[1]}}  {row.get('place', '')}"
        yield line.rstrip()
    if table.get("leftOut"):
        yield FOLLOWS
        for row in table["leftOut"]:
            yield f"  {row['place']}: {row['why']} ({row['code']})"
