"""The server's side of one worker process.

Every job that is given to a worker is completed exactly once: with a result, or taken back if it was not begun.
"""

from __future__ import annotations

import marshal
import posix
import sys
from _collections import deque
from _functools import partial

from mcpc_runtime.handlers.invocations import FunctionResult
from mcpc_runtime.handlers.output_capture import open_pipe
from mcpc_runtime.handlers.python.worker.sending import FULL, SENT, StreamSender, sending
from mcpc_runtime.platforms.artifact_file import given, refuse_changed, watched
from mcpc_runtime.platforms.posix.reactor import READABLE, WRITABLE, close
from mcpc_runtime.platforms.posix.supervision import CALL_VARIABLE
from mcpc_runtime.platforms.rollback import OpenDescriptors, Rollback
from mcpc_runtime.protocol.jsonrpc import ParseError, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Protocol

    from mcpc_runtime.handlers.python.worker.sending import DatagramSender
    from mcpc_runtime.handlers.runner_context import RunnerContext
    from mcpc_runtime.interfaces import Notify
    from mcpc_runtime.protocol.jsonrpc import Json

    class WorkerOwner(Protocol):
        """What a worker belongs to."""

        context: RunnerContext
        leaving: set[WorkerProcess]
        failed_starts: int

        def assign(self, jobs: Iterable[WorkerJob]) -> None:
            """Give calls that were not begun to another worker."""

        def retire(self, worker: WorkerProcess) -> None:
            """Give a worker no new calls."""

        def note_recovery(self) -> None:
            """Take note that a worker goes on."""

        def note_end(self, worker: WorkerProcess, unbegun: list[WorkerJob], reason: str) -> None:
            """Take note that a worker has ended."""


BOOT = (
    "import sys,posix;a=sys.argv[1].replace('/proc/self/','/proc/%d/'%posix.getpid());sys.path.insert(0,a);"
    "from mcpc_runtime.handlers.python.worker.process import main;main(a,*sys.argv[2:])"
)
ARCHIVE = 6
"""The worker's descriptor of the server's file."""
READ_SIZE = 1 << 16
"""More would be memory that the C library asks the system for, and gives back, at every read."""
READ_REST = 1 << 20
"""What is read at once of an answer that has begun."""
FRAME_LIMIT = 64 << 20
STOP_SECONDS = 2.0
"""How long a call that was stopped may take to end."""
BEGIN_SECONDS = 0.5
"""How long a worker may say nothing and begin nothing before its calls go to another."""
ALIVE_SECONDS = 1.0
"""How long a worker with a call that does not end may take to say that it lives."""
RETRY_SECONDS = 0.05


class WorkerJob:
    """One call.  `body`: what is sent, nothing once it was; `done` is None when nobody waits any more."""

    __slots__ = ("body", "done", "note", "number", "worker")

    def __init__(self, body: bytes, done: Callable[[FunctionResult], None], note: Notify) -> None:
        self.body = body
        self.done: Callable[[FunctionResult], None] | None = done
        self.note = note
        self.number = 0
        self.worker: WorkerProcess | None = None

    def finish(self, returned: FunctionResult) -> None:
        """Say what became of it, once."""
        done, self.done = self.done, None
        if done is not None:
            done(returned)


class WorkerProcess:
    """One worker process, and the calls it was given."""

    def __init__(self, pool: WorkerOwner, mark: str, environment: dict[bytes, bytes]) -> None:
        self.ready = False
        self.stuck = False
        self.ending = False
        self._pool = pool
        self._mark = mark
        self._reactor = pool.context.reactor
        self._supervisor = pool.context.supervisor  # before descriptors are opened that it should not have
        self._jobs: dict[int, WorkerJob] = {}
        self._queue: deque[WorkerJob] = deque()
        self._number = 0
        self._heard = 0
        self._expecting = False
        self._closed = False
        self._is_waiting_for_room = False
        self._incoming = bytearray()
        self._words_out = bytearray()
        self._start({**environment, CALL_VARIABLE.encode(): mark.encode()})

    def _start(self, environment: dict[bytes, bytes]) -> None:
        line = sending()
        with OpenDescriptors() as opened, Rollback(line.close):
            replies, replies_in = open_pipe(opened)
            words_out, words = open_pipe(opened)
            archive = self._pool.context.image.archive
            refuse_changed(archive)
            place, descriptors = given(archive, ARCHIVE)
            known = [f"{number:d}" for number in watched.get(archive, ())]
            argv = [sys.executable or "python3", "-I", "-S", "-c", BOOT, place, line.way, *known]
            descriptors.update({3: line.intake, 4: replies_in, 5: words_out})
            self._child = self._supervisor.spawn(argv, environment, descriptors, self._ended)
        line.handed_over()
        close(replies_in)
        close(words_out)
        posix.set_blocking(replies, False)
        posix.set_blocking(words, False)
        self._line: DatagramSender | StreamSender = line
        self._has_stream = isinstance(line, StreamSender)
        self._replies, self._words = replies, words
        self._reactor.watch(replies, READABLE, self._listen)

    def give(self, job: WorkerJob) -> None:
        """Send a call, as soon as there is room for it."""
        self._number += 1
        job.number = self._number
        job.worker = self
        self._jobs[job.number] = job
        self._queue.append(job)
        self._feed()
        if len(self._jobs) == 1:
            self._reactor.expect()

    def _feed(self) -> None:
        """Send waiting jobs while there is room."""
        queue = self._queue
        while queue and not self._closed:
            job = queue[0]
            try:
                became = SENT if job.done is None else self._line.put(job.number, job.body)
            except OSError as problem:
                became = self._fail_unsent(job, problem)
            if became != SENT:
                self._wait_for_room(became)
                return
            queue.popleft()
            job.body = b""
            if not self._expecting:
                self._expect()
        if self._is_waiting_for_room or self._has_stream:
            self._wait_for_room(SENT)

    def _fail_unsent(self, job: WorkerJob, problem: OSError) -> int:
        """Fail a job that cannot be sent; the others are not affected."""
        self._jobs.pop(job.number, None)
        reason = f"the call could not be sent to the handler's process: {problem.strerror}"
        job.finish(FunctionResult(problem=reason))
        return SENT

    def _wait_for_room(self, became: int) -> None:
        """Feed again when there is room; a stream has room again when the worker has begun its job."""
        line = self._line
        self._is_waiting_for_room = became == FULL
        if isinstance(line, StreamSender):
            if line.is_writing:
                self._reactor.watch(line.descriptor, WRITABLE, self._flush)
        elif became == FULL:
            self._reactor.watch(line.descriptor, WRITABLE, self._feed)
        else:
            self._reactor.forget(line.descriptor)
            if became != SENT:
                self._reactor.after(RETRY_SECONDS, self._feed)

    def _flush(self) -> None:
        line = self._line
        line.flush()
        if isinstance(line, StreamSender) and not line.is_writing:
            self._reactor.forget(line.descriptor)

    def _expect(self) -> None:
        """See in a while whether it begins what was sent."""
        self._expecting = True
        heard = self._heard
        self._reactor.after(BEGIN_SECONDS, partial(self._look, heard))

    def _look(self, heard: int) -> None:
        self._expecting = False
        if self._closed or not (self._line.is_waiting() or self._queue):
            return
        if self.ready and self._heard == heard and not self.stuck:
            self.stuck = True
            self._pool.assign(self.take_back())
        if not self._closed:
            self._expect()

    def take_back(self) -> list[WorkerJob]:
        """Return the calls that it has not begun, and never will."""
        return self._unbegun(self._line.take_back())

    def _unbegun(self, sent: list[tuple[int, bytes]]) -> list[WorkerJob]:
        found = []
        for number, body in sent:
            job = self._jobs.pop(number, None)
            if job is not None and job.done is not None:
                job.body = body
                found.append(job)
        for job in self._queue:
            self._jobs.pop(job.number, None)
        found += (job for job in self._queue if job.done is not None)
        self._queue.clear()
        for job in found:
            job.worker = None
        return found

    def stop(self, job: WorkerJob) -> None:
        """Have a call end; if it does not, do without this worker."""
        number = job.number
        if job.body:
            self._jobs.pop(number, None)  # it is still in the queue, and will be passed over
        elif number in self._jobs:
            self.send(("cancel", number))
            self._reactor.after(STOP_SECONDS, lambda: self._overdue(number))
        self.leave_if_idle()

    def _overdue(self, number: int) -> None:
        """Do without this worker; if it says nothing any more, a handler holds all of it, and it is ended."""
        if number in self._jobs and not self._closed:
            self._pool.retire(self)
        if not self._closed and not self.ending:
            heard = self._heard
            self.send(("alive", 0))
            self._reactor.after(ALIVE_SECONDS, lambda: self._look_alive(heard))

    def _look_alive(self, heard: int) -> None:
        if self._heard == heard and not self._closed:
            self._finish()

    def leave_if_idle(self) -> None:
        """End it, if it was retired and nobody waits for anything of it."""
        if self in self._pool.leaving and all(job.done is None for job in self._jobs.values()):
            self._finish()

    def _finish(self) -> None:
        """End it; nothing that it says is wanted any more."""
        if not self.ending:
            self.ending = True
            self._reactor.forget(self._replies)
            self._supervisor.end(self._child.pid, self._mark)

    def send(self, message: tuple[Json, ...]) -> None:
        """Send a word about a call."""
        body = marshal.dumps(message)
        self._words_out += len(body).to_bytes(4, "little") + body
        self._speak()

    def _speak(self) -> None:
        if self._closed:
            return
        try:
            while self._words_out:
                del self._words_out[: posix.write(self._words, self._words_out)]
        except BlockingIOError:
            self._reactor.watch(self._words, WRITABLE, self._speak)
            return
        except OSError:
            self._words_out.clear()  # it has ended, or the handler closed the other end; `_ended` will be called
        self._reactor.forget(self._words)

    def _listen(self) -> None:
        try:
            data = posix.read(self._replies, READ_REST if self._incoming else READ_SIZE)
        except BlockingIOError:
            return
        if not data or not self._hear(data):
            self._pool.retire(self)
            self._finish()

    def _hear(self, data: bytes) -> bool:
        """Take what was read; False if it is not what a worker says."""
        self._incoming += data
        self._heard += 1
        if self.stuck:
            self.stuck = False
            self._pool.note_recovery()
        bodies = frames(self._incoming)
        for body in bodies or ():
            if self._closed or not self._take(body):
                return self._closed
        return bodies is not None

    def _take(self, body: bytes) -> bool:
        try:
            answer = parse(body)
        except ParseError:
            return False
        if type(answer) is not dict:
            return False
        number = answer.get("call")
        if type(number) is not int:
            return self._take_other(answer)
        if "note" in answer:
            job = self._jobs.get(number)
            if job is not None and job.done is not None and type(answer["note"]) is dict:
                job.note(answer["note"])
            return True
        job = self._jobs.pop(number, None)
        if job is not None:
            returned = FunctionResult(answer.get("value"), str(answer.get("error", "")), str(answer.get("refused", "")))
            raised = answer.get("raised")
            returned.raised = raised if type(raised) is dict else None
            job.finish(returned)
            if self._pool.leaving:
                self.leave_if_idle()
        return True

    def _take_other(self, answer: dict[str, Json]) -> bool:
        if "ready" in answer:
            self.ready = True
            self._pool.failed_starts = 0
        begun = answer.get("begun")
        if type(begun) is int:
            self._line.begun(begun)
            self._feed()
        return True

    def _ended(self, status: int, problem: str) -> None:
        """Take the answers it still gave; what it was running ends with it, the rest goes to another."""
        if self._closed:
            return
        self._read_rest()
        reason = problem or (f"it exited with status {status}" if status >= 0 else f"it was killed by signal {-status}")
        unbegun = self._unbegun(self._line.rest())
        self.close()
        self._supervisor.end(0, self._mark)
        self._pool.note_end(self, unbegun, reason)
        for job in list(self._jobs.values()):
            job.finish(FunctionResult(problem=f"the handler's process{reason.removeprefix('it')}"))

    def _read_rest(self) -> None:
        left = FRAME_LIMIT
        while left > 0 and not self._closed:
            try:
                data = posix.read(self._replies, READ_SIZE)
            except OSError:
                return
            left -= len(data)
            if not data or not self._hear(data):
                return

    def close(self) -> None:
        """Let go of it: it ends when it notices."""
        if not self._closed:
            self._closed = True
            for descriptor in (self._line.descriptor, self._replies, self._words):
                self._reactor.forget(descriptor)
            close(self._replies)
            close(self._words)
            self._line.close()


def frames(buffer: bytearray) -> list[bytes] | None:
    """Take the complete frames out of `buffer`; None if the first is over the limit."""
    found: list[bytes] = []
    at = 0
    while len(buffer) - at >= 4:
        length = int.from_bytes(buffer[at : at + 4], "little")
        if length > FRAME_LIMIT and not found:
            return None
        if len(buffer) - at - 4 < length:
            break
        found.append(bytes(buffer[at + 4 : at + 4 + length]))
        at += 4 + length
    del buffer[:at]
    return found
