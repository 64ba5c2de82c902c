"""Processes of the machine, as tests look for those that should be gone."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path


def running(*words: str) -> list[int]:
    """Return the processes that were started with just these words and have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and (entry / "cmdline").read_bytes() == b"".join(w.encode() + b"\0" for w in words):
                found.append(int(entry.name))
    return found


def is_gone(pid: int, within: float = 3.0) -> bool:
    """Tell whether a process ends within so many seconds."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def wait_for(path: Path, within: float = 10.0) -> str:
    """Return what is in a file, once it is there."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        if path.exists() and path.read_text():
            return path.read_text()
        time.sleep(0.01)
    raise AssertionError(f"{path} is not written")
