"""Descriptors that `poll` refuses on macOS: terminals and other devices are waited for by `select` there."""

import errno
import json
import os
import pty
import select
import subprocess
import sys
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime.transports.platforms.posix import pipes, system_features
from mcpc_runtime.transports.platforms.posix.pipes import open_nonblocking
from mcpc_runtime.transports.platforms.posix.reactor import has_ended
from mcpc_runtime.transports.platforms.reactor import READABLE, Reactor
from support.artifact import built_fixture

Json = Any

TOOLS = '''"""Tools."""

from mcpc import Server, tool

mcp = Server("terminal", version="1.0.0")


@tool(inline=True)
def quick(text: str) -> str:
    """Return the text."""
    return text


@tool
def worker(text: str) -> str:
    """Return the text."""
    return text
'''
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}


class DevicelessPoll:
    """A `poll` as that of macOS: a terminal is reported at once, as a descriptor that is not valid."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._devices: set[int] = set()

    def register(self, descriptor: int, events: int) -> None:
        if os.isatty(descriptor):
            self._devices.add(descriptor)
        else:
            self._poll.register(descriptor, events)

    def unregister(self, descriptor: int) -> None:
        self._devices.discard(descriptor)

    def poll(self, timeout: int | None = None) -> list[tuple[int, int]]:
        refused = [(descriptor, select.POLLNVAL) for descriptor in self._devices]
        return refused or self._poll.poll(timeout)


@pytest.fixture
def as_on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipes, "poll", DevicelessPoll)
    monkeypatch.setitem(system_features.PROBES, "devicepoll", lambda: False)
    monkeypatch.setattr(system_features, "probed", {})


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """The two ends of a terminal: that of the person, and that of the program."""
    person, program = pty.openpty()
    tty.setraw(program)
    yield person, program
    for descriptor in (person, program):
        try:
            os.close(descriptor)
        except OSError as problem:
            assert problem.errno == errno.EBADF


def test_a_terminal_is_read_when_there_is_input(as_on_macos: None, terminal: tuple[int, int]) -> None:
    person, program = terminal
    reactor, got, rang = Reactor(), [], []
    reading, writing = os.pipe()
    reactor.watch(program, READABLE, lambda: got.append(os.read(program, 100)))
    reactor.watch(reading, READABLE, lambda: rang.append(os.read(reading, 100)))
    reactor.after(0.01, lambda: None)
    reactor.turn()
    assert (got, rang) == ([], [])
    os.write(writing, b"pipe")
    while not rang:
        reactor.turn()
    assert (got, rang) == ([], [b"pipe"])
    os.write(person, b"line\n")
    while not got:
        reactor.turn()
    assert got == [b"line\n"]
    reactor.forget(program)
    os.write(person, b"more")
    os.write(writing, b"pipe")
    while len(rang) < 2:
        reactor.turn()
    assert got == [b"line\n"]
    reactor.forget(reading)
    for descriptor in (reading, writing):
        os.close(descriptor)


def test_a_terminal_has_not_ended_while_it_is_not_read(as_on_macos: None, terminal: tuple[int, int]) -> None:
    person, program = terminal
    assert not has_ended(program)
    os.write(person, b"unread")
    assert not has_ended(program)


def test_a_full_terminal_takes_no_more(as_on_macos: None, terminal: tuple[int, int]) -> None:
    person, program = terminal
    put, private = open_nonblocking(os.dup(program))
    with pytest.raises(BlockingIOError):
        while True:
            put(private, memoryview(b"x" * 10_000))
    assert os.get_blocking(program), "the mode of others has changed"
    assert os.read(person, 10) == b"x" * 10
    os.close(private)


server = built_fixture({"tools.py": TOOLS})


@pytest.mark.parametrize("without", ["", "devicepoll"])
def test_a_server_at_a_terminal_answers_line_by_line(without: str, server: Path, terminal: tuple[int, int]) -> None:
    person, program = terminal
    environment = {**os.environ, "MCPC_WITHOUT": without}
    process = subprocess.Popen([sys.executable, server], stdin=program, stdout=program, env=environment)
    os.close(program)
    lines = os.fdopen(os.dup(person), "rb", buffering=0)
    rest = b""

    def ask(number: int, method: str, **params: Json) -> Json:
        nonlocal rest
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        os.write(person, json.dumps(message).encode() + b"\n")
        while b"\n" not in rest:
            rest += lines.read(4096)
        line, _, rest = rest.partition(b"\n")
        return json.loads(line)

    try:
        assert "result" in ask(0, "initialize", **HELLO)
        for number, name in enumerate(("quick", "worker", "quick", "worker"), 1):
            answer = ask(number, "tools/call", name=name, arguments={"text": name * 500})
            assert answer["result"]["content"][0]["text"] == name * 500
    finally:
        process.kill()
        process.wait()
        lines.close()
