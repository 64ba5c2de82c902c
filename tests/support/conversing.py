"""A conversation that is known before it begins: everything is said at once, but the input ends only after the answers.

A server stops what still runs two seconds after its input has ended, and on a busy machine a call may need longer to
begin.  A request that is never answered delays the end of the input by SILENCE.
"""

import json
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

SILENCE = 10.0
"""Seconds without any output after which no answer is expected any more."""
LONGEST = 120.0


class Listener:
    """Reads the output of a process, and the ids of its answers."""

    def __init__(self, stream: IO[bytes], expected: set[str]) -> None:
        self.lines: list[bytes] = []
        self.heard = time.monotonic()
        self._stream = stream
        self._expected = expected
        self._has_all = threading.Event()
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        self._note(b"")
        for line in self._stream:
            self.lines.append(line)
            self._note(line)
        self._has_all.set()

    def _note(self, line: bytes) -> None:
        self.heard = time.monotonic()
        if self._expected:
            self._expected -= {name for name, message in identified(line) if "method" not in message}
        if not self._expected:
            self._has_all.set()

    def wait(self, silence: float) -> None:
        """Wait for all answers, the end of the output, or so many seconds in which nothing is said."""
        while not self._has_all.wait(0.2):
            if time.monotonic() - self.heard > silence:
                return

    def all(self) -> bytes:
        """Wait for the end of the output, and return all of it."""
        self._thread.join()
        return b"".join(self.lines)


def converse(
    argv: Sequence[str | Path],
    data: bytes,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    silence: float = SILENCE,
) -> subprocess.CompletedProcess[bytes]:
    pipe = subprocess.PIPE
    words = list(map(str, argv))
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, env=env) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        watchdog = threading.Timer(LONGEST, process.kill)
        watchdog.start()
        expected = {name for line in data.splitlines() for name, message in identified(line) if "method" in message}
        said, complained = Listener(process.stdout, expected), Listener(process.stderr, set())
        with suppress(BrokenPipeError):  # the server has ended
            process.stdin.write(data)
            process.stdin.flush()
            said.wait(silence)
        with suppress(BrokenPipeError):
            process.stdin.close()
        output, errors = said.all(), complained.all()
        is_late = not watchdog.is_alive()
        watchdog.cancel()
        process.wait()
    if is_late:
        raise subprocess.TimeoutExpired(words, LONGEST, output, errors)
    return subprocess.CompletedProcess(words, process.returncode, output, errors)


def identified(line: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the messages of a line that have an id, with the id as JSON; none if the line is not JSON."""
    with suppress(ValueError, RecursionError):
        value = json.loads(line)
        for message in value if isinstance(value, list) else [value]:
            if isinstance(message, dict) and isinstance(message.get("id"), str | int | float):
                yield json.dumps(message["id"]), message
