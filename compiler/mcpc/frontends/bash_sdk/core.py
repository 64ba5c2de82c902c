"""The SDK's own file: how it is recognised, its versions, and the line that is added to the packed copy of it.

A project contains the version of the file that it was written with, often changed.  Versions differ in how a function
is called and what becomes of its output; the runtime answers as the project's version would
(`mcpc_runtime.systems.bash_sdk.contract`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.reading import Source

NAME = "mcpserver_core.sh"
"""The usual name of the file."""
MAIN = "run_mcp_server"
"""The function that a server script calls last."""
DEFINES_MAIN = re.compile(rf"^[ \t]*(?:function[ \t]+{MAIN}\b|{MAIN}[ \t]*\(\))", re.MULTILINE)
HOOK = b"\nif declare -F __mcpc_core >/dev/null; then __mcpc_core; fi\n"
"""Follows the file: the program that reads the script replaces the functions that would read standard input."""


@dataclass(frozen=True, slots=True)
class CoreVersion:
    """A version of the file.

    `marks`: all of these texts are in the file.  `style`: the name of the version in the runtime.
    """

    style: str
    marks: tuple[str, ...]


VERSIONS = (
    CoreVersion("merged", ('"Error executing $tool_name: $output"',)),
    CoreVersion("result", ("failed with exit status", "isError: true")),
    CoreVersion("one_line", ("Tool execution error", "tr '\\n' ' '")),
    CoreVersion("lines", ("Tool execution error",)),
)
"""The first one whose marks are in the file is its version."""
NEWEST = "result"
VALIDATES = "validate_tool_arguments"
"""The function of versions that validate arguments."""


def is_core(source: Source) -> bool:
    """Tell whether a file is the SDK's: it defines the main function."""
    return DEFINES_MAIN.search(source.text) is not None


def answer_style(core: Source) -> str:
    """Return the version of the SDK's file by its name in the runtime, an empty string for an unknown one."""
    return next((known.style for known in VERSIONS if all(mark in core.text for mark in known.marks)), "")


def validates(core: Source) -> bool:
    """Tell whether this version validates arguments before it calls a function."""
    return VALIDATES in core.text


def with_hook(source: Source) -> Source:
    """Return the file as it is packed: all lines keep their numbers."""
    return replace(source, data=source.data + HOOK)
