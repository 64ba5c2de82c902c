"""Very many calls: each is answered once, and rightly."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from support.pipe_client import text_of

if TYPE_CHECKING:
    from platforms.conftest import Connect
    from support.pipe_client import PipeClient

CALLS = int(os.environ.get("TESTS_SOAK", "1000"))
"""How many calls are made in all; 100,000 before a release."""
WINDOW = 200
"""How many of them are under way at once."""
SHARES = {"fast": 0.5, "slow": 0.4, "later": 0.1}


@pytest.mark.slow
def test_no_call_is_lost(connect: Connect) -> None:
    with connect() as client:
        for tool, share in SHARES.items():
            client.text(tool, text="warm")
            count = int(CALLS * share)
            assert answered(client, tool, count) == count
        client.close_input()
        assert client.ends() == 0


def answered(client: PipeClient, tool: str, count: int) -> int:
    """Call a tool so often, with a window of calls under way; return how many right answers came."""
    client.messages.clear()
    wanted: dict[int, str] = {}
    right = 0
    for number in range(count):
        wanted[client.begin_call(tool, text=f"{tool} {number}")] = f"{tool} {number}"
        if len(wanted) == WINDOW or number == count - 1:
            assert client.until(lambda: len(client.messages) >= len(wanted), 60), f"{right} of {count}"
            found = {message["id"]: text_of(message["result"]) for message in client.messages}
            assert len(found) == len(client.messages), "answered twice"
            right += sum(found[name] == text for name, text in wanted.items())
            wanted.clear()
            client.messages.clear()
    return right
