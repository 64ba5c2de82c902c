"""The process of a built server, connected by pipes; threads transfer its lines without blocking."""

from __future__ import annotations

import subprocess
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING

from mcpc.sandbox import programs
from mcpc_runtime.protocol.constants import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MAX_LINE_LENGTH = 2 * MAX_MESSAGE_BYTES
"""More than a server accepts, so that the server still refuses a line that is cut here."""


def read_lines(stream: IO[bytes], limit: int = -1) -> Iterator[bytes]:
    """Yield the lines of a stream with their line ends; the rest of a line beyond the limit is dropped."""
    while line := stream.readline(limit):
        if not line.endswith(b"\n"):
            rest = line
            while rest and not rest.endswith(b"\n"):
                rest = stream.readline(1 << 20)
            line += b"\n"
        yield line


class ServerProcess:
    """One server process; `receive` is called in another thread with each output line, and None at the end."""

    def __init__(self, argv: Sequence[str], receive: Callable[[ServerProcess, bytes | None], None]) -> None:
        self._process = programs.start_program("server", argv, stderr=None)
        self._receive = receive
        self._unsent: SimpleQueue[bytes | None] = SimpleQueue()
        for target in (self._read, self._write):
            threading.Thread(target=target, daemon=True).start()

    def send(self, line: bytes) -> None:
        """Queue a line for the server."""
        self._unsent.put(line)

    def close(self) -> None:
        """Close the server's input: it ends in an orderly way."""
        self._unsent.put(None)

    def kill(self) -> None:
        """End it now, with all processes that it started."""
        self._process.kill()

    def end(self, seconds: float) -> None:
        """Ask it to end, and kill it after so many seconds."""
        programs.end_program(self._process, seconds)

    def status(self, seconds: float) -> int:
        """Wait for the exit status; a process that only closed its output is ended."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(seconds)
        self._process.kill()
        return self._process.wait()

    def _read(self) -> None:
        stream = self._process.stdout
        with suppress(OSError, ValueError):
            for line in read_lines(stream) if stream else ():
                self._receive(self, line)
        self._receive(self, None)

    def _write(self) -> None:
        """Write queued lines; writing stops when the server has ended."""
        stream = self._process.stdin
        with suppress(OSError, ValueError):
            while (line := self._unsent.get()) is not None and stream:
                stream.write(line)
                if self._unsent.empty():
                    stream.flush()
        with suppress(OSError, ValueError):
            if stream:
                stream.close()
