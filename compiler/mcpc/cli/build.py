"""`mcpc build`."""

from __future__ import annotations

import hashlib
import json
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import report
from mcpc.cli.making import destination, found_or_made, write
from mcpc.diagnostics.formats import located
from mcpc.diagnostics.formats.blocks import BLOCKS
from mcpc.diagnostics.formats.visible import visible

if TYPE_CHECKING:
    from mcpc.cache import Build

WORTH_A_LINE = ("MCP712",)
"""Notes without which who starts the file for the first time would wonder."""

HEAVY = 1_000_000
"""A note about more bytes of the built file than that is told at a build."""


def one_command(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Refuse what is no command and no absolute path of an interpreter."""
    if value is None:
        return None
    if not value or set(value) & set("\"'\\$#%`") or any(map(str.isspace, value)) or not value.isprintable():
        raise click.BadParameter("expected a command or a path without spaces, quotes and other special characters")
    if "/" in value and not value.startswith("/"):
        raise click.BadParameter("expected a command, or an absolute path: the file is started from any folder")
    return value


@report.command()
@report.PROJECT
@click.option("-o", "--output", "target", type=click.Path(path_type=Path), default="server.pyz", show_default=True)
@click.option("--python", metavar="COMMAND", callback=one_command, help="The Python that starts the file (any found).")
@click.option("--no-smoke", is_flag=True, help="Do not start the built file once before it is put in place.")
@click.option("--live", is_flag=True, hidden=True, help="Promise that lists change, as `mcpc dev` has it.")
@click.option("--blocks", type=int, hidden=True, help="Report problems as `mcpc dev` reads them, for so many columns.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing of a build without problems.")
@report.build_options
@report.FORMAT_OPTION
def command(target: Path, output: str, no_smoke: bool, quiet: bool, **given: Any) -> None:
    """Compile PROJECT (a folder; this one by default) into one executable file.

    The file is written whole or not at all: with an error, one that is already there stays as it was.
    """
    started = time.monotonic()
    project, width = given.pop("project"), given.pop("blocks")
    output = output if width is None else f"{BLOCKS}{width}"
    place = destination(target)
    build, files = found_or_made(project, report.options_of(given), output, place, quiet)
    told = report.worth_telling(build.diagnostics, output, heavy=0 if quiet else HEAVY)
    if output != "json":
        report.report(told, files, output, project)
    write(build, place, tried=not no_smoke)
    if output == "json":
        problems = json.loads(report.rendered(*located(told, files, report.from_here(project)), output))
        click.echo(json.dumps({**problems, "built": facts(build, target)}, indent=2, ensure_ascii=False))
    elif output == "text" and not quiet:
        say(build, target, time.monotonic() - started)


def facts(build: Build, target: Path) -> dict[str, Any]:
    """Return what a program wants to know of a file that was built."""
    return {
        "path": str(target),
        "name": build.name,
        "version": build.version,
        "sha256": hashlib.sha256(build.data).hexdigest(),
        "contentDigest": build.content_digest,
        "bytes": len(build.data),
        "tools": build.tools,
        "prompts": build.prompts,
        "resources": build.resources,
    }


def say(build: Build, target: Path, seconds: float) -> None:
    """Tell a person what was built; the last line counts what is in it."""
    for note in build.diagnostics:
        if note.code in WORTH_A_LINE:
            click.echo(f"note: {visible(note.message)}: {visible(note.hint)}", err=True)
    is_a_path = target.is_absolute() or target.parts[0] == ".."
    started_as = shlex.quote(str(target) if is_a_path else f"./{target}")
    click.echo(f"{visible(build.name)} {visible(build.version)}; try `{started_as} list`", err=True)
    click.echo(f"sha256 {hashlib.sha256(build.data).hexdigest()}", err=True)
    offers = report.offered(build.tools, build.prompts, build.resources)
    tick = click.style("built", fg="green", bold=True) if report.colourful() else "built"
    size = f"{len(build.data) / 1_000_000:.1f} MB"
    click.echo(f"{tick} {target}: {offers}, {size} in {seconds:.1f} s", err=True)
