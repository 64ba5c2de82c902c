"""Ask whether Python handlers will find the variables of the environment that they read.

What a file reads when it is imported, every handler that leads to it needs; what a handler's own function reads, that
handler; what any other function reads, one of the handlers at least.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.introspection.variables import variables
from mcpc.ir import PythonFunction
from mcpc.languages import imports
from mcpc_runtime.environments import MINIMAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.introspection.variables import Variable
    from mcpc.ir import Environment, Handled, Server
    from mcpc.sources import Source


def environment(server: Server) -> Diagnostics:
    """Report variables that a handler reads and does not find, each once a file."""
    leading: dict[str, list[Handled]] = {}
    sources = {file.source.path: file.source for file in server.files if file.source.path.endswith(".py")}
    handlers = {one.handler.file: one for one in server.definitions if isinstance(one.handler, PythonFunction)}
    reached = {path: _reached(path, sources) for path in handlers}
    for one in server.definitions:
        for path in reached.get(one.handler.file, ()) if isinstance(one.handler, PythonFunction) else ():
            leading.setdefault(path, []).append(one)
    return tuple(problem for path, users in leading.items() for problem in _unfound(sources[path], users))


def _reached(path: str, sources: dict[str, Source]) -> list[str]:
    """Return a file of the project and all that it imports; of a package, every file."""
    owned: dict[str, list[str]] = {}
    for name in sources:
        owned.setdefault(name.partition("/")[0].removesuffix(".py"), []).append(name)
    found = [path] if path in sources else []
    for name in found:  # which grows meanwhile
        for module, _ in imports(sources[name]):
            found += (other for other in owned.get(module, ()) if other not in found)
    return found


def _unfound(source: Source, users: list[Handled]) -> Iterator[Diagnostic]:
    told = set[str]()
    for variable in variables(source):
        lacking = _lacking(variable, source, users)
        if lacking and variable.name not in told:
            told.add(variable.name)
            yield _absent(variable, lacking[0])


def _lacking(variable: Variable, source: Source, users: list[Handled]) -> list[Handled]:
    """Return the handlers that need a variable and do not find it."""
    own = [one for one in users if _is_function(one, variable, source)]
    lacking = [one for one in own or users if not _has(one.running.environment, variable.name)]
    is_others = variable.function and not own and len(lacking) < len(users)
    return [] if is_others else lacking


def _is_function(one: Handled, variable: Variable, source: Source) -> bool:
    handler = one.handler
    return isinstance(handler, PythonFunction) and (handler.file, handler.function) == (source.path, variable.function)


def _has(environment: Environment, name: str) -> bool:
    if environment.inherit:
        return True
    known = (*MINIMAL, *environment.names)
    return any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in known)


def _absent(variable: Variable, definition: Handled) -> Diagnostic:
    name = variable.name
    said = f'`environment=["{name}"]`' if definition.span.path.endswith(".py") else f'`"environment": ["{name}"]`'
    where = "its mark" if definition.span.path.endswith(".py") else 'its `"_meta": {"mcpc/handler": {…}}`'
    message = f"`{definition.name}` does not find the variable `{name}`: handlers are given those they declare"
    return diagnose("MCP231", variable.span, message, "", f"say {said} in {where}")
