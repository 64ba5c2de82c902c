"""A runner whose jobs block, each in a separate thread, so that a slow one delays only its own call."""

from __future__ import annotations

from _collections import deque
from _thread import start_new_thread
from collections.abc import Callable
from errno import EAGAIN
from typing import Any

from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import Note, Notify
from mcpc_runtime.log import log_failure
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.pipes import wake_pipe
from mcpc_runtime.transports.platforms.reactor import READABLE

RETRY_SECONDS = 0.05


class ThreadJob:
    """One request; `done` becomes None when it is stopped or completed.  `interrupt`: ends what it waits for."""

    __slots__ = ("done", "interrupt", "note", "request", "result")

    def __init__(self, request: Any, done: Callable[[Any], None], note: Notify) -> None:
        self.request = request
        self.done: Callable[[Any], None] | None = done
        self.interrupt: Callable[[], None] | None = None
        self.note = note
        self.result: Any = None


class ThreadRunner:
    """Performs jobs in at most `threads` threads.

    Memory: what is being performed, and results that are not delivered yet.
    """

    def __init__(self, host: RunnerContext, threads: int) -> None:
        self._host = host
        self._limit = threads
        self._waiting: deque[ThreadJob] = deque()
        self._ended: deque[tuple[ThreadJob, Note | None]] = deque()
        self._threads = 0
        self._bell: tuple[int, int] | None = None

    def perform(self, job: ThreadJob) -> Any:
        """Return the result of a job; called in its thread."""
        raise NotImplementedError

    def failed(self, job: ThreadJob, problem: Exception) -> Any:
        """Return the result of a job that raised an exception, which is logged."""
        raise NotImplementedError

    def start(self, request: Any, done: Callable[[Any], None], note: Notify) -> ThreadJob:
        """Perform a request; raise OSError if no thread can be started now."""
        if self._bell is None:
            self._bell = wake_pipe()
            self._host.reactor.watch(self._bell[0], READABLE, self._deliver)
        job = ThreadJob(request, done, note)
        self._waiting.append(job)
        try:
            self._start_threads()
        except OSError:
            self._waiting.remove(job)
            raise
        return job

    def stop(self, job: ThreadJob) -> None:
        """Discard the result of a job, and end what it waits for."""
        job.done = None
        if job.interrupt is not None:
            job.interrupt()

    def close(self) -> None:
        """Stop listening for results; threads end with the server."""
        if self._bell is not None:
            self._host.reactor.forget(self._bell[0])

    def deliver_later(self, job: ThreadJob, note: Note | None) -> None:
        """Hand over a message of a job from its thread; None for its result."""
        self._ended.append((job, note))
        if self._bell is not None:
            try:
                system.write(self._bell[1], b"!")
            except OSError:  # the reactor is already notified
                return

    def _start_threads(self) -> None:
        """Start threads for waiting jobs, as many as are allowed."""
        while self._waiting and self._threads < self._limit:
            job = self._waiting[0]
            if job.done is not None:
                try:
                    start_new_thread(self._run, (job,))
                except RuntimeError as problem:
                    if self._threads:
                        return  # the next thread that ends makes room
                    raise OSError(EAGAIN, str(problem)) from None
                self._threads += 1
            self._waiting.popleft()

    def _run(self, job: ThreadJob) -> None:
        """Perform a job in its thread, then wake the reactor."""
        try:
            job.result = self.perform(job)
        except Exception as problem:  # noqa: BLE001 - any failure belongs to this job, and the thread must wake the reactor
            log_failure(problem)
            job.result = self.failed(job, problem)
        self.deliver_later(job, None)

    def _deliver(self) -> None:
        """Deliver messages and results."""
        if self._bell is not None:
            system.read(self._bell[0], 1024)
        while self._ended:
            job, note = self._ended.popleft()
            if note is None:
                self._threads -= 1
                done, job.done = job.done, None
                if done is not None:
                    done(job.result)
            elif job.done is not None:
                job.note(note)
        self._start_waiting()

    def _start_waiting(self) -> None:
        """Start threads for waiting jobs; retry later if the system has no room."""
        try:
            self._start_threads()
        except OSError:
            self._host.reactor.after(RETRY_SECONDS, self._start_waiting)
