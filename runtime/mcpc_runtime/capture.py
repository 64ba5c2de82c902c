"""What a handler writes, while it writes it: outputs with a limit, notes line by line, descriptors for both.

Of a longer output the head is kept and the rest counted, so that memory does not depend on what a handler writes.
"""

from __future__ import annotations

import posix

from mcpc_runtime.commands import Completed
from mcpc_runtime.protocol.jsonrpc import ParseError, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.jsonrpc import Json

OUTPUT_LIMIT = 16 << 20
NOTE_LIMIT = 1 << 20
READ_SIZE = 1 << 16


class Capture:
    """The outputs of one call, in the order they arrived.  Memory: at most OUTPUT_LIMIT."""

    __slots__ = ("_chunks", "_dropped", "_size")

    def __init__(self) -> None:
        self._chunks: list[tuple[bool, bytes]] = []
        self._size = 0
        self._dropped = 0

    def take(self, printed: bool, data: bytes) -> None:
        """Keep what was written to standard output (`printed`) or standard error, as far as there is room."""
        kept = data[: max(0, OUTPUT_LIMIT - self._size)]
        self._size += len(kept)
        self._dropped += len(data) - len(kept)
        if kept:
            self._chunks.append((printed, kept))

    def completed(self, status: int, problem: str = "") -> Completed:
        """Return what the call amounts to."""
        result = Completed(problem)
        result.status = status
        result.output = b"".join(data for _, data in self._chunks)
        result.printed = b"".join(data for printed, data in self._chunks if printed)
        result.errors = b"".join(data for printed, data in self._chunks if not printed)
        result.dropped = self._dropped
        return result


class Notes:
    """Lines that a handler writes to its descriptor for notes: JSON objects go to `note`, others to `word`."""

    __slots__ = ("_note", "_rest", "_word")

    def __init__(self, note: Callable[[dict[str, Json]], None], word: Callable[[bytes], None]) -> None:
        self._note = note
        self._word = word
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Take what was written; a line over NOTE_LIMIT is dropped."""
        *lines, rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._take(line)
        self._rest = rest if len(rest) <= NOTE_LIMIT else b"{"

    def _take(self, line: bytes) -> None:
        if not line.startswith(b"{"):
            self._word(line)
            return
        try:
            value = parse(line)
        except ParseError:
            return
        if type(value) is dict:
            self._note(value)


def memory_file(data: bytes, opened: list[int]) -> int:
    """Return a descriptor of a file in memory that holds `data`, noted in `opened`; raise OSError if there is no way."""
    file = posix.memfd_create("mcpc", posix.MFD_CLOEXEC)
    opened.append(file)
    view = memoryview(data)
    while view:
        view = view[posix.write(file, view) :]
    posix.lseek(file, 0, 0)
    return file


def pipe(opened: list[int]) -> tuple[int, int]:
    """Return a pipe's two ends, noted in `opened`."""
    ends = posix.pipe()
    opened.extend(ends)
    return ends


def read_some(descriptor: int) -> bytes | None:
    """Return what is there to read, nothing at the end, None if it would have to be waited for."""
    try:
        return posix.read(descriptor, READ_SIZE)
    except BlockingIOError:
        return None
