"""Pins: the digest of each definition of servers that people have approved, to notice when one changes.

The file has digests only, so that it is small and shows nothing of a server.  A snapshot is read as pins, too.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from mcpc.release.scan.model import Hit, Role, Text
from mcpc.release.scan.texts import IDENTIFIERS, KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.release.scan.model import ScannedServer

    Pins = Mapping[str, Mapping[str, str]]

FORMAT = "mcpc-pins-1"
MAX_PIN_BYTES = 16 << 20


class PinError(ValueError):
    """A file has no pins; the message says what was found instead."""


def pins_of(servers: Sequence[ScannedServer]) -> Pins:
    """Return the digests of all definitions by server, and by kind and name."""
    found: dict[str, dict[str, str]] = {}
    for server in servers:
        found.setdefault(server.name, {}).update((place, digest) for place, _, digest in _definitions(server.lists))
    return found


def pins_text(pins: Pins) -> str:
    """Return the text of a file of pins: the same for the same servers."""
    return json.dumps({"format": FORMAT, "servers": pins}, indent=2, sort_keys=True) + "\n"


def parse_pins(data: bytes) -> Pins:
    """Return the pins of a file, or of a snapshot; raise PinError."""
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        raise PinError("it is not JSON") from None
    servers = given.get("servers") if isinstance(given, dict) else None
    if isinstance(servers, dict) and given.get("format") == FORMAT:
        rows = [row for row in servers.values() if isinstance(row, dict)]
        if len(rows) == len(servers) and all(isinstance(digest, str) for row in rows for digest in row.values()):
            return servers
        raise PinError("its pins are damaged")
    if isinstance(given, dict) and isinstance(given.get("name"), str) and isinstance(given.get("tools"), list):
        return {given["name"]: {place: digest for place, _, digest in _definitions(given)}}
    raise PinError("it has neither pins nor a snapshot")


def compare_pins(servers: Sequence[ScannedServer], pins: Pins) -> Iterator[tuple[ScannedServer, Hit]]:
    """Yield what differs: definitions that changed, that are new, and that are gone."""
    for server in servers:
        pinned = pins.get(server.name, {})
        seen: set[str] = set()
        for place, text, digest in _definitions(server.lists):
            seen.add(place)
            if place not in pinned:
                yield server, Hit("SCAN702", text)
            elif pinned[place] != digest:
                yield server, Hit("SCAN701", text)
        for place in sorted(pinned.keys() - seen):
            kind, _, name = place.partition(" ")
            yield server, Hit("SCAN703", Text(kind, name, "", f"/pins/{place}", Role.SYNTAX, ""))


def _definitions(lists: Mapping[str, Any]) -> Iterator[tuple[str, Text, str]]:
    """Yield each definition: its kind and name, its text, and its digest."""
    if lists.get("instructions"):
        text = Text("server", "", "instructions", "/instructions", Role.PROSE, "")
        yield "server instructions", text, digest_of(lists["instructions"])
    for key, kind in KINDS.items():
        items = lists.get(key)
        for number, item in enumerate(items if isinstance(items, list) else ()):
            name = str(item.get(IDENTIFIERS[key], "")) if isinstance(item, dict) else ""
            yield f"{kind} {name}", Text(kind, name, "", f"/{key}/{number}", Role.SYNTAX, ""), digest_of(item)


def digest_of(definition: object) -> str:
    """Return the digest of a definition, whatever the order of its members."""
    text = json.dumps(definition, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
