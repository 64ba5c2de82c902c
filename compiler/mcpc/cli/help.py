"""`mcpc help`: what a command does, and what a diagnostic code means."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING

import click

from mcpc.cli import command_options, messages
from mcpc.cli.commands import COMMANDS, OTHERS, SECTIONS, SUBCOMMANDS, write_section
from mcpc.diagnostics import CODES, explain
from mcpc.diagnostics.model import nearest
from mcpc.release.scan.model import CODES as RISK_CODES
from mcpc.release.scan.model import explain_risk

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE_WIDTH = 120
"""Width of the lines in the pages' sources."""
FORMATS_CODE = "MCP009"
"""The code whose page lists the formats of projects."""
LIST_ITEM = re.compile(r"\n(?=- )")
"""Matches the beginning of a list item."""


CODE_LIST, ALL = "codes", "all"


def topics(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the topics that begin as what is typed, for a shell."""
    names = [name for name in (ALL, CODE_LIST, *COMMANDS) if name.startswith(incomplete)]
    return names + [code for code in (*CODES, *RISK_CODES) if code.startswith(incomplete.upper())]


@click.command()
@click.argument("topic", nargs=-1, shell_complete=topics)
@command_options.JSON_OPTION
@click.pass_context
def command(ctx: click.Context, /, topic: tuple[str, ...], output: str) -> None:
    """Explain TOPIC: a command (`mcpc help build`) or a diagnostic code (`mcpc help MCP110`).

    `mcpc help all` lists every command, `mcpc help codes` every code.
    """
    name = " ".join(topic)
    top = ctx.find_root()
    if name == CODE_LIST:
        put_codes(output)
    elif name == ALL:
        click.echo(every_command(top))
    elif not topic:
        click.echo(top.get_help())
    elif topic[0] in COMMANDS:
        explain_command(top, topic)
    else:
        explain_code(name, output)


def every_command(top: click.Context) -> str:
    """Return the list of all commands, with those of each group below it."""
    formatter = top.make_formatter()
    for title, rows in {**SECTIONS, "More": OTHERS}.items():
        lines = {}
        for name, words in rows.items():
            lines[name] = words
            lines |= {f"  {each}": line for each, line in SUBCOMMANDS.get(name, {}).items()}
        write_section(formatter, title, lines)
    return formatter.getvalue().strip("\n")


def explain_command(top: click.Context, names: Sequence[str]) -> None:
    """Print the help of a command."""
    context = top
    for name in names:
        if not isinstance(context.command, click.Group):
            raise click.UsageError(messages.UNKNOWN_COMMAND.format(name=" ".join(names)))
        subcommand = context.command.get_command(context, name)
        if subcommand is not None:
            context = click.Context(subcommand, context, name, help_option_names=context.help_option_names)
    click.echo(context.get_help())


def put_codes(output: str) -> None:
    """Print every code with its severity and title."""
    rows = {name: {"severity": row.severity, "title": row.title} for name, row in CODES.items()}
    rows |= {name: {"severity": risk.risk.value, "title": risk.title} for name, risk in RISK_CODES.items()}
    lines = "".join(f"{name}  {row['severity']:<8} {row['title']}\n" for name, row in rows.items())
    click.echo(json.dumps(rows, indent=2) + "\n" if output == "json" else lines, nl=False)


def explain_code(code: str, output: str) -> None:
    """Print the page of a code."""
    wanted = code.upper()
    if wanted in RISK_CODES:
        risk, text = RISK_CODES[wanted], explain_risk(wanted)
        facts = {"code": wanted, "severity": risk.risk.value, "title": risk.title, "text": text}
    elif wanted in CODES:
        row = CODES[wanted]
        text = explain(wanted) + (formats() if wanted == FORMATS_CODE else "")
        facts = {"code": wanted, "severity": row.severity, "title": row.title, "text": text}
    else:
        # Codes are in capitals, commands are not.
        near = nearest(wanted, [*CODES, *RISK_CODES]) or nearest(code, COMMANDS)
        hint = f"did you mean {near}?" if near else "`mcpc help all` lists commands, `mcpc help codes` codes"
        raise click.UsageError(messages.UNKNOWN_TOPIC.format(topic=code, hint=hint))
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
            # An option such as `--fail-on` stays whole.
            break_on_hyphens=False,
        )
        for item in items
    )
