"""Processes in tests: a token by which everything that a test started is found, and waiting with a deadline."""

import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
RUNTIME = TESTS.parent / "runtime"
PATIENCE = 60.0
"""Seconds; the machine may be busy."""
POLL_SECONDS, LONGEST_POLL_SECONDS = 0.01, 0.05
PROC_PIECE = 1 << 15


class Token:
    """A variable in the environment of everything started for a test, unless a process removes it."""

    def __init__(self) -> None:
        self.text = f"TEST_TOKEN={uuid.uuid4().hex}".encode()

    @property
    def environment(self) -> dict[bytes, bytes]:
        name, _, value = self.text.partition(b"=")
        return {**os.environb, name: value}

    def alive(self) -> list[int]:
        """Return the running processes with the token; an ended process that was not reaped has no environment any
        more.
        """
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and self.text in environment_of(name)]


def environment_of(pid: str) -> list[bytes]:
    return of_process(pid, "environ").split(b"\0")


def of_process(pid: int | str, name: str) -> bytes:
    """Return a file of /proc/PID, nothing if the process has gone; without a file object, because it is done so often."""
    try:
        descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        pieces = []
        while piece := os.read(descriptor, PROC_PIECE):
            pieces.append(piece)
        return b"".join(pieces)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def processes_with(text: bytes, name: str) -> list[int]:
    """Return the running processes with a text in a file of /proc/PID."""
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and text in of_process(pid, name)]


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that has ended and was not reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has taken."""
    fields = of_process(pid, "stat").rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def nothing_left() -> Iterator[Token]:
    """A token; at the end no process with it may be running."""
    token = Token()
    try:
        yield token
        until(lambda: not token.alive())
    finally:
        for pid in token.alive():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def until(is_so: Callable[[], object], seconds: float = PATIENCE) -> float:
    """Wait until something is so; return how long that took.  What takes long is asked for less often."""
    began, pause = time.monotonic(), POLL_SECONDS
    while not is_so():
        assert time.monotonic() - began < seconds, "it did not come about"
        time.sleep(pause)
        pause = min(pause * 1.25, LONGEST_POLL_SECONDS)
    return time.monotonic() - began


def turn_until(reactor: Any, is_so: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Have a reactor of this process turn until something is so."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "nothing happened"
        reactor.after(0.01, lambda: None)
        reactor.turn()


def stop_process(pid: int) -> None:
    """Send SIGSTOP, and wait until the process no longer runs: until then it may still take what is sent to it."""
    os.kill(pid, signal.SIGSTOP)
    until(lambda: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")


def running(*words: str) -> list[int]:
    """Return the running processes that were started with exactly these arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and (entry / "cmdline").read_bytes() == b"".join(w.encode() + b"\0" for w in words):
                found.append(int(entry.name))
    return found


def is_gone(pid: int, within: float = 3.0) -> bool:
    """Tell whether a process ends within so many seconds."""
    end = time.monotonic() + within
    while is_alive(pid):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def wait_for(path: Path, within: float = 10.0) -> str:
    until(lambda: path.exists() and path.read_text(), within)
    return path.read_text()


def run_program(
    argv: Sequence[str | Path], *, status: int | None = None, **how: Any
) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end, and return what it said, as text.  `status`: what it has to end with."""
    usual = {"capture_output": True, "text": True, "timeout": 300, "check": False}
    done = subprocess.run(argv, **{**usual, **how})
    assert status in (None, done.returncode), (done.stdout, done.stderr)
    return done
