"""Python handlers in the server's own process, and how any handler is executed, without a server around it."""

import contextlib
import datetime
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from _signal import SIG_DFL, SIGINT
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers.python import execution, inline_runner
from mcpc_runtime.handlers.python.contract import FunctionResult, Invocation
from mcpc_runtime.handlers.python.errors import AskError, Cancelled, ProtocolError, ToolError, UnsupportedError
from mcpc_runtime.handlers.python.execution import InterruptibleSection
from mcpc_runtime.handlers.python.inline_runner import InlineCall, InlineFastPath, InlineRunner
from support.processes import until

MODULE = "inline_tools"
HANDLERS = """
from mcpc_runtime.handlers.python.bindings import ArgumentError
from mcpc_runtime.handlers.python.context import port_of
from mcpc_runtime.handlers.python.errors import ProtocolError, ToolError
seen = []
def echo(**given): return given
def text(): return "text"
def refuse(): raise ArgumentError("a: no date")
def fail(): raise ValueError("no")
def tool_error(): raise ToolError("not today")
def protocol_error(): raise ProtocolError(-5, "no")
def leave(): raise SystemExit("bye")
def raw(): return b"\\0"
def sized(size): return "x" * size
def say(ctx): seen.append(ctx); ctx.info("x"); return [ctx.tool, ctx.meta, ctx.answers]
def ask(ctx): return ctx.call_tool("other")
def cancel(ctx):
    port_of(ctx).cancel()
    for _ in range(1000): ctx.info("x")
"""


class Turns:
    """Calls at once, or says that another thread does."""

    def __init__(self, serve: Any) -> None:
        self.serve = serve
        self.at_once = True
        self.told: list[Any] = []

    def run(self, key: Any, work: Callable[[], None], later: Callable[[], None]) -> bool:
        self.told.append((key, DRIVERS[-1].lock.locked()))
        work()
        if not self.at_once:
            later()
        return self.at_once


class Driver:
    """A driver with a lock, whose queue the test empties."""

    def __init__(self, turns: Any = None) -> None:
        self.turns = turns
        self.lock = threading.Lock()
        self.lock.acquire()
        self.asked: list[Callable[[], None]] = []
        self.effects: list[Any] = []
        DRIVERS.append(self)

    def serve_in_this_thread(self) -> None:
        raise AssertionError

    def ask(self, task: Callable[[], None]) -> None:
        assert self.lock.locked()
        self.asked.append(task)

    def post_effects(self, effects: Any) -> None:
        self.effects.append(effects)


DRIVERS: list[Driver] = []


class Inline:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, turns: Any = Turns) -> None:
        (folder / "handlers").mkdir()
        (folder / "handlers" / f"{MODULE}.py").write_text(HANDLERS)
        monkeypatch.setattr(sys, "path", list(sys.path))
        monkeypatch.setattr(sys, "stdout", sys.stdout)
        self.activated: list[str] = []
        monkeypatch.setattr(inline_runner, "activate_packages", self.activated.append)
        self.folder = folder
        self.driver: Any = Driver(turns)
        context: Any = SimpleNamespace(image=SimpleNamespace(archive=str(folder), index={}))
        self.runner = InlineRunner(context, self.driver)
        self.done: list[FunctionResult] = []
        self.notes: list[Any] = []

    def make(self, function: str, arguments: dict[str, Any] | None = None, context: str = "", **more: Any) -> Any:
        invocation = Invocation(f"{MODULE}.py", function, arguments or {}, more.get("binding", []))
        invocation.context, invocation.name, invocation.meta = context, "named", {"m": 1}
        invocation.more = {"answers": {"k": 1}}
        return self.runner.make(invocation, self.done.append, self.notes.append)

    def result(self, function: str, arguments: dict[str, Any] | None = None, context: str = "", **more: Any) -> Any:
        call = self.make(function, arguments, context, **more)
        assert self.runner.run(call, True) is True
        returned = call.returned
        return returned.value, returned.problem, returned.refused, returned.raised


@pytest.fixture
def inline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inline]:
    yield Inline(tmp_path, monkeypatch)
    sys.modules.pop(MODULE, None)


RESULTS: list[tuple[str, dict[str, Any], tuple[Any, ...]]] = [
    ("echo", {"a": [1, None]}, ({"a": [1, None]}, "", "", None)),
    ("text", {}, ("text", "", "", None)),
    ("raw", {}, ({"mcpc/blob": "AA=="}, "", "", None)),
    ("refuse", {}, (None, "", "a: no date", None)),
    ("fail", {}, (None, "ValueError: no", "", None)),
    ("tool_error", {}, (None, "not today", "", None)),
    ("protocol_error", {}, (None, "ProtocolError: no", "", {"code": -5, "message": "no"})),
    ("leave", {}, (None, "SystemExit: bye", "", None)),
]


@pytest.mark.parametrize(("function", "arguments", "expected"), RESULTS, ids=[row[0] for row in RESULTS])
def test_a_call_has_a_result(
    inline: Inline, function: str, arguments: dict[str, Any], expected: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    assert inline.result(function, arguments) == expected
    told = capfd.readouterr().err
    assert ("Traceback" in told) == (function in ("fail", "leave"))
    assert "mcpc_runtime" not in told, "frames of the runtime stand before the handler's"
    assert (inline.driver.lock.locked(), inline.activated) == (True, [str(inline.folder)])
    assert sys.path[0] == f"{inline.folder}/handlers"
    assert sys.stdout is sys.stderr
    inline.result("echo")
    assert (inline.activated, sys.path.count(f"{inline.folder}/handlers")) == ([str(inline.folder)], 1)


def test_a_call_may_be_bound(inline: Inline) -> None:
    assert inline.result("sized", {"size": 2, "other": 1}, binding=["named"])[0] == "xx"
    plain = InlineCall(inline.runner, (f"{MODULE}.py", "sized", "", False, "named"), {"size": 3, "other": 1})
    plain.run()
    assert plain.returned.value == "xxx"


@pytest.mark.parametrize("inline_", [True, "loop"])
def test_a_slow_call_is_delivered_later(inline: Inline, inline_: Any) -> None:
    turns: Any = inline.runner._turns
    turns.at_once = False
    call = inline.make("text")
    assert inline.runner.run(call, inline_) is (inline_ == "loop")
    assert [told[1] for told in turns.told] == ([] if inline_ == "loop" else [False])
    assert inline.done == []
    for task in inline.driver.asked:
        task()
    assert [done.value for done in inline.done] == ([] if inline_ == "loop" else ["text"])


def test_over_pipes_nothing_is_called_on_a_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_to: list[Any] = []
    made: list[Any] = []
    monkeypatch.setattr(inline_runner, "signal", lambda *words: set_to.append(words))
    monkeypatch.setattr(inline_runner, "LeaderFollowers", lambda serve: made.append(Turns(serve)) or made[-1])
    inline = Inline(tmp_path, monkeypatch, None)
    assert (set_to, made[0].serve) == ([(SIGINT, SIG_DFL)], inline.driver.serve_in_this_thread)
    call = inline.make("text")
    assert (inline.runner.run(call, "loop"), len(made[0].told)) == (True, 1)
    sys.modules.pop(MODULE, None)
    assert signal.getsignal(SIGINT) is not SIG_DFL


def test_notes_go_to_the_serving_thread_until_the_end(inline: Inline) -> None:
    assert inline.result("say", {}, "ctx") == (["named", {"m": 1}, {"k": 1}], "", "", None)
    for task in inline.driver.asked:
        task()
    assert inline.notes == [{"log": "info", "data": "x"}]
    sys.modules[MODULE].seen.pop().info("late")
    assert len(inline.driver.asked) == 1
    call = inline.make("say", {}, "ctx")
    inline.driver.lock.release()
    call.say({"outside": 1})
    inline.driver.lock.acquire()
    assert len(inline.driver.asked) == 2


def test_a_cancelled_call_ends_at_its_next_note(inline: Inline) -> None:
    assert inline.result("cancel", {}, "ctx")[1] == "Cancelled"
    assert len(inline.driver.asked) <= 1


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_call_waits_for_its_answer(inline: Inline, is_answered: bool) -> None:
    call = inline.make("ask", {}, "ctx")
    inline.driver.lock.release()
    thread = threading.Thread(target=call.run)
    thread.start()
    until(lambda: inline.driver.asked)
    inline.driver.asked[0]()
    inline.runner.answer(call, 2, {"of": "no note"})
    if is_answered:
        inline.runner.answer(call, 1, {"n": 1})
        inline.runner.answer(call, 1, {"n": 2})
    else:
        inline.runner.stop(call)
    thread.join()
    assert inline.notes == [{"call": "other", "arguments": {}, "reply": 1}]
    returned = call.returned
    assert (returned.value, returned.problem) == (({"n": 1}, "") if is_answered else (None, "Cancelled"))
    assert call.cancelled is not is_answered
    inline.driver.lock.acquire()


@pytest.mark.skipif(sys.platform == "win32", reason="processes start in another way")
def test_a_cancelled_call_leaves_no_process_that_it_was_just_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    fork_exec = subprocess._fork_exec  # type: ignore[attr-defined]
    started: list[int] = []

    def slow_fork_exec(*given: Any) -> int:
        started.append(fork_exec(*given))
        time.sleep(0.3)
        return started[0]

    def handler() -> None:
        section.enter()
        with contextlib.suppress(Cancelled):
            subprocess.run(["sleep", "60"], timeout=30)
        section.leave()

    monkeypatch.setattr(subprocess, "_fork_exec", slow_fork_exec)
    section = InterruptibleSection()
    thread = threading.Thread(target=handler)
    thread.start()
    until(lambda: started)
    assert section.interrupt(Cancelled)
    thread.join(10)
    assert not thread.is_alive()
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(("value", "output"), [("text", None), ("text", {}), ({"a": 1}, None)])
def test_a_quick_call_is_answered_and_a_slow_one_adopted(
    at_once: bool, value: Any, output: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inline_runner, "finish_with_text", lambda session, call, text: ["text", text])
    monkeypatch.setattr(inline_runner, "parse_result", lambda call, returned: ("parsed", returned.value))
    monkeypatch.setattr(inline_runner, "finish_or_fail", lambda call, ending: ["finished", ending])
    adopted: list[Any] = []
    ran: list[Any] = []

    def run(call: Any, inline: Any) -> bool:
        ran.append((call.handler, call.arguments, inline))
        call.returned = FunctionResult(value)
        if len(ran) == 2:
            path.adopt()
            path.adopt()
        return at_once

    driver: Any = Driver()
    runner: Any = SimpleNamespace(run=run)
    path = InlineFastPath(driver, runner, lambda *words: adopted.append(words))
    definition = SimpleNamespace(handler=("h",), inline="loop", output=output)
    call: Any = SimpleNamespace(definition=definition, arguments={"a": 1}, request=SimpleNamespace(session="s"))
    path.start(call)
    assert ran == [(("h",), {"a": 1}, "loop")]
    expected = ["text", "text"] if (value, output) == ("text", None) else ["finished", ("parsed", value)]
    assert driver.effects == ([expected] if at_once else [])
    assert [each for each, _ in adopted] == ([] if at_once else [call])
    path.adopt()
    assert len(adopted) == (0 if at_once else 1)
    path.start(call)
    assert len(adopted) == (1 if at_once else 2)  # it lost the lead meanwhile


def test_an_exception_is_raised_in_the_section_of_its_thread_only() -> None:
    section = InterruptibleSection()
    assert (section.open, section.interrupt(Cancelled)) == (False, False)
    section.enter()
    assert (
        section.open, section.mine, section.pause(), section.open, section.pause(),
    ) == (True, True, True, False, False)  # fmt: skip
    section.resume()
    section.leave()
    assert not section.open
    section.enter()
    with pytest.raises(Cancelled):
        section.interrupt(Cancelled)
        for _ in range(1000):
            pass
    section.leave()
    section.enter()
    others: list[bool] = []
    thread = threading.Thread(target=lambda: others.append(section.mine))
    thread.start()
    thread.join()
    assert others == [False]
    section.leave()


@dataclass
class Point:
    x: int
    y: Any


class Model:
    def model_dump(self, mode: str) -> dict[str, str]:
        return {"mode": mode}


VALUES: list[tuple[Any, bytes]] = [
    ({"a": [1, 1.5, True, None, "é\n"]}, '{"a":[1,1.5,true,null,"é\\n"]}'.encode()),
    (b"\0\xff", b'{"mcpc/blob":"AP8="}'),
    (bytearray(b"\0"), b'{"mcpc/blob":"AA=="}'),
    (memoryview(b"\0"), b'{"mcpc/blob":"AA=="}'),
    (Point(1, {3, 1}), b'{"x":1,"y":[1,3]}'),
    ([Model(), datetime.date(2026, 1, 2), pathlib.PurePosixPath("/x"), frozenset("ba")],
     b'[{"mode":"json"},"2026-01-02","/x",["a","b"]]'),
    ("\ud800", b'"\\ud800"'),
    ({1: "a", None: "b"}, b'{"1":"a","null":"b"}'),
]  # fmt: skip


@pytest.mark.parametrize(("value", "data"), VALUES)
def test_values_are_written_as_json(value: Any, data: bytes) -> None:
    assert execution.json_bytes(value) == data


@pytest.mark.parametrize("value", [object(), Point, Model, float("nan"), float("inf"), {"a": b"\xff"}])
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        execution.json_bytes(value)


class SilentError(Exception):
    def __str__(self) -> str:
        raise ValueError


class CodedError(Exception):
    code = 5


class Unwritable:
    def isoformat(self) -> None:
        raise ValueError


ERRORS: list[tuple[BaseException, str, bool, Any]] = [
    (ValueError("no"), "ValueError: no", False, None),
    (ValueError(), "ValueError", False, None),
    (SilentError(), "SilentError", False, None),
    (ToolError("no"), "no", True, None),
    (ToolError(), "ToolError", True, None),
    (Cancelled(), "Cancelled", True, None),
    (CodedError("no"), "CodedError: no", False, None),
    (AskError(5, "no", [1]), "no", True, None),
    (ProtocolError(-5, "no"), "ProtocolError: no", True, {"code": -5, "message": "no"}),
    (ProtocolError(-5, "no", {"a": 1}), "ProtocolError: no", True, {"code": -5, "message": "no", "data": {"a": 1}}),
    (ProtocolError(-5, "no", Unwritable()), "ProtocolError: no", True, {"code": -5, "message": "no"}),
    (ProtocolError("5", "no"), "ProtocolError: no", True, None),  # type: ignore[arg-type]
    (UnsupportedError(5, "no"), "no", True, {"code": 5, "message": "no"}),
]


@pytest.mark.parametrize(("problem", "message", "is_intended", "error"), ERRORS)
def test_what_an_exception_means(problem: BaseException, message: str, is_intended: bool, error: Any) -> None:
    assert (execution.exception_message(problem), execution.is_intended(problem)) == (message, is_intended)
    assert execution.protocol_error_of(problem) == error


def test_packages_are_activated_where_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    activated: list[str] = []
    monkeypatch.setattr(execution, "packages", SimpleNamespace(activate_packages=activated.append))
    execution.activate_packages("/archive")
    assert activated == ["/archive"]

    class Missing:
        @property
        def activate_packages(self) -> None:
            raise ModuleNotFoundError

    monkeypatch.setattr(execution, "packages", Missing())
    execution.activate_packages("/archive")
