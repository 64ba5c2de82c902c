"""ToolBox tools: the contracts in JavaScript and in Python, and results, errors and the log of calls of those in Python."""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers.python.contract import FunctionResult
from mcpc_runtime.handlers.python.errors import ToolError
from mcpc_runtime.systems.toolbox import contract, python_binding, python_contract, results
from support.contracts import GOLDEN, became, call_of, filled

REQUEST = {"method": "tools/call", "params": {"name": "t", "arguments": {"a": "é"}}}


class Port:
    """The call to which a context belongs; another tool returns `result`."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.result: Any = {"content": [{"text": "ok"}]}

    def ask(self, note: Any, read: Any) -> Any:
        self.asked.append(note)
        return read(self.result)


class Log:
    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.port = Port()
        self.failures: list[tuple[str, str]] = []
        self.now = 1_000_000_000.0
        monkeypatch.setattr(python_binding, "time", self.tick)
        monkeypatch.setattr(python_binding, "modules", {})
        monkeypatch.setattr(
            python_binding, "log_failure", lambda problem, what: self.failures.append((str(problem), what))
        )

    def tick(self) -> float:
        self.now += 0.0621
        return self.now

    def call(self, function: Any, request: Any = REQUEST, log: str | None = None) -> Any:
        path = str(self.path) if log is None else log
        more = {"context": SimpleNamespace(_port=self.port)}
        arguments = {"request": request, "caller": "ai", "log": path, "chains": str(self.path)}
        return python_binding.call(function, arguments, more, "t")

    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.path.read_text("utf-8").splitlines()]


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Log:
    return Log(tmp_path / "calls.log", monkeypatch)


async def awaited(value: Any) -> Any:
    return await value


def test_a_result_is_passed_on_and_logged(log: Log) -> None:
    assert log.call(lambda request: [request]) == [REQUEST]
    (line,) = log.lines()
    assert line == {
        "ts": "2001-09-09T01:46:40.186Z", "tool": "t", "caller": "ai", "args": {"a": "é"}, "stat": "success", "cost": 62
    }  # fmt: skip
    log.call(lambda request: 1, {"params": {"name": "t"}})
    assert ("args" in log.lines()[1], log.path.stat().st_mode & 0o777) == (False, 0o600)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("problem", "is_logged"), [(ValueError('no "good"'), True), (ToolError("no"), False)])
def test_a_failure_is_its_message_as_json(log: Log, is_async: bool, problem: Exception, is_logged: bool) -> None:
    def fail(request: Any) -> None:
        raise problem

    async def fail_later(request: Any) -> None:
        raise problem

    value = asyncio.run(awaited(log.call(fail_later))) if is_async else log.call(fail)
    assert value == {"content": [{"type": "text", "text": json.dumps(str(problem))}], "isError": True}
    (line,) = log.lines()
    assert (
        line.pop("trace").splitlines()[-1]
        == f"{type(problem).__name__ if is_logged else 'mcpc_runtime.handlers.python.errors.ToolError'}: {problem}"
    )
    assert {**line, "ts": ""} == {
        "ts": "", "tool": "t", "args": {"a": "é"}, "stat": "error", "err": str(problem), "cost": 62,
    }  # fmt: skip
    assert log.failures == ([(str(problem), "the tool t failed")] if is_logged else [])


def test_an_asynchronous_result_is_logged_when_it_is_there(log: Log) -> None:
    async def soon(request: Any) -> Any:
        return python_binding.call_tool_handler({"params": {"name": "other"}}, "t")

    value = log.call(soon)
    assert not log.path.exists()
    assert asyncio.run(awaited(value)) == log.port.result
    assert [(line["tool"], line["caller"]) for line in log.lines()] == [("other", "t"), ("t", "ai")]


def test_an_unlogged_call_logs_what_it_calls(log: Log) -> None:
    request = {"params": {"name": "other", "arguments": {"b": 1}}}
    assert log.call(lambda _: python_binding.call_tool_handler(request, "t"), log="") == log.port.result
    assert log.port.asked == [{"call": "other", "arguments": {"b": 1}}]
    assert [(line["tool"], line["args"]) for line in log.lines()] == [("other", {"b": 1})]


@pytest.mark.parametrize(
    ("result", "is_unknown"),
    [
        ({"content": [{"text": "Unknown tool: other"}], "isError": True}, True),
        ({"content": [{"text": "Unknown tool: other"}]}, False),
        ({"content": [{"text": "no"}], "isError": True}, False),
        ({"isError": True}, False),
    ],
)
def test_an_unknown_tool_is_an_error_of_the_call(log: Log, result: Any, is_unknown: bool) -> None:
    log.port.result = result
    value = log.call(lambda _: python_binding.call_tool_handler({"params": {"name": "other"}}, "t"), log="")
    assert value == (python_binding.error_result("Unknown tool: other") if is_unknown else result)
    (line,) = log.lines()
    assert (line["stat"], line.get("err"), "caller" in line) == (
        ("error", "Unknown tool: other", False) if is_unknown else ("success", None, True)
    )


def test_a_log_that_cannot_be_written_is_told(log: Log, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert log.call(lambda request: 1, log=str(tmp_path)) == 1
    assert capfd.readouterr().err.startswith("a log line was lost: ")


def test_every_module_is_destroyed_whatever_one_does(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    destroyed: list[str] = []

    async def later() -> None:
        destroyed.append("later")

    def fail() -> None:
        raise ValueError("no")

    for name, destroy in (("one", lambda: destroyed.append("one")), ("two", fail), ("three", later), ("four", None)):
        module: Any = ModuleType(name)
        if destroy is not None:
            module.destroy = destroy
        monkeypatch.setitem(sys.modules, name, module)

        def function(request: Any) -> int:
            return 1

        function.__module__ = name
        log.call(function)
        log.call(function)
    python_binding.destroy()
    python_binding.destroy()
    assert (sorted(destroyed), log.failures) == (["later", "one"], [("no", "two could not be destroyed")])


CONTRACTS: dict[str, Any] = {"toolbox": contract, "toolbox_python": python_contract}


@pytest.mark.parametrize("name", CONTRACTS)
def test_invocations_and_endings(
    name: str, golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPC_TOOLBOX_LOG", "/dev/log/ToolBox.log")
    text = became(name, CONTRACTS[name], lambda end: filled(FunctionResult(), end), monkeypatch)
    golden(GOLDEN / f"{name}.txt", text)


@pytest.mark.parametrize(
    ("chain", "caller", "is_logged"), [([], "ai", False), (["toolbox"], "toolbox", True), (["first"], "first", False)]
)
def test_a_call_is_logged_by_a_tool_that_logs(chain: list[str], caller: str, is_logged: bool) -> None:
    call = call_of({"chain": chain})
    assert (results.caller_name(call), results.is_logged(call, call.request.session.image)) == (caller, is_logged)
