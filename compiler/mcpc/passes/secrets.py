"""Ask whether a file that usually holds secrets goes along, to be read by everybody who gets the built file.

A handler may need it, so it is carried; but a folder that was only ever served where it lies is now handed on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostics
    from mcpc.ir import Server

ENVIRONMENT = ".env"
HARMLESS = (".example", ".sample", ".template", ".dist", ".defaults")
KEYS = frozenset({"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".pypirc", ".pgpass"})


def secrets(server: Server) -> Diagnostics:
    """Report the files that are called as files of secrets are."""
    return tuple(
        diagnose(
            "MCP713",
            Span(file.source.path),
            f"`{file.source.path}` goes along, and everybody who has the built file can read it",
            "",
            "build from a folder without it, and give handlers their secrets by variables where the server is started",
        )
        for file in server.files
        if _is_secret(file.source.path.rpartition("/")[2])
    )


def _is_secret(name: str) -> bool:
    is_environment = name == ENVIRONMENT or name.startswith(f"{ENVIRONMENT}.")
    return name in KEYS or (is_environment and not name.endswith(HARMLESS))
