"""Values of `--build-env` that a program has put into what it offers: they would be in the file, and in its answers.

The framework computes a default or a description at each start, on the operator's machine; a build does it once, and
its file is given to others.
"""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

from mcpc.diagnostics import Span, diagnose
from mcpc.frontends.fastmcp.program import Offered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic

SHORTEST = 6
"""The length of the values that are looked for: shorter ones stand in many texts by chance."""
HINT = (
    "read it in the handler when it is called, or give it no default; a value that everyone may know stands in "
    "`build-environment` of `[tool.mcpc]`"
)


def baked_values(description: object, environment: Mapping[str, str], entry: str) -> Iterator[Diagnostic]:
    """Yield the values of variables that are in a description of a program, each once, with the place."""
    texts = [*texts_of(description, "")]
    for name, value in sorted(environment.items()):
        wanted = spellings(value) if len(value) >= SHORTEST else ()
        place = next((place for place, text in texts if any(each in text for each in wanted)), "")
        if place:
            message = f"the value of `{name}`, given by `--build-env`, would be in the built file: in {place}"
            yield diagnose("MCP714", Span(entry), message, "", HINT)


def texts_of(value: object, place: str) -> Iterator[tuple[str, str]]:
    """Yield the texts in a value, each with its place."""
    if isinstance(value, str | bytes):
        yield place, value if isinstance(value, str) else value.decode("latin-1")
    for name, item in children(value):
        below = f"{place}.{name}" if place else name
        yield below, name
        yield from texts_of(item, below)


def children(value: object) -> Iterator[tuple[str, object]]:
    """Yield the parts of a value with their names: those of the items of a list are their own, if they have one."""
    if isinstance(value, Mapping):
        yield from ((str(key), item) for key, item in value.items())
    elif is_dataclass(value):
        yield from ((field.name, getattr(value, field.name)) for field in fields(value))
    elif isinstance(value, list | tuple | set | frozenset):
        for number, item in enumerate(value):
            entry = item.entry if isinstance(item, Offered) else item
            name = entry.get("name") if isinstance(entry, dict) else None
            yield (name if isinstance(name, str) else str(number)), entry


def spellings(value: str) -> frozenset[str]:
    """Return how a value may be written: as it is, escaped in JSON, Python or an address, in base64 or hexadecimal."""
    raw = value.encode("utf-8", "surrogateescape")
    written = {value, repr(value)[1:-1], raw.hex(), raw.hex().upper()}
    written |= {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    written |= {quote(raw), quote(raw, safe=""), quote_plus(raw)}
    for before in range(3):  # a longer text may begin anywhere in a group of three bytes
        first, last = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
        written |= {encode(bytes(before) + raw).decode()[first:last] for encode in (b64encode, urlsafe_b64encode)}
    return frozenset(written)
