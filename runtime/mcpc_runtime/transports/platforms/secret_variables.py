"""The environment variables that only the server may read."""

from __future__ import annotations

from collections.abc import Iterable

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
"""Variables that handlers never receive."""
HEADERS = (b"OTEL_", b"HEADERS")
"""Prefix and infix of variables with HTTP headers for span exporters; they often contain API keys."""
declared_secrets: set[bytes] = set()
"""Those that the project declares."""


def is_secret(name: bytes) -> bool:
    """Tell whether only the server may read a variable."""
    prefix, infix = HEADERS
    return name in SECRETS or name in declared_secrets or (name.startswith(prefix) and infix in name)


def declare_secrets(names: Iterable[bytes]) -> None:
    """Add to the variables that only the server may read."""
    declared_secrets.update(names)
