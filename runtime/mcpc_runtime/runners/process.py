"""A handler as a process of its own: fed, listened to until it ends, and never left behind.

Its standard input is at its end from the start, or what it is told; more comes on descriptor 3, its notes go to
descriptor 5.  The errors of a program that is told something go to its standard error; those of a shell go to
descriptor 4 (its standard error is the server's own, until it takes the other).

Its law: a call is over when its process has ended and its outputs have, or a moment has passed: a daemon that holds
them must not hold the answer.  Nothing waits here; what cannot be started leaves nothing open.
"""

from __future__ import annotations

import posix

from mcpc_runtime import ways
from mcpc_runtime.capture import Capture, Notes, memory_file, pipe, read_some
from mcpc_runtime.commands import MARK, NOTES, Completed
from mcpc_runtime.reactor import READABLE, WRITABLE, close

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mcpc_runtime.commands import Command
    from mcpc_runtime.host import Host
    from mcpc_runtime.protocol.accounts import Account
    from mcpc_runtime.supervision.client import Child

    Take = Callable[[bytes], None]

LINGER_SECONDS = 0.2
"""How long outputs that are still open may hold a call whose process has ended."""
PIPE_LIMIT = 1 << 20
"""A pipe holds no more: what was written before a process ended has arrived when this much was read after it."""
TOLD, PRINTED, ERRORS, DATA, SHELL_ERRORS, NOTED = 0, 1, 2, 3, 4, 5
"""A child's descriptors."""


class Job:
    """One running process: `streams` says what takes what arrives on our ends, `feeds` what is still to be written."""

    __slots__ = ("capture", "child", "done", "feeds", "is_over", "mark", "note", "status", "streams")

    def __init__(
        self,
        mark: str,
        done: Callable[[Completed], None],
        note: Callable[[Any], None],
        account: Account | None = None,
    ) -> None:
        self.mark = mark
        self.done: Callable[[Completed], None] | None = done
        self.note = note
        self.capture = Capture(account)
        self.streams: dict[int, Take] = {}
        self.feeds: dict[int, memoryview] = {}
        self.child: Child | None = None
        self.is_over = False
        self.status = 0

    def take_note(self, value: Any) -> None:
        """Pass a note on, if somebody still waits for the call."""
        if self.done is not None:
            self.note(value)


class ProcessRunner:
    """Spawns a process a call.  Memory a call: its input, and at most OUTPUT_LIMIT of its output."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._number = 0

    def start(self, command: Command, done: Callable[[Completed], None], note: Callable[[Any], None]) -> Job | None:
        """Start `command`; `done` is called with what became of it."""
        if command.refusal:
            done(Completed(command.refusal))
            return None
        self._number += 1
        job = Job(f"{posix.getpid()}.p{self._number}", done, note, command.account)
        ours: list[int] = []
        theirs: list[int] = []
        try:
            wanted = self._connect(job, command, ours, theirs)
            environment = {**self._environment(command), MARK.encode(): job.mark.encode()}
            job.child = self._host.supervisor.spawn(
                command.argv,
                environment,
                wanted,
                lambda status, problem: self._end(job, status, problem),
                command.directory,
            )
        except BaseException:
            for descriptor in ours:
                close(descriptor)
            raise
        finally:
            for descriptor in theirs:
                close(descriptor)
        for descriptor in job.streams:
            self._host.reactor.watch(descriptor, READABLE, lambda end=descriptor: self._listen(job, end))  # type: ignore[misc]
        for descriptor in job.feeds:
            self._host.reactor.watch(descriptor, WRITABLE, lambda end=descriptor: self._feed(job, end))  # type: ignore[misc]
        return job

    def stop(self, job: Job) -> None:
        """End the job's processes; what they still say is read, so that they can end, and forgotten."""
        job.done = None
        job.streams = dict.fromkeys(job.streams, forget)
        if job.child is not None and not job.is_over:
            self._host.supervisor.end(job.child.pid, job.mark)

    def close(self) -> None:
        """Leave the processes to the supervisor."""

    def _environment(self, command: Command) -> Mapping[bytes, bytes]:
        """Return what a process finds; an exact one has no notes, for nothing in it says where they go."""
        if command.exact is not None:
            return {**command.exact, **command.more}
        notes = {NOTES.encode(): b"%d" % NOTED}
        return {**self._host.environment(command.environment), **command.more, **notes}

    def _connect(self, job: Job, command: Command, ours: list[int], theirs: list[int]) -> dict[int, int]:
        """Make what the process reads and writes; return its descriptors."""
        is_shell = command.told is None
        wanted = {PRINTED: self._output(job.capture.print, job, ours, theirs)}
        errors = SHELL_ERRORS if is_shell else ERRORS
        merged = command.merged
        wanted[errors] = wanted[PRINTED] if merged else self._output(job.capture.complain, job, ours, theirs)
        if is_shell:
            wanted[ERRORS] = self._host.errors  # what a shell says before it takes descriptor 4 is not the call's
        if command.exact is None:
            wanted[NOTED] = self._output(Notes(job.take_note, forget).feed, job, ours, theirs)
        if command.told:  # nothing at all is what a process finds anyway
            wanted[TOLD] = self._input(command.told, job, ours, theirs)
        if is_shell or command.data:
            wanted[DATA] = self._input(command.data, job, ours, theirs)
        return wanted

    @staticmethod
    def _output(take: Take, job: Job, ours: list[int], theirs: list[int]) -> int:
        """Return a descriptor for something the process writes."""
        end, their_end = pipe(ours, theirs)
        posix.set_blocking(end, False)
        job.streams[end] = take
        return their_end

    @staticmethod
    def _input(data: bytes, job: Job, ours: list[int], theirs: list[int]) -> int:
        """Return a descriptor for something the process reads: a file in memory, or a pipe that is fed."""
        if ways.has("memfd"):
            try:
                return memory_file(data, theirs)
            except OSError as problem:
                if problem.errno in ways.NO_ROOM:
                    raise
        their_end, end = pipe(theirs, ours)
        posix.set_blocking(end, False)
        job.feeds[end] = memoryview(data)
        return their_end

    def _listen(self, job: Job, descriptor: int) -> None:
        """Take what has arrived."""
        data = read_some(descriptor)
        if data:
            job.streams[descriptor](data)
        elif data is not None:
            self._drop(job, descriptor)
            if job.is_over and not job.streams:
                self._finish(job)

    def _feed(self, job: Job, descriptor: int) -> None:
        """Write what there is room for; a process that does not read, or not to the end, is no problem."""
        try:
            rest = job.feeds[descriptor] = job.feeds[descriptor][posix.write(descriptor, job.feeds[descriptor]) :]
        except BlockingIOError:
            return
        except OSError:
            rest = memoryview(b"")
        if not rest:
            self._drop(job, descriptor)

    def _end(self, job: Job, status: int, problem: str) -> None:
        """Take the end of the process, and all it wrote before it."""
        job.is_over = True
        job.status = status
        self._drain(job)
        if problem or not job.streams or job.done is None:
            self._finish(job, problem)
        else:
            self._host.reactor.after(LINGER_SECONDS, lambda: self._finish(job))

    def _drain(self, job: Job) -> None:
        """Read what is there: no more than a pipe holds, for a daemon may be writing still."""
        for descriptor, take in list(job.streams.items()):
            rest = PIPE_LIMIT
            while rest > 0:
                data = read_some(descriptor)
                if not data:
                    break
                take(data)
                rest -= len(data)
            else:
                continue
            if data is not None:
                self._drop(job, descriptor)

    def _finish(self, job: Job, problem: str = "") -> None:
        """Let go of everything, kill what is left of the group, and tell whoever waits."""
        if job.child is None:
            return
        self._drain(job)
        for descriptor in [*job.streams, *job.feeds]:
            self._drop(job, descriptor)
        self._host.supervisor.end_rest(job.child)
        job.child = None
        done, job.done = job.done, None
        if done is not None:
            done(job.capture.completed(job.status, problem))

    def _drop(self, job: Job, descriptor: int) -> None:
        job.streams.pop(descriptor, None)
        job.feeds.pop(descriptor, None)
        self._host.reactor.forget(descriptor)
        close(descriptor)


def forget(data: bytes) -> None:
    """Pass over what nobody wants: a line that is no note, or what a stopped call still says."""
