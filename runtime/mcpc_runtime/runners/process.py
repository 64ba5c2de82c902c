"""A handler as a process of its own: spawned, fed, listened to until it ends, and never left behind.

Its input is at its end from the start; what it is to be told comes on descriptor 3, its errors go to descriptor 4 (its
standard error is the server's own, until it takes the other).  It leads a process group, and
the group is killed when it has ended, so that a child left in the background holds nothing open.
"""

from __future__ import annotations

import posix
from _signal import SIGKILL, SIGTERM  # type: ignore[import-not-found]

from mcpc_runtime.commands import DEFAULT_SIGNALS, Completed
from mcpc_runtime.reactor import READABLE, WRITABLE, close

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc_runtime.commands import Command
    from mcpc_runtime.reactor import Reactor

OUTPUT_LIMIT = 16 << 20
"""Of a longer output the head is kept and the rest counted."""
READ_SIZE = 1 << 16
GRACE_SECONDS = 2.0
WITHOUT_PIDFD_SECONDS = 0.01


class Job:
    """One running process: `streams` maps our end of its outputs to whether it is standard output."""

    __slots__ = ("chunks", "done", "dropped", "feed", "finished", "identity", "pending", "pid", "size", "streams")

    def __init__(self, pid: int, streams: dict[int, bool], feed: int, data: bytes) -> None:
        self.pid = pid
        self.streams = streams
        self.feed = feed
        self.pending = memoryview(data)
        self.chunks: list[tuple[bool, bytes]] = []
        self.size = 0
        self.dropped = 0
        self.identity = -1
        self.finished = False
        self.done: Callable[[Completed], None] | None = None


class ProcessRunner:
    """Spawns a process a call.  Memory a call: its input, and at most OUTPUT_LIMIT of its output."""

    def __init__(self, reactor: Reactor, image: object) -> None:
        self._reactor = reactor
        self._jobs: set[Job] = set()

    def start(self, command: Command, done: Callable[[Completed], None]) -> Job | None:
        """Start `command`; `done` is called with what became of it, at once if it could not be started."""
        try:
            job = spawn(command)
        except OSError as problem:
            done(Completed(f"cannot run {command.argv[0]}: {problem.strerror}"))
            return None
        job.done = done
        self._jobs.add(job)
        for descriptor in job.streams:
            self._reactor.watch(descriptor, READABLE, lambda descriptor=descriptor: self._listen(job, descriptor))  # type: ignore[misc]
        if job.feed >= 0:
            self._reactor.watch(job.feed, WRITABLE, lambda: self._feed(job))
        self._await_end(job)
        return job

    def stop(self, job: Job) -> None:
        """End the job's processes: politely, and for good two seconds later.  `done` is not called."""
        job.done = None
        signal_group(job.pid, SIGTERM)
        self._reactor.after(GRACE_SECONDS, lambda: None if job.finished else signal_group(job.pid, SIGKILL))

    def close(self) -> None:
        """Kill everything at once."""
        for job in self._jobs:
            signal_group(job.pid, SIGKILL)

    def _feed(self, job: Job) -> None:
        try:
            job.pending = job.pending[posix.write(job.feed, job.pending) :]
        except BlockingIOError:
            return
        except OSError:  # it does not want to know more
            job.pending = job.pending[:0]
        if not job.pending:
            self._drop(job.feed)
            job.feed = -1

    def _listen(self, job: Job, descriptor: int) -> None:
        data = read_some(descriptor)
        if data is not None:
            self._take(job, descriptor, data)

    def _take(self, job: Job, descriptor: int, data: bytes) -> None:
        """Keep what was read; nothing read is the stream's end."""
        if not data:
            del job.streams[descriptor]
            self._drop(descriptor)
            return
        kept = data[: max(0, OUTPUT_LIMIT - job.size)]
        job.size += len(kept)
        job.dropped += len(data) - len(kept)
        if kept:
            job.chunks.append((job.streams[descriptor], kept))

    def _await_end(self, job: Job) -> None:
        try:
            job.identity = posix.pidfd_open(job.pid)
        except (AttributeError, OSError):
            self._reactor.after(WITHOUT_PIDFD_SECONDS, lambda: self._poll_end(job))
        else:
            self._reactor.watch(job.identity, READABLE, lambda: self._end(job, posix.waitpid(job.pid, 0)[1]))

    def _poll_end(self, job: Job) -> None:
        pid, status = posix.waitpid(job.pid, posix.WNOHANG)
        if pid:
            self._end(job, status)
        else:
            self._reactor.after(WITHOUT_PIDFD_SECONDS, lambda: self._poll_end(job))

    def _end(self, job: Job, status: int) -> None:
        """Take the end of the process, and all it wrote before it."""
        job.finished = True
        for descriptor in list(job.streams):
            while descriptor in job.streams and (data := read_some(descriptor)) is not None:
                self._take(job, descriptor, data)
        signal_group(job.pid, SIGKILL)
        for descriptor in (*job.streams, job.feed, job.identity):
            if descriptor >= 0:
                self._drop(descriptor)
        self._jobs.discard(job)
        if job.done is not None:
            job.done(completed(job, posix.waitstatus_to_exitcode(status)))

    def _drop(self, descriptor: int) -> None:
        self._reactor.forget(descriptor)
        close(descriptor)


def spawn(command: Command) -> Job:
    """Start the process with pipes of ours; raise OSError, with nothing left open, if it cannot be started."""
    opened: list[int] = []
    try:
        told, feed = text_descriptor(command.input, opened)
        output, output_in = pipe(opened)
        errors, errors_in = (output, output_in) if command.merged else pipe(opened)
        actions = [
            (posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDONLY, 0),
            (posix.POSIX_SPAWN_DUP2, output_in, 1),
            (posix.POSIX_SPAWN_DUP2, errors_in, 4),
            (posix.POSIX_SPAWN_DUP2, told, 3),
        ]
        pid = posix.posix_spawnp(
            command.argv[0],
            command.argv,
            command.environment,
            file_actions=actions,
            setpgroup=0,
            setsigdef=DEFAULT_SIGNALS,
            setsigmask=(),
        )
    except BaseException:
        for descriptor in opened:
            close(descriptor)
        raise
    for descriptor in {told, output_in, errors_in}:
        close(descriptor)
    streams = {output: True} if command.merged else {output: True, errors: False}
    for descriptor in streams:
        posix.set_blocking(descriptor, False)
    return Job(pid, streams, feed, command.input)


def text_descriptor(data: bytes, opened: list[int]) -> tuple[int, int]:
    """Return a descriptor to read `data` from, and one to feed it through, -1 if there is no need to.

    A shell reads a pipe byte by byte, a file at once: where the kernel has files in memory, it gets one.
    """
    if hasattr(posix, "memfd_create"):
        file = posix.memfd_create("mcpc", posix.MFD_CLOEXEC)
        opened.append(file)
        view = memoryview(data)
        while view:
            view = view[posix.write(file, view) :]
        posix.lseek(file, 0, 0)
        return file, -1
    told, feed = pipe(opened)
    posix.set_blocking(feed, False)
    return told, feed


def pipe(opened: list[int]) -> tuple[int, int]:
    """Return a pipe's two ends, noted in `opened`."""
    ends = posix.pipe()
    opened.extend(ends)
    return ends


def read_some(descriptor: int) -> bytes | None:
    """Return what is there to read, nothing at the end, None if it would have to be waited for."""
    try:
        return posix.read(descriptor, READ_SIZE)
    except BlockingIOError:
        return None


def signal_group(pid: int, number: int) -> None:
    """Signal the process group that `pid` leads, if there is any of it left."""
    try:
        posix.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def completed(job: Job, status: int) -> Completed:
    """Return what a finished job amounts to."""
    result = Completed()
    result.status = status
    result.output = b"".join(data for _, data in job.chunks)
    result.printed = b"".join(data for printed, data in job.chunks if printed)
    result.errors = b"".join(data for printed, data in job.chunks if not printed)
    result.dropped = job.dropped
    return result
