"""The command line.  Each command is a row here and a file beside it, imported when it is called.

Exit codes: 0 success, 1 problems found, 2 wrong usage, 4 a server did not start or answer, 5 a tool failed, 8 the
artifact cannot run here, 70 a bug of mcpc, 128 and a signal's number for what was ended by one (130: Ctrl-C).
"""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import click

from mcpc import __version__

if TYPE_CHECKING:
    from types import FrameType, TracebackType

COMMANDS = {
    "new": "Start a project.",
    "check": "Find every problem of a project, and build nothing.",
    "build": "Compile a project into one executable file.",
    "run": "Build a project and serve it over standard input and output.",
    "dev": "Serve a project while it is written: what is saved is served.",
    "import": "Write a project of any format in the native one.",
    "call": "Call one tool of a project or a built file.",
    "read": "Print one resource of a project or a built file.",
    "prompt": "Print one prompt of a project or a built file.",
    "inspect": "Show what a project or a built file offers.",
    "show": "Show how a project was understood.",
    "models": "Write the types of a project's tools as Python classes.",
    "export": "Write how a server is run: for Kubernetes, behind nginx.",
    "explain": "Explain the code of a problem.",
}

MODULES = {"import": "import_"}
"""The files of commands whose names are words of Python's own."""

USAGE, INTERNAL_ERROR, INTERRUPTED = 2, 70, 128 + signal.SIGINT
TRACEBACK = "MCPC_TRACEBACK"
"""Set, this variable makes a bug of mcpc show where it is."""


class Commands(click.Group):
    """The commands by name; a command's own file is read only when it runs or is asked for its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order a person meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now."""
        if cmd_name not in COMMANDS:
            near = importlib.import_module("difflib").get_close_matches(cmd_name, COMMANDS, 1)
            ctx.fail(f"no such command: {cmd_name}" + (f"; did you mean {near[0]}?" if near else ""))
        command: click.Command = importlib.import_module(f"mcpc.cli.{MODULES.get(cmd_name, cmd_name)}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; Ctrl-C ends it as other signals do, and is no problem that was found."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mcpc")
def cli() -> None:
    """Compile Model Context Protocol servers: definitions in, one executable file out.

    Start with `mcpc new my-server`, then `mcpc build my-server -o server.pyz`.
    """


def main() -> None:
    """Run the command line; a bug is told as one, and never as a bare traceback."""
    sys.excepthook = tell
    gc.disable()  # what a build makes lives to its end; looking for garbage in it takes a quarter of its time
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    cli(prog_name="mcpc")


def leave(number: int, _frame: FrameType | None) -> None:
    """End by a signal as by an exception, so that nothing half made stays behind."""
    sys.exit(128 + number)


def tell(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
    """Say in words what nobody expected: the machine's refusal as such, anything else as the bug it is."""
    if os.environ.get(TRACEBACK):
        sys.__excepthook__(kind, problem, trace)
    if isinstance(problem, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    if isinstance(problem, OSError):
        where = f"{os.fsdecode(problem.filename)}: " if isinstance(problem.filename, str | bytes) else ""
        click.echo(f"mcpc: {where}{problem.strerror or problem}", err=True)
        sys.exit(USAGE)
    click.echo(f"mcpc: internal error: {kind.__name__}: {problem}", err=True)
    click.echo(f"This is a bug of mcpc, not of the project; with {TRACEBACK}=1 it shows where.", err=True)
    sys.exit(INTERNAL_ERROR)
