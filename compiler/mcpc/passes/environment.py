"""Check that Python handlers get the environment variables that they read.

A variable that a file reads on import is needed by all handlers that import it; one that a function reads, by all
handlers that reach the function; any other, by at least one of the handlers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.frontends.introspection.reach import find_users as mentions
from mcpc.frontends.introspection.variables import read_variables
from mcpc.languages import imports
from mcpc.model.ir import PythonFunction
from mcpc_runtime.transports.platforms.environments import MINIMAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.frontends.introspection.reach import Users
    from mcpc.frontends.introspection.variables import EnvironmentVariable
    from mcpc.model.ir import Environment, HasHandler, Server
    from mcpc.reading import Source

MAX_NAMED = 20
"""Maximum number of handlers named in one message."""


def check_environment(server: Server) -> Diagnostics:
    """Report variables that a handler reads and does not get, once per file."""
    leading: dict[str, list[HasHandler]] = {}
    sources = {file.source.path: file.source for file in server.files if file.source.path.endswith(".py")}
    handlers = {
        definition.handler.file: definition
        for definition in server.definitions
        if isinstance(definition.handler, PythonFunction)
    }
    reached = {path: _reached(path, sources) for path in handlers}
    for definition in server.definitions:
        for path in reached.get(definition.handler.file, ()) if isinstance(definition.handler, PythonFunction) else ():
            leading.setdefault(path, []).append(definition)
    read = {path: read_variables(sources[path]) for path in leading}
    if not any(read.values()):
        return ()
    settings = frozenset(setting.name for setting in server.settings)
    judge = _Judge(reached, mentions(sources), server.node.span.path, settings)
    return tuple(problem for path, users in leading.items() for problem in judge.unfound(path, read[path], users))


def _reached(path: str, sources: dict[str, Source]) -> list[str]:
    """Return a file of the project and all files that it imports; for a package, all of its files."""
    owned: dict[str, list[str]] = {}
    for name in sources:
        owned.setdefault(name.partition("/")[0].removesuffix(".py"), []).append(name)
    found = [path] if path in sources else []
    for name in found:  # grows during the loop
        for module, _ in imports(sources[name]):
            found += (other for other in owned.get(module, ()) if other not in found)
    return found


@dataclass(frozen=True, slots=True)
class _Judge:
    """Facts about a project: imports of each file, mentions of names, the server's description, its settings."""

    reached: Mapping[str, list[str]]
    mentions: Users
    described: str
    settings: frozenset[str]

    def unfound(self, path: str, read: Sequence[EnvironmentVariable], users: list[HasHandler]) -> Iterator[Diagnostic]:
        """Yield the missing variables of a file, each at the first position that reads it."""
        lacking: dict[str, tuple[EnvironmentVariable, list[HasHandler]]] = {}
        for variable in read:
            for item in self._lacking(variable, path, users):
                _, found = lacking.setdefault(variable.name, (variable, []))
                found += [] if item in found else [item]
        for variable, found in lacking.values():
            yield _absent(variable, found, self.described)

    def _lacking(self, variable: EnvironmentVariable, path: str, users: list[HasHandler]) -> list[HasHandler]:
        """Return the handlers that need a variable and do not get it."""
        leading = self.mentions.leading_to((path, variable.function)) if variable.function else set()
        own = [item for item in users if self._leads(item, leading)]
        lacking = [item for item in own or users if not self._gets(item, variable.name)]
        is_others = variable.function and not own and len(lacking) < len(users)
        return [] if is_others else lacking

    def _gets(self, definition: HasHandler, name: str) -> bool:
        return name in self.settings or _has(definition.running.environment, name)

    def _leads(self, definition: HasHandler, leading: set[tuple[str, str]]) -> bool:
        handler = definition.handler
        if not isinstance(handler, PythonFunction):
            return False
        runs = ((path, "") for path in self.reached[handler.file])
        return (handler.file, handler.function) in leading or any(place in leading for place in runs)


def _has(environment: Environment, name: str) -> bool:
    if environment.inherit:
        return True
    known = (*MINIMAL, *environment.names)
    return any(name.startswith(item[:-1]) if item.endswith("*") else name == item for item in known)


def _absent(variable: EnvironmentVariable, lacking: list[HasHandler], described: str) -> Diagnostic:
    """Return the warning, which names every handler, and both places where the variable can be declared."""
    name = variable.name
    named = ", ".join(f"`{item.name}`" for item in lacking[:MAX_NAMED])
    more = f" and {len(lacking) - MAX_NAMED} more" if len(lacking) > MAX_NAMED else ""
    verb = "does" if len(lacking) == 1 else "do"
    message = f"{named}{more} {verb} not receive the variable `{name}`: handlers receive only declared variables"
    own = f"add {_in_definition(name, lacking)}" if len(lacking) == 1 else f"{_in_definition(name, lacking)} of each"
    general = f"{_in_server(name, described)} for all handlers"
    hint = f"{own}, or {general}" if len(lacking) == 1 else f"add {general}, or {own}"
    return diagnose("MCP231", variable.span, message, "", hint)


def _in_definition(name: str, lacking: list[HasHandler]) -> str:
    owner = "the" if len(lacking) > 1 else "its"
    if lacking[0].span.path.endswith(".py"):
        return f'`environment=["{name}"]` in {owner} decorator'
    return f'`"environment": ["{name}"]` in {owner} `"_meta": {{"mcpc/handler": {{…}}}}`'


def _in_server(name: str, described: str) -> str:
    if described.endswith(".py"):
        return f'`Server(..., environment=["{name}"])`'
    return f'`"_meta": {{"mcpc/handlers": {{"environment": ["{name}"]}}}}` in `server.json`'
