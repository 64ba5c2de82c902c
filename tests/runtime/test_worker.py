"""Python handlers in their own process: what they return, raise and print, and what becomes of calls when it dies."""

import os
import posix
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from mcpc_runtime.handlers.python import runner as worker
from mcpc_runtime.handlers.python.contract import FunctionResult, Invocation
from mcpc_runtime.handlers.python.runner import WorkerRunner
from mcpc_runtime.handlers.python.worker import client
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.transports.platforms.posix import system_features as ways
from mcpc_runtime.transports.platforms.reactor import Reactor
from support.clocks import Clock
from support.processes import is_alive, turn_until

DATA = yaml.safe_load(Path(__file__).with_name("worker.yaml").read_text("utf-8"))
HANDLERS = DATA["HANDLERS"]


class Server:
    """A runner with handlers from a folder that stands for the archive."""

    def __init__(self, folder: Path) -> None:
        (folder / "handlers").mkdir()
        (folder / "handlers/tools.py").write_text(HANDLERS)
        (folder / "handlers/broken.py").write_text("import nothing_of_this_name\n")
        runtime = Path(worker.__file__).parents[2]
        (folder / "mcpc_runtime").symlink_to(runtime)
        self.clock = Clock()
        self.reactor = Reactor(self.clock)
        index = {"environments": ((False, ()), (True, ()))}
        self.host = RunnerContext(
            self.reactor, SimpleNamespace(hooks=lambda name: (), archive=str(folder), index=index)
        )
        self.runner = WorkerRunner(self.host)
        self.notes: list = []

    def start(self, function: str, arguments: dict, done, *, file: str = "tools.py", **more):
        invocation = Invocation(file, function, arguments, [])
        for name, value in more.items():
            setattr(invocation, name, value)
        return self.runner.start(invocation, done, self.notes.append)

    def run(self, *calls: tuple, **more) -> list[FunctionResult]:
        done: dict[int, FunctionResult] = {}
        for number, (function, arguments) in enumerate(calls):
            self.start(function, arguments, lambda returned, number=number: done.__setitem__(number, returned), **more)
        self.wait(lambda: len(done) == len(calls))
        return [done[number] for number in range(len(calls))]

    def value(self, function: str, **arguments) -> object:
        (returned,) = self.run((function, arguments))
        assert not returned.problem
        return returned.value

    def wait(self, is_so) -> None:
        turn_until(self.reactor, is_so, 30)

    def pass_time(self, seconds: float) -> None:
        """Put the clock forward, and do in one turn what is due then."""
        self.clock.ahead += seconds
        self.reactor.after(0, lambda: None)
        self.reactor.turn()


def descriptors() -> set[str]:
    """Return what is open, but standard error's other name, which is kept."""
    errors = os.readlink("/proc/self/fd/2")
    numbers = [number for number in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{number}")]
    return {number for number in numbers if os.readlink(f"/proc/self/fd/{number}") != errors}


def made_in(folder: Path):
    before = descriptors()
    made = Server(folder)
    assert made.host.supervisor
    of_the_host = descriptors() - before  # as long as the server lives
    yield made
    made.runner.close()
    made.host.close()
    for descriptor in of_the_host:
        os.close(int(descriptor))
    assert descriptors() <= before


@pytest.fixture
def server(tmp_path: Path):
    yield from made_in(tmp_path)


@pytest.fixture(params=["", "seqpacket", "memfd"])
def each_way(tmp_path: Path, request, monkeypatch):
    """A server as it is where a facility is missing."""
    without = {ways.WITHOUT: request.param.encode()} if request.param else {}
    monkeypatch.setattr(posix, "environ", {**posix.environ, **without})
    yield from made_in(tmp_path)


VALUES = [
    ("large", {"size": 3_000_000}, "x" * 3_000_000),
    ("noise", {}, ""),
    ("fork", {}, "parent"),
    ("fork_late", {}, "parent"),
    ("broken_task", {}, "fine"),
]
PROBLEMS = [
    ("deep", {"n": 0}, "RecursionError: maximum recursion depth exceeded"),
    ("interrupt_itself", {}, "KeyboardInterrupt"),
    ("handle", {}, "ValueError: signal only works in main thread"),
    ("exits", {}, "SystemExit: soon"),
    ("large", {"size": 65 << 20}, "ValueError: the result takes 65 MiB"),
]


@pytest.mark.parametrize(("function", "arguments", "value"), VALUES, ids=[row[0] for row in VALUES])
def test_what_is_returned(server: Server, function: str, arguments: dict, value: object) -> None:
    (returned,) = server.run((function, arguments))
    assert (returned.problem, returned.value) == ("", value)


@pytest.mark.parametrize(("function", "arguments", "problem"), PROBLEMS, ids=[row[0] for row in PROBLEMS])
def test_what_is_raised_is_told_and_the_worker_lives(
    server: Server, function: str, arguments: dict, problem: str
) -> None:
    (first,) = server.run(("process", {}))
    (returned,) = server.run((function, arguments))
    assert returned.problem.startswith(problem)
    assert server.run(("process", {}))[0].value == first.value


@pytest.mark.parametrize("function", ["spin", "soon", "watch", "ask", "ask_async", "say_for_ever"])
@pytest.mark.sampled(6)
def test_a_stopped_call_ends_and_the_worker_stays(each_way: Server, function: str, monkeypatch) -> None:
    monkeypatch.setattr(client, "STOP_SECONDS", 1000.0)
    monkeypatch.setattr(client, "ALIVE_SECONDS", 1000.0)
    first = each_way.value("process")
    context = "ctx" if function in ("watch", "ask", "ask_async", "say_for_ever") else ""
    arguments = {"seconds": 60} if function in ("spin", "soon") else {"name": "x"} if "ask" in function else {}
    jobs = [each_way.start(function, arguments, pytest.fail, context=context) for _ in range(3)]
    each_way.value("process")  # the others have begun before
    for job in jobs:
        each_way.runner.stop(job)
    each_way.wait(lambda: not each_way.runner._pools[0].workers[0]._jobs)
    for seconds in (client.STOP_SECONDS, client.ALIVE_SECONDS):
        each_way.pass_time(seconds)
        assert each_way.value("process") == first


@pytest.mark.sampled(3)
def test_a_worker_that_gives_up_ends_with_its_calls_and_gets_no_new_ones(each_way: Server) -> None:
    first = each_way.value("process")
    beside: list[FunctionResult] = []
    each_way.start("slow", {"seconds": 1.5}, beside.append)
    given_up, _ = each_way.run(("give_up", {}), ("give_up", {}), context="ctx")
    assert given_up.value == first
    assert each_way.value("process") != first
    each_way.wait(lambda: beside)
    assert beside[0].value == 1.5
    each_way.wait(lambda: not each_way.runner._pools[0].leaving)
    assert not is_alive(first)


@pytest.mark.parametrize("function", ["hold_and_die", "hold"])
@pytest.mark.sampled(3)
def test_no_call_is_lost_and_none_runs_twice(each_way: Server, function: str, tmp_path: Path) -> None:
    each_way.value("echo")
    held: list[FunctionResult] = []
    holding = tmp_path / "holding"
    job = each_way.start(function, {"seconds": 1.2, "holding": str(holding)}, held.append)
    each_way.wait(holding.exists)
    returned = each_way.run(*(("count", {"value": number}) for number in range(200)))
    assert all(not each.problem for each in returned), {each.problem for each in returned}
    each_way.wait(lambda: held)
    values = sorted(each.value for each in returned)
    in_the_first = max((2 * n for n in range(101) if values[: 2 * n] == sorted([*range(1, n + 1)] * 2)), default=0) // 2
    assert values == sorted([*range(1, in_the_first + 1), *range(1, 201 - in_the_first)])
    each_way.runner.stop(job)


def test_what_waits_for_an_answer_beside_a_cancelled_call_is_cancelled(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "raised"
    returned: list[FunctionResult] = []
    job = server.start("ask_beside", {"path": str(path)}, returned.append, context="ctx")
    server.wait(lambda: server.notes)
    server.runner.stop(job)
    server.wait(lambda: path.exists() and path.read_text())
    assert path.read_text() == "CancelledError"
