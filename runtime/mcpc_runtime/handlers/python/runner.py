"""Runs Python handlers in worker processes; the first call with an environment starts one for it.

Normally one worker per environment has all module state.  A worker in which a stopped call does not end is retired: new
calls go to a new worker, its other calls finish, then it is ended.  If a worker begins no call for a while, because a
handler lets no other thread run, its waiting calls go to another until it responds.  If a worker dies, its running
calls fail and its waiting calls go to the next worker.  No call is lost, and none runs twice.
"""

from __future__ import annotations

import marshal
from _collections import deque
from collections.abc import Callable, Iterable

from mcpc_runtime.artifact import extraction
from mcpc_runtime.handlers.python.contract import FunctionResult, Invocation, handlers_folder
from mcpc_runtime.handlers.python.worker.client import WorkerJob, WorkerProcess
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import Notify
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.artifact_file import FileChangedError

RETRY_SECONDS = 0.05
SPARE_SECONDS = 30.0
"""How long an additional worker is kept after the stuck one responds again."""
MAX_WORKERS = 4
MAX_FAILED_STARTS = 3


class WorkerRunner:
    """Runs invocations in workers, one pool of them for each environment."""

    def __init__(self, context: RunnerContext) -> None:
        self._context = context
        self._pools: dict[int, WorkerPool] = {}
        self._closed = False

    def start(self, invocation: Invocation, done: Callable[[FunctionResult], None], note: Notify) -> WorkerJob:
        """Send an invocation to a worker; raise OSError if no worker can be started now."""
        job = WorkerJob(b"", done, note)
        try:
            # Here for its error, which fails this call only; the start of a worker asks for the folder again.
            handlers_folder(self._context.image)
            target = (invocation.file, invocation.function, invocation.binding, invocation.arguments)
            job.body = marshal.dumps((*target, invocation.context, invocation.meta, invocation.name, invocation.more))
        # Marshal has a limit of depth, which JSON that was parsed may exceed.
        except ValueError:
            job.finish(FunctionResult(problem="the arguments are nested too deeply"))
            return job
        except extraction.ExtractionError as problem:
            job.finish(FunctionResult(problem=str(problem)))
            return job
        if self._closed:
            job.finish(FunctionResult(problem="the server is stopping"))
            return job
        pool = self._pools.get(invocation.environment)
        if pool is None:
            pool = self._pools[invocation.environment] = WorkerPool(self._context, invocation.environment)
        pool.choose_worker().give(job)
        return job

    def stop(self, job: WorkerJob) -> None:
        """Stop a job without a result."""
        job.done = None
        if job.worker is not None:
            job.worker.stop(job)

    def answer(self, job: WorkerJob, reply: int, result: Json) -> None:
        """Deliver the answer to a note of a job."""
        # A body means that no worker has the job: it waits, or was taken back.
        if job.worker is not None and not job.body:
            job.worker.send_control(("answer", job.number, reply, result))

    def close(self) -> None:
        """Close the connections of all workers, which ends them; a later job fails."""
        self._closed = True
        for pool in self._pools.values():
            pool.close()


class WorkerPool:
    """The workers of one environment: the first of `workers` that is not stuck gets new jobs; `leaving` ones finish."""

    def __init__(self, context: RunnerContext, environment: int) -> None:
        self.context = context
        self.workers: list[WorkerProcess] = []
        self.leaving: set[WorkerProcess] = set()
        self.failed_starts = 0
        self.closed = False
        self._environment = environment
        self._number = 0
        self._unassigned: deque[WorkerJob] = deque()
        self._trimming = False

    def choose_worker(self) -> WorkerProcess:
        """Return the worker for the next job; raise OSError if none can be started now."""
        for worker in self.workers:
            if not worker.stuck:
                return worker
        if len(self.workers) < MAX_WORKERS:
            self._number += 1
            mark = f"{system.getpid()}.w{self._environment}-{self._number}"
            self.workers.append(WorkerProcess(self, mark, self.context.environment(self._environment)))
        # All are stuck, and there must not be more: the job waits in the newest.
        return self.workers[-1]

    def assign(self, jobs: Iterable[WorkerJob]) -> None:
        """Give jobs that were not begun to another worker, now or when one can be started."""
        self._unassigned.extend(jobs)
        while self._unassigned and not self.closed:
            try:
                worker = self.choose_worker()
            except OSError:
                # The system lacks processes or descriptors, which may pass.
                self.context.reactor.after(RETRY_SECONDS, lambda: self.assign(()))
                return
            except (FileChangedError, extraction.ExtractionError) as problem:
                self._give_up(str(problem))
                return
            job = self._unassigned.popleft()
            if job.done is not None:
                worker.give(job)

    def retire(self, worker: WorkerProcess) -> None:
        """Give a worker no new jobs, and end it when its running jobs are done or stopped."""
        if worker in self.workers:
            self.workers.remove(worker)
            self.leaving.add(worker)
            self.assign(worker.take_back())
            worker.leave_if_idle()

    def note_recovery(self) -> None:
        """Retire the additional workers after a while, because the stuck one responds again."""
        if len(self.workers) > 1 and not self._trimming:
            self._trimming = True
            self.context.reactor.after(SPARE_SECONDS, self._trim)

    def _trim(self) -> None:
        self._trimming = False
        if not self.closed and self.workers and not self.workers[0].stuck:
            for worker in self.workers[1:]:
                self.retire(worker)

    def note_end(self, worker: WorkerProcess, unbegun: list[WorkerJob], reason: str) -> None:
        """Remove a worker that has ended; its waiting jobs go to another, unless workers fail to start."""
        if worker in self.workers:
            self.workers.remove(worker)
        self.leaving.discard(worker)
        if not worker.ready and not worker.ending:
            self.failed_starts += 1
        if worker.ready or worker.ending or self.failed_starts < MAX_FAILED_STARTS:
            self.assign(unbegun)
            return
        self._unassigned.extend(unbegun)
        self._give_up(f"the Python worker process does not start: {reason}")

    def _give_up(self, reason: str) -> None:
        """Fail the jobs for which no worker can be started."""
        jobs = list(self._unassigned)
        self._unassigned.clear()
        for job in jobs:
            job.finish(FunctionResult(problem=reason))

    def close(self) -> None:
        """Close the connections of all workers."""
        self.closed = True
        for worker in (*self.workers, *self.leaving):
            worker.close()
