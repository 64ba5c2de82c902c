"""Python handlers in their own process: what they return, raise and print, and what becomes of calls when it dies."""

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from mcpc_runtime.commands import Invocation, Returned
from mcpc_runtime.reactor import Reactor
from mcpc_runtime.runners import worker
from mcpc_runtime.runners.worker import WorkerRunner

HANDLERS = """
import asyncio, dataclasses, datetime, os, pathlib, signal, sys, threading, time
state = []
def echo(**given): return given
def remember(value): state.append(value); return state
def text(): return "héllo \\ud800"
def fail(): raise ValueError("no good")
def silent(): raise KeyError
def leave(): sys.exit("bye")
def die(): os._exit(7)
def killed(): os.kill(os.getpid(), signal.SIGKILL)
def noise(): print("noise"); os.system("echo noise"); return sys.stdin.read()
def slow(seconds): time.sleep(seconds); return seconds
async def soon(seconds): await asyncio.sleep(seconds); return seconds
def process(): return os.getpid()
@dataclasses.dataclass
class Point:
    x: int
    y: int
def rich(): return {"point": Point(1, 2), "at": datetime.date(2026, 1, 2), "path": pathlib.Path("/x"), "set": {3, 1, 2}}
def odd(): return object()
def infinite(): return float("inf")
def large(size): return "x" * size
def deep(n): return deep(n + 1)
"""


class Server:
    """A runner with handlers from a folder that stands for the archive."""

    def __init__(self, folder: Path) -> None:
        (folder / "handlers").mkdir()
        (folder / "handlers/tools.py").write_text(HANDLERS)
        (folder / "handlers/broken.py").write_text("import nothing_of_this_name\n")
        runtime = Path(worker.__file__).parents[1]
        (folder / "mcpc_runtime").symlink_to(runtime)
        self.reactor = Reactor()
        self.runner = WorkerRunner(
            self.reactor, SimpleNamespace(archive=str(folder), index={"environment": (("MORE", "é"),)})
        )

    def run(self, *calls: tuple, file: str = "tools.py") -> list[Returned]:
        done: dict[int, Returned] = {}
        for number, (function, arguments) in enumerate(calls):
            invocation = Invocation(file, function, arguments, [])
            self.runner.start(invocation, lambda returned, number=number: done.__setitem__(number, returned))
        self.wait(lambda: len(done) == len(calls))
        return [done[number] for number in range(len(calls))]

    def wait(self, met) -> None:
        deadline = time.monotonic() + 30
        while not met():
            assert time.monotonic() < deadline
            self.reactor.after(0.05, lambda: None)
            self.reactor.turn()


@pytest.fixture
def server(tmp_path: Path):
    made = Server(tmp_path)
    yield made
    made.runner.close()


VALUES = [
    ("echo", {"a": 1, "b": [None, True, 2.5, "é😀\n"]}, {"a": 1, "b": [None, True, 2.5, "é😀\n"]}),
    ("text", {}, "héllo \ud800"),
    ("rich", {}, {"point": {"x": 1, "y": 2}, "at": "2026-01-02", "path": "/x", "set": [1, 2, 3]}),
    ("soon", {"seconds": 0}, 0),
    ("large", {"size": 3_000_000}, "x" * 3_000_000),
    ("noise", {}, ""),
]
PROBLEMS = [
    ("fail", {}, "ValueError: no good"),
    ("silent", {}, "KeyError"),
    ("leave", {}, "SystemExit: bye"),
    ("odd", {}, "TypeError: the handler returned a object, which JSON cannot carry"),
    ("infinite", {}, "ValueError: Out of range float values are not JSON compliant"),
    ("missing", {}, "AttributeError: module 'tools' has no attribute 'missing'"),
    ("slow", {"second": 1}, "TypeError: slow() got an unexpected keyword argument 'second'"),
    ("deep", {"n": 0}, "RecursionError: maximum recursion depth exceeded"),
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


def test_a_module_that_does_not_import(server: Server) -> None:
    (returned,) = server.run(("any", {}), file="broken.py")
    assert returned.problem == "ModuleNotFoundError: No module named 'nothing_of_this_name'"


def test_state_is_kept_between_calls(server: Server) -> None:
    server.run(("remember", {"value": 1}))
    assert server.run(("remember", {"value": 2}))[0].value == [1, 2]


@pytest.mark.parametrize("function", ["slow", "soon"])
def test_calls_run_beside_each_other(server: Server, function: str) -> None:
    server.run(("echo", {}))
    started = time.monotonic()
    returned = server.run(*((function, {"seconds": 1}) for _ in range(10)))
    assert [each.value for each in returned] == [1] * 10
    assert time.monotonic() - started < 6


@pytest.mark.parametrize(("function", "reason"), [("die", "with status 7"), ("killed", "by signal 9")])
def test_a_death_is_the_answer_of_those_it_took_and_the_next_call_works(
    server: Server, function: str, reason: str
) -> None:
    slow, dead = server.run(("slow", {"seconds": 20}), (function, {}))
    assert slow.problem == dead.problem == f"the handler's process was ended {reason}"
    assert server.run(("echo", {"a": 1}))[0].value == {"a": 1}


@pytest.mark.parametrize("function", ["slow", "soon"])
def test_a_stopped_call_is_not_reported(server: Server, function: str) -> None:
    reported: list[Returned] = []
    job = server.runner.start(Invocation("tools.py", function, {"seconds": 0.3}, []), reported.append)
    server.runner.stop(job)
    server.run(("slow", {"seconds": 0.6}))
    assert reported == []


def test_close_leaves_no_process(server: Server) -> None:
    pid = server.run(("process", {}))[0].value
    server.runner.close()
    server.wait(lambda: server.runner._worker.ended)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
