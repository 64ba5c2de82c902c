"""Runner of processes: one process per call, with its input, its captured outputs, and its end.

Standard input is empty, or has the command's `stdin`; `data` is on descriptor 3, and notes are written to descriptor 5.
A program with `stdin` writes errors to its standard error; a shell writes them to descriptor 4 (until it does, its
standard error is the server's).

A call is over when its process has ended and its outputs are closed, or LINGER_SECONDS later: a daemon that keeps them
open must not delay the answer.  Nothing here blocks; a process that cannot be started leaves nothing open.
"""

from __future__ import annotations

from _functools import partial
from collections.abc import Callable, Mapping

from mcpc_runtime.handlers.invocations import NOTES, Command, ProcessResult
from mcpc_runtime.handlers.output_capture import (
    LINGER_SECONDS,
    NoteReader,
    OutputCapture,
    TakeData,
    drain,
    memory_file,
    read_some,
)
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import Note, Notify
from mcpc_runtime.protocol.kept_results import Account
from mcpc_runtime.transports.platforms import system, system_features
from mcpc_runtime.transports.platforms.cleanup import OpenDescriptors
from mcpc_runtime.transports.platforms.pipes import close, incoming, outgoing
from mcpc_runtime.transports.platforms.processes import CALL_VARIABLE
from mcpc_runtime.transports.platforms.reactor import READABLE, WRITABLE
from mcpc_runtime.transports.platforms.supervisor import SupervisedProcess

STDIN_FD, STDOUT_FD, STDERR_FD, DATA_FD, SHELL_ERRORS_FD, NOTES_FD = 0, 1, 2, 3, 4, 5
"""A child's descriptors."""


class ProcessJob:
    """One running process: `streams` has the consumer of each output, `feeds` the input still to be written."""

    __slots__ = ("capture", "child", "done", "feeds", "is_over", "mark", "note", "status", "streams")

    def __init__(
        self,
        mark: str,
        done: Callable[[ProcessResult], None],
        note: Notify,
        account: Account | None = None,
    ) -> None:
        self.mark = mark
        self.done: Callable[[ProcessResult], None] | None = done
        self.note = note
        self.capture = OutputCapture(account)
        self.streams: dict[int, TakeData] = {}
        self.feeds: dict[int, memoryview] = {}
        self.child: SupervisedProcess | None = None
        self.is_over = False
        self.status = 0

    def forward_note(self, value: Note) -> None:
        """Forward a note, unless the call was stopped."""
        if self.done is not None:
            self.note(value)


class ProcessRunner:
    """Spawns a process per call.  Memory per call: its input, and at most OUTPUT_LIMIT of its output."""

    def __init__(self, host: RunnerContext) -> None:
        self._host = host
        self._number = 0

    def start(self, command: Command, done: Callable[[ProcessResult], None], note: Notify) -> ProcessJob | None:
        """Start `command`; `done` is called with its result."""
        if command.refusal:
            done(ProcessResult(command.refusal))
            return None
        self._number += 1
        job = ProcessJob(f"{system.getpid()}.p{self._number}", done, note, command.account)
        # The child's ends are closed here in any case: else the ends of its outputs would not be noticed.
        with OpenDescriptors() as ours, OpenDescriptors(always=True) as theirs:
            descriptors = self._connect(job, command, ours, theirs)
            environment = {**self._environment(command), CALL_VARIABLE.encode(): job.mark.encode()}
            job.child = self._host.supervisor.spawn(
                command.argv,
                environment,
                descriptors,
                lambda status, problem: self._end(job, status, problem),
                command.directory,
            )
        for descriptor in job.streams:
            self._watch(job, descriptor, READABLE, self._listen)
        for descriptor in job.feeds:
            self._watch(job, descriptor, WRITABLE, self._feed)
        return job

    def _watch(self, job: ProcessJob, descriptor: int, events: int, ready: Callable[[ProcessJob, int], None]) -> None:
        self._host.reactor.watch(descriptor, events, lambda: ready(job, descriptor))

    def stop(self, job: ProcessJob) -> None:
        """End the job's processes; their remaining output is read, so that they can end, and discarded."""
        job.done = None
        job.streams = dict.fromkeys(job.streams, ignore_data)
        if job.child is not None and not job.is_over:
            self._host.supervisor.end(job.child.pid, job.mark)

    def close(self) -> None:
        """Do nothing: the supervisor ends the processes."""

    def _environment(self, command: Command) -> Mapping[bytes, bytes]:
        """Return the environment of a process; an exact one has no notes, since it lacks their variable."""
        if command.exact is not None:
            return {**command.exact, **command.extra}
        notes = {NOTES.encode(): b"%d" % NOTES_FD}
        return {**self._host.environment(command.environment), **command.extra, **notes}

    def _connect(self, job: ProcessJob, command: Command, ours: list[int], theirs: list[int]) -> dict[int, int]:
        """Open the inputs and outputs of the process; return its descriptors."""
        is_shell = command.stdin is None
        descriptors = {STDOUT_FD: self._output(job.capture.add_output, job, ours, theirs)}
        errors = SHELL_ERRORS_FD if is_shell else STDERR_FD
        merged = command.merged
        descriptors[errors] = (
            descriptors[STDOUT_FD] if merged else self._output(job.capture.add_errors, job, ours, theirs)
        )
        if is_shell:
            descriptors[STDERR_FD] = (
                self._host.errors
            )  # output before a shell uses descriptor 4 is not part of the call
        if command.exact is None:
            descriptors[NOTES_FD] = self._output(NoteReader(job.forward_note, ignore_data).feed, job, ours, theirs)
        if command.stdin:  # standard input is empty by default
            descriptors[STDIN_FD] = self._input(command.stdin, job, ours, theirs)
        if is_shell or command.data:
            descriptors[DATA_FD] = self._input(command.data, job, ours, theirs)
        return descriptors

    @staticmethod
    def _output(take: TakeData, job: ProcessJob, ours: list[int], theirs: list[int]) -> int:
        """Return a descriptor for an output of the process."""
        end, their_end = incoming()
        ours.append(end)
        theirs.append(their_end)
        job.streams[end] = take
        return their_end

    @staticmethod
    def _input(data: bytes, job: ProcessJob, ours: list[int], theirs: list[int]) -> int:
        """Return a descriptor for an input of the process: a file in memory, or a pipe."""
        if system_features.has("memfd"):
            try:
                return memory_file(data, theirs)
            except OSError as problem:
                if problem.errno in system_features.NO_ROOM:
                    raise
        end, their_end = outgoing()
        ours.append(end)
        theirs.append(their_end)
        job.feeds[end] = memoryview(data)
        return their_end

    def _listen(self, job: ProcessJob, descriptor: int) -> None:
        """Read the available output."""
        data = read_some(descriptor)
        if data:
            job.streams[descriptor](data)
        elif data is not None:
            self._drop(job, descriptor)
            if job.is_over and not job.streams:
                self._finish(job)

    def _feed(self, job: ProcessJob, descriptor: int) -> None:
        """Write as much as there is room for; a process that stops reading is ignored."""
        try:
            rest = job.feeds[descriptor] = job.feeds[descriptor][system.write(descriptor, job.feeds[descriptor]) :]
        except BlockingIOError:
            return
        except OSError:
            rest = memoryview(b"")
        if not rest:
            self._drop(job, descriptor)

    def _end(self, job: ProcessJob, status: int, problem: str) -> None:
        """Process the end of the process, and all it wrote before."""
        job.is_over = True
        job.status = status
        drain(job.streams, partial(self._drop, job))
        if problem or not job.streams or job.done is None:
            self._finish(job, problem)
        else:
            self._host.reactor.after(LINGER_SECONDS, lambda: self._finish(job))

    def _finish(self, job: ProcessJob, problem: str = "") -> None:
        """Close everything, kill the rest of the process group, and deliver the result."""
        # The timer of LINGER_SECONDS also comes if the outputs were closed before.
        if job.child is None:
            return
        drain(job.streams, partial(self._drop, job))
        for descriptor in [*job.streams, *job.feeds]:
            self._drop(job, descriptor)
        self._host.supervisor.end_rest(job.child)
        job.child = None
        done, job.done = job.done, None
        if done is not None:
            done(job.capture.completed(job.status, problem))

    def _drop(self, job: ProcessJob, descriptor: int) -> None:
        job.streams.pop(descriptor, None)
        job.feeds.pop(descriptor, None)
        self._host.reactor.forget(descriptor)
        close(descriptor)


def ignore_data(data: bytes) -> None:
    """Discard data: a line on the notes descriptor that is not a note, or output of a stopped call."""
