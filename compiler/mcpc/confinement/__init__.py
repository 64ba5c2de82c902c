"""Runs a project's code at the build, confined: with bounds on all it can take, and nothing of it left afterwards.

What bounds it from inside is `launcher`; from outside this module reads what the program says, counts its processes,
their memory and the files they make, and ends everything that descends from it, however that was detached.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc import programs
from mcpc.confinement import launcher
from mcpc.confinement.processes import Descendants, children, guarded, tasks_of_user

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

REPLIES = launcher.REPLIES
"""The descriptor on which a program answers, unless it does so on its standard output."""
ANSWER_BYTES = 64 << 20
OUTPUT_BYTES = 64 << 20
OUTPUT_KEPT = 1 << 16
MEMORY_BYTES = 2 << 30
FILE_BYTES = 256 << 20
FOLDER_BYTES = 512 << 20
FOLDER_FILES = 100_000
PROCESSES = 64
THREADS = 512
"""How many tasks it may add to those of the user; only the superuser is not held to this one by the kernel."""
LOOK_SECONDS = 0.1
GRACE_SECONDS = 10
"""How long a program may take to end that has closed the descriptor on which it answers."""
UNREADABLE = "what it needs cannot be read in namespaces of its own"
QUIET = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Libraries of numbers reserve memory for each processor when they are imported."""


@dataclass(frozen=True, slots=True)
class Job:
    """A program to be run: `folder` is where it begins, `root` the only folder in which it may write.

    `readable`: what it has to be able to read; `is_whole`: tells that it has said all, and need not be waited for.
    """

    words: Sequence[str]
    root: Path
    folder: Path
    seconds: float
    variables: Mapping[str, str] = field(default_factory=dict)
    readable: Sequence[str] = ()
    replies: int = REPLIES
    is_whole: Callable[[bytearray], bool] = lambda _: False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program answered, the end of what it wrote besides, and how it ended: its status, or why it was ended."""

    answer: bytes
    output: bytes
    status: int | None
    why: str

    @property
    def how(self) -> str:
        """How it ended, in words."""
        if self.why or self.status is None:
            return self.why or "it took the process's descriptors away"
        named = f"with status {self.status}" if self.status >= 0 else f"by signal {-self.status}"
        return f"it ended the process {named}"


def environment(root: Path) -> dict[str, str]:
    """Return the variables that every confined program finds: a home of its own, and where programs are."""
    for name in ("home", "tmp"):
        (root / name).mkdir(exist_ok=True)
    folders = {"HOME": str(root / "home"), "TMPDIR": str(root / "tmp")}
    return {"PATH": os.environ.get("PATH", os.defpath), **folders, "LANG": "C.UTF-8", "TZ": "UTC", **QUIET}


def run(job: Job) -> Outcome:
    """Run a program, and leave nothing of it behind but what it wrote below its folder."""
    outcome = _run(job, namespaces=True)
    # The superuser of a namespace may not read what belongs to others outside of it.
    return _run(job, namespaces=False) if outcome.why == UNREADABLE else outcome


def parsed(line: bytes) -> dict[str, Any] | None:
    """Return the object that a line is, None if a program wrote something else there."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _run(job: Job, *, namespaces: bool) -> Outcome:
    """Run a program, in namespaces of its own if that is allowed."""
    with ExitStack() as stack:
        pipes = [os.pipe() for _ in range(3)]
        ours = [stack.enter_context(os.fdopen(reading, "rb", buffering=0)) for reading, _ in pipes]
        theirs = [writing for _, writing in pipes]
        plan = {
            "words": [*job.words],
            "environment": {**environment(job.root), **job.variables},
            "folder": str(job.folder),
            "root": str(job.root),
            "readable": [job.words[0], *job.readable],
            "replies": job.replies,
            "pass": theirs[:2],
            "status": theirs[2],
            "limits": _limits(job.seconds),
            "namespaces": namespaces,
        }
        stack.enter_context(guarded())
        before = children()
        words = programs.python("-S", "-B", launcher.__file__, json.dumps(plan))
        try:
            process = programs.start(
                "confined",
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                pass_fds=theirs,
                start_new_session=True,
            )
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        descendants = Descendants(before, process.pid)
        stack.callback(_end, process, descendants)
        watched = _Watched(job, descendants)
        watched.follow({ours[0].fileno(): "answer", ours[1].fileno(): "output", ours[2].fileno(): "status"})
    return watched.outcome()


def _end(process: subprocess.Popen[bytes], descendants: Descendants) -> None:
    descendants.end()
    process.kill()
    process.wait()
    descendants.end()


def _limits(seconds: float) -> dict[str, int]:
    limits = {"RLIMIT_DATA": MEMORY_BYTES, "RLIMIT_FSIZE": FILE_BYTES, "RLIMIT_CORE": 0}
    if os.getuid():
        limits["RLIMIT_NPROC"] = tasks_of_user() + THREADS
    return {**limits, "RLIMIT_CPU": int(seconds) + 60}


class _Watched:
    """What a program says, and takes, while it runs."""

    def __init__(self, job: Job, descendants: Descendants) -> None:
        self._job = job
        self._descendants = descendants
        self._why = ""
        self._written = 0
        self._closed_at = 0.0
        self._free = _free(job.root)
        self.answer, self.output, self.status = bytearray(), bytearray(), bytearray()

    def outcome(self) -> Outcome:
        """Return what became of it."""
        if self.status == launcher.UNREADABLE:
            return Outcome(b"", b"", None, UNREADABLE)
        status = int(self.status) if self.status and not self._why else None
        return Outcome(bytes(self.answer), bytes(self.output), status, self._why)

    def follow(self, streams: dict[int, str]) -> None:
        """Read all it says until it has ended, has said all, or has to be ended."""
        deadline = time.monotonic() + self._job.seconds
        looked = time.monotonic()
        with selectors.DefaultSelector() as selector:
            for descriptor in streams:
                os.set_blocking(descriptor, False)
                selector.register(descriptor, selectors.EVENT_READ)
            while not self._why and not self._job.is_whole(self.answer):
                ready = selector.select(LOOK_SECONDS)
                for key, _ in ready:
                    if not self._take(streams[key.fd], key.fd):
                        selector.unregister(key.fd)
                now = time.monotonic()
                if now > deadline:
                    self._why = f"it did not end in {self._job.seconds:g} seconds"
                elif self.status and not any(streams[key.fd] != "status" for key, _ in ready):
                    return  # it has ended, and all that it said was read
                elif now - looked >= LOOK_SECONDS:
                    self._look(now)
                    looked = time.monotonic()

    def _take(self, stream: str, descriptor: int) -> bool:
        """Take what a stream has; False at its end."""
        data = os.read(descriptor, 1 << 20)
        if stream == "answer":
            self.answer += data
            if len(self.answer) > ANSWER_BYTES:
                self._why = f"what it defines takes more than {ANSWER_BYTES >> 20} MiB"
            self._closed_at = 0.0 if data else time.monotonic()
        elif stream == "status":
            self.status += data
        else:
            self._written += len(data)
            self.output = (self.output + data)[-OUTPUT_KEPT:]
            if self._written > OUTPUT_BYTES:
                self._why = f"it wrote more than {OUTPUT_BYTES >> 20} MiB to its output"
        return bool(data)

    def _look(self, now: float) -> None:
        """Look at what it takes, and whether it goes on although it cannot answer any more."""
        processes, memory = self._descendants.count()
        if processes > PROCESSES:
            self._why = f"it started more than {PROCESSES} processes"
        elif memory > MEMORY_BYTES:
            self._why = f"it took more than {MEMORY_BYTES >> 30} GiB of memory"
        elif self._fills():
            self._why = f"it wrote more than {FOLDER_BYTES >> 20} MiB, or {FOLDER_FILES} files"
        elif self._closed_at and not self.status and now - self._closed_at > GRACE_SECONDS:
            self._why = "it took the process's descriptors away"

    def _fills(self) -> bool:
        """Tell whether its folder has grown too large: measured only once the disk has lost as much."""
        size, files = _free(self._job.root)
        if self._free[0] - size < FOLDER_BYTES and self._free[1] - files < FOLDER_FILES:
            return False
        used, count = _used(self._job.root)
        return used > FOLDER_BYTES or count > FOLDER_FILES


def _free(folder: Path) -> tuple[int, int]:
    """Return how many bytes and how many files the disk of a folder has room for."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize, found.f_favail


def _used(folder: Path) -> tuple[int, int]:
    """Return how many bytes the files below a folder take, and how many there are."""
    size = count = 0
    for root, folders, files in os.walk(folder):
        count += len(folders) + len(files)
        for name in files:
            with ExitStack() as stack:
                stack.push(lambda kind, *_: kind is not None and issubclass(kind, OSError))
                size += os.lstat(os.path.join(root, name)).st_blocks * 512  # noqa: PTH118 - there may be many
    return size, count
