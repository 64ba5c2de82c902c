"""TOML: every text that cannot be read is one kind of error, as is what is nested more deeply than Python reads."""

from __future__ import annotations

import tomllib
from typing import Any

from mcpc_runtime.tools.clients.toml_text import has_long_key


class TooDeepError(tomllib.TOMLDecodeError):
    """The text is nested too deeply."""

    def __init__(self) -> None:
        ValueError.__init__(self, "it is nested too deeply")


def parse_toml(text: str) -> dict[str, Any]:
    """Return the table that a text is; raise tomllib.TOMLDecodeError."""
    if has_long_key(text):
        raise TooDeepError
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TooDeepError from None
