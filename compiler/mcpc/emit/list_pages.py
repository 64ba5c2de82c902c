"""The pages of lists in the blob: those of the newest revision whole, those of older ones as parts of them.

    newest   {"name":"a","title":"A","inputSchema":{…}},{"name":"b",…
    older    {"name":"a","inputSchema":{…}},{"name":"b",…      parts: (0, 11, 23, …)

A revision adds members to an item and hardly ever changes one, so an older page is the newest one with gaps. A page is
parts only where that saves much: reading one whole is one read, and a small server starts with it.

    table:   4 bytes offset, 4 bytes length of each page; a length with the bit PARTS is that of a record of parts
    record:  (offset and length of the whole page, parts): a pair of numbers is a range of it, bytes are themselves
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mcpc.emit.bytecode import dump_data
from mcpc_runtime.protocol.image import PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.emit.blob import Blob, Reference

Members = tuple[bytes, ...]
"""The members of one item as JSON, in their order: `"name":"a"` …"""
WORTH = 4096
"""The bytes that parts must save."""


def item_text(members: Members) -> bytes:
    """Return an item as JSON."""
    return b"{%b}" % b",".join(members)


class WholePage(NamedTuple):
    """A page that is in the blob: where, its text, and where in the text each item's members are."""

    place: Reference
    text: bytes
    members: list[dict[bytes, int]]


class ListPages:
    """Adds pages to a blob; a page of a list (a method) that was added before is what later ones are parts of."""

    def __init__(self, blob: Blob) -> None:
        self._blob = blob
        self._whole: dict[tuple[str, int], WholePage] = {}

    def add(self, method: str, number: int, items: Sequence[Members]) -> Reference:
        """Return the row of the table for a page; each revision has the same items on it, in the same order."""
        text = b",".join(map(item_text, items))
        whole = self._whole.get((method, number))
        if whole is None:
            whole = self._whole[method, number] = WholePage(self._blob.add(text), text, member_places(items))
        elif text != whole.text:
            record = dump_data((whole.place, tuple(parts_of(items, whole))))
            if len(record) + WORTH <= len(text):
                offset, length = self._blob.add(record)
                return offset, length | PARTS
        return self._blob.add(text)


def member_places(items: Sequence[Members]) -> list[dict[bytes, int]]:
    """Return where the members of each item begin in the text of their page."""
    places: list[dict[bytes, int]] = []
    end = 0
    for number, separator, member in separated(items):
        if number == len(places):
            places.append({})
        end += len(separator)
        places[number][member] = end
        end += len(member)
    return places


def separated(items: Sequence[Members]) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield each member of a page with the number of its item and what stands before it; an empty item has one."""
    for number, members in enumerate(items):
        for position, member in enumerate(members or (b"",)):
            yield number, b"," if position else b"},{" if number else b"{", member


def parts_of(items: Sequence[Members], whole: WholePage) -> list[int | bytes]:
    """Return a page as parts of a whole one, the fewest in order: a range continues the one before it if it can."""
    parts: list[int | bytes] = []
    for number, separator, member in separated(items):
        start = whole.members[number].get(member)
        if start is None:
            add_text(parts, separator + member)
            continue
        end = start + len(member)
        if whole.text.endswith(separator, 0, start):
            # The separator stands there as well, so that the range begins with it, and may continue the one before.
            start -= len(separator)
        else:
            add_text(parts, separator)
        # The end of the range before; a text is bytes, and equals no number.
        if parts and parts[-1] == start:
            parts[-1] = end
        else:
            parts += (start, end)
    add_text(parts, b"}")
    return parts


def add_text(parts: list[int | bytes], text: bytes) -> None:
    """Add bytes that are not in the whole page to parts."""
    last = parts[-1] if parts else None
    if isinstance(last, bytes):
        parts[-1] = last + text
    else:
        parts.append(text)
