"""Whose processes are whose: the client finds all that a server left behind, and takes nothing of another test for it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from faults import client
from faults.client import Fault, Server, below, processes, until

Popen = subprocess.Popen[bytes]

LEAVES = """
import os, sys
for line in sys.stdin:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for number in range(3):
                os.dup2(null, number)
            os.execve("/bin/sleep", ["sleep", "120"], {})
        os._exit(0)
    os.wait()
"""
"""A server that starts, for each line, a process that nothing but adoption finds."""


@contextmanager
def leaving() -> Iterator[Server]:
    server = Server([sys.executable, "-I", "-S", "-c", LEAVES])
    try:
        yield server
    finally:
        if not server.discarded:
            server.discard()


@contextmanager
def of_another_test() -> Iterator[Popen]:
    """A process that starts one more for each line."""
    words = ["/bin/sh", "-c", "while read line; do sleep 120 & done"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, bufsize=0, start_new_session=True) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def start_one(process: Popen) -> None:
    process.stdin.write(b"one\n")
    assert until(lambda: below([process.pid], processes()), 30)


def test_what_another_test_starts_while_the_server_rests_is_not_left_behind() -> None:
    with leaving() as server, of_another_test() as other:
        start_one(other)
        server.wake()
        assert not server.running()
        server.end()
        assert other.poll() is None


def test_what_another_test_had_started_may_start_more() -> None:
    with of_another_test() as other, leaving() as server:
        start_one(other)
        assert not server.running()
        server.end()
        assert other.poll() is None


def test_what_a_server_left_behind_is_found_after_a_rest_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "ORPHAN_SECONDS", 0.1)
    with leaving() as server:
        server.write(b"leave\n")
        assert until(server.running, 30)
        server.wake()
        with pytest.raises(Fault, match=r"left behind: .*sleep 120"):
            server.end()
