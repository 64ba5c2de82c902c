"""The commands: their names, a line on each, and their modules, which are imported when a command is used.

`mcpc --help` lists what people need first, `mcpc help all` everything.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import messages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from click.shell_completion import CompletionItem

SECTIONS = {
    "Write a project": {
        "new": "Create a new project.",
        "check": "Check a project without building it.",
        "dev": "Serve a project and rebuild it when files change.",
        "test": "Run the test cases of a project.",
    },
    "Build and use a server": {
        "build": "Compile a project into one executable file.",
        "call": "Call a tool, or print a resource or a prompt.",
        "install": "Add a server to the configuration of MCP clients.",
        "clients": "List the MCP clients on this machine and their servers.",
        "doctor": "Find what is wrong with this machine and its clients.",
    },
    "Release it": {
        "diff": "Compare two versions of a server, for clients.",
        "lock": "Write the lock of a project's packages.",
        "release": "Build everything that a project publishes, with checksums.",
    },
}
"""What `mcpc --help` lists."""
OTHERS = {
    "inspect": "Show what a server offers, and how a project is read.",
    "scan": "Report what could attack or mislead in what a server offers.",
    "generate": "Write code or documentation of a server.",
    "ship": "Write a bundle, a plugin, an image or deployment files.",
    "attest": "Say what a built file contains, and check it.",
    "uninstall": "Remove a server from the configuration of MCP clients.",
    "editor": "Help shells and editors with projects.",
    "help": "Explain commands and diagnostic codes.",
}
"""What only `mcpc help all` lists."""
COMMANDS = {name: words for section in (*SECTIONS.values(), OTHERS) for name, words in section.items()}
SUBCOMMANDS = {
    "generate": {
        "models": "Write the input and output types of tools as Python classes.",
        "client": "Write a typed client of a server in Python.",
        "docs": "Write the documentation of a server for its users.",
    },
    "ship": {
        "bundle": "Write an MCP Bundle (.mcpb) for desktop clients.",
        "plugin": "Write an Agent Plugin: the server and its skills, for agents.",
        "image": "Write a container image, without a daemon.",
        "registry": "Write the server.json of the official MCP registry.",
        "systemd": "Write a unit of systemd that serves over HTTP.",
        "compose": "Write a compose file that serves over HTTP.",
        "kubernetes": "Write the objects of Kubernetes that serve over HTTP.",
        "nginx": "Write a site of nginx in front of replicas.",
        "github-actions": "Write a workflow of GitHub Actions that releases.",
        "gitlab-ci": "Write jobs of GitLab CI that release.",
        "homebrew": "Write a formula of Homebrew for the built file.",
    },
    "attest": {
        "sbom": "Print the bill of materials of a built file.",
        "licenses": "Print the licences of what a server contains.",
        "provenance": "Print how a file was built, for signers.",
        "checksums": "Write or check SHA256SUMS.",
        "verify": "Check that a project is the source of a built file.",
    },
    "editor": {
        "completion": "Print the script by which a shell completes commands.",
        "schema": "Print JSON Schemas of the files, for editors.",
        "lsp": "Serve editors: the language server of projects.",
    },
}
PATHS = tuple(path for name in COMMANDS for path in [f"{name} {each}" for each in SUBCOMMANDS.get(name, ())] or [name])
"""Every command that runs: `build`, `ship bundle`."""
PLACES = {
    "clients": "install:clients",
    "install": "install:install",
    "uninstall": "install:uninstall",
    "attest verify": "verify:verify",
}
"""The module of a command below this package, and its name there, where they are not `NAME:command` or `GROUP:NAME`."""
FORMER = {
    "run": "dev --once",
    "read": "call TARGET --resource URI",
    "prompt": "call TARGET --prompt NAME",
    "show": "inspect --definitions",
    "explain": "help CODE",
    "changelog": "diff --notes",
    "config": "install --print",
    "import": "new FOLDER --import PROJECT",
    "stubs": "generate client",
    "export": "ship KIND",
    **{name: f"{group} {name}" for group, names in SUBCOMMANDS.items() for name in names if name != "client"},
}
"""What is typed where another program has a command of this name, or an earlier mcpc had, and how it is called."""


class CommandGroup(click.Group):
    """Commands whose modules are imported only to run them or to print their help."""

    def __init__(self, *args: Any, rows: Mapping[str, str], prefix: str = "", **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.rows, self.prefix = rows, prefix

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(self.rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command."""
        if cmd_name not in self.rows:
            if not ctx.resilient_parsing:  # else a shell asks for completions
                ctx.fail(self.unknown(cmd_name))
            return None
        return find_command(f"{self.prefix} {cmd_name}".strip())

    def unknown(self, name: str) -> str:
        """Return what to say of a name that no command has."""
        text = messages.UNKNOWN_COMMAND.format(name=f"{self.prefix} {name}".strip())
        if not self.prefix and name in FORMER:
            return f"{text}; it is `mcpc {FORMER[name]}`"
        near = importlib.import_module("mcpc.diagnostics.model").nearest(name, self.rows)
        return f"{text}; did you mean {near}?" if near else text

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        """Return the commands that begin as what is typed, without importing any."""
        item = importlib.import_module("click.shell_completion").CompletionItem
        items = [item(name, help=text) for name, text in self.rows.items() if name.startswith(incomplete)]
        return items + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        write_section(formatter, "Commands", self.rows)


def write_section(formatter: click.HelpFormatter, title: str, rows: Mapping[str, str]) -> None:
    """Write names and a line on each; the columns of several sections are equal."""
    width = max(map(len, (*COMMANDS, *rows)))
    with formatter.section(title):
        formatter.write_dl([(name.ljust(width), words) for name, words in rows.items()])


def find_command(path: str) -> click.Command:
    """Return the command of a path such as `ship bundle`."""
    if path in SUBCOMMANDS:
        return CommandGroup(
            path,
            rows=SUBCOMMANDS[path],
            prefix=path,
            help=COMMANDS[path],
            context_settings={"help_option_names": ["-h", "--help"]},
        )
    # `ship bundle` is `bundle` in the module `ship`; a command without a group is `command` in its own.
    module, _, name = PLACES.get(path, path.replace(" ", ":")).partition(":")
    command: click.Command = getattr(importlib.import_module(f"mcpc.cli.{module}"), name.replace("-", "_") or "command")
    return command
