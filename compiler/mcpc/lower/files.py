"""Files of a project: programs that definitions name, files that are written to the artifact, and variables.

A program is a file of the project that can be run. A library is included in the artifact if it contains a handler; Bash
libraries are included together, because one shell reads them all, and their functions may use each other. A Python
handler or a program may import any module of the project and read any file, so that with one of these all files except
definitions are included. The same holds if a Bash library uses its own path.

Python handlers that find files of the project, or their own source, are imported from a folder on disk; all others from
the built file, which has nothing to unpack then.

Handlers of some systems expect the project's definitions in environment variables, as compact JSON. A variable is set
only if a library names it: every variable is copied for every process that a handler starts.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import did_you_mean
from mcpc.languages import loads
from mcpc.languages.executable import how_to_fix, is_binary, not_runnable
from mcpc.model.ir import Executable, ExternalHandler, HandlerFile, PythonFunction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.definitions import Definition
    from mcpc.model.ir import Handler
    from mcpc.reading import Json, Node, Source

FORM = '`"bin/tool"`, or `["bin/tool", "--option"]`'


def program_handler(command: Node, definition: Definition) -> tuple[Executable | None, Diagnostics]:
    """Return the handler that `command` names, or the problem that prevents it."""
    named, words = _words(command)
    if named is None:
        message = "`command` is not a file name or a list of a file name and arguments"
        return None, (diagnose("MCP243", command.span, message, FORM),)
    place, problems = named_program(named, definition)
    return Executable(place, command.span, words) if place else None, problems


def named_program(named: Node, definition: Definition) -> tuple[str, Diagnostics]:
    """Return the path of the program that `named` names, empty if there is none, and what is wrong with it."""
    path = str(named.value)
    problem = invalid_path_reason(path)
    if problem:
        expected = "a path inside the project, with `/` between its folders"
        return "", (diagnose("MCP243", named.span, f"`{path}` {problem}", expected),)
    files = {source.path: source for source in project_files(definition)}
    place = "/".join(part for part in path.split("/") if part not in ("", "."))
    if place not in files:
        return "", (missing_file("MCP243", named, files, "an executable file"),)
    return place, _unfit(named, files[place])


def _words(command: Node) -> tuple[Node | None, tuple[str, ...]]:
    """Return the node that names the file, and the arguments after it; None if they are not a list of strings."""
    nodes = command.items if command.kind == "array" else (command,)
    # No argument of a program can contain NUL.
    words = tuple(node.value for node in nodes if isinstance(node.value, str) and "\0" not in node.value)
    return (nodes[0], words[1:]) if words and len(words) == len(nodes) else (None, ())


def invalid_path_reason(path: str) -> str:
    """Return why a text cannot name a file of the project, or an empty string."""
    parts = path.split("/")
    if path.startswith(("/", "~")):
        return "is not a path inside the project"
    if ".." in parts:
        return "leads out of the project"
    return "" if any(part not in ("", ".") for part in parts) else "does not name a file"


def project_files(definition: Definition) -> tuple[Source, ...]:
    """Return the files that a definition may name: handler libraries and the files beside them."""
    return (*definition.beside, *(library.source for library in definition.libraries))


def missing_file(code: str, named: Node, files: dict[str, Source], expected: str) -> Diagnostic:
    """Return the diagnostic for a name that no file of the project has."""
    place = "/".join(part for part in str(named.value).split("/") if part not in ("", "."))
    inside = [path for path in files if path.startswith(f"{place}/")]
    if inside:
        message, hint = f"`{place}` is a folder", f"did you mean `{inside[0]}`?"
    else:
        message, hint = f"`{place}` is not a file of the project", did_you_mean(place, files)
    return diagnose(code, named.span, message, expected, hint)


def _unfit(named: Node, source: Source) -> Diagnostics:
    problem = not_runnable(source)
    if problem:
        return (
            diagnose("MCP244", named.span, f"`{source.path}` cannot be executed: {problem}", "", how_to_fix(problem)),
        )
    if is_binary(source):
        return (diagnose("MCP246", named.span, f"`{source.path}` runs only on the platform it was compiled for"),)
    return ()


def handler_files(definition: Definition, handlers: Sequence[Handler], unpack: bool) -> tuple[HandlerFile, ...]:
    """Return the files, sorted by path; `unpack`: a Bash library reads files beside it."""
    programs = [
        handler
        for handler in handlers
        if isinstance(handler, Executable) or (isinstance(handler, ExternalHandler) and handler.unpacks)
    ]
    used = {handler.file for handler in handlers if not isinstance(handler, Executable)}
    languages = {library.language for library in definition.libraries if library.source.path in used}
    files = [
        HandlerFile(library.source, library.language)
        for library in definition.libraries
        if library.language in languages or programs
    ]
    if "python" in languages or programs or unpack:
        files += [HandlerFile(source, "python" if source.path.endswith(".py") else "") for source in definition.beside]
    return tuple(sorted(files, key=_path))


def shell_libraries(definition: Definition) -> tuple[str, ...]:
    """Return the paths of the Bash libraries in the order in which a shell reads them."""
    return tuple(library.source.path for library in definition.libraries if library.language == "bash")


def _path(file: HandlerFile) -> str:
    return file.source.path


def definition_variables(definition: Definition) -> tuple[tuple[str, str], ...]:
    """Return the variables that the definition's libraries use."""
    if definition.server is None:
        return ()
    values: dict[str, Json] = {
        "server": definition.server.node.value,
        "tools": {"tools": [tool.node.value for tool in definition.tools]},
        "prompts": {"prompts": [prompt.node.value for prompt in definition.prompts]},
    }
    libraries = [library for library in definition.libraries if library.language == "bash"]
    asked = {
        name: held
        for library in libraries
        for name, held in library.variables
        if any(re.search(rf"\b{name}\b", item.source.text) for item in libraries if item.variables)
    }
    return tuple(
        (name, json.dumps(values[held], ensure_ascii=False, separators=(",", ":"))) for name, held in asked.items()
    )


# What finds a module's own place, the resources of packages, or the source of a function (`inspect`).
FINDS_FILES = re.compile(
    rb"\b(?:MCPC_FILES|__file__|__path__|__spec__|pkg_resources|importlib[._](?:resources|metadata)|pkgutil)\b"
    rb"|\bfrom[ \t]+importlib[ \t]+import\b[^\n]*\b(?:resources|metadata)\b"
    rb"|\b(?:getsource\w*|getsourcefile|getfile|getabsfile|findsource|getcomments)\b"
)


def files_on_disk(files: Sequence[HandlerFile], handlers: Sequence[Handler]) -> tuple[str, ...]:
    """Return the Python files that handlers may import, if one of them finds files; else nothing."""
    bound = {handler.file for handler in handlers if isinstance(handler, PythonFunction)}
    owned: dict[str, list[HandlerFile]] = {}
    for file in files:
        if file.source.path.endswith(".py"):
            owned.setdefault(file.source.path.partition("/")[0].removesuffix(".py"), []).append(file)
    waiting = [file for file in files if file.source.path in bound]
    reached = {file.source.path: file.source for file in waiting}
    while waiting:
        for name in loads(waiting.pop().source) or ():
            # Taken out, so that each module is followed once.
            reached_files = [file for file in owned.pop(name, ()) if file.source.path not in reached]
            reached |= {file.source.path: file.source for file in reached_files}
            waiting += reached_files
    finds = any(FINDS_FILES.search(source.data) for source in reached.values())
    return tuple(sorted(reached)) if finds else ()
