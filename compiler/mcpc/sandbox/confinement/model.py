"""A confined program, its limits, how it ended, and what an adapter provides of one that runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

REPLIES = 3
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
EXTRA_PROCESSOR_SECONDS = 60
"""How much more processor time it may use than time, since it may use several processors."""
POLL_SECONDS = 0.1
GRACE_SECONDS = 10
"""How long a program may take to end after closing the descriptor of its answer."""


IMPORT_SECONDS = 20
"""How long importing a file may take."""
IMPORT_GRACE_SECONDS = 5
"""Additional time for the start and the end of the process."""
TIME_LIMIT_MESSAGE = f"the import took longer than {IMPORT_SECONDS} seconds"


UNREADABLE = "what it needs cannot be read in namespaces of its own"
"""Why a program that cannot be confined so strictly was not run."""
UNREADABLE_STATUS = b"unreadable"
"""What the launcher of POSIX systems reports in place of a status then."""


@dataclass(frozen=True, slots=True)
class ConfinedProgram:
    """A program to run: `folder` is its working folder, `root` the only folder in which it may write.

    `readable`: paths that it must be able to read; `is_whole`: tells that its answer is complete, so that its end is
    not awaited; `network`: whether it may connect to others.
    """

    words: Sequence[str]
    root: Path
    folder: Path
    seconds: float
    variables: Mapping[str, str] = field(default_factory=dict)
    readable: Sequence[str] = ()
    replies: int = REPLIES
    is_whole: Callable[[bytearray], bool] = lambda _: False
    network: bool = False


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


class RunningProgram(Protocol):
    """A confined program while it runs; leaving its context ends all that descends from it."""

    def read(self, seconds: float) -> Iterable[tuple[str, bytes]]:
        """Return what has arrived within so many seconds: `answer`, `output` or `status`, and data, none at an end."""

    def usage(self) -> tuple[int, int]:
        """Return the number of its processes, and how many bytes of memory they use together."""
