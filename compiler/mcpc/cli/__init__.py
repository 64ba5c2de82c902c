"""The command line.  Each command is a row here and a module in this package, imported when it is used.

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
from mcpc.sandbox.platforms.console import ENDING_SIGNALS, signal_main_thread, use_utf8

if TYPE_CHECKING:
    from types import FrameType, TracebackType

    from click.shell_completion import CompletionItem

SECTIONS = {
    "Write a project": {
        "new": "Create a new project.",
        "check": "Check a project without building it.",
        "test": "Run the test cases of a project.",
        "dev": "Serve a project and rebuild it when files change.",
        "import": "Convert a project of any format to the native format.",
        "models": "Write the input and output types of tools as Python classes.",
        "stubs": "Write a typed client of a server in Python.",
        "show": "Show how mcpc reads a project.",
        "explain": "Explain a diagnostic code.",
        "completion": "Print the script by which a shell completes commands.",
        "schema": "Print JSON Schemas of the files, for editors.",
        "lsp": "Serve editors: the language server of projects.",
    },
    "Build and use a server": {
        "build": "Compile a project into one executable file.",
        "run": "Build a project and serve it over standard input and output.",
        "call": "Call one tool of a project or a built file.",
        "read": "Print one resource of a project or a built file.",
        "prompt": "Print one prompt of a project or a built file.",
        "inspect": "Show what a project or a built file offers.",
        "docs": "Write the documentation of a server for its users.",
    },
    "Trust it": {
        "diff": "Compare two versions of a server, for clients.",
        "changelog": "Write release notes from two versions of a server.",
        "scan": "Report what could attack or mislead in what a server offers.",
        "lock": "Write the lock of a project's packages.",
        "verify": "Check that a project is the source of a built file.",
        "sbom": "Print the bill of materials of a built file.",
        "provenance": "Print how a file was built, for signers.",
        "checksums": "Write or check SHA256SUMS.",
        "licenses": "Print the licences of what a server contains.",
    },
    "Use it in clients": {
        "install": "Add a server to the configuration of MCP clients.",
        "uninstall": "Remove a server from the configuration of MCP clients.",
        "clients": "List the MCP clients on this machine and their servers.",
        "config": "Print the entry of a server for a client, or a link.",
        "doctor": "Find what is wrong with this machine and its clients.",
    },
    "Ship it": {
        "release": "Build everything that a project publishes, with checksums.",
        "bundle": "Write an MCP Bundle (.mcpb) for desktop clients.",
        "plugin": "Write an Agent Plugin: the server and its skills, for agents.",
        "image": "Write a container image, without a daemon.",
        "registry": "Write the server.json of the official MCP registry.",
        "export": "Write deployment files: systemd, compose, Kubernetes and others.",
    },
}
"""The commands, with one line on each, in the sections of the help."""

COMMANDS = {name: words for section in SECTIONS.values() for name, words in section.items()}

MODULES = {"import": "import_"}
"""Modules of commands whose names are Python keywords or builtins."""

USAGE, INTERNAL_ERROR, INTERRUPTED = 2, 70, 128 + signal.SIGINT
SIGNAL_AGAIN_SECONDS = 0.01
MAX_LINE = 2000
"""Characters that are printed of a line of an error."""
TRACEBACK_VARIABLE = "MCPC_TRACEBACK"
"""Environment variable: if it is set, an internal error prints its traceback."""


class Commands(click.Group):
    """The group of commands; a command's module is imported only to run it or to print its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        if cmd_name not in COMMANDS:
            if ctx.resilient_parsing:  # a shell asks for completions
                return None
            near = importlib.import_module("mcpc.diagnostics.suggestions").nearest(cmd_name, COMMANDS)
            ctx.fail(messages.UNKNOWN_COMMAND.format(name=cmd_name) + (f"; did you mean {near}?" if near else ""))
        command: click.Command = importlib.import_module(f"mcpc.cli.{MODULES.get(cmd_name, cmd_name)}").command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        """Return the commands that begin as what is typed, without importing any."""
        item = importlib.import_module("click.shell_completion").CompletionItem
        found = [item(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command.  Ctrl-C ends it as other signals do, and is not reported as an error."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        except click.ClickException as problem:  # words of a command line may have been made to command a terminal
            visible = importlib.import_module("mcpc.diagnostics.formats.visible").visible
            vars(problem)["message"] = "\n".join(visible(line, MAX_LINE) for line in problem.message.split("\n"))
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists of commands without importing any."""
        width = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), words) for name, words in commands.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
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
    if isinstance(problem, OSError):
        where = f"{os.fsdecode(problem.filename)}: " if isinstance(problem.filename, str | bytes) else ""
        click.echo(f"mcpc: {where}{problem.strerror or problem}", err=True)
        sys.exit(USAGE)
    words = messages.INTERNAL_ERROR.format(kind=kind.__name__, problem=problem, variable=TRACEBACK_VARIABLE)
    click.echo(words, err=True)
    sys.exit(INTERNAL_ERROR)
