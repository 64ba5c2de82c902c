"""A process that answers lines with lines: a server over standard input and output, or a floor.

Lines are read where they are needed, without a thread, which would cost more than what is measured.  A process that
does not answer in time is ended, which ends the reading.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager, suppress
from subprocess import DEVNULL, TimeoutExpired
from time import perf_counter
from typing import TYPE_CHECKING, Any

from mcpc import __version__
from mcpc.sandbox import programs
from mcpc.sandbox.platforms.program_groups import GROUP_OPTIONS, ProgramGroup
from mcpc.workbench.bench.model import BenchError, ToolFailedError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Sequence

    from mcpc.workbench.bench.model import Call

    Object = dict[str, Any]

ANSWER_SECONDS = 60.0
LEAVE_SECONDS = 5.0
MAX_LINE = 64 << 20
CLIENT = {"name": "mcpc bench", "version": __version__}
VERSION = "2025-11-25"
MAX_IN_FLIGHT_BYTES = 32 << 10
"""Less than a pipe holds, so that no writer waits for another one."""


class Lines:
    """The lines of a process, which is ended if an answer takes too long."""

    def __init__(self, process: subprocess.Popen[bytes], group: ProgramGroup) -> None:
        if process.stdin is None or process.stdout is None:
            raise BenchError("it has no standard streams")
        self.process = process
        self._input, self._output = process.stdin, process.stdout
        self._end = group.end

    def send(self, line: bytes) -> None:
        """Write a line."""
        try:
            self._input.write(line)
            self._input.flush()
        except OSError:
            raise BenchError(self.ending()) from None

    def receive(self) -> bytes:
        """Return the next line; raise BenchError if there is none."""
        line = self._output.readline(MAX_LINE)
        if not line:
            raise BenchError(self.ending())
        return line

    def exchange(self, line: bytes) -> float:
        """Send a line, and return the seconds until the next one came."""
        began = perf_counter()
        self.send(line)
        self.receive()
        return perf_counter() - began

    def flood(self, lines: Sequence[bytes], in_flight: int) -> float:
        """Send lines, so many at once; return the seconds until all were answered."""
        began, sent = perf_counter(), 0
        for received in range(len(lines)):
            while sent < len(lines) and sent - received < in_flight:
                self.send(lines[sent])
                sent += 1
            self.receive()
        return perf_counter() - began

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """End the process if the block takes longer."""
        timer = threading.Timer(seconds, self._end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def ending(self) -> str:
        """Return how the process ended."""
        with suppress(TimeoutExpired):
            return f"it ended with status {self.process.wait(LEAVE_SECONDS)} instead of answering"
        return "it closed its standard output"


@contextmanager
def started(process: subprocess.Popen[bytes]) -> Iterator[Lines]:
    """Yield the lines of a process that was started with GROUP_OPTIONS; it and what it started end with the block."""
    group = ProgramGroup(process)
    try:
        yield Lines(process, group)
    finally:
        with suppress(OSError, ValueError):
            if process.stdin:
                process.stdin.close()
        with suppress(TimeoutExpired):
            process.wait(LEAVE_SECONDS)
        group.end()
        process.wait()
        group.close()
        if process.stdout:
            process.stdout.close()


@contextmanager
def server(command: Sequence[str], folder: str | None = None) -> Iterator[Lines]:
    """Yield the lines of a server; raise BenchError if it cannot be started."""
    try:
        process = programs.start_program("server", command, cwd=folder, stderr=DEVNULL, **GROUP_OPTIONS)
    except OSError as problem:
        raise BenchError(f"it cannot be started: {problem.strerror or problem}") from None
    with started(process) as lines:
        yield lines


def message(number: int, method: str, params: Object | None = None) -> bytes:
    """Return a request as a line."""
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
    return json.dumps(body).encode() + b"\n"


def initialize_line() -> bytes:
    """Return the first request."""
    return message(0, "initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": CLIENT})


def call_line(number: int, call: Call) -> bytes:
    """Return the request of a call."""
    return message(number, "tools/call", {"name": call.tool, "arguments": dict(call.arguments)})


def greet(lines: Lines) -> bytes:
    """Begin a conversation; return the answer to `initialize`."""
    lines.send(initialize_line())
    answer = lines.receive()
    result_of(answer)
    lines.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode() + b"\n")
    return answer


def checked_result(call: Call, line: bytes) -> Object:
    """Return the result of a call; raise an error that names its tool."""
    try:
        return result_of(line)
    except BenchError as problem:
        raise type(problem)(f"{call.tool}: {problem}") from None


def result_of(line: bytes) -> Object:
    """Return the result in an answer; raise BenchError for an error, ToolFailedError for a failed tool."""
    try:
        answer = json.loads(line)
        result = answer.get("result")
    except (ValueError, AttributeError, RecursionError):
        raise BenchError(f"it answered with what is not of the protocol: {line[:80]!r}") from None
    if not isinstance(result, dict):
        error = answer.get("error")
        said = error.get("message") if isinstance(error, dict) else answer
        raise BenchError(f"it answered with an error: {str(said)[:300]}")
    if result.get("isError"):
        texts = [block.get("text", "") for block in result.get("content", ()) if isinstance(block, dict)]
        raise ToolFailedError(f"the tool failed: {' '.join(map(str, texts))[:300]}")
    return result


def room(line: bytes, wanted: int) -> int:
    """Return how many exchanges of such a line may be under way at once."""
    return max(1, min(wanted, MAX_IN_FLIGHT_BYTES // max(1, len(line))))
