"""A handler as a process of its own: fed, listened to until it ends, and never left behind.

Its standard input is at its end from the start, or what it is told; more comes on descriptor 3, its errors go to
descriptor 4 where a shell is started (its standard error is the server's own, until it takes the other).
"""

from __future__ import annotations

import posix
from _signal import SIGKILL  # type: ignore[import-not-found]

from mcpc_runtime.capture import Capture, memory_file, pipe, read_some
from mcpc_runtime.commands import MARK
from mcpc_runtime.reactor import READABLE, close
from mcpc_runtime.supervision.client import signal_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.commands import Command, Completed
    from mcpc_runtime.host import Host
    from mcpc_runtime.supervision.client import Child


class Job:
    """One running process: `streams` maps our end of its outputs to whether it is standard output."""

    __slots__ = ("capture", "child", "done", "mark", "streams")

    def __init__(self, streams: dict[int, bool], mark: str, done: Callable[[Completed], None]) -> None:
        self.streams = streams
        self.mark = mark
        self.done: Callable[[Completed], None] | None = done
        self.capture = Capture()
        self.child: Child | None = None


class ProcessRunner:
    """Spawns a process a call.  Memory a call: its input, and at most OUTPUT_LIMIT of its output."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._number = 0

    def start(self, command: Command, done: Callable[[Completed], None], note: Callable[[Any], None]) -> Job:
        """Start `command`; `done` is called with what became of it."""
        self._number += 1
        mark = f"{posix.getpid()}.p{self._number}"
        opened: list[int] = []
        try:
            told = memory_file(command.data, opened)
            output, output_in = pipe(opened)
            errors, errors_in = (output, output_in) if command.merged else pipe(opened)
            environment = {**self._host.environment(command.environment), **command.more, MARK.encode(): mark.encode()}
            streams = {output: True} if command.merged else {output: True, errors: False}
            job = Job(streams, mark, done)
            wanted = {1: output_in, 3: told, 4: errors_in}
            job.child = self._host.supervisor.spawn(
                command.argv, environment, wanted, lambda status, problem: self._end(job, status, problem)
            )
        except BaseException:
            for descriptor in opened:
                close(descriptor)
            raise
        for descriptor in {told, output_in, errors_in}:
            close(descriptor)
        for descriptor in streams:
            posix.set_blocking(descriptor, False)
            self._host.reactor.watch(descriptor, READABLE, lambda descriptor=descriptor: self._listen(job, descriptor))  # type: ignore[misc]
        return job

    def stop(self, job: Job) -> None:
        """End the job's processes."""
        job.done = None
        if job.child is not None:
            self._host.supervisor.end(job.child.pid, job.mark)

    def close(self) -> None:
        """Leave the processes to the supervisor."""

    def _listen(self, job: Job, descriptor: int) -> None:
        data = read_some(descriptor)
        if data:
            job.capture.take(job.streams[descriptor], data)
        elif data is not None:
            self._drop(job, descriptor)

    def _end(self, job: Job, status: int, problem: str) -> None:
        """Take the end of the process, and all it wrote before it."""
        for descriptor in list(job.streams):
            while data := read_some(descriptor):
                job.capture.take(job.streams[descriptor], data)
            self._drop(job, descriptor)
        if job.child is not None and job.child.pid:
            signal_group(job.child.pid, SIGKILL)
        if job.done is not None:
            job.done(job.capture.completed(status, problem))

    def _drop(self, job: Job, descriptor: int) -> None:
        del job.streams[descriptor]
        self._host.reactor.forget(descriptor)
        close(descriptor)
