"""A built server on pipes: both eras, every kind of handler, limits, sizes, and clients that read slowly."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from support.pipe_client import STATELESS, text_of

if TYPE_CHECKING:
    from platforms.conftest import Connect
    from support.machines import Machine
    from support.pipe_client import Message

KINDS = ("fast", "slow", "later")
"""A tool in the server's process, in a thread of the worker, and on the worker's event loop."""
TEXTS = ("plain", "grün, зелёный, 緑, 🟢", "a\nb\r\nc\td\x1a", '"\\', "", "x" * 70_000)


@pytest.mark.parametrize("tool", KINDS)
def test_text_comes_back_as_it_was_sent(connect: Connect, tool: str) -> None:
    with connect() as client:
        for text in TEXTS:
            assert client.text(tool, text=text) == text


def test_it_ends_with_its_input(connect: Connect, revision: str) -> None:
    with connect(revision=revision) as client:
        assert client.text("slow", text="a") == "a"
        client.close_input()
        assert client.ends() == 0
        assert not client.noise and not client.errors


@pytest.mark.parametrize("tool", KINDS)
def test_calls_at_once_are_answered_each_once(connect: Connect, tool: str, revision: str) -> None:
    with connect(revision=revision) as client:
        numbers = [client.begin_call(tool, text=str(number)) for number in range(300)]
        texts = [text_of(client.reply(number)["result"]) for number in numbers]
        assert texts == [str(number) for number in range(300)]
        answers = [message["id"] for message in client.messages if "id" in message and "method" not in message]
        assert len(answers) == len(set(answers))


def test_slow_calls_run_beside_each_other(connect: Connect) -> None:
    with connect() as client:
        client.text("slow", text="warm")
        began = time.monotonic()
        numbers = [client.begin_call(tool, text="x", seconds=1.5) for tool in ("slow", "later") for _ in range(10)]
        assert client.text("fast", text="beside") == "beside"
        for number in numbers:
            assert text_of(client.reply(number)["result"]) == "x"
        assert time.monotonic() - began < 20 * 1.5


@pytest.mark.parametrize("tool", ["never", "never_async"])
def test_a_call_over_its_time_limit_is_ended(connect: Connect, tool: str) -> None:
    with connect() as client:
        client.text("slow", text="warm")
        result = client.call(tool)
        assert result["isError"] is True and "1" in text_of(result), result
        assert client.text("slow", text="next") == "next"


@pytest.mark.parametrize("tool", ["slow", "later"])
def test_a_cancelled_call_has_no_answer(connect: Connect, tool: str, revision: str) -> None:
    with connect(revision=revision) as client:
        client.text("slow", text="warm")
        number = client.begin_call(tool, text="x", seconds=3600)
        beside = client.begin_call("slow", text="beside", seconds=0.5)
        client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
        assert text_of(client.reply(beside)["result"]) == "beside"
        assert client.text("later", text="next") == "next"
        client.close_input()
        assert client.ends() == 0
        assert all(message.get("id") != number for message in client.messages)


@pytest.mark.parametrize(("tool", "back"), [("slow", "big"), ("fast", "big_inline")])
def test_big_messages_arrive_whole(connect: Connect, tool: str, back: str) -> None:
    text = "0123456789abcdef" * (1 << 18)
    with connect() as client:
        assert client.text(tool, text=text) == text
        assert len(client.text(back, size=6 << 20)) == 6 << 20


def test_a_client_that_reads_late_loses_nothing(connect: Connect) -> None:
    with connect() as client:
        client.text("slow", text="warm")
        client.is_reading.clear()
        numbers = [client.begin_call("big", size=200_000) for _ in range(60)]
        time.sleep(2)  # the server's output is full meanwhile: nothing can be waited for
        client.is_reading.set()
        assert {len(text_of(client.reply(number)["result"])) for number in numbers} == {200_000}


def test_what_a_handler_prints_is_no_message(connect: Connect) -> None:
    with connect() as client:
        assert client.text("noise") == "quiet"
        assert client.text("read_input") == "0"
        assert client.text("slow", text="next") == "next"
        assert not client.noise


def test_a_program_is_a_tool(connect: Connect) -> None:
    with connect() as client:
        assert json.loads(client.text("convert", text="grün")) == {"text": "GRÜN", "files": ["grün 緑.txt"]}
        result = client.call("convert", text="fail")
        assert result["isError"] is True and "it failed on purpose" in text_of(result)


def test_a_handler_sees_the_variables_that_it_may(connect: Connect) -> None:
    with connect(variables={"GIVEN": "grün", "HIDDEN": "x"}) as client:
        found = client.call("variables")["structuredContent"]
        assert found.get("GIVEN") == "grün"
        assert "HIDDEN" not in {name.upper() for name in found}


def test_files_of_the_project_are_there(connect: Connect) -> None:
    with connect() as client:
        assert client.call("size_of", path="data/grün 緑.txt")["structuredContent"] == {"result": 4}


def test_a_task_is_polled(connect: Connect, machine: Machine, tmp_path: Any) -> None:
    with connect(
        revision=STATELESS, variables={"MCPC_TASKS": f"sqlite:{machine.path(tmp_path / 'tasks.db')}"}
    ) as client:
        extensions = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
        meta = {"io.modelcontextprotocol/clientCapabilities": extensions}
        params: Message = {"name": "job", "arguments": {"seconds": 0.3}, "_meta": meta}
        task = client.ask("tools/call", params)["result"]
        assert task["resultType"] == "task", task
        found: list[Message] = []

        def completed() -> bool:
            found.append(client.ask("tasks/get", {"taskId": task["taskId"], "_meta": meta})["result"])
            return found[-1]["status"] == "completed"

        deadline = time.monotonic() + 60
        while not completed() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert text_of(found[-1]["result"]) == "the job is done"
