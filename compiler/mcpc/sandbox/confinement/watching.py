"""Output and resource use of a confined program, compared with its limits while it runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mcpc.sandbox.confinement import model
from mcpc.sandbox.confinement.model import UNREADABLE, UNREADABLE_STATUS, ProgramOutcome
from mcpc.sandbox.platforms import PLATFORM
from mcpc_runtime.transports.platforms import bind_port

if TYPE_CHECKING:
    from mcpc.sandbox.confinement.model import ConfinedProgram, RunningProgram

__all__ = ["base_environment", "free_space", "start_confined", "used_space"]

if TYPE_CHECKING:
    from mcpc.sandbox.confinement.posix.running import base_environment, free_space, start_confined, used_space
else:
    bind_port(globals(), f"mcpc.sandbox.confinement.{PLATFORM}.running")


class WatchedProgram:
    """A program while it runs: what it has written, and why it is ended."""

    def __init__(self, job: ConfinedProgram, program: RunningProgram) -> None:
        self._job = job
        self._program = program
        self._why = ""
        self._written = 0
        self._closed_at = 0.0
        self._free = free_space(job.root)
        self.answer, self.output, self.status = bytearray(), bytearray(), bytearray()

    def outcome(self) -> ProgramOutcome:
        """Return the outcome of the program."""
        if self.status == UNREADABLE_STATUS:
            return ProgramOutcome(b"", b"", None, UNREADABLE)
        # Of a program that was ended, the status would only say that it was killed.
        status = int(self.status) if self.status and not self._why else None
        return ProgramOutcome(bytes(self.answer), bytes(self.output), status, self._why)

    def follow(self) -> None:
        """Read its output until it ends, its answer is complete, or it must be ended."""
        deadline = time.monotonic() + self._job.seconds
        looked = time.monotonic()
        while not self._why and not self._job.is_whole(self.answer):
            has_output = False
            for stream, data in self._program.read(model.POLL_SECONDS):
                has_output |= stream != "status"
                self._take(stream, data)
            now = time.monotonic()
            if now > deadline:
                self._why = f"it did not end within {self._job.seconds:g} seconds"
            elif self.status and not has_output:
                return  # it has ended, and all output was read
            elif now - looked >= model.POLL_SECONDS:
                self._look(now)
                looked = time.monotonic()

    def _take(self, stream: str, data: bytes) -> None:
        """Keep data of a stream; none at its end."""
        if stream == "answer":
            self.answer += data
            if len(self.answer) > model.ANSWER_BYTES:
                self._why = f"what it defines takes more than {model.ANSWER_BYTES >> 20} MiB"
            self._closed_at = 0.0 if data else time.monotonic()
        elif stream == "status":
            self.status += data
        else:
            self._written += len(data)
            self.output = (self.output + data)[-model.MAX_OUTPUT_KEPT :]
            if self._written > model.OUTPUT_BYTES:
                self._why = f"it wrote more than {model.OUTPUT_BYTES >> 20} MiB to its output"

    def _look(self, now: float) -> None:
        """Check its resource use, and whether it continues although it cannot answer any more."""
        processes, memory = self._program.usage()
        if processes > model.PROCESSES:
            self._why = f"it started more than {model.PROCESSES} processes"
        elif memory > model.MEMORY_BYTES:
            self._why = f"it took more than {model.MEMORY_BYTES >> 30} GiB of memory"
        elif self._fills():
            self._why = f"it wrote more than {model.FOLDER_BYTES >> 20} MiB, or {model.FOLDER_FILES} files"
        elif self._closed_at and not self.status and now - self._closed_at > model.GRACE_SECONDS:
            self._why = "it took the process's descriptors away"

    def _fills(self) -> bool:
        """Tell whether its folder has grown too large: measured only after the disk has lost as much space."""
        size, files = free_space(self._job.root)
        if self._free[0] - size < model.FOLDER_BYTES and self._free[1] - files < model.FOLDER_FILES:
            return False
        used, count = used_space(self._job.root)
        return used > model.FOLDER_BYTES or count > model.FOLDER_FILES
