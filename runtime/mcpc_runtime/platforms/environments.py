"""What of the server's environment a handler finds."""

from __future__ import annotations

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MINIMAL = (
    "HOME",
    "LANG",
    "LC_*",
    "LOGNAME",
    "MCPC_RUNTIME_CACHE",
    "MCPC_WITHOUT",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_*",
)
"""What nearly every program needs, and what our own parts read in the processes of handlers; nothing is a secret."""


SECRETS = frozenset(
    (
        b"MCPBASH_REMOTE_TOKEN",
        b"MCPC_EVENTS",
        b"MCPC_INTROSPECT_CREDENTIALS",
        b"MCPC_STATE_KEYS",
        b"MCPC_TASKS",
        b"MCPC_TOKENS",
        b"VALKEY_PASSWORD",
    )
)
"""What is for the server alone: no handler finds it, whatever it asks for."""
HEADERS = (b"OTEL_", b"HEADERS")
"""Variables that begin and go on like this are what spans are sent with: mostly somebody's key."""


def is_secret(name: bytes) -> bool:
    """Tell whether a variable is for the server alone."""
    begin, part = HEADERS
    return name in SECRETS or name in more_secrets or (name.startswith(begin) and part in name)


def hide(names: Iterable[str]) -> None:
    """Have no handler find these variables: a project names them for secrets of its server."""
    more_secrets.update(name.encode() for name in names)


more_secrets: set[bytes] = set()


def environment(inherit: bool, names: tuple[str, ...]) -> dict[bytes, bytes]:
    """Return what a handler finds: everything, or MINIMAL and what `names` name; a name may end with `*`."""
    given = {name: value for name, value in posix.environ.items() if not is_secret(name)}
    if inherit:
        return given
    wanted = [name.encode() for name in (*MINIMAL, *names)]
    exact = {name for name in wanted if not name.endswith(b"*")}
    begins = tuple(name[:-1] for name in wanted if name.endswith(b"*"))
    return {name: value for name, value in given.items() if name in exact or name.startswith(begins)}
