"""Output of the commands on standard error and output: diagnostics, progress, and counts."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mcpc.cli import messages
from mcpc.diagnostics import Severity, has_errors
from mcpc.diagnostics.formats import FORMATS, relocate_paths, render_text
from mcpc.diagnostics.formats.text import BLOCKS, as_blocks
from mcpc.diagnostics.formats.visible import visible
from mcpc.options import ANY_SYSTEM, COMMON

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.diagnostics.formats import SourceText
    from mcpc.options import Options
    from mcpc.reading import Source

SUCCESS, FINDINGS, USAGE, UNREACHABLE, WRONG_FILE, NOT_RUNNABLE = 0, 1, 2, 4, 6, 8
REFUSED_LOCKS, UNREADABLE_LOCKS = ("MCP422",), ("MCP414",)
WIDTH = 80
PROGRESS_DELAY_SECONDS = 1.0
"""A build that takes longer than this prints its current stage."""


def report(diagnostics: Diagnostics, sources: Mapping[str, Source], output: str, project: Path | None = None) -> None:
    """Print diagnostics: as text on standard error, in any other format on standard output.

    `project`: the project's folder; files are named relative to the working folder.
    """
    diagnostics, named = relocate_paths(diagnostics, sources, "" if project is None else relative_to_cwd(project))
    if output != "text":
        click.echo(render_machine_format(diagnostics, named, output), nl=False)
    elif diagnostics:
        width = shutil.get_terminal_size().columns if sys.stderr.isatty() else 0
        click.echo(render_text(diagnostics, named, colour=has_colours(), width=width), nl=False, err=True)


def render_machine_format(diagnostics: Diagnostics, sources: Mapping[str, SourceText], output: str) -> str:
    """Return the diagnostics in a format for programs."""
    if output.startswith(BLOCKS):
        return as_blocks(diagnostics, sources, int(output.removeprefix(BLOCKS)))
    if output == "sarif":
        return FORMATS[output](diagnostics, sources, Path.cwd().as_uri() + "/")
    return FORMATS[output](diagnostics, sources)


def relative_to_cwd(project: Path) -> str:
    """Return a project's folder relative to the working folder, or its absolute path on another drive."""
    place = os.path.realpath(project)
    with suppress(ValueError):  # on Windows, for another drive
        place = os.path.relpath(place, os.path.realpath(Path.cwd()))
    return Path(place).as_posix()


def notable_diagnostics(diagnostics: Diagnostics, output: str, heavy: int = 0) -> Diagnostics:
    """Return the diagnostics that a successful build prints: no notes, which `mcpc check` prints.

    `heavy`: notes about more than this number of bytes of the built file are included; 0 for none.
    """
    if output != "text" and not output.startswith(BLOCKS):
        return diagnostics
    return tuple(found for found in diagnostics if found.severity is not Severity.NOTE or 0 < heavy < found.size)


def count_definitions(tools: int, prompts: int, resources: int) -> str:
    """Return the numbers of tools, prompts and resources as text; resources only if there are any."""
    counts = {"tool": tools, "prompt": prompts, **({"resource": resources} if resources else {})}
    return ", ".join(f"{count} {name}" if count == 1 else f"{count} {name}s" for name, count in counts.items())


def has_colours() -> bool:
    """Tell whether standard error shows colours (https://no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stderr.isatty()


def exit_if_refused(diagnostics: Diagnostics, options: Options) -> None:
    """Exit if a diagnostic fails the build: with status 6 for a lock that is refused, else with 1."""
    if has_errors(diagnostics, strict=options.strict):
        raise click.exceptions.Exit(refusal_status(diagnostics, options))


def decisive(diagnostics: Diagnostics, options: Options) -> Diagnostics:
    """Return the diagnostics of a build that are reported: a refused lock alone, since all others follow from it."""
    refused = tuple(found for found in diagnostics if found.code in (*REFUSED_LOCKS, *UNREADABLE_LOCKS))
    return refused[:1] if refused and options.locked else diagnostics


def refusal_status(diagnostics: Diagnostics, options: Options) -> int:
    """Return the exit status of a build that diagnostics refuse."""
    codes = (*REFUSED_LOCKS, *(UNREADABLE_LOCKS if options.locked else ()))
    return WRONG_FILE if any(found.code in codes for found in diagnostics) else FINDINGS


def refuse_unimported(options: Options, diagnostics: Diagnostics) -> None:
    """Exit if project files were not imported although their definitions depend on it."""
    if not options.imports and any(problem.code == "MCP716" for problem in diagnostics):
        raise click.UsageError(messages.PROJECT_MUST_BE_IMPORTED)


@contextmanager
def progress_reporter(quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield a function that receives stage names; they are printed if the work takes long, unless `quiet`."""
    stages = ["reading"]
    shown = threading.Event()

    def tell(stage: str) -> None:
        stages.append(stage)
        if shown.is_set():
            click.echo(f"mcpc: {stage} …", err=True)

    def begin() -> None:
        shown.set()
        click.echo(f"mcpc: {stages[-1]} …", err=True)

    # A thread, because a stage cannot look at the clock; a daemon, so that a process that ends does not wait for it.
    timer = threading.Timer(PROGRESS_DELAY_SECONDS, begin)
    timer.daemon = True
    if not quiet:
        timer.start()
    try:
        yield tell
    finally:
        timer.cancel()


def runs_on(described: str) -> str:
    """Return the lines that say what a built file runs on, and how it runs on other systems, too."""
    # What precedes `, Python` are systems, several with commas between them.
    is_here_only = "," not in described.partition(", Python")[0] and not described.endswith(ANY_SYSTEM)
    words = f"runs on: {visible(described)}"
    lines = textwrap.wrap(words, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, *([f"  others: --platform {COMMON}"] if is_here_only else [])])
