"""Check that every handler can run on the platforms that the server is built for: those requested, else this machine's.

Windows has no Bash, and a compiled program runs on one system only. Both are warnings: a server for several platforms
may have tools that work on some of them, and Git for Windows brings a Bash.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.languages.executable import SHEBANG, binary_system, interpreter_of
from mcpc.model.ir import BashFunction, Executable, ExternalHandler
from mcpc.packages.platforms import system_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import HasHandler, Server
    from mcpc.reading import Source

SHELLS = frozenset({"ash", "bash", "csh", "dash", "fish", "ksh", "sh", "tcsh", "zsh"})
"""Interpreters that Windows has only with Git Bash or another package of Unix programs."""
SCRIPT_ENDINGS = (".sh", ".bash")
"""Endings of files that a shell runs if they do not name what runs them."""
SYSTEM_NAMES = {"linux": "Linux", "darwin": "macOS", "win32": "Windows"}
MAX_NAMED = 5
"""Maximum number of handlers named in one message."""


def check_platforms(server: Server) -> Diagnostics:
    """Report handlers that need a Bash on Windows, and programs for another system than the server's, once per file."""
    systems = {system_of(tag) for tag in server.platforms} - {""} or {sys.platform}
    sources = {file.source.path: file.source for file in server.files}
    by_file: dict[str, list[HasHandler]] = {}
    for definition in server.definitions:
        by_file.setdefault(definition.handler.file, []).append(definition)
    rows = tuple((sources.get(path), users) for path, users in by_file.items())
    shells = _in_shells(rows) if "win32" in systems else ()
    return (*shells, *(problem for source, users in rows if source for problem in _elsewhere(source, users, systems)))


def _in_shells(rows: Iterable[tuple[Source | None, list[HasHandler]]]) -> Diagnostics:
    """Return a warning for each file whose handlers need a shell."""
    return tuple(_without_bash(users) for source, users in rows if any(_needs_shell(user, source) for user in users))


def _needs_shell(definition: HasHandler, source: Source | None) -> bool:
    handler = definition.handler
    if isinstance(handler, BashFunction):
        return bool(handler.file)  # a stand-in for a missing handler has no file
    if source is None or not isinstance(handler, (Executable, ExternalHandler)):
        return False
    return interpreter_of(source) in SHELLS or _is_run_by_bash(source)


def _is_run_by_bash(source: Source) -> bool:
    """Tell whether a file is a script that does not name what runs it."""
    return source.path.endswith(SCRIPT_ENDINGS) and not source.data.startswith(SHEBANG)


def _without_bash(users: list[HasHandler]) -> Diagnostic:
    verb = "needs" if len(users) == 1 else "need"
    message = f"{_names(users)} {verb} Bash, which Windows does not have"
    hint = "Git for Windows (Git Bash) must be installed where the server runs; or write the handler in Python"
    return diagnose("MCP503", users[0].handler.span, message, "", hint)


def _elsewhere(source: Source, users: list[HasHandler], systems: set[str]) -> Diagnostics:
    """Return a warning if a compiled program is for none or only some of the systems."""
    own = binary_system(source)
    others = ", ".join(SYSTEM_NAMES.get(system, system) for system in sorted(systems - {own}))
    if not own or not others or not any(isinstance(user.handler, Executable) for user in users):
        return ()
    message = f"`{source.path}`, the program of {_names(users)}, is for {SYSTEM_NAMES[own]} and cannot run on {others}"
    hint = "build the server for that system only, or replace the program by a script"
    return (diagnose("MCP504", users[0].handler.span, message, "", hint),)


def _names(users: list[HasHandler]) -> str:
    named = ", ".join(f"`{item.name}`" for item in users[:MAX_NAMED])
    return f"{named} and {len(users) - MAX_NAMED} more" if len(users) > MAX_NAMED else named
