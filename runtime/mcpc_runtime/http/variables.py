"""Environment variables that begin with MCPC_: the known ones, and warnings about any others at the start.

A misspelt variable has no effect.  If it is the one that names the tokens, the server is open, so that is reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from mcpc_runtime.artifact.start_options import OPTIONS as START_OPTIONS
from mcpc_runtime.artifact.start_options import variable_of
from mcpc_runtime.http.settings import OPTIONS

PREFIX = "MCPC_"
READ = frozenset(
    (
        "MCPC_BUILT_FROM",
        "MCPC_CALL_LOG",
        "MCPC_CALL_LOG_VALUES",
        "MCPC_INTROSPECT_CREDENTIALS",
        "MCPC_RUNTIME_CACHE",
        "MCPC_SETTINGS_FILE",
        "MCPC_STATE_KEYS",
        "MCPC_TASKS_LEASE",
        "MCPC_TOKENS",
        "MCPC_TOOLBOX_HOME",
        "MCPC_TOOLBOX_LOG",
        "MCPC_WITHOUT",
    )
)
"""Variables that the runtime reads, besides those of options."""
GIVEN = frozenset(
    (
        "MCPC_ADDRESSES",
        "MCPC_ANSWERS",
        "MCPC_CALL",
        "MCPC_CHILDREN",
        "MCPC_FILES",
        "MCPC_NOTES",
        "MCPC_NOTE_PREFIX",
        "MCPC_PYTHON",
        "MCPC_TOOL",
        "MCPC_URI",
    )
)
"""Variables of handlers: a server that a handler starts inherits them."""
COMPILER = frozenset(("MCPC_CACHE_DIR", "MCPC_TRACEBACK"))
GUARDS = frozenset(("MCPC_ISSUER", "MCPC_TOKENS", "MCPC_TOKEN_FILE"))
"""Variables that configure tokens; without any of them no token is needed."""


def known_variables() -> frozenset[str]:
    """Return the names of known variables."""
    options = (*(option.variable for option in OPTIONS.values()), *map(variable_of, START_OPTIONS))
    return READ | GIVEN | COMPILER | frozenset(options)


def unknown_variables(environment: Iterable[str], *, guarded: bool) -> Iterator[str]:
    """Yield warnings about unknown variables; `guarded`: tokens are configured."""
    names = known_variables()
    for name in sorted(name for name in environment if name.startswith(PREFIX) and name not in names):
        near: list[str] = get_close_matches(name, sorted(names - GIVEN), 1)
        shown = "".join(letter if letter.isprintable() else "?" for letter in name)
        yield f"the variable {shown} means nothing to this server{f'; did you mean {near[0]}?' if near else ''}"
        if not guarded and near and near[0] in GUARDS:
            yield f"so no token is asked for: everybody who can connect may call (meant to be closed? set {near[0]})"
