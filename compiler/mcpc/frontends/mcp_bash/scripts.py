"""Files that are run: which ones in `tools/` are tools, and whether the system or Bash can run a file at all."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span
from mcpc.frontends.mcp_bash.packages import tell_of_packages
from mcpc.frontends.mcp_bash.reading import EVERYBODY, GROUP
from mcpc.languages.bash import mistakes
from mcpc.languages.executable import BYTE_ORDER_MARK, SHEBANG, is_binary, mended, not_runnable

if TYPE_CHECKING:
    from mcpc.frontends.mcp_bash.reading import Reading
    from mcpc.sources import Source

SCRIPTS = (".sh", ".bash")
EXECUTABLE = 0o111
SHELLS = (b"bash", b"sh")


def is_tool(source: Source) -> bool:
    """Tell whether a file is one that mcp-bash would run: by its mode, its name, or its first line."""
    return bool(source.mode & EXECUTABLE) or source.path.endswith(SCRIPTS) or source.data.startswith(SHEBANG)


def is_bash(source: Source) -> bool:
    """Tell whether Bash reads the file: by its first line, else because nothing else could."""
    if source.data.removeprefix(BYTE_ORDER_MARK).startswith(SHEBANG):
        words = source.data.split(b"\n", 1)[0].replace(b"/", b" ").split()
        return any(word in SHELLS for word in words)
    return source.path.endswith(SCRIPTS)


def judge_tool(source: Source, reading: Reading) -> None:
    """Report what keeps a tool from being run."""
    judge_called(source, reading)
    tell_of_packages(source, reading)
    if not source.mode & EXECUTABLE:
        hint = f"the server runs it all the same; `chmod +x {shlex.quote(source.path)}`"
        reading.tell("MCP150", Span(source.path), f"`{source.path}` may not be executed", "", hint)


def judge_called(source: Source, reading: Reading) -> None:
    """Report what is wrong with a file that is run when a client asks for it, which its group may change."""
    if not reading.refuse_writable(source, EVERYBODY) and source.mode & GROUP:
        reading.shared.append(source)
    _judge(source, reading)


def judge_script(source: Source, reading: Reading) -> None:
    """Report what is wrong with a file that the server itself runs, which nobody but its owner may change."""
    reading.refuse_writable(source)
    _judge(source, reading)


def _judge(source: Source, reading: Reading) -> None:
    begun = source.data.startswith((SHEBANG, BYTE_ORDER_MARK + SHEBANG))
    problem = not_runnable(source) if begun else ""
    if problem:
        reading.tell("MCP244", Span(source.path), f"`{source.path}` cannot be run: {problem}", "", mended(problem))
    if is_binary(source):
        message = f"`{source.path}` is a program for one kind of machine"
        reading.tell("MCP246", Span(source.path), message, "", "the server runs where such machines run it")
    if is_bash(source):
        reading.problems += mistakes(source)
