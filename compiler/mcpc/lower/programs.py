"""Handlers that are files the system runs: which file of the project a definition names, and whether it can be run."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.ir import Executable
from mcpc.languages.executable import is_binary, mended, not_runnable

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
    problem = misnamed(path)
    if problem:
        expected = "a path inside the project, with `/` between its folders"
        return None, (diagnose("MCP243", named.span, f"`{path}` {problem}", expected),)
    files = {source.path: source for source in project_files(definition)}
    place = "/".join(part for part in path.split("/") if part not in ("", "."))
    if place not in files:
        return None, (absent("MCP243", named, files, "a file that the system can run"),)
    return Executable(place, command.span, words), _unfit(named, files[place])


def _words(command: Node) -> tuple[Node | None, tuple[str, ...]]:
    """Return the node that names the file, and the words after it; None if they are no list of texts."""
    nodes = command.items if command.kind == "array" else (command,)
    words = tuple(node.value for node in nodes if isinstance(node.value, str) and "\0" not in node.value)
    return (nodes[0], words[1:]) if words and len(words) == len(nodes) else (None, ())


def misnamed(path: str) -> str:
    """Return what keeps a text from naming a file of the project, or nothing."""
    parts = path.split("/")
    if path.startswith(("/", "~")):
        return "is no path inside the project"
    if ".." in parts:
        return "leads out of the project"
    return "" if any(part not in ("", ".") for part in parts) else "names no file"


def project_files(definition: Definition) -> tuple[Source, ...]:
    """Return the files that a definition may name: those beside the handlers, and theirs."""
    return (*definition.beside, *(library.source for library in definition.libraries))


def absent(code: str, named: Node, files: dict[str, Source], expected: str) -> Diagnostic:
    """Return the problem of a name that no file of the project has."""
    place = "/".join(part for part in str(named.value).split("/") if part not in ("", "."))
    inside = [path for path in files if path.startswith(f"{place}/")]
    if inside:
        message, hint = f"`{place}` is a folder", f"did you mean `{inside[0]}`?"
    else:
        near = difflib.get_close_matches(place, files, n=1)
        message = f"`{place}` is no file of the project"
        hint = f"did you mean `{near[0]}`?" if near else ""
    return diagnose(code, named.span, message, expected, hint)


def _unfit(named: Node, source: Source) -> Diagnostics:
    problem = not_runnable(source)
    if problem:
        return (
            diagnose("MCP244", named.span, f"the system cannot run `{source.path}`: {problem}", "", mended(problem)),
        )
    if is_binary(source):
        return (diagnose("MCP246", named.span, f"`{source.path}` runs only where it was compiled for"),)
    return ()
