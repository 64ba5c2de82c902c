"""Capture of what a handler writes: limited outputs, notes line by line, and the descriptors for both.

Of an output over the limit only the head is stored and the rest is counted, so memory is bounded.
"""

from __future__ import annotations

from collections.abc import Callable
from errno import ENOMEM

from mcpc_runtime.handlers.invocations import ProcessResult
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, parse
from mcpc_runtime.protocol.kept_results import Account
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.files import new_memory_file

TakeData = Callable[[bytes], None]


OUTPUT_LIMIT = 18 << 20
"""Bytes: an output up to this size is stored whole, as large as the largest message that a client may send."""
HEAD_LIMIT = 2 << 20
"""Bytes: how much of a larger output is stored."""
NOTE_LIMIT = 1 << 20
READ_SIZE = 1 << 16
LINGER_SECONDS = 0.2
"""Seconds that open outputs may delay a call whose program has ended."""
PIPE_LIMIT = 1 << 20
"""Bytes: the largest pipe.  After reading this much, everything written before the end has been read."""
CHUNK_COST = 128
"""Bytes: the overhead of each stored chunk, since a handler may change streams with every byte."""
NO_MEMORY = "the server's memory limit leaves no room for the handler's output; call again later"


class OutputCapture:
    """The outputs of one call, in the order they arrived.  Memory: at most OUTPUT_LIMIT, however small the chunks.

    `account`: the memory account that is charged, if any; when it has no room, all is discarded and the call fails.
    """

    __slots__ = ("_account", "_chunks", "_dropped", "_is_crowded", "_size", "error_size", "output_size")

    def __init__(self, account: Account | None = None) -> None:
        self._account = account
        self._is_crowded = False
        self._chunks: list[tuple[bool, bytearray]] = []
        self._size = 0
        self._dropped = 0
        self.output_size = self.error_size = 0

    def add(self, printed: bool, data: bytes) -> None:
        """Store data of standard output (`printed`) or standard error, up to the limit."""
        room = 0 if self._dropped else max(0, OUTPUT_LIMIT - self._size)
        piece = data[:room] if len(data) > room else data
        if piece:
            self._store(printed, piece)
        if len(piece) < len(data):
            self._drop(len(data) - len(piece))

    def _has_room(self, size: int) -> bool:
        """Charge the account for `size` bytes; without room, discard everything from now on."""
        if self._account is not None and not self._is_crowded and not self._account.charge(size):
            self._is_crowded = True
            self._chunks.clear()
            self._account.clear()
        return not self._is_crowded

    def _store(self, printed: bool, data: bytes) -> None:
        last = self._chunks[-1] if self._chunks else None
        extends_last = last is not None and last[0] == printed and len(last[1]) < READ_SIZE
        size = len(data) + (0 if extends_last else CHUNK_COST)
        if not self._has_room(size):
            return
        self._size += size
        if extends_last:
            self._chunks[-1][1].extend(data)
        else:
            self._chunks.append((printed, bytearray(data)))

    def _drop(self, size: int) -> None:
        """Count discarded bytes; the first time, shorten what is stored to HEAD_LIMIT."""
        first, self._dropped = not self._dropped, self._dropped + size
        while first and self._size > HEAD_LIMIT and self._chunks:
            printed, chunk = self._chunks.pop()
            spare = min(len(chunk), self._size - HEAD_LIMIT)
            freed = spare
            if spare < len(chunk):
                self._chunks.append((printed, chunk[: len(chunk) - spare]))
            else:
                freed += CHUNK_COST
            self._dropped += spare
            self._size -= freed
            if self._account is not None:
                self._account.release(freed)

    def add_output(self, data: bytes) -> None:
        """Store data of standard output."""
        self.output_size += len(data)
        self.add(True, data)

    def add_errors(self, data: bytes) -> None:
        """Store data of standard error."""
        self.error_size += len(data)
        self.add(False, data)

    def completed(self, status: int, problem: str = "") -> ProcessResult:
        """Return the result of the process, and release what is stored here."""
        result = ProcessResult(problem or (NO_MEMORY if self._is_crowded else ""))
        result.status = status
        chunks, self._chunks = self._chunks, []
        result.output = b"".join(data for _, data in chunks)
        is_printed = {printed for printed, _ in chunks}
        # The usual case shares the bytes, in place of joining them again.
        if is_printed == {True}:
            result.printed = result.output
        elif is_printed == {False}:
            result.errors = result.output
        else:
            result.printed = b"".join(data for printed, data in chunks if printed)
            result.errors = b"".join(data for printed, data in chunks if not printed)
        result.dropped = self._dropped
        result.sizes = self.output_size, self.error_size
        return result


class NoteReader:
    """Reader of the lines on a handler's notes descriptor: JSON objects go to `note`, other lines to `other`."""

    __slots__ = ("_note", "_other", "_rest")

    def __init__(self, note: Callable[[dict[str, Json]], None], other: Callable[[bytes], None]) -> None:
        self._note = note
        self._other = other
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Process what was written; a line over NOTE_LIMIT is dropped."""
        *lines, rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line:
                self._take(line)
        # The rest of a line that is too long follows a brace: it is dropped as a broken note, and not taken for output.
        self._rest = rest if len(rest) <= NOTE_LIMIT else b"{"

    def _take(self, line: bytes) -> None:
        if not line.startswith(b"{"):
            self._other(line)
            return
        try:
            value = parse(line)
        except ParseError:
            return
        if type(value) is dict:
            self._note(value)


def memory_file(data: bytes, opened: list[int]) -> int:
    """Return a descriptor of a file in memory with `data`, appended to `opened`; raise OSError if that fails."""
    file = new_memory_file()
    opened.append(file)
    write_memory_file(file, data)
    return file


def write_memory_file(file: int, data: bytes) -> None:
    """Write all data into a file in memory, and rewind it; raise OSError if that fails."""
    view = memoryview(data)
    while view:
        view = view[system.write(file, view) :]
    system.lseek(file, 0, 0)


def drain(streams: dict[int, TakeData], drop: Callable[[int], None]) -> None:
    """Read the available output: at most PIPE_LIMIT bytes of each, since a daemon may still be writing.

    `drop` is called with each descriptor that is at its end.
    """
    for descriptor, take in list(streams.items()):
        rest = PIPE_LIMIT
        data: bytes | None = None
        while rest > 0 and (data := read_some(descriptor)):
            take(data)
            rest -= len(data)
        if data == b"":
            drop(descriptor)


def read_some(descriptor: int) -> bytes | None:
    """Return the available data, an empty string at the end, None if reading would block."""
    try:
        return system.read(descriptor, READ_SIZE)
    except (BlockingIOError, InterruptedError):
        return None
    except OSError as problem:
        # Without memory the data waits in the pipe: this is not its end.
        return None if problem.errno == ENOMEM else b""
