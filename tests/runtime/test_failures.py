"""Errors that must not end what they happen in: each is logged with its traceback (see also `test_driver`)."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime import log
from mcpc_runtime.handlers.python.context import Context
from mcpc_runtime.handlers.python.errors import AskError, ToolError
from mcpc_runtime.protocol.effects import Failure
from mcpc_runtime.server.tasks.store import MemoryStore, StoreFullError, run_operation
from mcpc_runtime.systems.toolbox import python_binding
from mcpc_runtime.tools.cli import self_check
from support.needs import ROOT
from support.processes import run_program


class InjectedError(Exception):
    """An error that nothing expects."""


def broken(*_: object) -> Any:
    raise InjectedError("as injected")


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines of the operator's log."""
    lines: list[str] = []
    monkeypatch.setattr(log, "log_line", lines.append)
    return lines


def has_traceback(line: str) -> bool:
    return "Traceback (most recent call last)" in line and ", in broken\n" in line and "as injected" in line


@pytest.mark.parametrize("obstacle", [MemoryError(), OSError(24, "no descriptor"), RecursionError(), KeyError("line")])
def test_an_error_is_logged_even_if_its_traceback_cannot_be_made(
    obstacle: Exception, logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: BaseException) -> list[str]:
        raise obstacle

    monkeypatch.setattr(log, "format_exception", fail)
    log.log_failure(InjectedError("as injected"), "what failed")
    log.log_failure(InjectedError("as injected"))
    assert logged == [
        "what failed: InjectedError: as injected (without a traceback)",
        "internal error, the server continues: InjectedError: as injected (without a traceback)",
    ]


def test_an_attempt_has_its_result_or_the_answer_to_its_request(logged: list[str]) -> None:
    assert log.attempt(lambda: 7) == 7
    assert logged == []
    failure = log.attempt(broken)
    assert isinstance(failure, Failure)
    assert (failure.code, failure.message) == (-32603, "Internal error: InjectedError: as injected")
    assert len(logged) == 1 and has_traceback(logged[0]) and logged[0] == logged[0].rstrip()


def test_a_result_that_cannot_be_made_is_replaced_by_an_error(logged: list[str]) -> None:
    ends: list[Any] = []

    def finish(call: object, ending: object) -> list[object]:
        ends.append(ending)
        return broken() if ending == "bad" else [call, ending]

    call: Any = SimpleNamespace(request=SimpleNamespace(session=SimpleNamespace(finish=finish)))
    assert log.finish_or_fail(call, "good") == [call, "good"]  # type: ignore[arg-type,comparison-overlap]
    (_, failure) = log.finish_or_fail(call, "bad")  # type: ignore[arg-type]
    assert isinstance(failure, Failure)
    assert (ends, failure.code, len(logged)) == (["good", "bad", failure], -32603, 1)


def test_a_refusal_of_the_store_is_not_logged(logged: list[str]) -> None:
    def full(_: object) -> None:
        raise StoreFullError("full")

    assert isinstance(run_operation(full, MemoryStore()), StoreFullError)
    assert logged == []


def elicited(kind: type, content: object) -> Any:
    """Return what a handler gets for a user's answer, of which it makes a `kind`."""
    port = SimpleNamespace(ask=lambda note, read: read({"answers": dict.fromkeys(note["ask"], content)}))
    return Context(port, "t", {}).elicit("?", kind)  # type: ignore[arg-type]


def form_of(check: Callable[[], None]) -> type:
    """Return a class that calls `check` with each instance."""

    @dataclass
    class Form:
        name: str

        def __post_init__(self) -> None:
            check()

    Form.__annotations__["name"] = str
    return Form


def test_an_error_of_a_handlers_type_is_logged(logged: list[str]) -> None:
    with pytest.raises(AskError, match="as injected"):
        elicited(form_of(broken), {"action": "accept", "content": {"name": "a"}})
    assert len(logged) == 1 and has_traceback(logged[0])
    assert logged[0].startswith("a handler's type failed on the user's answer: InjectedError: as injected\n")


def test_an_answer_that_a_type_refuses_is_not_logged(logged: list[str]) -> None:
    def refuse() -> None:
        raise ValueError("too short")

    with pytest.raises(AskError, match="too short"):
        elicited(form_of(refuse), {"action": "accept", "content": {"name": "a"}})
    assert logged == []


def call_tool(function: Callable[..., object]) -> Any:
    """Return the result of a ToolBox tool without a log file."""
    arguments = {"request": {"params": {"name": "t"}}, "caller": "ai", "log": "", "chains": ""}
    return python_binding.call(function, arguments, {"context": None}, "t")


async def broken_later(_: object) -> None:
    broken()


def test_an_error_of_a_toolbox_tool_is_logged_and_is_its_result(logged: list[str]) -> None:
    expected = {"content": [{"type": "text", "text": '"as injected"'}], "isError": True}
    assert call_tool(broken) == expected
    assert asyncio.run(call_tool(broken_later)) == expected
    assert len(logged) == 2 and all(map(has_traceback, logged))
    assert all(line.startswith("the tool t failed: InjectedError: as injected\n") for line in logged)


def test_an_error_that_a_toolbox_tool_intends_is_not_logged(logged: list[str]) -> None:
    def refuse(_: object) -> None:
        raise ToolError("no")

    assert call_tool(refuse)["isError"] is True
    assert logged == []


def test_an_error_of_destroy_is_logged_and_others_are_destroyed(
    logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    destroyed: list[str] = []
    first, second = ModuleType("first"), ModuleType("second")
    first.destroy = lambda: destroyed.append("first")  # type: ignore[attr-defined]
    second.destroy = broken  # type: ignore[attr-defined]
    monkeypatch.setattr(python_binding, "modules", {"first": first, "second": second})
    python_binding.destroy()
    assert destroyed == ["first"]
    assert len(logged) == 1 and has_traceback(logged[0])
    assert logged[0].startswith("second could not be destroyed: InjectedError: as injected\n")


def test_what_a_broken_file_raises_is_not_logged(logged: list[str]) -> None:
    def truncated(_: object) -> list[str]:
        raise EOFError("marshal data too short")

    assert self_check.run_check(None, truncated) == ["EOFError: marshal data too short"]  # type: ignore[arg-type]
    assert logged == []


def test_an_error_of_the_supervisor_is_on_standard_error() -> None:
    script = (
        "from mcpc_runtime.transports.platforms.posix.supervision import process\n"
        "def broken(*_): raise RuntimeError('as injected')\n"
        "process.set_up = broken\n"
        "process.run_supervisor(0, 0)"
    )
    done = run_program([sys.executable, "-c", script], check=True, cwd=ROOT / "runtime")
    assert has_traceback(done.stderr)
