"""Run project code during a build, confined: with limits on all resources, and with no processes left afterwards.

The limits from inside are set by `launcher`; from outside this module reads the program's output, counts its processes,
their memory and the files they create, and ends all of its descendants, including detached ones.
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
from mcpc.confinement.processes import Descendants, adopt_orphans, children, tasks_of_user

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

REPLIES = launcher.REPLIES
"""The descriptor of a program's answer, unless it uses its standard output."""
ANSWER_BYTES = 64 << 20
OUTPUT_BYTES = 64 << 20
MAX_OUTPUT_KEPT = 1 << 16
MEMORY_BYTES = 2 << 30
FILE_BYTES = 256 << 20
FOLDER_BYTES = 512 << 20
FOLDER_FILES = 100_000
PROCESSES = 64
THREADS = 512
"""How many threads it may add to those of the user; only the superuser is exempt from this kernel limit."""
POLL_SECONDS = 0.1
GRACE_SECONDS = 10
"""How long a program may take to end after closing the descriptor of its answer."""
UNREADABLE = "what it needs cannot be read in namespaces of its own"
THREAD_LIMITS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Numeric libraries reserve memory for each processor when they are imported."""


@dataclass(frozen=True, slots=True)
class ConfinedProgram:
    """A program to run: `folder` is its working folder, `root` the only folder in which it may write.

    `readable`: paths that it must be able to read; `is_whole`: tells that its answer is complete, so that its end is
    not awaited.
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
class ProgramOutcome:
    """The answer of a program, the end of its other output, and its exit status or why it was ended."""

    answer: bytes
    output: bytes
    status: int | None
    why: str

    @property
    def how(self) -> str:
        """How it ended, as text."""
        if self.why or self.status is None:
            return self.why or "it took the process's descriptors away"
        named = f"with status {self.status}" if self.status >= 0 else f"by signal {-self.status}"
        return f"it ended the process {named}"


def confined_environment(root: Path) -> dict[str, str]:
    """Return the variables of every confined program: its home folder, and where programs are."""
    for name in ("home", "tmp"):
        (root / name).mkdir(exist_ok=True)
    folders = {"HOME": str(root / "home"), "TMPDIR": str(root / "tmp")}
    return {"PATH": os.environ.get("PATH", os.defpath), **folders, "LANG": "C.UTF-8", "TZ": "UTC", **THREAD_LIMITS}


def run_confined(job: ConfinedProgram) -> ProgramOutcome:
    """Run a program, and leave only the files that it wrote below its folder."""
    outcome = _run(job, namespaces=True)
    # The superuser of a namespace may not read files of users outside of it.
    return _run(job, namespaces=False) if outcome.why == UNREADABLE else outcome


def parse_object(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object in a line, None if it contains anything else."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _run(job: ConfinedProgram, *, namespaces: bool) -> ProgramOutcome:
    """Run a program, in separate namespaces if that is allowed."""
    with ExitStack() as stack:
        pipes = [os.pipe() for _ in range(3)]
        ours = [stack.enter_context(os.fdopen(reading, "rb", buffering=0)) for reading, _ in pipes]
        theirs = [writing for _, writing in pipes]
        plan = {
            "words": [*job.words],
            "environment": {**confined_environment(job.root), **job.variables},
            "folder": str(job.folder),
            "root": str(job.root),
            "readable": [job.words[0], *job.readable],
            "replies": job.replies,
            "pass": theirs[:2],
            "status": theirs[2],
            "limits": _limits(job.seconds),
            "namespaces": namespaces,
        }
        stack.enter_context(adopt_orphans())
        before = children()
        words = programs.python_command("-S", "-B", launcher.__file__, json.dumps(plan))
        try:
            process = programs.start_program(
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
    """Output and resource use of a program while it runs."""

    def __init__(self, job: ConfinedProgram, descendants: Descendants) -> None:
        self._job = job
        self._descendants = descendants
        self._why = ""
        self._written = 0
        self._closed_at = 0.0
        self._free = _free(job.root)
        self.answer, self.output, self.status = bytearray(), bytearray(), bytearray()

    def outcome(self) -> ProgramOutcome:
        """Return the outcome of the program."""
        if self.status == launcher.UNREADABLE:
            return ProgramOutcome(b"", b"", None, UNREADABLE)
        status = int(self.status) if self.status and not self._why else None
        return ProgramOutcome(bytes(self.answer), bytes(self.output), status, self._why)

    def follow(self, streams: dict[int, str]) -> None:
        """Read its output until it ends, its answer is complete, or it must be ended."""
        deadline = time.monotonic() + self._job.seconds
        looked = time.monotonic()
        with selectors.DefaultSelector() as selector:
            for descriptor in streams:
                os.set_blocking(descriptor, False)
                selector.register(descriptor, selectors.EVENT_READ)
            while not self._why and not self._job.is_whole(self.answer):
                ready = selector.select(POLL_SECONDS)
                for key, _ in ready:
                    if not self._take(streams[key.fd], key.fd):
                        selector.unregister(key.fd)
                now = time.monotonic()
                if now > deadline:
                    self._why = f"it did not end within {self._job.seconds:g} seconds"
                elif self.status and not any(streams[key.fd] != "status" for key, _ in ready):
                    return  # it has ended, and all output was read
                elif now - looked >= POLL_SECONDS:
                    self._look(now)
                    looked = time.monotonic()

    def _take(self, stream: str, descriptor: int) -> bool:
        """Read available data of a stream; False at its end."""
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
            self.output = (self.output + data)[-MAX_OUTPUT_KEPT:]
            if self._written > OUTPUT_BYTES:
                self._why = f"it wrote more than {OUTPUT_BYTES >> 20} MiB to its output"
        return bool(data)

    def _look(self, now: float) -> None:
        """Check its resource use, and whether it continues although it cannot answer any more."""
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
        """Tell whether its folder has grown too large: measured only after the disk has lost as much space."""
        size, files = _free(self._job.root)
        if self._free[0] - size < FOLDER_BYTES and self._free[1] - files < FOLDER_FILES:
            return False
        used, count = _used(self._job.root)
        return used > FOLDER_BYTES or count > FOLDER_FILES


def _free(folder: Path) -> tuple[int, int]:
    """Return the free bytes and files on the disk of a folder."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize, found.f_favail


def _used(folder: Path) -> tuple[int, int]:
    """Return the bytes and the number of the files below a folder."""
    size = count = 0
    for root, folders, files in os.walk(folder):
        count += len(folders) + len(files)
        for name in files:
            with ExitStack() as stack:
                stack.push(lambda kind, *_: kind is not None and issubclass(kind, OSError))
                size += os.lstat(os.path.join(root, name)).st_blocks * 512  # noqa: PTH118 - there may be many
    return size, count
