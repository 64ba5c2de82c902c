"""Event streams of HTTP responses (`text/event-stream`): the name and the data of each event, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MESSAGE = b"message"
"""The name of an event that has none."""


def events(lines: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and data of each event of a stream's lines; an event that the stream's end cuts is dropped."""
    name, data = MESSAGE, list[bytes]()
    for raw in lines:
        line = raw.rstrip(b"\r\n")
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
        if not line:
            if data:
                yield name, b"\n".join(data)
            name, data = MESSAGE, []


def event_data(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the data of each event of a stream's lines."""
    yield from (data for _, data in events(lines))
