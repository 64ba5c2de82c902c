"""However a server or a call ends, nothing that it started is left; and a server that has nothing to do takes no time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from support.witness import Witness

if TYPE_CHECKING:
    from platforms.conftest import Connect
    from support.pipe_client import PipeClient

FAMILY = 3
"""The worker, its child, and the child of another child."""
SECONDS = 0.5
"""What a process may outlive its server."""
GRACE = 3.0
"""What a process may outlive its call: first it is asked to end."""


def kill(client: PipeClient) -> None:
    client.process.kill()


def end_input(client: PipeClient) -> None:
    client.close_input()
    assert client.ends() == 0


@pytest.mark.parametrize("end", [kill, end_input])
def test_nothing_is_left_after_the_server(connect: Connect, end: object) -> None:
    assert callable(end)
    with Witness() as witness, connect() as client:
        assert client.text("family", port=witness.port) == "started"
        assert witness.has_seen(FAMILY)
        end(client)
        assert witness.left(SECONDS) == 0


def test_nothing_is_left_after_a_kill_during_a_call(connect: Connect) -> None:
    with Witness() as witness, connect() as client:
        client.begin_call("family", port=witness.port, wait=True)
        assert witness.has_seen(FAMILY)
        client.process.kill()
        assert witness.left(SECONDS) == 0


def test_a_cancelled_call_ends_with_all_that_it_started(connect: Connect) -> None:
    with Witness() as witness, connect() as client:
        number = client.begin_call("family", port=witness.port, wait=True)
        assert witness.has_seen(FAMILY)
        client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
        assert witness.left(GRACE) == 0
        assert client.text("slow", text="next") == "next"


def test_input_ends_during_a_call(connect: Connect) -> None:
    with Witness() as witness, connect() as client:
        client.begin_call("family", port=witness.port, wait=True)
        assert witness.has_seen(FAMILY)
        client.close_input()
        client.ends()
        assert witness.left(SECONDS) == 0


def test_answers_come_before_the_end(connect: Connect) -> None:
    with connect() as client:
        client.text("slow", text="warm")
        numbers = [client.begin_call("slow", text="x", seconds=0.5) for _ in range(10)]
        client.close_input()
        for number in numbers:
            assert "result" in client.reply(number)
        assert client.ends() == 0


@pytest.mark.parametrize("tool", ["processor_time", "processor_time_of_worker"])
def test_an_idle_process_takes_no_time(connect: Connect, tool: str) -> None:
    with connect() as client:
        for _ in range(3):
            before = client.call(tool)["structuredContent"]["result"]
        time.sleep(1.5)
        after = client.call(tool)["structuredContent"]["result"]
        assert after - before < 0.15, "more than the tenth of a processor"
