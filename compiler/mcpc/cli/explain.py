"""`mcpc explain`."""

from __future__ import annotations

import difflib
import json

import click

from mcpc.cli import report
from mcpc.diagnostics import CODES, explain


@click.command()
@click.argument("code", default="")
@report.JSON_OPTION
def command(code: str, output: str) -> None:
    """Explain the code of a problem, as `mcpc explain MCP110`; without a code, list them all."""
    wanted = code.upper()
    if not code:
        rows = {name: {"severity": row.severity, "title": row.title} for name, row in CODES.items()}
        lines = "".join(f"{name}  {row['severity']:<8} {row['title']}\n" for name, row in rows.items())
        click.echo(json.dumps(rows, indent=2) + "\n" if output == "json" else lines, nl=False)
        return
    if wanted not in CODES:
        near = difflib.get_close_matches(wanted, CODES, 1)
        hint = f"did you mean {near[0]}?" if near else "`mcpc explain` lists them all"
        raise click.UsageError(f"there is no code {code}; {hint}")
    row = CODES[wanted]
    facts = {"code": wanted, "severity": row.severity, "title": row.title, "text": explain(wanted)}
    click.echo(json.dumps(facts, indent=2) + "\n" if output == "json" else explain(wanted), nl=False)
