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


SCRIPT_DEFAULTS = {b"PATH": b"/usr/bin:/bin", b"TMPDIR": b"/tmp", b"LANG": b"C"}
"""Variables that scripts of mcp-bash have where the server's environment does not have them."""
SCRIPTS_NEED_SYSTEM_VARIABLES = False
"""Whether every script of mcp-bash needs MINIMAL, whatever its project allows."""
MAX_VARIABLE_LENGTH = 120_000
"""Bytes: no variable of a program's environment may be longer than 128 KiB on Linux."""


def variable_name(name: str) -> bytes:
    """Return a variable's name as the environment spells it."""
    return name.encode()
