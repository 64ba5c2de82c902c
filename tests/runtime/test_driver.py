"""An error of the server's own is the answer to the request it happened in, is logged with its traceback, and ends nothing."""

import errno
import gc
import json
import sys
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime import lazy, log
from mcpc_runtime.handlers import contracts
from mcpc_runtime.handlers.files.runner import FileRunner
from mcpc_runtime.handlers.invocations import FileRead
from mcpc_runtime.handlers.threads import ThreadJob
from mcpc_runtime.protocol import session as protocol_session
from mcpc_runtime.protocol.constants import INTERNAL_ERROR
from mcpc_runtime.protocol.effects import Failure, PublishChange, text_outcome
from mcpc_runtime.protocol.requests import Request
from mcpc_runtime.protocol.session import Session
from mcpc_runtime.server import dispatcher
from mcpc_runtime.server import driver as driver_module
from mcpc_runtime.server.dispatcher import Dispatcher
from mcpc_runtime.server.stdio_driver import BROKEN, StdioDriver
from mcpc_runtime.transports.platforms.reactor import Reactor
from support.images import image_of, request, small_archive

LIMIT = 1 << 20
CALL = request("tools/call", {"name": "echo", "arguments": {"text": "x"}}, 7)


class InjectedError(Exception):
    """What no part of the server expects."""


def broken(*_: object, **__: object) -> Any:
    raise InjectedError("as injected")


class Channel:
    """A client that takes everything at once."""

    full = ended = False
    unsent = written = 0
    descriptor = output = -1

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def write(self, data: bytes) -> None:
        self.sent.append(json.loads(data))

    def flush(self) -> bool:
        return True


class Runner:
    """Answers every call at once."""

    def __init__(self, *_: object) -> None:
        pass

    def start(self, command: object, done: Callable[[str], None], note: object) -> None:
        done("fine")

    def stop(self, job: object) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(log, "log_line", found.append)
    return found


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[StdioDriver]:
    """A server whose handlers answer at once."""
    module: Any = ModuleType("faultless")
    module.Runner, module.build_invocation, module.parse_result = (
        Runner,
        lambda call, image: None,
        lambda call, said: text_outcome(said),
    )
    monkeypatch.setitem(sys.modules, "faultless", module)
    rows = dict.fromkeys(contracts.CONTRACTS, ("faultless", "faultless:Runner"))
    monkeypatch.setattr(dispatcher, "CONTRACTS", rows)
    image = image_of(small_archive().data)
    made = StdioDriver(image, Session(image), Channel(), LIMIT)  # type: ignore[arg-type]
    made.reactor = Reactor()
    yield made
    lazy.resolved_rows.pop("faultless:Runner", None)


def said(driver: StdioDriver, message: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return what the client hears after a message."""
    channel: Any = driver.channel
    channel.sent.clear()
    driver.lines.append(None if message is None else json.dumps(message).encode())
    driver.run_queued()
    return list(channel.sent)


def held(driver: StdioDriver, logged: list[str]) -> None:
    """Hold that one error was logged with its traceback, and that the server lives on."""
    (entry,) = logged
    assert "InjectedError: as injected" in entry
    assert "Traceback (most recent call last)" in entry and ", in broken" in entry
    assert driver.status == 0 and not driver.over


def finish_of_failures(session: Session, call: Any, ending: Any) -> Any:
    return real_finish(session, call, ending) if isinstance(ending, Failure) else broken()


def real_finish(session: Session, call: Any, ending: Failure) -> list[Any]:
    session.running.pop(call.request.identifier, None)
    return protocol_session.error_response(call.request.identifier, ending.code, ending.message, None, call.request)


BOUNDARIES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "a method": lambda patch: patch.setattr(Session, "_receive_request", broken),
    "the start of a call": lambda patch: patch.setattr(Dispatcher, "start", broken),
    "what prepares a call": lambda patch: patch.setattr(sys.modules["faultless"], "build_invocation", broken),
    "a runner": lambda patch: patch.setattr(Runner, "start", broken),
    "what reads a result": lambda patch: patch.setattr(sys.modules["faultless"], "parse_result", broken),
    "what writes a result": lambda patch: patch.setattr(protocol_session, "finish_call", finish_of_failures),
}


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_an_error_in_a_request_is_its_answer_and_is_logged(
    boundary: str, driver: StdioDriver, logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        BOUNDARIES[boundary](patch)
        (answer,) = said(driver, CALL)
        assert answer["id"] == 7 and answer["error"]["code"] == INTERNAL_ERROR
    held(driver, logged)
    driver.dispatcher = None
    (answer,) = said(driver, CALL)
    assert answer["result"]["content"][0]["text"] == "fine"
    assert not driver.session.running and len(logged) == 1


def test_an_error_in_the_answer_to_a_call_that_did_not_start_ends_nothing(
    driver: StdioDriver, logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Dispatcher, "start", broken)
        patch.setattr(Session, "finish", broken)
        assert said(driver, CALL) == []
    assert len(logged) == 2 and driver.status == 0 and not driver.over
    assert said(driver, request("ping"))[0]["result"] == {}


def test_an_error_in_what_answers_a_call_whose_time_is_over_is_its_answer(
    driver: StdioDriver, logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Runner, "start", lambda *_: "a job")
    monkeypatch.setattr(sys.modules["faultless"], "limit", lambda call: 0.0, raising=False)
    monkeypatch.setattr(sys.modules["faultless"], "expired", broken, raising=False)
    assert said(driver, CALL) == []
    driver.reactor.turn()
    driver.run_queued()
    channel: Any = driver.channel
    assert channel.sent[0]["id"] == 7 and channel.sent[0]["error"]["code"] == INTERNAL_ERROR
    held(driver, logged)


def test_a_message_that_cannot_be_refused_by_its_id_is_refused_without(
    driver: StdioDriver, logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "receive", broken)
    driver.lines.append(b"{")
    driver.run_queued()
    channel: Any = driver.channel
    assert channel.sent[0]["error"]["code"] == INTERNAL_ERROR and channel.sent[0]["id"] is None
    held(driver, logged)


def test_a_line_over_the_limit_that_cannot_be_refused_is_an_internal_error(
    driver: StdioDriver, logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "refuse_oversize", broken)
    assert said(driver, None)[0]["error"]["code"] == INTERNAL_ERROR
    held(driver, logged)


def test_an_error_in_a_task_or_an_effect_keeps_no_other_from_being_done(
    driver: StdioDriver, logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[int] = []
    driver.ask(broken)
    driver.ask(lambda: done.append(1))
    driver.run_queued()
    assert done == [1]
    held(driver, logged)
    logged.clear()
    with monkeypatch.context() as patch:
        patch.setattr(Session, "changed", broken)
        driver.post_effects([PublishChange("tools")])
        assert said(driver, request("ping"))[0]["result"] == {}
    held(driver, logged)


def test_a_thread_that_took_over_logs_what_ends_it(
    driver: StdioDriver, logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[int] = []
    driver.prepare()
    driver.leave = left.append
    driver.ended.acquire()
    monkeypatch.setattr(StdioDriver, "_drive", broken)
    driver.serve_in_this_thread()
    assert left == [BROKEN] and driver.over
    assert "Traceback" in logged[0] and "as injected" in logged[0]


def test_an_error_of_a_thread_that_reads_files_is_logged_and_is_that_files(logged: list[str]) -> None:
    runner = FileRunner(SimpleNamespace(reactor=Reactor()), broken)  # type: ignore[arg-type]
    job = ThreadJob(FileRead("/", "etc"), print, print)
    runner.run(job)
    assert "InjectedError" in job.result.problem
    assert "Traceback" in logged[0] and "as injected" in logged[0]


def test_an_error_is_logged_and_answered_where_its_traceback_cannot_be_had(
    driver: StdioDriver, logged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> Any:
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr(log, "format_exception", full)
    monkeypatch.setattr(Runner, "start", broken)
    assert said(driver, CALL)[0]["error"]["code"] == INTERNAL_ERROR
    assert len(logged) == 1 and "InjectedError: as injected" in logged[0]


@pytest.mark.parametrize("problem", [ImportError, OSError])
def test_a_request_is_answered_where_what_logs_errors_cannot_be_read(
    problem: type[Exception], driver: StdioDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> Any:
        raise problem

    monkeypatch.setattr(driver_module, "failures_log", gone)
    monkeypatch.setattr(Dispatcher, "start", broken)
    monkeypatch.setattr(Session, "finish", gone if problem is ImportError else Session.finish)
    (answer,) = said(driver, CALL)
    assert answer["id"] == 7 and answer["error"]["code"] == INTERNAL_ERROR
    assert not driver.session.running


@pytest.mark.parametrize("ending", ["an answer", "a cancellation"])
def test_a_call_that_is_over_is_freed_at_once(
    ending: str, driver: StdioDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[SimpleNamespace] = []
    stopped: list[object] = []

    def start(self: Runner, command: object, done: Callable[[str], None], note: object) -> object:
        jobs.append(SimpleNamespace(done=done, note=note))
        return jobs[-1]

    def requests() -> int:
        return sum(isinstance(each, Request) for each in gc.get_objects())

    monkeypatch.setattr(Runner, "start", start)
    monkeypatch.setattr(Runner, "stop", lambda self, job: stopped.append(job.note))
    said(driver, CALL)
    before = requests()
    gc.disable()
    try:
        if ending == "an answer":
            jobs[0].done("fine")
            driver.run_queued()
        else:
            said(driver, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
        assert len(stopped) == (ending == "a cancellation")
        stopped.clear()
        jobs.clear()
        assert requests() == before - 1
    finally:
        gc.enable()
