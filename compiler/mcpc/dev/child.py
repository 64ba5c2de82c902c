"""A server that was built, as a process with a pipe on each side; threads move its lines, so that nobody waits."""

from __future__ import annotations

import subprocess
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING

from mcpc import programs
from mcpc_runtime.protocol.facts import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LONGEST_LINE = 2 * MAX_MESSAGE_BYTES
"""More than any server takes, so that a line cut here is still refused there."""


def lines(stream: IO[bytes], limit: int = -1) -> Iterator[bytes]:
    """Yield the lines of a stream, each with its end; what is beyond the limit of one is read and dropped."""
    while line := stream.readline(limit):
        if not line.endswith(b"\n"):
            rest = line
            while rest and not rest.endswith(b"\n"):
                rest = stream.readline(1 << 20)
            line += b"\n"
        yield line


class Child:
    """One process that serves; `heard` is called, in another thread, with each line it says, and None at the end."""

    def __init__(self, argv: Sequence[str], heard: Callable[[Child, bytes | None], None]) -> None:
        self._process = programs.start("server", argv, stderr=None)
        self._heard = heard
        self._unsent: SimpleQueue[bytes | None] = SimpleQueue()
        for work in (self._read, self._write):
            threading.Thread(target=work, daemon=True).start()

    def send(self, line: bytes) -> None:
        """Have it hear a line, after those before."""
        self._unsent.put(line)

    def close(self) -> None:
        """Let it hear that nothing more will come: it ends in good order."""
        self._unsent.put(None)

    def kill(self) -> None:
        """End it now; what it started ends with it."""
        self._process.kill()

    def end(self, seconds: float) -> None:
        """Ask it to end, and end it if it has not in so many seconds."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        self._process.kill()
        self._process.wait()

    def status(self, seconds: float) -> int:
        """Return how it ended; it is made to end if it has only stopped to speak."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        self._process.kill()
        return self._process.wait()

    def _read(self) -> None:
        stream = self._process.stdout
        with suppress(OSError, ValueError):
            for line in lines(stream) if stream else ():
                self._heard(self, line)
        self._heard(self, None)

    def _write(self) -> None:
        """Write what comes; one that has ended reads nothing any more, and that is told by its silence."""
        stream = self._process.stdin
        with suppress(OSError, ValueError):
            while (line := self._unsent.get()) is not None and stream:
                stream.write(line)
                if self._unsent.empty():
                    stream.flush()
        with suppress(OSError, ValueError):
            if stream:
                stream.close()
