"""URIs, and the templates they match: percent-escapes are decoded once, before a URI is used.

A URI is absolute and has only the characters of RFC 3986. A URI with a parent segment (`..`), in any spelling, is
refused before it is looked up. Variables of a template are data; a variable that names a file names one below its
folder.
"""

from __future__ import annotations

import re

from mcpc_runtime.protocol.jsonrpc import Json

Row = tuple[str, str, tuple[tuple[str, str], ...], tuple[int, int]]
"""See `Image.templates`."""


MAX_URI_LENGTH = 4096
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+")
# Adjacent escapes are decoded together: one character of UTF-8 may take up to four of them.
ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
# `..` between any characters that some receiver may take for the border of a segment, a backslash among them.
PARENT_SEGMENT = re.compile(r"(?:^|[/\\:?#&=;,])\.\.(?:[/\\?#&;,]|$)")
ESCAPED_SEPARATOR = re.compile(r"%(?:25)*(?:2f|5c|00)", re.IGNORECASE)
"""A separator or a null character written as an escape, or as an escape of one."""
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[/\\]")
VALUE_SEPARATORS = {".": ".", "/": "/", ";": ";", "?": "&", "&": "&"}
"""The separator of the values of a variable with `*`, by its operator; the default is a comma."""
COMPILED_PATTERNS: dict[str, re.Pattern[str]] = {}


def uri_problem(uri: str) -> str:
    """Return why a text is not a URI that could be served, or an empty string."""
    if not URI.fullmatch(uri):
        return "is not an absolute URI"
    try:
        decoded = decode_escapes(uri)
    except UnicodeDecodeError:
        return "has escapes that are not UTF-8"
    if "\0" in decoded:
        return "has a null character"
    return "contains `..`" if any(map(PARENT_SEGMENT.search, (decoded, decode_again(decoded)))) else ""


def decode_escapes(text: str) -> str:
    """Return a text with its escapes decoded; raise UnicodeDecodeError if the result is not UTF-8."""
    return ESCAPES.sub(lambda matched: bytes.fromhex(matched[0].replace("%", "")).decode(), text)


def decode_again(text: str) -> str:
    """Return a text decoded once more, as some receivers do."""
    try:
        return decode_escapes(text)
    except UnicodeDecodeError:
        return text


def match_template(rows: tuple[Row, ...], uri: str) -> tuple[Row, dict[str, Json]] | None:
    """Return the first template that a URI matches, and its variables; raise ValueError for invalid UTF-8."""
    for row in rows:
        matched = compile_pattern(row[1]).fullmatch(uri)
        if matched is not None:
            return row, matched_variables(row[2], matched)
    return None


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a template's pattern, compiled at its first use."""
    compiled = COMPILED_PATTERNS.get(pattern)
    if compiled is None:
        compiled = COMPILED_PATTERNS[pattern] = re.compile(pattern, re.DOTALL)
    return compiled


def matched_variables(names: tuple[tuple[str, str], ...], matched: re.Match[str]) -> dict[str, Json]:
    """Return a template's variables, decoded, without those that the URI omits."""
    values: dict[str, Json] = {}
    for number, (name, kind) in enumerate(names):
        raw = matched[f"v{number}"]
        if raw is not None:
            values[name] = exploded_values(kind[:-1], name, raw) if kind.endswith("*") else decode_escapes(raw)
    return values


def exploded_values(operator: str, name: str, raw: str) -> Json:
    """Return the values of a variable with `*`."""
    values = raw.split(VALUE_SEPARATORS.get(operator, ",")) if raw else []
    return [decode_escapes(value.removeprefix(f"{name}=")) for value in values]


def file_path_problem(uri: str, path: str) -> str:
    """Return why a path in a URI does not name a file below a folder, or an empty string."""
    if ESCAPED_SEPARATOR.search(uri):
        return "has an escaped path separator"
    # This refuses the drive of a Windows path, too.
    if SCHEME.match(path):
        return "has a second scheme"
    if "\\" in path or "\0" in path:
        return "has a character that is not allowed in a path"
    return (
        "" if all(part not in ("", ".", "..") for part in path.split("/")) else "does not name a file below its folder"
    )
