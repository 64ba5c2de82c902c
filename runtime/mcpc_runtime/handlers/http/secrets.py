"""The values of secret settings, and what replaces them in every text that leaves the server."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from mcpc_runtime.protocol.jsonrpc import encode

SHORTEST = 4
"""The shortest value that is replaced: shorter ones stand in any text."""


class SecretTexts:
    """Replaces secrets, as they are written and as JSON and addresses write them, by their names in brackets."""

    def __init__(self, secrets: Iterable[tuple[str, str]]) -> None:
        self._rows: list[tuple[str, str]] = []
        for name, value in secrets:
            self.add(name, value)

    def copy(self) -> SecretTexts:
        """Return the same, to which a call adds its own."""
        copied = SecretTexts(())
        copied._rows = self._rows
        return copied

    def add(self, name: str, value: str) -> None:
        """Replace a value from now on."""
        if len(value) >= SHORTEST:
            forms = (value, encode(value).decode()[1:-1], quote(value, ""), quote(value))
            rows = {**dict(self._rows), **dict.fromkeys(forms, name)}
            self._rows = sorted(rows.items(), key=lambda row: len(row[0]), reverse=True)

    def hide(self, text: str) -> str:
        """Return a text without secrets, the longest first."""
        for value, name in self._rows:
            if value in text:
                text = text.replace(value, f"[{name}]")
        return text
