"""Secrets in definitions and in handlers: known forms of keys, private keys, passwords in addresses, random values.

A known form counts anywhere.  A random value counts only where its name says that it is a secret.  Placeholders of
documentation do not count.  A report shows the first characters of a secret only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.release.scan.model import Hit, Role
from mcpc.release.scan.secret_forms import (
    BEGINNINGS,
    IN_ADDRESS,
    KNOWN,
    PLACEHOLDER,
    PRIVATE_KEY,
    entropy,
    known_secrets,
    password_in_address,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.release.scan.model import Text

SECRET_NAME = re.compile(
    r"(?:^|[_.\s-])(?:api_?key|secret|token|password|passwd|credential|auth|bearer|private_?key|access_?key)", re.I
)
RANDOM = re.compile(r"(?<![\w/+.-])[A-Za-z0-9+/_-]{20,256}={0,2}(?![\w/+-])")
MIN_BITS = 3.7
"""Bits of entropy for each character, from which on a value looks random."""
SHORTEST = 14


def find_credentials(text: Text) -> Iterator[Hit]:
    """Yield the secrets of a text, each kind once."""
    if len(text.text) < SHORTEST:
        return
    for name, found in known_secrets(text.text):
        yield Hit("SCAN401", text, *found.span(), name, _shortened(found[0]))
    key = PRIVATE_KEY.search(text.text)
    if key:
        yield Hit("SCAN403", text, key.start(), key.start() + 30, "", text.text[key.start() : key.start() + 30])
    password = password_in_address(text.text)
    if password:
        yield Hit("SCAN404", text, *password.span(1), "", _shortened(password[1]))
    if text.role is Role.VALUE and _is_named_secret(text):
        yield from _random(text)


def masked(text: str) -> str:
    """Return a text of the same length in which the secrets of known forms are hidden, for excerpts."""
    if BEGINNINGS.search(text):
        for _, pattern in KNOWN:
            text = pattern.sub(lambda found: f"{found[0][:6]}{'*' * (len(found[0]) - 6)}", text)
    return IN_ADDRESS.sub(lambda found: found[0].replace(found[1], "*" * len(found[1])), text)


def _is_named_secret(text: Text) -> bool:
    return bool(SECRET_NAME.search(text.field.rpartition(".")[0]))


def _random(text: Text) -> Iterator[Hit]:
    for found in RANDOM.finditer(text.text):
        value = found[0]
        if entropy(value) >= MIN_BITS and any(map(str.isdigit, value)) and not PLACEHOLDER.search(value):
            yield Hit("SCAN402", text, *found.span(), "", _shortened(value))
            return


def _shortened(secret: str) -> str:
    """Return what a report shows of a secret."""
    return f"{secret[: min(6, len(secret) // 3)]}… ({len(secret)} characters)"
