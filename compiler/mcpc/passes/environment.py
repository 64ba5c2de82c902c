"""Ask whether Python handlers will find the variables of the environment that they read.

What a file reads when it is imported, every handler that imports it needs; what a function reads, every handler that
leads to the function; what no handler is seen to lead to, one of the handlers at least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.introspection.reach import users as mentions
from mcpc.introspection.variables import variables
from mcpc.ir import PythonFunction
from mcpc.languages import imports
from mcpc_runtime.environments import MINIMAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.introspection.reach import Users
    from mcpc.introspection.variables import Variable
    from mcpc.ir import Environment, Handled, Server
    from mcpc.sources import Source


MOST_NAMED = 20
"""So many handlers are named in one message."""


def environment(server: Server) -> Diagnostics:
    """Report variables that a handler reads and does not find, each once a file."""
    leading: dict[str, list[Handled]] = {}
    sources = {file.source.path: file.source for file in server.files if file.source.path.endswith(".py")}
    handlers = {one.handler.file: one for one in server.definitions if isinstance(one.handler, PythonFunction)}
    reached = {path: _reached(path, sources) for path in handlers}
    for one in server.definitions:
        for path in reached.get(one.handler.file, ()) if isinstance(one.handler, PythonFunction) else ():
            leading.setdefault(path, []).append(one)
    read = {path: variables(sources[path]) for path in leading}
    if not any(read.values()):
        return ()
    judge = _Judge(reached, mentions(sources), server.node.span.path)
    return tuple(problem for path, users in leading.items() for problem in judge.unfound(path, read[path], users))


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


@dataclass(frozen=True, slots=True)
class _Judge:
    """What is known of a project: the files each file imports, who mentions what, where the server is described."""

    reached: Mapping[str, list[str]]
    mentions: Users
    described: str

    def unfound(self, path: str, read: Sequence[Variable], users: list[Handled]) -> Iterator[Diagnostic]:
        """Yield the variables of a file that handlers do not find, each at the first place that reads it for one."""
        lacking: dict[str, tuple[Variable, list[Handled]]] = {}
        for variable in read:
            for one in self._lacking(variable, path, users):
                _, found = lacking.setdefault(variable.name, (variable, []))
                found += [] if one in found else [one]
        for variable, found in lacking.values():
            yield _absent(variable, found, self.described)

    def _lacking(self, variable: Variable, path: str, users: list[Handled]) -> list[Handled]:
        """Return the handlers that need a variable and do not find it."""
        leading = self.mentions.leading_to((path, variable.function)) if variable.function else set()
        own = [one for one in users if self._leads(one, leading)]
        lacking = [one for one in own or users if not _has(one.running.environment, variable.name)]
        is_others = variable.function and not own and len(lacking) < len(users)
        return [] if is_others else lacking

    def _leads(self, one: Handled, leading: set[tuple[str, str]]) -> bool:
        handler = one.handler
        if not isinstance(handler, PythonFunction):
            return False
        runs = ((path, "") for path in self.reached[handler.file])
        return (handler.file, handler.function) in leading or any(place in leading for place in runs)


def _has(environment: Environment, name: str) -> bool:
    if environment.inherit:
        return True
    known = (*MINIMAL, *environment.names)
    return any(name.startswith(one[:-1]) if one.endswith("*") else name == one for one in known)


def _absent(variable: Variable, lacking: list[Handled], described: str) -> Diagnostic:
    """Return the warning, which names every handler, and both places that can declare the variable."""
    name = variable.name
    named = ", ".join(f"`{one.name}`" for one in lacking[:MOST_NAMED])
    more = f" and {len(lacking) - MOST_NAMED} more" if len(lacking) > MOST_NAMED else ""
    verb = "does" if len(lacking) == 1 else "do"
    message = f"{named}{more} {verb} not find the variable `{name}`: handlers are given those they declare"
    own = f"say {_in_definition(name, lacking)}" if len(lacking) == 1 else f"{_in_definition(name, lacking)} of each"
    general = f"{_in_server(name, described)} for all handlers"
    hint = f"{own}, or {general}" if len(lacking) == 1 else f"say {general}, or {own}"
    return diagnose("MCP231", variable.span, message, "", hint)


def _in_definition(name: str, lacking: list[Handled]) -> str:
    if lacking[0].span.path.endswith(".py"):
        return f'`environment=["{name}"]` in the mark' if len(lacking) > 1 else f'`environment=["{name}"]` in its mark'
    owner = "the" if len(lacking) > 1 else "its"
    return f'`"environment": ["{name}"]` in {owner} `"_meta": {{"mcpc/handler": {{…}}}}`'


def _in_server(name: str, described: str) -> str:
    if described.endswith(".py"):
        return f'`Server(..., environment=["{name}"])`'
    return f'`"_meta": {{"mcpc/handlers": {{"environment": ["{name}"]}}}}` in `server.json`'
