"""The command line.  Each command is a row here and a file beside it, imported when it is called.

Exit codes: 0 success, 1 problems found, 2 wrong usage, 4 a server did not start or answer, 5 a tool failed, 8 the
artifact cannot run here, 70 a bug of mcpc.
"""

from __future__ import annotations

import importlib
import sys

import click

from mcpc import __version__

COMMANDS = {
    "new": "Start a project.",
    "check": "Find every problem of a project, and build nothing.",
    "build": "Compile a project into one executable file.",
    "run": "Build a project and serve it over standard input and output.",
    "call": "Call one tool of a project or a built file.",
    "inspect": "Show what a project or a built file offers.",
    "show": "Show how a project was understood.",
    "explain": "Explain the code of a problem.",
}

INTERNAL_ERROR = 70


class Commands(click.Group):
    """The commands by name; a command's own file is read only when it runs or is asked for its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order a person meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"mcpc.cli.{cmd_name}").command
        return command

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
    try:
        cli(prog_name="mcpc")
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except RecursionError as problem:
        click.echo(f"mcpc: internal error: {problem}", err=True)
        sys.exit(INTERNAL_ERROR)
