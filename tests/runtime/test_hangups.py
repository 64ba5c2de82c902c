"""The end of a client that is not read from is noticed, with `poll` as Linux has it and as macOS has it."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mcpc_runtime.transports.platforms.posix.reactor import has_ended, watched
from mcpc_runtime.transports.platforms.reactor import Reactor, watch_end
from support.artifact import built_fixture

pytestmark = pytest.mark.slow

TOOL = '''"""A tool."""

from mcpc import Server, tool

mcp = Server("large", version="1.0.0")


@tool(inline=True)
def large() -> str:
    """Return a large text."""
    return "x" * (1 << 20)
'''
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}


server = built_fixture({"tools.py": TOOL})


def message(number: int, method: str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


@pytest.mark.parametrize("without", ["", "hangup"])
def test_a_client_that_reads_nothing_and_leaves_is_left(without: str, server: Path) -> None:
    """Its input ends behind requests that nobody reads, and its output stays open."""
    process = subprocess.Popen(
        [sys.executable, server],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "MCPC_WITHOUT": without},
    )
    try:
        process.stdin.write(message(0, "initialize", **HELLO))
        process.stdin.write(b"".join(message(n, "tools/call", name="large", arguments={}) for n in range(1, 100)))
        process.stdin.flush()
        os.set_blocking(process.stdin.fileno(), False)
        with pytest.raises(BlockingIOError):  # it reads no more
            while True:
                os.write(process.stdin.fileno(), message(1, "ping"))
        process.stdin.close()
        process.wait(60)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stdin.close()


@pytest.mark.parametrize("unread", [b"", b"unread"])
def test_an_end_is_seen_behind_what_is_unread(unread: bytes) -> None:
    reading, writing = os.pipe()
    os.write(writing, unread)
    assert not has_ended(reading)
    os.close(writing)
    assert has_ended(reading)
    os.close(reading)


def test_a_descriptor_is_looked_at_by_one_timer_until_it_is_not_wanted() -> None:
    reactor = Reactor()
    ours, theirs = socket.socketpair()
    wanted, ends = [True], []
    for _ in range(3):
        watch_end(reactor, ours.fileno(), lambda: wanted[0], lambda: ends.append(1))
    assert len(reactor._timers) == 1
    reactor.turn()
    assert len(reactor._timers) == 1
    assert watched == {ours.fileno()}
    wanted[0] = False
    reactor.turn()
    assert (reactor._timers, watched, ends) == ([], set(), [])
    watch_end(reactor, ours.fileno(), lambda: True, lambda: ends.append(1))
    theirs.close()
    reactor.turn()
    assert (reactor._timers, watched, ends) == ([], set(), [1])
    ours.close()
