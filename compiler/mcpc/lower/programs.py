"""Handlers that are files the system runs: which file of the project a definition names, and whether it can be run."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.ir import Executable
from mcpc.languages.executable import MENDED, is_binary, not_runnable

if TYPE_CHECKING:
    from mcpc.definitions import Definition
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.sources import Node, Source

FORM = '`"bin/tool"`, or `["bin/tool", "--option"]`'


def program(command: Node, definition: Definition) -> tuple[Executable | None, Diagnostics]:
    """Return the handler that `command` names, or what keeps it from being one."""
    named, words = _words(command)
    if named is None:
        message = "`command` is no file's name with the words it is started with"
        return None, (diagnose("MCP243", command.span, message, FORM),)
    path = str(named.value)
    problem = _misnamed(path)
    if problem:
        expected = "a path inside the project, with `/` between its folders"
        return None, (diagnose("MCP243", named.span, f"`{path}` {problem}", expected),)
    files = {source.path: source for source in _files(definition)}
    place = "/".join(part for part in path.split("/") if part not in ("", "."))
    if place not in files:
        return None, (_absent(named, place, files),)
    return Executable(place, command.span, words), _unfit(named, files[place])


def _words(command: Node) -> tuple[Node | None, tuple[str, ...]]:
    """Return the node that names the file, and the words after it; None if they are no list of texts."""
    nodes = command.items if command.kind == "array" else (command,)
    words = tuple(node.value for node in nodes if isinstance(node.value, str) and "\0" not in node.value)
    return (nodes[0], words[1:]) if words and len(words) == len(nodes) else (None, ())


def _misnamed(path: str) -> str:
    parts = path.split("/")
    if path.startswith(("/", "~")):
        return "is no path inside the project"
    if ".." in parts:
        return "leads out of the project"
    return "" if any(part not in ("", ".") for part in parts) else "names no file"


def _files(definition: Definition) -> tuple[Source, ...]:
    return (*definition.beside, *(library.source for library in definition.libraries))


def _absent(named: Node, place: str, files: dict[str, Source]) -> Diagnostic:
    inside = [path for path in files if path.startswith(f"{place}/")]
    if inside:
        message, hint = f"`{place}` is a folder", f"did you mean `{inside[0]}`?"
    else:
        near = difflib.get_close_matches(place, files, n=1)
        message = f"`{place}` is no file of the project"
        hint = f"did you mean `{near[0]}`?" if near else ""
    return diagnose("MCP243", named.span, message, "a file that the system can run", hint)


def _unfit(named: Node, source: Source) -> Diagnostics:
    problem = not_runnable(source)
    if problem:
        return (diagnose("MCP244", named.span, f"the system cannot run `{source.path}`: {problem}", "", MENDED),)
    if is_binary(source):
        return (diagnose("MCP246", named.span, f"`{source.path}` runs only where it was compiled for"),)
    return ()
