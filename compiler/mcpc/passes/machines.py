"""What handlers need of the machine that runs a server: variables, programs, and its operating system.

A variable that a file reads on import is needed by all handlers that import it; one that a function reads, by all
handlers that reach the function; any other, by at least one of the handlers.

A missing program is a warning, because the server may be built for another machine. So is a program that a Bash library
calls and no definition declares. No program is started, because a definition must not make the compiler run one.

Windows has no Bash, and a compiled program runs on one system only. Both are warnings: a server for several platforms
may have tools that work on some of them, and Git for Windows brings a Bash.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.frontends.introspection.reach import find_users as mentions
from mcpc.frontends.introspection.reach import read_variables
from mcpc.languages import imports
from mcpc.languages.bash.programs import undeclared_programs
from mcpc.languages.executable import SHEBANG, binary_system, interpreter_of
from mcpc.model.ir import BashFunction, Executable, ExternalHandler, PythonFunction
from mcpc.model.ir.handlers import runs_file
from mcpc.packages.platforms import SYSTEM_NAMES, system_of
from mcpc_runtime.transports.platforms.environments import MINIMAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic, Diagnostics, Span
    from mcpc.frontends.introspection.reach import EnvironmentVariable, Users
    from mcpc.model.ir import Environment, HasHandler, Server
    from mcpc.reading import Source

MAX_VARIABLES = 20
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
    reached = [path] if path in sources else []
    for name in reached:  # grows during the loop
        for module, _ in imports(sources[name]):
            reached += (other for other in owned.get(module, ()) if other not in reached)
    return reached


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
                _, items = lacking.setdefault(variable.name, (variable, []))
                items += [] if item in items else [item]
        for variable, items in lacking.values():
            yield _absent(variable, items, self.described)

    def _lacking(self, variable: EnvironmentVariable, path: str, users: list[HasHandler]) -> list[HasHandler]:
        """Return the handlers that need a variable and do not get it."""
        leading = self.mentions.leading_to((path, variable.function)) if variable.function else set()
        own = [item for item in users if self._leads(item, leading)]
        lacking = [
            item
            for item in own or users
            if not (variable.name in self.settings or _has(item.running.environment, variable.name))
        ]
        # No handler is known to reach the function; those that do may be the ones that get the variable.
        is_others = variable.function and not own and len(lacking) < len(users)
        return [] if is_others else lacking

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
    named = ", ".join(f"`{item.name}`" for item in lacking[:MAX_VARIABLES])
    more = f" and {len(lacking) - MAX_VARIABLES} more" if len(lacking) > MAX_VARIABLES else ""
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


def check_requirements(server: Server) -> Diagnostics:
    """Report each required program that is not installed."""
    wanted = [item for each in server.definitions for item in each.running.requires]
    here = {command: shutil.which(command) is not None for command in {item.command for item in wanted}}
    missing = tuple(
        diagnose(
            "MCP241", item.span, f"`{item.command}` is not on PATH", "", "it must be installed where the server runs"
        )
        for item in dict.fromkeys(wanted)
        if not here[item.command]
    )
    return (*missing, *(_undeclared(name, span) for name, span in undeclared_programs(server).items()))


def _undeclared(name: str, span: Span) -> Diagnostic:
    message = f"the program `{name}` is not declared, and not installed on every machine"
    hint = (
        f'add `"requires": ["{name}"]` to `"_meta": {{"mcpc/handlers": {{…}}}}` of `server.json`, or in'
        f' `"_meta": {{"mcpc/handler": {{…}}}}` of the definition; a check with `command -v {name}` makes it optional'
    )
    return diagnose("MCP247", span, message, "", hint)


SHELLS = frozenset({"ash", "bash", "csh", "dash", "fish", "ksh", "sh", "tcsh", "zsh"})
"""Interpreters that Windows has only with Git Bash or another package of Unix programs."""
SCRIPT_ENDINGS = (".sh", ".bash")
"""Endings of files that a shell runs if they do not name what runs them."""
MAX_HANDLERS = 5
"""Maximum number of handlers named in one message."""


def check_platforms(server: Server) -> Diagnostics:
    """Report handlers that need a Bash on Windows, and programs for another system than the server's, once per file."""
    systems = {system_of(tag) for tag in server.platforms} - {""} or {sys.platform}
    sources = {file.source.path: file.source for file in server.files}
    by_file: dict[str, list[HasHandler]] = {}
    for definition in server.definitions:
        by_file.setdefault(definition.handler.file, []).append(definition)
    rows = tuple((sources.get(path), users) for path, users in by_file.items())
    shells = (
        tuple(_without_bash(users) for source, users in rows if any(_needs_shell(user, source) for user in users))
        if "win32" in systems
        else ()
    )
    return (*shells, *(problem for source, users in rows if source for problem in _elsewhere(source, users, systems)))


def _needs_shell(definition: HasHandler, source: Source | None) -> bool:
    handler = definition.handler
    if isinstance(handler, BashFunction):
        return bool(handler.file)  # a stand-in for a missing handler has no file
    if source is None or not isinstance(handler, (Executable, ExternalHandler)):
        return False
    return interpreter_of(source) in SHELLS or (
        source.path.endswith(SCRIPT_ENDINGS) and not source.data.startswith(SHEBANG)
    )


def _without_bash(users: list[HasHandler]) -> Diagnostic:
    verb = "needs" if len(users) == 1 else "need"
    message = f"{_names(users)} {verb} Bash, which Windows does not have"
    hint = "Git for Windows (Git Bash) must be installed where the server runs; or write the handler in Python"
    return diagnose("MCP503", users[0].handler.span, message, "", hint)


def _elsewhere(source: Source, users: list[HasHandler], systems: set[str]) -> Diagnostics:
    """Return a warning if a compiled program is for none or only some of the systems."""
    own = binary_system(source)
    others = ", ".join(SYSTEM_NAMES.get(system, system) for system in sorted(systems - {own}))
    if not own or not others or not any(runs_file(user.handler) for user in users):
        return ()
    message = f"`{source.path}`, the program of {_names(users)}, is for {SYSTEM_NAMES[own]} and cannot run on {others}"
    hint = "build the server for that system only, or replace the program by a script"
    return (diagnose("MCP504", users[0].handler.span, message, "", hint),)


def _names(users: list[HasHandler]) -> str:
    named = ", ".join(f"`{item.name}`" for item in users[:MAX_HANDLERS])
    return f"{named} and {len(users) - MAX_HANDLERS} more" if len(users) > MAX_HANDLERS else named
