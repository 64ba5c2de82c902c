"""Errors that asyncio and uvicorn log: one record becomes a line with its reason, and a traceback if there was an exception."""

import asyncio
import logging

import pytest

from mcpc_runtime.http.serve import prepare

prepare()  # as a server does it, and not as `import uvicorn` would

from mcpc_runtime.http.embedded.server import StderrHandler  # noqa: E402


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lines of the operator's log; asyncio's logger has the handler of the server meanwhile."""
    lines: list[str] = []
    monkeypatch.setattr("mcpc_runtime.http.embedded.server.log_line", lines.append)
    monkeypatch.setattr(logging.getLogger("asyncio"), "handlers", [StderrHandler(logging.ERROR)])
    monkeypatch.setattr(logging.getLogger("asyncio"), "propagate", False)
    return lines


def fail() -> None:
    raise ZeroDivisionError("as injected")


def test_an_error_in_a_callback_of_the_loop_is_logged_with_its_traceback(logged: list[str]) -> None:
    async def run() -> None:
        asyncio.get_running_loop().call_soon(fail)
        await asyncio.sleep(0)

    asyncio.run(run())
    (entry,) = logged
    assert entry.startswith("Exception in callback fail()")
    assert ": ZeroDivisionError: as injected\nTraceback (most recent call last)" in entry and ", in fail" in entry


def test_a_record_without_an_exception_is_one_line(logged: list[str]) -> None:
    logging.getLogger("asyncio").error("no room for %s", "it")
    assert logged == ["no room for it"]


def test_the_cancellation_of_the_second_signal_is_not_logged(logged: list[str]) -> None:
    try:
        raise asyncio.CancelledError
    except asyncio.CancelledError:
        logging.getLogger("asyncio").exception("cancelled")
    assert logged == []
