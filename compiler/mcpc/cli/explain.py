"""`mcpc explain`."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap

import click

from mcpc.cli import command_options, messages
from mcpc.diagnostics import CODES, explain
from mcpc.diagnostics.suggestions import nearest
from mcpc.release.scan.codes import CODES as RISK_CODES
from mcpc.release.scan.codes import explain_risk

PAGE_WIDTH = 120
"""Width of the lines in the pages' sources."""
FORMATS_CODE = "MCP009"
"""The code whose page lists the formats of projects."""
LIST_ITEM = re.compile(r"\n(?=- )")
"""Matches the beginning of a list item."""


def matching_codes(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the codes that begin as what is typed, for a shell."""
    return [code for code in (*CODES, *RISK_CODES) if code.startswith(incomplete.upper())]


@click.command()
@click.argument("code", default="", shell_complete=matching_codes)
@command_options.JSON_OPTION
def command(code: str, output: str) -> None:
    """Explain a diagnostic code, for example `mcpc explain MCP110`; without a code, list all codes."""
    wanted = code.upper()
    if not code:
        rows = {name: {"severity": row.severity, "title": row.title} for name, row in CODES.items()}
        rows |= {name: {"severity": risk.risk.value, "title": risk.title} for name, risk in RISK_CODES.items()}
        lines = "".join(f"{name}  {row['severity']:<8} {row['title']}\n" for name, row in rows.items())
        click.echo(json.dumps(rows, indent=2) + "\n" if output == "json" else lines, nl=False)
        return
    if wanted in RISK_CODES:
        risk, text = RISK_CODES[wanted], explain_risk(wanted)
        facts = {"code": wanted, "severity": risk.risk.value, "title": risk.title, "text": text}
        click.echo(json.dumps(facts, indent=2) + "\n" if output == "json" else wrap_page(text), nl=False)
        return
    if wanted not in CODES:
        near = nearest(wanted, [*CODES, *RISK_CODES])
        hint = f"did you mean {near}?" if near else "run `mcpc explain` for a list"
        raise click.UsageError(messages.UNKNOWN_CODE.format(code=code, hint=hint))
    row = CODES[wanted]
    text = explain(wanted) + (formats() if wanted == FORMATS_CODE else "")
    facts = {"code": wanted, "severity": row.severity, "title": row.title, "text": text}
    click.echo(json.dumps(facts, indent=2) + "\n" if output == "json" else wrap_page(text), nl=False)


def formats() -> str:
    """Return the formats of projects, and the files by which each is recognised, as a list."""
    from mcpc.frontends import FRONTENDS  # noqa: PLC0415 - one code needs it

    return "\n" + "".join(f"- {frontend.name}: {frontend.looks_for}\n" for frontend in FRONTENDS)


def wrap_page(page: str) -> str:
    """Return a page wrapped to a narrower terminal; indented lines stay as they are."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PAGE_WIDTH
    if width >= PAGE_WIDTH:
        return page
    paragraphs = page.removesuffix("\n").split("\n\n")
    return "\n\n".join(item if item.startswith(" ") else fill_paragraph(item, width) for item in paragraphs) + "\n"


def fill_paragraph(paragraph: str, width: int) -> str:
    """Return a paragraph or list wrapped to a width, each item on a new line; words are not cut."""
    items = LIST_ITEM.split(paragraph)
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
