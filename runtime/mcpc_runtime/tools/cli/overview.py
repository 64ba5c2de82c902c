"""What a person sees who starts a built file in a terminal: at most fifteen lines of eighty columns.

What the server is for, its tools, what it needs, and the commands that matter to who was sent the file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from textwrap import wrap

from mcpc_runtime.protocol.image import Image
from mcpc_runtime.tools.cli.artifact_info import Object, build_info, list_all, opening_reply
from mcpc_runtime.tools.cli.printing import OTHERS, printable

WIDTH, LABEL = 80, 9
MOST_LINES = 2
"""The lines of one fact."""
LONGEST_COMMAND = 26
"""The longest name of a file that leaves room for what a command does."""


def overview(image: Image, archive: str, commands: Iterable[str]) -> str:
    """Return the page; `commands`: those that this file can do."""
    build, said = build_info(image), opening_reply(image)
    about = said.get("serverInfo", {}).get("description") or build.get("project", {}).get("description")
    about = about or str(said.get("instructions", "")).partition("\n")[0] or "a Model Context Protocol server"
    title = fitting(f"{build['name']} {build['version']}: {about}".split(), "", " ")
    tools = [str(tool["name"]) for tool in list_all(image, "tools")]
    if not tools and "tools" in said.get("capabilities", {}):
        tools = ["`list` shows them"]  # which a program makes when it runs
    facts = [("tools", tools), ("needs", needs(build)), ("runs on", [str(build["runsOn"])])]
    rows = [line for label, words in facts if words for line in fitting(words, f"{label:<{LABEL}}", ", ")]
    return "\n".join([*title, "", *rows, "", *command_rows(shown_command(archive), commands), ""])


def fitting(words: list[str], label: str, separator: str) -> list[str]:
    """Return words in as many lines as a fact may have, after a label; of more words, how many there are."""
    # From all words down to none, until the lines are few enough.
    for count in range(min(len(words), WIDTH), -1, -1):  # more words do not fit
        more = OTHERS.format(count=len(words) - count) if separator != " " else " …"
        text = printable(separator.join(words[:count])) + (more if count < len(words) else "")
        lines = wrap(label + text, WIDTH, subsequent_indent=" " * len(label), break_on_hyphens=False)
        if len(lines) <= MOST_LINES:
            break
    return lines


def needs(build: Object) -> list[str]:
    """Return the settings and the programs that a server needs; what must be set first."""
    settings = sorted(build.get("settings", ()), key=lambda row: "default" in row or not row.get("required"))
    programs = [program for group in build.get("running", ()) for program in group.get("requires", ())]
    return [*map(needed_setting, settings), *dict.fromkeys(programs)]


def needed_setting(row: Object) -> str:
    """Return a setting, and whether it must be set."""
    is_needed = row.get("required") and "default" not in row
    return f"{row['name']} (required setting)" if is_needed else f"{row['name']} (setting)"


def shown_command(archive: str) -> str:
    """Return how a person starts the file here."""
    file = archive if len(archive) <= LONGEST_COMMAND else f".{os.sep}{os.path.basename(archive)}"
    # A self-contained file is its own interpreter, and is started by its name.
    if os.sep in file or sys.executable == os.path.abspath(archive):
        return printable(file)
    return f"{'python' if os.sep != '/' else 'python3'} {printable(file)}"


def command_rows(file: str, commands: Iterable[str]) -> list[str]:
    """Return the commands for who was sent the file."""
    rows = [(f"{file} {words}", meaning) for words, meaning in COMMANDS.items() if words.split()[0] in commands]
    width = max(len(words) for words, _ in rows) + 2
    return [f"{words:<{width}}{meaning}" if width + len(meaning) <= WIDTH else words for words, meaning in rows]


COMMANDS = {
    "install --client NAME": "add it to a client such as cursor",
    "check": "whether it can run here",
    "call TOOL NAME=VALUE": "call a tool",
    "--help": "all commands",
}
