"""A real server on real pipes: any line gets one answer, and whatever ends it leaves nothing of it."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from support.artifact import build, converse
from support.images import request
from support.needs import ROOT
from support.processes import until, wait_for

PING = b'{"jsonrpc":"2.0","id":"last","method":"ping"}\n'


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT / "templates/new/python", tmp_path_factory.mktemp("wire") / "server.pyz")


def replies(server: Path, data: bytes) -> list:
    done = converse([sys.executable, server], data, silence=1.0)  # nothing is called
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(b"\n") or not done.stdout
    return [json.loads(line) for line in done.stdout.splitlines()]


@contextmanager
def started(server: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server; whatever the test made of it, nothing of it is left."""
    process = subprocess.Popen([sys.executable, server], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        for stream in (process.stdin, process.stdout):
            with suppress(BrokenPipeError):
                stream.close()
        try:
            process.wait(10)
        finally:
            process.kill()
            process.wait()


def message(method: str, params: object = None, identifier: object = 1) -> bytes:
    return json.dumps(request(method, params, identifier)).encode() + b"\n"


MALFORMED = [
    b"not json\n", b"{\n", b"[1,\n", b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}\n', b'{"jsonrpc":"2.0","id":1,"method":"ping"\n',
    b'{"jsonrpc":"2.0","id":1,"method":"p\xff"}\n', b"\xef\xbb\xbf\n", b"\xff\xfe{\x00}\x00\n", b"\x00\n", b"1\n", b"null\n", b'"x"\n',
    b"[]\n", b"[[]]\n", b"{}\n", b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', b'{"jsonrpc":"2.0","id":{},"method":"ping"}\n',
    b'{"jsonrpc":"2.0","id":true,"method":"ping"}\n', b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n', b'{"jsonrpc":"2.0","id":1}\n',
    b'{"jsonrpc":"2.0","id":1,"method":null}\n', b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', b"[" * 100_000 + b"\n",
    b'{"a":' * 100_000 + b"\n", b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}\n', b"-\n", b"1e999\n", b"'\n",
    b'{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}\n', b'\xed\xa0\x80\n', b"\xe2\x80\xa8\n",
]  # fmt: skip


def test_every_malformed_line_has_one_answer_and_the_server_lives(server: Path) -> None:
    found = replies(server, b"".join(MALFORMED) + PING)
    assert len(found) == len(MALFORMED) + 1
    for line, reply in zip(MALFORMED, found, strict=False):
        assert reply["jsonrpc"] == "2.0" and reply["error"]["code"] in (-32700, -32600), (line[:60], reply)
        assert reply["id"] in (None, 1)
    assert found[-1] == {"jsonrpc": "2.0", "id": "last", "result": {}}


def test_a_client_that_goes_away_ends_the_server(server: Path) -> None:
    with started(server) as process:
        process.stdout.close()
        process.stdin.write(PING)
        process.stdin.flush()
        assert process.wait(10) == 0


@pytest.mark.parametrize("signal", [1, 2, 15])
@pytest.mark.sampled(3)
def test_a_signal_ends_it_and_what_it_started(server: Path, tmp_path: Path, signal: int) -> None:
    project = tmp_path / "stay"
    project.mkdir()
    (project / "server.json").write_text('{"serverInfo":{"name":"stay","version":"1"}}')
    tool = {"name": "stay", "description": "Wait.", "inputSchema": {"type": "object"}}
    (project / "tools.json").write_text(json.dumps({"tools": [tool]}))
    (project / "tools.bash").write_text(f"tool_stay() {{ echo $BASHPID >{tmp_path}/pid; trap '' TERM; sleep 60; }}\n")
    stay = build(project, tmp_path / "stay.pyz")
    with started(stay) as process:
        process.stdin.write(message("tools/call", {"name": "stay"}))
        process.stdin.flush()
        pid = wait_for(tmp_path / "pid").strip()
        process.send_signal(signal)
        assert process.wait(10) in (-signal, 128 + signal)
        until(lambda: not Path(f"/proc/{pid}").exists())


def test_a_server_that_only_lists_starts_no_process(server: Path) -> None:
    with started(server) as process:
        process.stdin.write(message("tools/list"))
        process.stdin.flush()
        assert select.select([process.stdout], [], [], 10)[0]
        assert Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text() == ""
        assert len(os.listdir(f"/proc/{process.pid}/task")) == 1
        process.stdin.close()
        process.wait()
