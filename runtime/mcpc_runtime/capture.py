"""What a handler writes, while it writes it: outputs with a limit, notes line by line, descriptors for both.

Of a longer output the head is kept and the rest counted, so that memory does not depend on what a handler writes.
"""

from __future__ import annotations

import posix
from errno import ENOMEM

from mcpc_runtime.commands import Completed
from mcpc_runtime.protocol.jsonrpc import ParseError, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.protocol.accounts import Account
    from mcpc_runtime.protocol.jsonrpc import Json

OUTPUT_LIMIT = 18 << 20
"""An output up to this is carried whole: what a message may bring, a handler may give back."""
HEAD_LIMIT = 2 << 20
"""Of a longer one so much is kept: it is a flood, and nobody will read it."""
NOTE_LIMIT = 1 << 20
READ_SIZE = 1 << 16
PIECE_COST = 128
"""What it takes to keep a piece, beside its bytes: a handler may change streams with every byte."""
CROWDED = "the server's memory limit leaves no room for what the handler writes; call again later"


class Capture:
    """The outputs of one call, in the order they arrived.  Memory: at most OUTPUT_LIMIT, however small the pieces.

    `account`: what is charged for them, if anything is; without room in it nothing is kept, and the call has failed.
    """

    __slots__ = ("_account", "_dropped", "_is_crowded", "_pieces", "_size", "complained", "printed")

    def __init__(self, account: Account | None = None) -> None:
        self._account = account
        self._is_crowded = False
        self._pieces: list[tuple[bool, bytearray]] = []
        self._size = 0
        self._dropped = 0
        self.printed = self.complained = 0

    def take(self, printed: bool, data: bytes) -> None:
        """Keep what was written to standard output (`printed`) or standard error, as far as there is room."""
        room = 0 if self._dropped else max(0, OUTPUT_LIMIT - self._size)
        kept = data[:room] if len(data) > room else data
        if kept:
            self._keep(printed, kept)
        if len(kept) < len(data):
            self._drop(len(data) - len(kept))

    def _has_room(self, size: int) -> bool:
        """Charge what is to be kept; where there is no room for it, keep nothing at all from now on."""
        if self._account is not None and not self._is_crowded and not self._account.charge(size):
            self._is_crowded = True
            self._pieces.clear()
            self._account.clear()
        return not self._is_crowded

    def _keep(self, printed: bool, data: bytes) -> None:
        last = self._pieces[-1] if self._pieces else None
        fits = last is not None and last[0] == printed and len(last[1]) < READ_SIZE
        size = len(data) + (0 if fits else PIECE_COST)
        if not self._has_room(size):
            return
        self._size += size
        if fits:
            self._pieces[-1][1].extend(data)
        else:
            self._pieces.append((printed, bytearray(data)))

    def _drop(self, size: int) -> None:
        """Count what is not kept; the first time, keep no more than the head of what was."""
        first, self._dropped = not self._dropped, self._dropped + size
        while first and self._size > HEAD_LIMIT and self._pieces:
            printed, piece = self._pieces.pop()
            spare = min(len(piece), self._size - HEAD_LIMIT)
            freed = spare
            if spare < len(piece):
                self._pieces.append((printed, piece[: len(piece) - spare]))
            else:
                freed += PIECE_COST
            self._dropped += spare
            self._size -= freed
            if self._account is not None:
                self._account.release(freed)

    def print(self, data: bytes) -> None:
        """Keep what was written to standard output."""
        self.printed += len(data)
        self.take(True, data)

    def complain(self, data: bytes) -> None:
        """Keep what was written to standard error."""
        self.complained += len(data)
        self.take(False, data)

    def completed(self, status: int, problem: str = "") -> Completed:
        """Return what the call amounts to; nothing is kept here any longer."""
        result = Completed(problem or (CROWDED if self._is_crowded else ""))
        result.status = status
        pieces, self._pieces = self._pieces, []
        result.output = b"".join(data for _, data in pieces)
        is_printed = {printed for printed, _ in pieces}
        if is_printed == {True}:
            result.printed = result.output
        elif is_printed == {False}:
            result.errors = result.output
        else:
            result.printed = b"".join(data for printed, data in pieces if printed)
            result.errors = b"".join(data for printed, data in pieces if not printed)
        result.dropped = self._dropped
        result.sizes = self.printed, self.complained
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
            if line:
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
    """Return a descriptor of a file in memory that holds `data`, noted in `opened`; raise OSError if it cannot."""
    file = posix.memfd_create("mcpc", posix.MFD_CLOEXEC)
    opened.append(file)
    fill(file, data)
    return file


def fill(file: int, data: bytes) -> None:
    """Write a whole text into a file in memory, at whose beginning it is read; raise OSError if it cannot."""
    view = memoryview(data)
    while view:
        view = view[posix.write(file, view) :]
    posix.lseek(file, 0, 0)


def pipe(reading: list[int], writing: list[int] | None = None) -> tuple[int, int]:
    """Return a pipe's two ends, the one to read from first, noted in these lists (in one if there is only one)."""
    ends = posix.pipe()
    reading.append(ends[0])
    (reading if writing is None else writing).append(ends[1])
    return ends


def read_some(descriptor: int) -> bytes | None:
    """Return what is there to read, nothing at the end, None if it would have to be waited for."""
    try:
        return posix.read(descriptor, READ_SIZE)
    except (BlockingIOError, InterruptedError):
        return None
    except OSError as problem:
        return None if problem.errno == ENOMEM else b""
