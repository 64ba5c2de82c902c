"""Check that no file that usually contains secrets is bundled, unless the project includes it explicitly.

A handler may need such a file, so the setting `include` can name it; otherwise it is an error, because an artifact is
distributed, unlike the project's folder.
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
"""Text in a private key file that a certificate does not contain."""
HINT = (
    "exclude it with `exclude` in `[tool.mcpc]` of `pyproject.toml` (or `_meta` `mcpc/files` of `server.json`) or by "
    "`.gitignore`, and pass secrets to handlers in environment variables; to include it anyway, name it in `include`"
)


def check_secrets(server: Server) -> Diagnostics:
    """Report files whose names are typical of secrets."""
    return tuple(
        diagnose(
            "MCP713",
            Span(file.source.path),
            f"`{file.source.path}` will be included in the built file and readable by anyone who has it",
            "",
            HINT,
        )
        for file in server.files
        if not file.source.named and is_secret(file.source)
    )


def is_secret(source: Source) -> bool:
    """Tell whether a file has a name typical of secrets, or is a private key."""
    name = source.path.rpartition("/")[2]
    is_environment = name == ENVIRONMENT or name.startswith(f"{ENVIRONMENT}.")
    is_key = name.endswith(STORES) or (name.endswith(MAY_BE_KEYS) and PRIVATE in source.data)
    return name in KEYS or is_key or (is_environment and not name.endswith(HARMLESS))
