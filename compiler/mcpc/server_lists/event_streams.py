"""Event streams of HTTP responses (`text/event-stream`): the data of each event, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def event_data(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the data of each event of a stream's lines; an event that the stream's end cuts is dropped."""
    data = list[bytes]()
    for raw in lines:
        line = raw.rstrip(b"\r\n")
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        if not line and data:
            yield b"\n".join(data)
            data = []
