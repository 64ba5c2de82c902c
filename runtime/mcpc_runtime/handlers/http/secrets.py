"""The values of secret settings, and what replaces them in every text that leaves the server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from mcpc_runtime.protocol.contents import base64_of
from mcpc_runtime.protocol.jsonrpc import encode

SHORTEST = 4
"""The shortest value that is replaced: shorter ones stand in any text."""
ESCAPE = re.compile("%[0-9A-F]{2}")


class SecretTexts:
    """Replaces secrets, as they are and as JSON, addresses and base64 write them, by their names in brackets."""

    def __init__(self, secrets: Iterable[tuple[str, str]]) -> None:
        self._rows: list[tuple[str, str]] = []
        for name, value in secrets:
            self.add(name, value)

    def copy(self) -> SecretTexts:
        """Return the same, to which a call adds its own."""
        copied = SecretTexts(())
        # Shared until `add`, which makes a new list.
        copied._rows = self._rows
        return copied

    def add(self, name: str, value: str) -> None:
        """Replace a value from now on."""
        if len(value) >= SHORTEST:
            rows = {**dict(self._rows), **dict.fromkeys(forms_of(value), name)}
            self._rows = sorted(rows.items(), key=lambda row: len(row[0]), reverse=True)

    def hide(self, text: str) -> str:
        """Return a text without secrets, the longest first."""
        for value, name in self._rows:
            if value in text:
                text = text.replace(value, f"[{name}]")
        return text


def forms_of(value: str) -> tuple[str, ...]:
    """Return a value in all the ways in which a server may give it back."""
    data = value.encode("utf-8", "surrogatepass")
    quoted = (quote(data, ""), quote(data), quote_plus(data))
    small = (ESCAPE.sub(lambda escape: escape[0].lower(), form) for form in quoted)
    written = (encode(value).decode()[1:-1], json.dumps(value)[1:-1])
    return value, *quoted, *small, *written, base64_of(data).rstrip("=")
