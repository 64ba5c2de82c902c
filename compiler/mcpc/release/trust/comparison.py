"""Two built files compared by entry: what is only in one, what differs, and what is only compressed differently."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from mcpc.pack.manifest import FACTS
from mcpc.release.trust.contents import place_of_nested

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.release.trust.contents import ArtifactContents

PROGRAM, LAYOUT = "(program before the archive)", "(layout of the archive)"
"""What stands for the parts of a file that are no entries."""
ADDED, MISSING, CHANGED, COMPRESSED, HEADER = "added", "missing", "changed", "compressed", "header"
"""How an entry of the first file differs from that of the second one."""
EDITED = "edited"
"""An entry with the same content in other compressed bytes, so few that no other implementation of zlib wrote them."""
FEW = 8
"""Bytes in which the streams of two implementations differ at least, unless they are equal."""


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """An entry that differs, or a fact of the build (`META-INF/build.json#python`), with the likely cause if known."""

    entry: str
    kind: str
    cause: str = ""


def compare_contents(first: ArtifactContents, second: ArtifactContents) -> tuple[Difference, ...]:
    """Return how the first file differs from the second one, sorted by entry; nothing if their bytes are the same."""
    if first.data == second.data:
        return ()
    found = {
        difference for name in first.entries.keys() | second.entries.keys() for difference in _of(name, first, second)
    }
    if first.program != second.program:
        found.add(Difference(PROGRAM, CHANGED))
    if not first.is_exact or not found:
        found.add(Difference(LAYOUT, CHANGED))
    if any(difference.kind == COMPRESSED for difference in found):  # then small streams may differ that little
        found = {replace(row, kind=COMPRESSED) if row.kind == EDITED else row for row in found}
    return tuple(sorted(found))


def _of(name: str, first: ArtifactContents, second: ArtifactContents) -> Iterator[Difference]:
    one, other = first.entries.get(name), second.entries.get(name)
    if one == other:
        return
    if one is None or other is None:
        yield Difference(name, MISSING if one is None else ADDED)
    elif one.header != other.header:
        yield Difference(name, HEADER)
    elif name == FACTS:
        keys = first.facts.keys() | second.facts.keys()
        differing = [key for key in keys if first.facts.get(key) != second.facts.get(key)]
        yield from (Difference(f"{FACTS}#{key}", CHANGED) for key in differing)
        if not differing:
            yield Difference(name, CHANGED)
    elif one.data != other.data:
        yield Difference(name, CHANGED)
    elif place_of_nested(name) is None or _is_deflated(one.header):
        yield Difference(name, EDITED if is_edited(one.stored, other.stored) else COMPRESSED)


def is_edited(stream: bytes, other: bytes) -> bool:
    """Tell whether two compressed streams differ in a few bytes only."""
    differing = (place for place, (one, two) in enumerate(zip(stream, other, strict=False)) if one != two)
    return len(stream) == len(other) and len([*islice(differing, FEW)]) < FEW


def _is_deflated(header: tuple[object, ...]) -> bool:
    return header[-1] != 0
