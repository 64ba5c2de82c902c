"""`mcpc build`."""

from __future__ import annotations

import hashlib
import shlex
import time
from pathlib import Path
from typing import Any

import click

from mcpc.cli import report
from mcpc.cli.making import destination, make, write
from mcpc.diagnostics.formats.visible import visible
from mcpc.pack import first_line

LONGEST = 255
"""What Linux reads of a file's first line (127 bytes before 5.1; the line with `python3` is shorter)."""

WORTH_A_LINE = ("MCP712",)
"""Notes without which who starts the file for the first time would wonder."""


def one_word(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Refuse an interpreter that would not be one word of the first line."""
    if value is None:
        return None
    if not value or set(value) & set("\"'\\$#%") or any(map(str.isspace, value)) or not value.isprintable():
        raise click.BadParameter("expected a command or a path without spaces, quotes and other special characters")
    if len(first_line(value).encode()) > LONGEST:
        raise click.BadParameter(f"it would make the first line longer than the {LONGEST} bytes that are read of it")
    return value


@click.command()
@report.PROJECT
@click.option("-o", "--output", "target", type=click.Path(path_type=Path), default="server.pyz", show_default=True)
@click.option("--python", metavar="COMMAND", callback=one_word, help="The interpreter of the first line (python3).")
@click.option("--no-smoke", is_flag=True, help="Do not start the built file once before it is put in place.")
@click.option("--live", is_flag=True, hidden=True, help="Promise that lists change, as `mcpc dev` has it.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing of a build without problems.")
@report.build_options
@report.FORMAT_OPTION
def command(target: Path, output: str, no_smoke: bool, quiet: bool, **given: Any) -> None:
    """Compile PROJECT (a folder; this one by default) into one executable file.

    The file is written whole or not at all: with an error, one that is already there stays as it was.
    """
    started = time.monotonic()
    project = given.pop("project")
    place = destination(target)
    build = make(project, report.options_of(given), output, place)
    write(build, place, tried=not no_smoke)
    if quiet or output != "text":
        return
    offers = f"{report.offered(build.tools, build.prompts, build.resources)}, {len(build.data) / 1024:.0f} KiB"
    click.echo(f"{target}: {visible(build.name)} {visible(build.version)}, {offers}", err=True)
    click.echo(f"sha256 {hashlib.sha256(build.data).hexdigest()}  content {build.content_digest}", err=True)
    is_a_path = target.is_absolute() or target.parts[0] == ".."
    started_as = shlex.quote(str(target) if is_a_path else f"./{target}")
    took = f"built in {time.monotonic() - started:.2f} s"
    click.echo(f"{took}; try `{started_as} list` or `{started_as} --help`", err=True)
    for note in build.diagnostics:
        if note.code in WORTH_A_LINE:
            click.echo(f"note: {visible(note.message)}: {visible(note.hint)}", err=True)
