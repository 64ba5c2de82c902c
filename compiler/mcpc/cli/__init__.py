"""The command line.  Each command is a row of `commands` and a module in this package, imported when it is used.

Exit codes: 0 success, 1 problems found, 2 wrong usage, 4 a server did not start or answer, 5 a tool failed, 6 a file
is not what it should be (a stale lock, another digest), 7 a gate that `--fail-on` names, 8 the artifact cannot run
here, 70 a bug of mcpc, 128 plus the signal's number after a signal (130: Ctrl-C).
"""

from __future__ import annotations

import _thread
import gc
import importlib
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from mcpc import __version__
from mcpc.cli import messages
from mcpc.cli.commands import COMMANDS, SECTIONS, CommandGroup, write_section
from mcpc.sandbox.platforms import ENDING_SIGNALS, signal_main_thread, use_utf8

if TYPE_CHECKING:
    from types import FrameType, TracebackType

USAGE, INTERNAL_ERROR, INTERRUPTED = 2, 70, 128 + signal.SIGINT
SIGNAL_AGAIN_SECONDS = 0.01
MAX_LINE = 2000
"""Characters that are printed of a line of an error."""
TRACEBACK_VARIABLE = "MCPC_TRACEBACK"
"""Environment variable: if it is set, an internal error prints its traceback."""


class Commands(CommandGroup):
    """All commands, of which the help shows those that people need first."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command.  Ctrl-C ends it as other signals do, and is not reported as an error."""
        try:
            return super().invoke(ctx)
        # click itself would print `Aborted!` and exit with 1.
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        except click.ClickException as problem:  # words of a command line may have been made to command a terminal
            visible = importlib.import_module("mcpc.diagnostics.formats.visible").visible
            vars(problem)["message"] = "\n".join(visible(line, MAX_LINE) for line in problem.message.split("\n"))
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections of commands, and where the others are."""
        for title, rows in SECTIONS.items():
            write_section(formatter, title, rows)
        formatter.write_paragraph()
        formatter.write_text("`mcpc help all` lists every command.")


@click.group(cls=Commands, rows=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mcpc")
def cli() -> None:
    """Compile Model Context Protocol servers: definitions in, one executable file out.

    Start with `mcpc new my-server`, then `mcpc build my-server -o server.pyz`.
    """


def main() -> None:
    """Run the command line.  An internal error is reported as one, without a bare traceback."""
    sys.excepthook = report_exception
    gc.disable()  # objects of a build live to its end; garbage collection would take a quarter of its time
    use_utf8()
    exit_on_signals()
    cli(prog_name="mcpc")


def exit_on_signals() -> None:
    """Let each signal that ends a process raise SystemExit in the main thread."""
    sys.unraisablehook = signal_again
    for number in ENDING_SIGNALS:
        signal.signal(number, exit_on_signal)


def exit_on_signal(number: int, _frame: FrameType | None) -> None:
    """Turn a signal into an exception, so that temporary files are removed."""
    sys.exit(128 + number)


def signal_again(lost: sys.UnraisableHookArgs) -> None:
    """Send a signal again whose SystemExit Python has ignored: one that came in a callback, as imports have them."""
    code = lost.exc_value.code if isinstance(lost.exc_value, SystemExit) else None
    if isinstance(code, int) and code - 128 in ENDING_SIGNALS:
        _thread.start_new_thread(signal_soon, (code - 128,))
    else:
        sys.__unraisablehook__(lost)


def signal_soon(number: int) -> None:
    """Send a signal to the main thread when the callback that it runs now will have ended."""
    time.sleep(SIGNAL_AGAIN_SECONDS)
    signal_main_thread(number)


def report_exception(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
    """Report an unexpected exception: an OSError as a message, anything else as a bug of mcpc."""
    if os.environ.get(TRACEBACK_VARIABLE):
        sys.__excepthook__(kind, problem, trace)
    if isinstance(problem, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    # Commands report what they expect to fail; what comes here is, say, a full disk: not a bug, and no traceback helps.
    if isinstance(problem, OSError):
        where = f"{os.fsdecode(problem.filename)}: " if isinstance(problem.filename, str | bytes) else ""
        click.echo(f"mcpc: {where}{problem.strerror or problem}", err=True)
        sys.exit(USAGE)
    words = messages.INTERNAL_ERROR.format(kind=kind.__name__, problem=problem, variable=TRACEBACK_VARIABLE)
    click.echo(words, err=True)
    sys.exit(INTERNAL_ERROR)
