"""Addresses: unencrypted ones, icons that are not plain pictures of the server's own, pictures that report a reader."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcpc.release.scan.model import Hit, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.release.scan.model import Text

UNENCRYPTED = re.compile(r"\bhttp://[^\s\"'<>)\]`}\\,]{3,300}")
LOCAL = re.compile(
    r"http://(?:localhost|127\.|0\.0\.0\.0|\[::1?\]|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|host\.docker\.internal|"
    r"[a-z0-9-]{1,63}(?:[:/]|$)|[\w.-]{1,80}\.(?:local|internal|test|lan|example|invalid|localhost|svc)\b|"
    r"(?:[\w-]{1,60}\.){0,3}example\.(?:com|org|net)|[<{$*])",
    re.IGNORECASE,
)
IDENTIFIERS = re.compile(
    r"http://(?:json-schema\.org|www\.w3\.org|schemas?\.|xmlns\.|purl\.org|www\.opengis\.net|[\w.-]{1,60}/(?:ns|xmlns|schema)"
    r"|www\.sitemaps\.org|ogp\.me|dublincore\.org|xml\.)"
)
"""Addresses that are names of vocabularies and are not opened."""
PICTURE = re.compile(
    r"!\[[^\]\n]{0,200}\]\(\s?<?(https?://[^\s)>]{4,500})|<img\b[^>\n]{0,200}?\bsrc\s{0,3}=\s{0,3}[\"']?(https?://[^\s\"'>]{4,500})"
)
PLAIN_PICTURES = ("data:image/png", "data:image/jpeg", "data:image/webp", "data:image/gif")
SCHEMES = ("http", "https", "data")
ICON = "icons.src"


def find_links(text: Text) -> Iterator[Hit]:
    """Yield the addresses of a text that are a risk."""
    if text.field.endswith(ICON):
        yield from _icon(text)
        return
    if text.role in (Role.PROSE, Role.CONTENTS):
        found = PICTURE.search(text.text)
        if found:
            yield Hit("SCAN504", text, *found.span())
    if text.role in (Role.PROSE, Role.VALUE, Role.ADDRESS):
        found = next((one for one in UNENCRYPTED.finditer(text.text) if not _is_harmless(one[0])), None)
        if found:
            yield Hit("SCAN501", text, *found.span())


def _is_harmless(address: str) -> bool:
    return bool(LOCAL.match(address) or IDENTIFIERS.match(address))


def _icon(text: Text) -> Iterator[Hit]:
    address = text.text.strip().lower()
    scheme = address.partition(":")[0]
    if address.startswith(PLAIN_PICTURES):
        return
    if scheme not in SCHEMES:
        yield Hit("SCAN502", text, 0, min(len(text.text), 60), f"its scheme is `{scheme[:20]}`")
    elif scheme == "data":
        kind = address[5:].partition(",")[0].partition(";")[0] or "text/plain"
        yield Hit("SCAN502", text, 0, min(len(text.text), 60), f"it is embedded as {kind[:40]}, which may be active")
    elif scheme == "http":
        yield Hit("SCAN502", text, 0, min(len(text.text), 60), "it is loaded without encryption")
    else:
        yield Hit("SCAN503", text, 0, min(len(text.text), 60), f"from {urlsplit(address).hostname or address[:60]}")
