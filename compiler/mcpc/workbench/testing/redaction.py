"""Secrets in recorded values are replaced before anything is written: by the names of members, and by known forms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mcpc.release.scan.leaks import IN_ADDRESS, KNOWN, PRIVATE_KEY

if TYPE_CHECKING:
    from collections.abc import Sequence

    Json = Any

REDACTED = "REDACTED"
NAME = re.compile(
    r"(?:^|[_.\s-]|(?<=[a-z0-9])(?=[A-Z]))"
    r"(?i:api_?-?key|secret|token|password|passwd|passphrase|credential|auth|authorization|bearer|cookie|pin|otp"
    r"|private_?-?key|access_?-?key|key)s?(?=$|[_.\s-]|[A-Z])"
)
"""Names whose values are secrets, as whole words of a name: `api_key` and `dbPassword`, but not `monkey`."""
BEARER = re.compile(r"(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
FORMS = (*(pattern for _, pattern in KNOWN), PRIVATE_KEY, BEARER)


def redacted(value: Json, patterns: Sequence[re.Pattern[str]] = ()) -> Json:
    """Return a value without its secrets.  `patterns`: what is hidden besides, in texts and as names of members."""
    if isinstance(value, dict):
        return {name: _member(name, each, patterns) for name, each in value.items()}
    if isinstance(value, list):
        return [redacted(each, patterns) for each in value]
    return _text(value, patterns) if isinstance(value, str) else value


def _member(name: str, value: Json, patterns: Sequence[re.Pattern[str]]) -> Json:
    is_secret = NAME.search(name) or any(pattern.search(name) for pattern in patterns)
    if is_secret and isinstance(value, str | int | float) and not isinstance(value, bool):
        return REDACTED
    return redacted(value, patterns)


def _text(text: str, patterns: Sequence[re.Pattern[str]]) -> str:
    for pattern in (*FORMS, *patterns):
        text = pattern.sub(REDACTED, text)
    return IN_ADDRESS.sub(lambda found: found[0].replace(found[1], REDACTED), text)
