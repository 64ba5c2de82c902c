"""The pools of workers: which worker gets a call, and what becomes of calls when workers stop responding, leave or end."""

import marshal
import os
from errno import EMFILE
from typing import Any

import pytest

from mcpc_runtime.handlers.python import runner as runner_module
from mcpc_runtime.handlers.python.contract import FunctionResult, Invocation
from mcpc_runtime.handlers.python.runner import (
    MAX_FAILED_STARTS,
    MAX_WORKERS,
    RETRY_SECONDS,
    SPARE_SECONDS,
    WorkerRunner,
)
from mcpc_runtime.transports.platforms.artifact_file import FileChangedError
from support.fake_runtime import fake_context


class Worker:
    problems: list[Exception]

    def __init__(self, pool: Any, mark: str, environment: dict[bytes, bytes]) -> None:
        if self.problems:
            raise self.problems.pop(0)
        self.pool, self.mark, self.environment = pool, mark, environment
        self.ready = self.stuck = self.ending = self.closed = False
        self.jobs: list[Any] = []
        self.told: list[Any] = []
        WORKERS.append(self)

    def give(self, job: Any) -> None:
        job.worker = self
        self.jobs.append(job)

    def take_back(self) -> list[Any]:
        taken, self.jobs = self.jobs, []
        return taken

    def stop(self, job: Any) -> None:
        self.told.append(("stop", job))

    def send_control(self, message: Any) -> None:
        self.told.append(message)

    def leave_if_idle(self) -> None:
        self.told.append("leave")

    def close(self) -> None:
        self.closed = True


WORKERS: list[Worker] = []


class Pools:
    def __init__(self) -> None:
        self.context = fake_context()
        self.runner = WorkerRunner(self.context)
        self.done: dict[str, FunctionResult] = {}

    def start(self, name: str, environment: int = 0, **arguments: Any) -> Any:
        invocation = Invocation("a.py", name, arguments, ["b"])
        invocation.environment, invocation.context, invocation.name = environment, "ctx", "tool"
        invocation.meta, invocation.more = {"m": 1}, {"n": 2}
        return self.runner.start(invocation, lambda result: self.done.__setitem__(name, result), print)

    def problems(self) -> dict[str, str]:
        return {name: result.problem for name, result in self.done.items()}


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> Pools:
    WORKERS.clear()
    Worker.problems = []
    monkeypatch.setattr(runner_module, "WorkerProcess", Worker)
    return Pools()


def names(worker: Worker) -> list[str]:
    return [marshal.loads(job.body)[1] for job in worker.jobs]


def test_a_call_is_sent_to_the_worker_of_its_environment(pools: Pools) -> None:
    job = pools.start("one", a=1)
    pools.start("two", 1)
    pools.start("three")
    assert marshal.loads(job.body) == ("a.py", "one", ["b"], {"a": 1}, "ctx", {"m": 1}, "tool", {"n": 2})
    pid = os.getpid()
    assert [(worker.mark, worker.environment[b"N"], names(worker)) for worker in WORKERS] == [
        (f"{pid}.w0-1", b"0", ["one", "three"]), (f"{pid}.w1-1", b"1", ["two"])
    ]  # fmt: skip


def test_what_cannot_be_sent_is_the_calls_own_error(pools: Pools) -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    pools.start("deep", a=deep)
    assert (pools.problems(), WORKERS) == ({"deep": "the arguments are nested too deeply"}, [])
    pools.runner.close()
    pools.start("late")
    assert (pools.problems()["late"], WORKERS) == ("the server is stopping", [])
    Worker.problems = [OSError(EMFILE, "no")]
    other = Pools()
    with pytest.raises(OSError, match="no"):
        other.start("one")


def test_a_call_is_stopped_and_answered_at_its_worker(pools: Pools) -> None:
    job = pools.start("one")
    pools.runner.answer(job, 1, {"r": 1})
    assert WORKERS[0].told == []  # it is still to be sent
    job.body, job.number = b"", 7
    pools.runner.answer(job, 1, {"r": 1})
    pools.runner.stop(job)
    assert (WORKERS[0].told, job.done) == ([("answer", 7, 1, {"r": 1}), ("stop", job)], None)
    job.worker = None
    pools.runner.answer(job, 1, {})
    pools.runner.stop(job)
    assert len(WORKERS[0].told) == 2


def test_stuck_workers_have_others_beside_them_up_to_a_number(pools: Pools) -> None:
    for number in range(MAX_WORKERS + 2):
        pools.start(str(number))
        WORKERS[-1].stuck = True
    assert [names(worker) for worker in WORKERS] == [["0"], ["1"], ["2"], ["3", "4", "5"]]
    WORKERS[1].stuck = False
    pools.start("free")
    assert names(WORKERS[1]) == ["1", "free"]


def test_additional_workers_are_retired_when_the_first_responds(pools: Pools) -> None:
    pools.start("one")
    first = WORKERS[0]
    pool, reactor = first.pool, pools.context.reactor
    pool.note_recovery()
    assert reactor.due == []
    first.stuck = True
    pools.start("two")
    pools.start("three")
    for _ in range(2):
        pool.note_recovery()
    assert reactor.due == [SPARE_SECONDS]
    reactor.pass_time(SPARE_SECONDS)
    assert (len(pool.workers), pool.leaving) == (2, set())  # it is stuck again
    pool.note_recovery()
    first.stuck = False
    reactor.pass_time(SPARE_SECONDS)
    assert (pool.workers, pool.leaving, names(first)) == ([first], {WORKERS[1]}, ["one", "two", "three"])
    assert WORKERS[1].told == ["leave"]
    pool.retire(WORKERS[1])
    assert WORKERS[1].told == ["leave"]
    pool.closed = True
    first.stuck = True
    pool.workers.append(WORKERS[1])
    pool.note_recovery()
    first.stuck = False
    reactor.pass_time(SPARE_SECONDS)
    assert len(pool.workers) == 2


def test_a_retired_worker_gives_its_unbegun_calls_to_another(pools: Pools) -> None:
    pools.start("one")
    stopped = pools.start("two")
    stopped.done = None
    WORKERS[0].pool.retire(WORKERS[0])
    assert ([names(worker) for worker in WORKERS], WORKERS[0].told) == ([[], ["one"]], ["leave"])


@pytest.mark.parametrize("state", ["ready", "ending"])
def test_an_ended_worker_is_replaced_as_often_as_need_be(pools: Pools, state: str) -> None:
    pools.start("one")
    for number in range(2 * MAX_FAILED_STARTS):
        worker = WORKERS[-1]
        setattr(worker, state, True)
        worker.pool.leaving.add(worker)
        worker.pool.note_end(worker, worker.take_back(), "it ended")
        assert (len(WORKERS), names(WORKERS[-1]), worker.pool.leaving) == (number + 2, ["one"], set())
    assert (pools.done, WORKERS[0].pool.failed_starts) == ({}, 0)


def test_a_worker_that_never_starts_is_tried_so_often(pools: Pools) -> None:
    pools.start("one")
    for number in range(MAX_FAILED_STARTS):
        assert (len(WORKERS), pools.done) == (number + 1, {})
        WORKERS[-1].pool.note_end(WORKERS[-1], WORKERS[-1].take_back(), "it exited")
    assert (len(WORKERS), pools.problems()) == (3, {"one": "the Python worker process does not start: it exited"})
    pools.start("two")
    assert names(WORKERS[-1]) == ["two"]


def test_calls_wait_for_room_for_another_worker(pools: Pools) -> None:
    pools.start("one")
    pools.start("two")
    worker, reactor = WORKERS[0], pools.context.reactor
    worker.ready = True
    Worker.problems = [OSError(EMFILE, "no")] * 2
    worker.pool.note_end(worker, worker.take_back(), "it ended")
    assert (reactor.due, len(WORKERS)) == ([RETRY_SECONDS], 1)
    reactor.pass_time(RETRY_SECONDS)
    assert reactor.due == [RETRY_SECONDS]
    reactor.pass_time(RETRY_SECONDS)
    assert names(WORKERS[1]) == ["one", "two"]
    Worker.problems = [OSError(EMFILE, "no")]
    worker.pool.note_end(WORKERS[1], WORKERS[1].take_back(), "it ended")
    pools.runner.close()
    reactor.pass_time(1)
    assert len(WORKERS) == 2


def test_a_changed_file_fails_what_waits(pools: Pools) -> None:
    pools.start("one")
    pools.start("two")
    Worker.problems = [FileChangedError()]
    WORKERS[0].ready = True
    WORKERS[0].pool.note_end(WORKERS[0], WORKERS[0].take_back(), "it ended")
    assert pools.problems() == dict.fromkeys(("one", "two"), str(FileChangedError()))


def test_closing_closes_all_workers(pools: Pools) -> None:
    for environment in (0, 1):
        pools.start("one", environment)
    WORKERS[0].pool.retire(WORKERS[0])
    pools.runner.close()
    assert [worker.closed for worker in WORKERS] == [True] * 3
