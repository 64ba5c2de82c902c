"""`mcpc editor completion`: the script by which a shell completes commands, options, and names of definitions.

The scripts are those of click; each asks `mcpc` itself, which imports the one command that is being completed.
"""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from mcpc.cli import command_options

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
def command(shell: str) -> None:
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
        text = text.replace(before, after)
    return text.strip("\n") + "\n"
