"""Python handlers run in worker processes beside the server, never in it; the first call of an environment starts one.

Module state is in one place as long as nothing goes wrong.  A worker in which a stopped call does not end is retired:
new calls go to a fresh one, those beside the stuck one finish, then it is ended.  One that begins nothing for a while
(a handler that lets no other thread run) has its calls taken over by another until it goes on.  One that dies takes
with it what it was running; what it had not begun goes to the next.  No call is lost, and none runs twice.
"""

from __future__ import annotations

import marshal
import posix
from _collections import deque  # type: ignore[import-not-found]

from mcpc_runtime.commands import Returned
from mcpc_runtime.opened import ChangedError
from mcpc_runtime.worker.remote import Job, Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from mcpc_runtime.commands import Invocation
    from mcpc_runtime.host import Host
    from mcpc_runtime.protocol.jsonrpc import Json

RETRY_SECONDS = 0.05
SPARE_SECONDS = 30.0
"""How long a worker is kept that was only needed while another one was stuck."""
MOST_BESIDE = 4
MOST_FAILED_STARTS = 3


class WorkerRunner:
    """Hands calls to workers and their answers back."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._pools: dict[int, Pool] = {}
        self._closed = False

    def start(self, invocation: Invocation, done: Callable[[Returned], None], note: Callable[[Any], None]) -> Job:
        """Send the call to a worker; raise OSError if none can be started now."""
        job = Job(b"", done, note)
        try:
            job.body = packed(invocation)
        except ValueError:
            job.finish(Returned(problem="the arguments are nested too deeply"))
            return job
        if self._closed:
            job.finish(Returned(problem="the server is stopping"))
            return job
        pool = self._pools.get(invocation.environment)
        if pool is None:
            pool = self._pools[invocation.environment] = Pool(self._host, invocation.environment)
        pool.take(job)
        return job

    def stop(self, job: Job) -> None:
        """Have a call end; nobody is told how."""
        job.done = None
        if job.worker is not None:
            job.worker.stop(job)

    def answer(self, job: Job, reply: int, result: Json) -> None:
        """Give a call what another tool answered."""
        if job.worker is not None and not job.body:
            job.worker.tell(("answer", job.number, reply, result))

    def close(self) -> None:
        """Let go of the workers, which end when they notice; the supervisor sees to it. A later call starts none."""
        self._closed = True
        for pool in self._pools.values():
            pool.close()


def packed(invocation: Invocation) -> bytes:
    """Return a call as the worker reads it; raise ValueError if its arguments are nested too deeply."""
    words = (invocation.file, invocation.function, invocation.binding, invocation.arguments)
    return marshal.dumps((*words, invocation.context, invocation.meta, invocation.name, invocation.more))


class Pool:
    """The workers of one environment: `workers` take new calls, the first that is not stuck; others only finish."""

    def __init__(self, host: Host, environment: int) -> None:
        self.host = host
        self.workers: list[Worker] = []
        self.leaving: set[Worker] = set()
        self.failed_starts = 0
        self.closed = False
        self._environment = environment
        self._number = 0
        self._homeless: deque[Job] = deque()
        self._trimming = False

    def take(self, job: Job) -> None:
        """Give a call to a worker; raise OSError if none can be started now."""
        self._choose().give(job)

    def _choose(self) -> Worker:
        for worker in self.workers:
            if not worker.stuck:
                return worker
        if len(self.workers) < MOST_BESIDE:
            self._number += 1
            mark = f"{posix.getpid()}.w{self._environment}-{self._number}"
            self.workers.append(Worker(self, mark, self.host.environment(self._environment)))
        return self.workers[-1]

    def place(self, jobs: Iterable[Job]) -> None:
        """Give calls that were not begun to another worker, as soon as there is one."""
        self._homeless.extend(jobs)
        while self._homeless and not self.closed:
            try:
                worker = self._choose()
            except OSError:
                self.host.reactor.after(RETRY_SECONDS, lambda: self.place(()))
                return
            except ChangedError as problem:
                self._give_up(str(problem))
                return
            job = self._homeless.popleft()
            if job.done is not None:
                worker.give(job)

    def retire(self, worker: Worker) -> None:
        """Give a worker no new calls, and end it when nobody waits for one of those it is running."""
        if worker in self.workers:
            self.workers.remove(worker)
            self.leaving.add(worker)
            self.place(worker.take_back())
            worker.leave_if_idle()

    def unstuck(self) -> None:
        """Do without the workers, after a while, that were needed while another was stuck."""
        if len(self.workers) > 1 and not self._trimming:
            self._trimming = True
            self.host.reactor.after(SPARE_SECONDS, self._trim)

    def _trim(self) -> None:
        self._trimming = False
        if not self.closed and self.workers and not self.workers[0].stuck:
            for worker in self.workers[1:]:
                self.retire(worker)

    def lost(self, worker: Worker, unbegun: list[Job], reason: str) -> None:
        """Take note that a worker has ended; its calls that were not begun go to another, unless none ever starts."""
        if worker in self.workers:
            self.workers.remove(worker)
        self.leaving.discard(worker)
        if not worker.ready and not worker.ending:
            self.failed_starts += 1
        if worker.ready or worker.ending or self.failed_starts < MOST_FAILED_STARTS:
            self.place(unbegun)
            return
        self._homeless.extend(unbegun)
        self._give_up(f"the process for Python handlers does not start: {reason}")

    def _give_up(self, reason: str) -> None:
        """Fail the calls for which there is no worker, and will be none."""
        jobs = list(self._homeless)
        self._homeless.clear()
        for job in jobs:
            job.finish(Returned(problem=reason))

    def close(self) -> None:
        """Let go of every worker."""
        self.closed = True
        for worker in (*self.workers, *self.leaving):
            worker.close()
