"""A runner whose jobs block, each in a separate thread, so that a slow one delays only its own call.

A thread that is free waits a moment for the next job: to start one costs more than most jobs.
"""

from __future__ import annotations

from _collections import deque
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from errno import EAGAIN
from typing import Any

from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import Note, Notify
from mcpc_runtime.log import log_failure
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.pipes import wake_pipe
from mcpc_runtime.transports.platforms.reactor import READABLE

IDLE_SECONDS = 10.0
"""How long a free thread waits for a job before it ends."""


class ThreadJob:
    """One request; `done` becomes None when it is stopped or completed.  `interrupt`: ends what it waits for."""

    __slots__ = ("done", "interrupt", "note", "request", "result")

    def __init__(self, request: Any, done: Callable[[Any], None], note: Notify) -> None:
        self.request = request
        self.done: Callable[[Any], None] | None = done
        self.interrupt: Callable[[], None] | None = None
        self.note = note
        self.result: Any = None


class JobThread:
    """A thread of a runner: its next job, None for the end, and what wakes it."""

    __slots__ = ("job", "wake")

    def __init__(self, job: ThreadJob) -> None:
        self.job: ThreadJob | None = job
        self.wake = allocate_lock()
        self.wake.acquire()


class ThreadRunner:
    """Performs jobs in at most `threads` threads.

    Memory: what is being performed, and results that are not delivered yet.
    """

    def __init__(self, host: RunnerContext, threads: int) -> None:
        self._host = host
        self._limit = threads
        self._lock = allocate_lock()  # protects the next three
        self._waiting: deque[ThreadJob] = deque()
        self._idle: list[JobThread] = []
        self._threads = 0
        self._ended: deque[tuple[ThreadJob, Note | None]] = deque()
        self._bell: tuple[int, int] | None = None
        self._is_rung = False

    def perform(self, job: ThreadJob) -> Any:
        """Return the result of a job; called in its thread."""
        raise NotImplementedError

    def failed(self, job: ThreadJob, problem: Exception) -> Any:
        """Return the result of a job that raised an exception, which is logged."""
        raise NotImplementedError

    def start(self, request: Any, done: Callable[[Any], None], note: Notify) -> ThreadJob:
        """Perform a request; raise OSError if there is no thread, and none can be started now."""
        if self._bell is None:
            self._bell = wake_pipe()
            self._host.reactor.watch(self._bell[0], READABLE, self._deliver)
        job = ThreadJob(request, done, note)
        with self._lock:
            if self._idle:
                thread = self._idle.pop()  # the last that became free, so that those which are not needed end
                thread.job = job
                thread.wake.release()
            elif self._threads == self._limit or not self._has_started(job):
                self._waiting.append(job)
        return job

    def stop(self, job: ThreadJob) -> None:
        """Discard the result of a job, and end what it waits for."""
        job.done = None
        if job.interrupt is not None:
            job.interrupt()

    def close(self) -> None:
        """Stop listening for results; free threads end now, the others with their jobs or with the server."""
        if self._bell is not None:
            self._host.reactor.forget(self._bell[0])
        with self._lock:
            # Woken with no job, they end without counting themselves.
            self._threads -= len(self._idle)
            while self._idle:
                self._idle.pop().wake.release()

    def deliver_later(self, job: ThreadJob, note: Note | None) -> None:
        """Hand over a message of a job from its thread; None for its result."""
        self._ended.append((job, note))
        if self._bell is not None and not self._is_rung:
            self._is_rung = True
            try:
                system.write(self._bell[1], b"!")
            except OSError:  # the reactor is already notified
                return

    def _has_started(self, job: ThreadJob) -> bool:
        """Start a thread for a job; False if there is no room for it, and another thread will take the job."""
        try:
            start_new_thread(self._work, (JobThread(job),))
        except RuntimeError as problem:
            if not self._threads:
                raise OSError(EAGAIN, str(problem)) from None
            return False
        self._threads += 1
        return True

    def _work(self, thread: JobThread) -> None:
        """Perform jobs until none has come for a while."""
        while thread.job is not None:
            job, thread.job = thread.job, None
            self.run(job)
            with self._lock:
                thread.job = following = self._next_waiting()
                if following is None:  # it is free before the result is delivered, after which the next job may come
                    self._idle.append(thread)
            self.deliver_later(job, None)
            del job  # its result may be large
            if following is None:
                self._wait(thread)

    def _wait(self, thread: JobThread) -> None:
        """Wait for a job; a thread that gets none ends."""
        if thread.wake.acquire(timeout=IDLE_SECONDS):
            return
        with self._lock:
            if thread in self._idle:
                self._idle.remove(thread)
                self._threads -= 1
                return
        # A job was assigned, or the runner closed, just when the time was over: the lock is released for that.
        thread.wake.acquire()

    def run(self, job: ThreadJob) -> None:
        """Perform a job."""
        try:
            job.result = self.perform(job)
        except Exception as problem:  # noqa: BLE001 - any failure belongs to this job, and its thread must go on
            log_failure(problem)
            job.result = self.failed(job, problem)

    def _next_waiting(self) -> ThreadJob | None:
        """Return the next job that waits and was not stopped."""
        while self._waiting:
            job = self._waiting.popleft()
            if job.done is not None:
                return job
        return None

    def _deliver(self) -> None:
        """Deliver messages and results."""
        if self._bell is not None:
            system.read(self._bell[0], 1024)
        self._is_rung = False  # before what has ended is looked at, so that nothing is overlooked
        while self._ended:
            job, note = self._ended.popleft()
            if note is None:
                done, job.done = job.done, None
                if done is not None:
                    done(job.result)
            elif job.done is not None:
                job.note(note)
