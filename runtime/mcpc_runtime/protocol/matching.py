"""Uris, and the templates they match: what a client sent is decoded once, before anything uses it.

A uri is absolute and has nothing but what RFC 3986 lets it have; one that leads upward (`..`), however that is written,
is refused before anything is looked up.  A template's variables are data; where one names a file, it names one below.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcpc_runtime.protocol.jsonrpc import Json

    Row = tuple[Any, ...]
    """See `Image.templates`."""

LONGEST = 4096
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+")
ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
UPWARD = re.compile(r"(?:^|[/\\:?#&=;,])\.\.(?:[/\\?#&;,]|$)")
HIDDEN = re.compile(r"%(?:25)*(?:2f|5c|00)", re.IGNORECASE)
"""A separator or a null character that is written as an escape, or as an escape of one."""
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[/\\]")
SEPARATORS = {".": ".", "/": "/", ";": ";", "?": "&", "&": "&"}
"""What stands between the values of a variable with `*`, by its operator; elsewhere it is a comma."""
PATTERNS: dict[str, re.Pattern[str]] = {}


def complaint(uri: str) -> str:
    """Return what keeps a text from being a uri that could be served, or nothing."""
    if not URI.fullmatch(uri):
        return "is not an absolute URI"
    try:
        once = decoded(uri)
    except UnicodeDecodeError:
        return "has escapes that are not UTF-8"
    if "\0" in once:
        return "has a null character"
    return "leads upward" if any(map(UPWARD.search, (once, again(once)))) else ""


def decoded(text: str) -> str:
    """Return a text with its escapes decoded; raise UnicodeDecodeError for what is not UTF-8."""
    return ESCAPES.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode(), text)


def again(text: str) -> str:
    """Return what is left when whoever gets a text decodes it once more, as some do."""
    try:
        return decoded(text)
    except UnicodeDecodeError:
        return text


def match(rows: tuple[Row, ...], uri: str) -> tuple[Row, dict[str, Json]] | None:
    """Return the first template that a uri matches, and its variables; raise ValueError for what is not UTF-8."""
    for row in rows:
        found = compiled(row[1]).fullmatch(uri)
        if found is not None:
            return row, variables(row[2], found)
    return None


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a template's pattern, compiled when the first uri is held against it."""
    known = PATTERNS.get(pattern)
    if known is None:
        known = PATTERNS[pattern] = re.compile(pattern, re.DOTALL)
    return known


def variables(names: tuple[tuple[str, str], ...], found: re.Match[str]) -> dict[str, Json]:
    """Return a template's variables, decoded; what the uri leaves out is not among them."""
    given: dict[str, Json] = {}
    for number, (name, kind) in enumerate(names):
        raw = found[f"v{number}"]
        if raw is not None:
            given[name] = several(kind[:-1], name, raw) if kind.endswith("*") else decoded(raw)
    return given


def several(operator: str, name: str, raw: str) -> Json:
    """Return the values of a variable with `*`."""
    values = raw.split(SEPARATORS.get(operator, ",")) if raw else []
    return [decoded(value.removeprefix(f"{name}=")) for value in values]


def file_complaint(uri: str, path: str) -> str:
    """Return what keeps a path of a uri from naming a file below a folder, or nothing."""
    if HIDDEN.search(uri):
        return "hides a separator in an escape"
    if SCHEME.match(path):
        return "has a second scheme"
    if "\\" in path or "\0" in path:
        return "has a character that no path here may have"
    return "" if all(part not in ("", ".", "..") for part in path.split("/")) else "names no file below its folder"
