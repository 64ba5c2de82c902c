"""The environment variables that most programs need on POSIX systems, and their names."""

from __future__ import annotations

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
"""Variables that most programs need, and those that the runtime reads in handler processes; none is a secret."""
DEFAULTS: dict[bytes, bytes] = {}
"""Variables that handlers have where the server's environment does not have them."""


def variable_name(name: str) -> bytes:
    """Return a variable's name as the environment spells it."""
    return name.encode()
