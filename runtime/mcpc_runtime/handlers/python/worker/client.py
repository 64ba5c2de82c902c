"""Server side of one worker process.

Every call is completed exactly once: with a result, or requeued if the worker never began it.
"""

from __future__ import annotations

import marshal
import sys
from _collections import deque
from _functools import partial
from collections.abc import Callable, Iterable
from typing import Protocol

from mcpc_runtime.handlers.python.contract import FunctionResult, handlers_folder
from mcpc_runtime.handlers.python.worker.frames import (
    FRAME_LIMIT,
    FULL,
    SENT,
    DatagramSender,
    StreamSender,
    make_sender,
    take_frames,
)
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import Notify
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, parse
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.artifact_file import archive_descriptor, check_unchanged, watched
from mcpc_runtime.transports.platforms.cleanup import OpenDescriptors, Rollback
from mcpc_runtime.transports.platforms.pipes import close, incoming, outgoing
from mcpc_runtime.transports.platforms.processes import CALL_VARIABLE, PYTHON_OPTIONS
from mcpc_runtime.transports.platforms.reactor import READABLE, WRITABLE


class WorkerOwner(Protocol):
    """What a worker belongs to."""

    context: RunnerContext
    leaving: set[WorkerProcess]
    failed_starts: int

    def assign(self, jobs: Iterable[WorkerJob]) -> None:
        """Pass calls that were not begun to another worker."""

    def retire(self, worker: WorkerProcess) -> None:
        """Give a worker no new calls."""

    def note_recovery(self) -> None:
        """Record that a worker responds again."""

    def note_end(self, worker: WorkerProcess, unbegun: list[WorkerJob], reason: str) -> None:
        """Handle the end of a worker."""


BOOT = (
    "import sys;a=sys.argv[1]\n"
    # The path stays in `sys.path` and in variables, and in a child `self` would be the child.
    "if a[:11]=='/proc/self/':import posix;a='/proc/%d/'%posix.getpid()+a[11:]\n"
    "sys.path.insert(0,a);from mcpc_runtime.handlers.python.worker.main import main;main(a,*sys.argv[2:])"
)
ARCHIVE = 6
"""The worker's descriptor of the server's file."""
READ_SIZE = 1 << 16
"""For larger buffers the C library would map and unmap memory at every read."""
READ_REST = 1 << 20
"""Bytes per read while a reply is incomplete."""
STOP_SECONDS = 2.0
"""How long a cancelled call may take to end."""
BEGIN_SECONDS = 0.5
"""How long a worker may send nothing and begin nothing before its calls are requeued."""
ALIVE_SECONDS = 1.0
"""How long a worker whose call does not end may take to answer an `alive` message."""
RETRY_SECONDS = 0.05


class WorkerJob:
    """One call.  `body`: the message, empty once it is sent; `done`: None once the caller no longer waits."""

    __slots__ = ("body", "done", "note", "number", "worker")

    def __init__(self, body: bytes, done: Callable[[FunctionResult], None], note: Notify) -> None:
        self.body = body
        self.done: Callable[[FunctionResult], None] | None = done
        self.note = note
        self.number = 0
        self.worker: WorkerProcess | None = None

    def finish(self, returned: FunctionResult) -> None:
        """Complete the call, once."""
        done, self.done = self.done, None
        if done is not None:
            done(returned)


class WorkerProcess:
    """One worker process and its calls."""

    def __init__(self, pool: WorkerOwner, mark: str, environment: dict[bytes, bytes]) -> None:
        self.ready = False
        self.stuck = False
        self.ending = False
        self._pool = pool
        self._mark = mark
        self._reactor = pool.context.reactor
        self._supervisor = pool.context.supervisor  # started before descriptors are opened that it must not inherit
        self._jobs: dict[int, WorkerJob] = {}
        self._queue: deque[WorkerJob] = deque()
        self._number = 0
        self._reads = 0
        self._check_scheduled = False
        self._closed = False
        self._is_waiting_for_room = False
        self._incoming = bytearray()
        self._control_out = bytearray()
        self._start({**environment, CALL_VARIABLE.encode(): mark.encode()})

    def _start(self, environment: dict[bytes, bytes]) -> None:
        line = make_sender()
        with OpenDescriptors() as opened, Rollback(line.close):
            replies, replies_in = incoming()
            opened += (replies, replies_in)
            control, control_end = outgoing()
            opened += (control, control_end)
            archive = self._pool.context.image.archive
            check_unchanged(archive)
            folder = handlers_folder(self._pool.context.image)
            place, descriptors = archive_descriptor(archive, ARCHIVE)
            known = [f"{number:d}" for number in watched.get(archive, ())]
            argv = [sys.executable or "python3", "-I", "-S", *PYTHON_OPTIONS, "-c", BOOT, place, line.kind]
            argv += [folder, *known]
            descriptors.update({3: line.worker_end, 4: replies_in, 5: control_end})
            self._child = self._supervisor.spawn(argv, environment, descriptors, self._ended)
        close(replies_in)
        close(control_end)
        self._line: DatagramSender | StreamSender = line
        self._has_stream = isinstance(line, StreamSender)
        self._replies, self._control = replies, control
        self._reactor.watch(replies, READABLE, self._listen)

    def give(self, job: WorkerJob) -> None:
        """Send a call, as soon as there is room for it."""
        self._number += 1
        job.number = self._number
        job.worker = self
        self._jobs[job.number] = job
        self._queue.append(job)
        self._send_queued()
        if len(self._jobs) == 1:
            # The first call of an idle worker is likely to be answered soon.
            self._reactor.expect()

    def _send_queued(self) -> None:
        """Send the queued calls that there is room for."""
        queue = self._queue
        while queue and not self._closed:
            job = queue[0]
            try:
                # A job that was stopped meanwhile only leaves the queue.
                outcome = SENT if job.done is None else self._line.put(job.number, job.body)
            except OSError as problem:
                outcome = self._fail_unsent(job, problem)
            if outcome != SENT:
                self._wait_for_room(outcome)
                return
            queue.popleft()
            job.body = b""
            if not self._check_scheduled:
                self._schedule_check()
        if self._is_waiting_for_room or self._has_stream:
            self._wait_for_room(SENT)

    def _fail_unsent(self, job: WorkerJob, problem: OSError) -> int:
        """Fail a call that cannot be sent; the others are not affected."""
        self._jobs.pop(job.number, None)
        reason = f"the call could not be sent to the handler's process: {problem.strerror}"
        job.finish(FunctionResult(problem=reason))
        return SENT

    def _wait_for_room(self, outcome: int) -> None:
        """Send more when there is room; with a stream, the acknowledgement of a call triggers that."""
        line = self._line
        self._is_waiting_for_room = outcome == FULL
        if isinstance(line, StreamSender):
            if line.is_writing:
                self._reactor.watch(line.descriptor, WRITABLE, self._flush)
        elif outcome == FULL:
            self._reactor.watch(line.descriptor, WRITABLE, self._send_queued)
        else:
            self._reactor.forget(line.descriptor)
            if outcome != SENT:
                self._reactor.after(RETRY_SECONDS, self._send_queued)

    def _flush(self) -> None:
        line = self._line
        line.flush()
        if isinstance(line, StreamSender) and not line.is_writing:
            self._reactor.forget(line.descriptor)

    def _schedule_check(self) -> None:
        """Check after a while whether the worker has begun the calls."""
        self._check_scheduled = True
        reads = self._reads
        self._reactor.after(BEGIN_SECONDS, partial(self._check_begun, reads))

    def _check_begun(self, reads: int) -> None:
        self._check_scheduled = False
        if self._closed or not (self._line.has_unbegun_call() or self._queue):
            return
        # A worker that is not ready is starting, which may take longer.
        if self.ready and self._reads == reads and not self.stuck:
            self.stuck = True
            self._pool.assign(self.take_back())
        if not self._closed:
            self._schedule_check()

    def take_back(self) -> list[WorkerJob]:
        """Remove and return the calls that the worker has not begun."""
        return self._unbegun(self._line.take_back())

    def _unbegun(self, sent: list[tuple[int, bytes]]) -> list[WorkerJob]:
        unbegun = []
        for number, body in sent:
            job = self._jobs.pop(number, None)
            if job is not None and job.done is not None:
                job.body = body
                unbegun.append(job)
        for job in self._queue:
            self._jobs.pop(job.number, None)
        unbegun += (job for job in self._queue if job.done is not None)
        self._queue.clear()
        for job in unbegun:
            job.worker = None
        return unbegun

    def stop(self, job: WorkerJob) -> None:
        """Cancel a call; if it does not end in time, retire this worker."""
        number = job.number
        if job.body:
            self._jobs.pop(number, None)  # it is still in the queue, and will be skipped
        elif number in self._jobs:
            self.send_control(("cancel", number))
            self._reactor.after(STOP_SECONDS, lambda: self._overdue(number))
        self.leave_if_idle()

    def _overdue(self, number: int) -> None:
        """Retire this worker; if it does not respond, a handler blocks the whole process, which is then ended."""
        if number in self._jobs and not self._closed:
            self._pool.retire(self)
        if not self._closed and not self.ending:
            reads = self._reads
            self.send_control(("alive", 0))
            self._reactor.after(ALIVE_SECONDS, lambda: self._check_alive(reads))

    def _check_alive(self, reads: int) -> None:
        if self._reads == reads and not self._closed:
            self._finish()

    def leave_if_idle(self) -> None:
        """End the worker, if it is retired and no caller waits for it."""
        if self in self._pool.leaving and all(job.done is None for job in self._jobs.values()):
            self._finish()

    def _finish(self) -> None:
        """End the worker; its messages are ignored from now on."""
        if not self.ending:
            self.ending = True
            self._reactor.forget(self._replies)
            self._supervisor.end(self._child.pid, self._mark)

    def send_control(self, message: tuple[Json, ...]) -> None:
        """Send a control message about a call."""
        body = marshal.dumps(message)
        self._control_out += len(body).to_bytes(4, "little") + body
        self._flush_control()

    def _flush_control(self) -> None:
        if self._closed:
            return
        try:
            while self._control_out:
                del self._control_out[: system.write(self._control, self._control_out)]
        except BlockingIOError:
            self._reactor.watch(self._control, WRITABLE, self._flush_control)
            return
        except OSError:
            self._control_out.clear()  # the worker has ended, or a handler closed its end; `_ended` is called next
        self._reactor.forget(self._control)

    def _listen(self) -> None:
        try:
            data = system.read(self._replies, READ_REST if self._incoming else READ_SIZE)
        except BlockingIOError:
            return
        if data and self._receive(data):
            return
        if self.ready:
            self._pool.retire(self)
            self._finish()
        else:  # a failed start, which its end reports
            self._reactor.forget(self._replies)
            self._supervisor.end(self._child.pid, self._mark)

    def _receive(self, data: bytes) -> bool:
        """Handle received bytes; return False if they are not valid frames."""
        self._incoming += data
        self._reads += 1
        if self.stuck:
            self.stuck = False
            self._pool.note_recovery()
        bodies = take_frames(self._incoming)
        if bodies is None:
            return False
        bodies.reverse()
        while bodies:
            try:
                answer = parse(bodies.pop())  # a large body is freed before its answer is built
            except ParseError:
                # A callback may have closed this worker, which is no fault of its frames.
                return self._closed
            if self._closed or not self._handle_frame(answer):
                return self._closed
        return True

    def _handle_frame(self, answer: Json) -> bool:
        if type(answer) is not dict:
            return False
        number = answer.get("call")
        if type(number) is not int:
            return self._handle_event(answer)
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
            self.leave_if_idle()
        return True

    def _handle_event(self, answer: dict[str, Json]) -> bool:
        if "ready" in answer:
            self.ready = True
            self._pool.failed_starts = 0
        begun = answer.get("begun")
        if type(begun) is int:
            self._line.begun(begun)
            self._send_queued()
        if "leaves" in answer:
            self._supervisor.give_time(self._child)
        if "retire" in answer:
            self._pool.retire(self)
        return True

    def _ended(self, status: int, problem: str) -> None:
        """Read the last replies; fail the calls that were running, and requeue the others."""
        if self._closed:
            return
        self._read_rest()
        reason = problem or (f"it exited with status {status}" if status >= 0 else f"it was killed by signal {-status}")
        unbegun = self._unbegun(self._line.unbegun_calls())
        self.close()
        # What the worker's calls started and left behind; it is found by the mark in its environment.
        self._supervisor.end(0, self._mark)
        self._pool.note_end(self, unbegun, reason)
        for job in list(self._jobs.values()):
            job.finish(FunctionResult(problem=f"the handler's process{reason.removeprefix('it')}"))

    def _read_rest(self) -> None:
        # Bounded: a process that the handler started may still have the pipe, and write to it without end.
        left = FRAME_LIMIT
        while left > 0 and not self._closed:
            try:
                data = system.read(self._replies, READ_SIZE)
            except OSError:
                return
            left -= len(data)
            if not data or not self._receive(data):
                return

    def close(self) -> None:
        """Close all descriptors; the worker ends when it reads the end of its input."""
        if not self._closed:
            self._closed = True
            for descriptor in (self._line.descriptor, self._replies, self._control):
                self._reactor.forget(descriptor)
            close(self._replies)
            close(self._control)
            self._line.close()
