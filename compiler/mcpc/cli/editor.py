"""Commands below `mcpc editor`: what shells and editors need to help with a project.

The scripts are those of click; each asks `mcpc` itself, which imports the one command that is being completed.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from mcpc.cli import command_options, messages
from mcpc.cli.build_steps import refuse_unwritable
from mcpc.cli.diff import write_text_file
from mcpc.diagnostics.model import did_you_mean
from mcpc.workbench.file_schemas import FILES, schema_text

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_MCPC_COMPLETE"
"""The environment variable by which a script asks `mcpc`."""
CHANGES = {
    "bash": [
        (
            "            COMPREPLY+=($value)\n",
            '            COMPREPLY+=("$value")\n            [[ $value != *= ]] || compopt -o nospace\n',
        )
    ],
    "zsh": [
        (
            "        compadd -U -V unsorted -a completions\n",
            (
                '        local -a unfinished=("${(@M)completions:#*=}")\n'
                '        completions=("${(@)completions:#*=}")\n'
                "        compadd -U -S '' -V unsorted -a unfinished\n"
                "        compadd -U -V unsorted -a completions\n"
            ),
        ),
        ("== loadautofunc ]]", "== (loadautofunc|shfunc) ]]"),
    ],
}
"""What a script of click has, and what it has here: no space after `NAME=`; in zsh a file of $fpath is loaded once, and
is called as a function from the second key on.
"""


@click.command(cls=command_options.Command)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script with which SHELL completes commands of mcpc.

    \b
    bash:  mcpc editor completion bash > ~/.local/share/bash-completion/completions/mcpc
    zsh:   mcpc editor completion zsh > a file `_mcpc` in a folder of $fpath
    fish:  mcpc editor completion fish > ~/.config/fish/completions/mcpc.fish

    Names of commands, options, clients, codes, tools, prompts and arguments are completed. A built file has the same
    command for its own name: `server.pyz completion bash`.
    """  # noqa: D301 - click keeps the lines of a paragraph after this character
    click.echo(script(shell), nl=False)


def script(shell: str) -> str:
    """Return the script of a shell.  Its source is filled in here: `source` of click would look for a bash first."""
    classes: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    completer = classes[shell](click.Command("mcpc"), {}, "mcpc", VARIABLE)
    text = completer.source_template % completer.source_vars()
    for before, after in CHANGES.get(shell, ()):
        # A version of click whose script has other words keeps them: its completions are only less convenient.
        text = text.replace(before, after)
    return text.strip("\n") + "\n"


@click.command()
@click.argument("name", default="")
@click.option("-o", "--output", "folder", type=click.Path(path_type=Path), help="Write all schemas to this folder.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", help="Format of the list.")
def schema(name: str, folder: Path | None, output: str) -> None:
    """Print the JSON Schema of a kind of file, for editors; without a NAME, list the kinds.

    With `-o`, every schema is written to the folder, or only the one called NAME. The schemas are draft-07.
    """
    known = {kind.name: kind for kind in FILES}
    if name and name not in known:
        raise click.UsageError(messages.UNKNOWN_SCHEMA.format(name=name, hint=did_you_mean(name, known, LIST_THEM)))
    if folder is not None:
        write_schemas(folder, [name] if name else [*known])
    elif name:
        click.echo(schema_text(name), nl=False)
    elif output == "json":
        rows = [{"name": kind.name, "title": kind.title, "id": kind.identifier, "files": kind.globs} for kind in FILES]
        click.echo(json.dumps(rows, indent=2))
    else:
        for kind in FILES:
            click.echo(f"{kind.name:<20} {', '.join(kind.globs) or kind.title}")


LIST_THEM = "`mcpc editor schema` lists them"


def write_schemas(folder: Path, names: list[str]) -> None:
    """Write schemas as `NAME.schema.json`, each whole or not at all."""
    with refuse_unwritable(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        write_text_file(folder / f"{name}.schema.json", schema_text(name))


@click.command()
@click.option(
    "--stdio", is_flag=True, help="Talk over standard input and output, which is the only way; for editors that say it."
)
@click.option(
    "--import", "imports", is_flag=True, help="Run code of the project, confined, where definitions depend on it."
)
def lsp(stdio: bool, imports: bool) -> None:
    r"""Serve an editor: the language server of MCP projects, over standard input and output.

    It shows problems while you type, explains fields and codes, completes names, leads from a definition to its
    handler and back, and corrects what has an obvious correction. It never runs code of the project, unless `--import`
    allows it.

    \b
    Neovim:  vim.lsp.start({name = "mcpc", cmd = {"mcpc", "editor", "lsp"}, root_dir = ...})
    Helix:   [language-server.mcpc] with command = "mcpc", args = ["editor", "lsp"]
    VS Code, Zed, Emacs, JetBrains: see docs/editors.md

    Editors without it can use the JSON Schemas of `mcpc editor schema -o FOLDER`.
    """
    from mcpc.workbench.language_server.server import serve  # noqa: PLC0415 - the protocol's library is large

    options: dict[str, Any] = {}
    # Whatever variables say: people open projects of others to read them.
    serve(replace(command_options.read_options(options), imports=imports))
