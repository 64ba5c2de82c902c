"""A second SIGTERM ends the process whatever runs in it, and nothing is left."""

import signal
from pathlib import Path

import pytest

from support.artifact import built_fixture
from support.processes import is_gone, of_process, until, wait_for
from support.serving import Served, served
from support.talking import connect, request

pytestmark = pytest.mark.slow

HOLDER = '''
import ctypes
import os
import subprocess
import sys

from mcpc import tool


@tool(inline=True)
def hold(seconds: int, mark: str) -> str:
    """Sleep in a foreign function, with the interpreter's lock held."""
    with open(mark, "w") as file:
        file.write("began")
    ctypes.PyDLL(None).sleep(seconds)
    return "waited"


@tool
def wait(seconds: int, mark: str) -> str:
    """Start a process, and wait."""
    child = subprocess.Popen(["sleep", str(seconds)])
    with open(mark + ".new", "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    os.rename(mark + ".new", mark)
    child.wait()
    return "waited"
'''
WITHIN = 60.0
"""Seconds; the promise is one, a busy machine may take longer, and the calls take much longer."""


artifact = built_fixture(
    {"server.json": '{"serverInfo": {"name": "holder", "version": "1.0.0"}}', "tools.py": HOLDER}, "--http"
)


def ends_at_the_second(server: Served, number: signal.Signals) -> None:
    server.process.send_signal(number)
    until(lambda: not is_pending(server.process.pid, number))
    assert server.process.poll() is None, "the first one lets calls end"
    server.process.send_signal(number)
    assert server.process.wait(WITHIN) == -number


def is_pending(pid: int, number: int) -> bool:
    """Tell whether a process has not taken a signal yet."""
    fields = dict(line.split(b":\t", 1) for line in of_process(pid, "status").splitlines() if b":\t" in line)
    return bool((int(fields[b"SigPnd"], 16) | int(fields[b"ShdPnd"], 16)) >> (number - 1) & 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_a_server_whose_lock_is_held(
    artifact: Path, tmp_path: Path, number: signal.Signals
) -> None:
    with served(artifact, "--grace", "600") as server, connect(server) as held, connect(server) as other:
        other.sendall(request("wait", seconds=600, mark=str(tmp_path / "wait")))
        below = [int(pid) for pid in wait_for(tmp_path / "wait").split()]
        held.sendall(request("hold", seconds=600, mark=str(tmp_path / "hold")))
        wait_for(tmp_path / "hold")
        ends_at_the_second(server, number)
        assert all(map(is_gone, below)), "nothing is left behind"
