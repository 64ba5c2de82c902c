"""Completion of a built file's command line by a shell: its script, and what may follow a typed line.

Only plain names are offered, because a shell may insert them as they are.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from shlex import quote
from typing import Any

from mcpc_runtime.artifact.start_options import OPTIONS as START_OPTIONS
from mcpc_runtime.artifact.start_options import TOOLS, TOOLSETS, toolset_names
from mcpc_runtime.http import settings as http_settings
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.tools.cli import printing as console_text
from mcpc_runtime.tools.cli.artifact_info import list_all, operation_entries
from mcpc_runtime.tools.cli.printing import SUCCESS, UsageError
from mcpc_runtime.tools.clients.commands import ACCEPTED, OPTIONS
from mcpc_runtime.tools.clients.table import CLIENTS

SCRIPTS = {
    "bash": """\
{function}() {{
  local IFS=$'\\n'
  COMPREPLY=($("$1" completion --line "${{COMP_LINE:0:COMP_POINT}}" "$COMP_WORDBREAKS" 2>/dev/null))
  [[ ${{COMPREPLY[0]-}} != *= ]] || compopt -o nospace
}}
complete -o default -F {function} -- {file}
""",
    "zsh": """\
{function}() {{
  local -a found=("${{(@f)$("${{words[1]}}" completion --line "${{(j: :)words[1,CURRENT]}}" 2>/dev/null)}}")
  local -a unfinished=("${{(@M)found:#*=}}")
  found=("${{(@)found:#*=}}")
  compadd -S '' -a unfinished
  compadd -a found
}}
compdef {function} {file}
""",
    "fish": """\
function {function}
    set -l typed (commandline -opc)
    $typed[1] completion --line (commandline -cp | string collect) 2>/dev/null
end
complete --command {file} --no-files --arguments '({function})'
""",
}
PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]+")
MOST = 1_000
"""How many names are offered."""


def complete_command_line(image: Image, archive: str, arguments: list[str], commands: Iterable[str]) -> int:
    """Print the script of a shell, or what may follow a line: `--line LINE [WORD_BREAKS]`."""
    if arguments[:1] == ["--line"] and len(arguments) in (2, 3):
        breaks = arguments[2] if len(arguments) == 3 else ""
        for name in following(image, arguments[1], commands):
            sys.stdout.write(f"{without_typed(name, arguments[1], breaks)}\n")
        return SUCCESS
    if len(arguments) != 1 or arguments[0] not in SCRIPTS:
        raise UsageError(console_text.SHELL_MISSING)
    name = os.path.basename(archive)
    function = "_complete_" + re.sub(r"[^A-Za-z0-9]", "_", name)
    sys.stdout.write(SCRIPTS[arguments[0]].format(function=function, file=quote(name)))
    return SUCCESS


def following(image: Image, line: str, commands: Iterable[str]) -> list[str]:
    """Return what may follow a line, of which the last word is being typed."""
    *words, typed = line.replace("\n", " ").split(" ")
    names = candidates(image, [word for word in words if word][1:], typed, commands)
    return [name for name in names if name.startswith(typed) and PLAIN.fullmatch(name)][:MOST]


def candidates(image: Image, words: list[str], typed: str, commands: Iterable[str]) -> Iterable[str]:
    """Return the words that may follow others."""
    if not words:
        # Options are offered only to who has typed a dash.
        return [name for name in (*commands, *START_OPTIONS) if typed or not name.startswith("-")]
    command, *arguments = words
    if command == "serve" or command in START_OPTIONS:
        others = http_settings.OPTIONS if command == "serve" and "serve" in commands else ()
        return start_words(image, words[-1], typed, others)
    if command in ACCEPTED:
        option = OPTIONS.get(arguments[-1]) if arguments else None
        return CLIENTS if option is not None and option.field in ("clients", "link") else ACCEPTED[command]
    if command == "completion":
        return SCRIPTS
    if command == "read":
        return [str(item["uri"]) for item in list_all(image, "resources")]
    return item_words(image, command, arguments, typed)


def item_words(image: Image, command: str, given: list[str], typed: str) -> list[str]:
    """Return the names of tools or prompts, or what may follow one of them."""
    kind = {"call": "tools", "prompt": "prompts"}.get(command)
    items = list_all(image, kind) if kind else []
    items += operation_entries(image) if kind == "tools" else []
    if not given:
        return [str(item["name"]) for item in items]
    return arguments_of(next((item for item in items if item["name"] == given[0]), {}), given[1:], typed)


def start_words(image: Image, option: str, typed: str, others: Iterable[str]) -> list[str]:
    """Return the options of serving, and others, or what may follow one of them: names, separated by commas."""
    if option not in (TOOLS, TOOLSETS):
        return [*START_OPTIONS, *others]
    before, comma, _ = typed.rpartition(",")
    names = toolset_names(image) if option == TOOLSETS else [str(item["name"]) for item in list_all(image, "tools")]
    return [f"{before}{comma}{name}" for name in names]


def arguments_of(item: dict[str, Any], given: list[str], typed: str) -> list[str]:
    """Return `NAME=` for arguments that were not given, or `NAME=VALUE` for values of an enumeration."""
    properties = item.get("inputSchema", {}).get("properties", {})
    properties = properties or {argument["name"]: {} for argument in item.get("arguments", ())}
    name, sign, _ = typed.partition("=")
    if sign:
        schema = properties.get(name)
        return [f"{name}={value}" for value in values_of(schema)] if isinstance(schema, dict) else []
    used = {word.partition("=")[0] for word in given}
    return [f"{name}=" for name in properties if name not in used]


def values_of(schema: dict[str, Any]) -> list[str]:
    """Return the values of an enumeration as words."""
    values = schema.get("enum", [True, False] if schema.get("type") == "boolean" else [])
    return [value if isinstance(value, str) else str(value).lower() for value in values if value is not None]


def without_typed(name: str, line: str, breaks: str) -> str:
    """Return what a shell inserts: without the part that it reads as another word, as before `=` and `:` in Bash."""
    typed = line.rpartition(" ")[2]
    # Bash splits words at these, and replaces only what follows the last one.
    at = max((typed.rfind(character) for character in breaks if character in "=:@"), default=-1)
    return name[at + 1 :]
