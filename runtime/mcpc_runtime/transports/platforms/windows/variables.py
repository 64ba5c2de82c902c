"""The environment variables that most programs need on Windows, and their names, whose case does not matter."""

from __future__ import annotations

MINIMAL = (
    "APPDATA",
    "COMSPEC",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LC_*",
    "LOCALAPPDATA",
    "MCPC_RUNTIME_CACHE",
    "MCPC_WITHOUT",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES*",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TZ",
    "USERDOMAIN",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
)
"""Variables that most programs need, and those that the runtime reads in handler processes; none is a secret."""
DEFAULTS = {b"PYTHONUTF8": b"1"}
"""Variables that handlers have unless the server's environment has them: Python prints UTF-8, as elsewhere."""


SCRIPT_DEFAULTS: dict[bytes, bytes] = {}
"""Variables that scripts of mcp-bash have where the server's environment does not have them."""
SCRIPTS_NEED_SYSTEM_VARIABLES = True
"""Whether every script of mcp-bash needs MINIMAL, whatever its project allows."""
MAX_VARIABLE_LENGTH = 30_000
"""Bytes: no variable of a program's environment may be longer than 32,767 characters."""


def variable_name(name: str) -> bytes:
    """Return a variable's name as the environment spells it: in capitals, since case tells no two of them apart."""
    return name.upper().encode("utf-8", "surrogatepass")
