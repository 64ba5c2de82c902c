"""`mcpc explain`."""

from __future__ import annotations

import difflib
import json
import re
import shutil
import sys
import textwrap

import click

from mcpc.cli import report
from mcpc.diagnostics import CODES, explain

WRITTEN = 120
"""So wide pages are written."""
ITEM = re.compile(r"\n(?=- )")
"""Where an item of a list begins."""


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
    click.echo(json.dumps(facts, indent=2) + "\n" if output == "json" else wrapped(explain(wanted)), nl=False)


def wrapped(page: str) -> str:
    """Return a page as wide as the terminal, if that is narrower than the page; indented lines stay as they are."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WRITTEN
    if width >= WRITTEN:
        return page
    paragraphs = page.removesuffix("\n").split("\n\n")
    return "\n\n".join(one if one.startswith(" ") else filled(one, width) for one in paragraphs) + "\n"


def filled(paragraph: str, width: int) -> str:
    """Return a paragraph, or a list with a line for each item, in lines of this width; no word is cut."""
    items = ITEM.split(paragraph)
    return "\n".join(
        textwrap.fill(
            item,
            width,
            subsequent_indent="  " if item.startswith("- ") else "",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for item in items
    )
