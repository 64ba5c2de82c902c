"""Ask whether a file that usually holds secrets goes along, to be read by everybody who gets the built file.

A handler may need it, so the setting `include` can name it; unnamed it is an error, because a folder that was only
ever served where it lies is now handed on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostics
    from mcpc.ir import Server
    from mcpc.sources import Source

ENVIRONMENT = ".env"
HARMLESS = (".example", ".sample", ".template", ".dist", ".defaults")
KEYS = frozenset(
    {"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials"}
)
STORES = (".p12", ".pfx", ".jks", ".kdbx", ".ppk")
MAY_BE_KEYS = (".pem", ".key")
PRIVATE = b"PRIVATE KEY"
"""What a file with one of those endings has in it if it is a private key, and no certificate."""
HINT = (
    "leave it out by `exclude` in `[tool.mcpc]` of `pyproject.toml` (or `_meta` `mcpc/files` of `server.json`) or by "
    "`.gitignore`, and give handlers their secrets by variables; if it has to go along, name it in `include` there"
)


def secrets(server: Server) -> Diagnostics:
    """Report the files that are called as files of secrets are."""
    return tuple(
        diagnose(
            "MCP713",
            Span(file.source.path),
            f"`{file.source.path}` goes along, and everybody who has the built file can read it",
            "",
            HINT,
        )
        for file in server.files
        if not file.source.named and is_secret(file.source)
    )


def is_secret(source: Source) -> bool:
    """Tell whether a file is called as files of secrets are, or is a private key."""
    name = source.path.rpartition("/")[2]
    is_environment = name == ENVIRONMENT or name.startswith(f"{ENVIRONMENT}.")
    is_key = name.endswith(STORES) or (name.endswith(MAY_BE_KEYS) and PRIVATE in source.data)
    return name in KEYS or is_key or (is_environment and not name.endswith(HARMLESS))
