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
        self._names: dict[str, str] = {}
        for name, value in secrets:
            self.add(name, value)

    def add(self, name: str, value: str) -> None:
        """Replace a value from now on."""
        if len(value) >= SHORTEST:
            for form in (value, encode(value).decode()[1:-1], quote(value, ""), quote(value)):
                self._names[form] = name

    def hide(self, text: str) -> str:
        """Return a text without secrets, the longest first."""
        for value in sorted(self._names, key=len, reverse=True):
            if value in text:
                text = text.replace(value, f"[{self._names[value]}]")
        return text
