"""`server.pyz serve`: what it refuses, how it is told where and for whom, how it ends, and the same under other servers."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.artifact import build
from support.files import write_files
from support.needs import lacking
from support.ports import reserved_port
from support.processes import wait_for
from support.serving import Served, served
from support.talking import answer, connect, everything, request, text_of, write_project

pytestmark = pytest.mark.sampled(2)

SUCCESS, UNREACHABLE, NOT_RUNNABLE = 0, 4, 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("serve")


@pytest.fixture(scope="module")
def artifact(folder: Path) -> Path:
    return build(write_project(folder / "project"), folder / "serve.pyz", "--http")


@pytest.fixture(scope="module")
def plain(folder: Path, artifact: Path) -> Path:
    """The same without HTTP."""
    return build(folder / "project", folder / "plain.pyz")


@pytest.fixture(scope="module")
def server(artifact: Path) -> Iterator[Served]:
    with served(artifact) as found:
        yield found


BASH_TOOL = '#!/usr/bin/env bash\n# mcp: {"name": "say", "description": "d"}\necho bash tool\n'
SAID = {"serverInfo": {"name": "x", "version": "1"}}
SAYS = {"tools": [{"name": "say", "description": "d", "inputSchema": {"type": "object"}}]}
JSON = {"server.json": json.dumps(SAID), "tools.json": json.dumps(SAYS)}
KINDS = {
    "functions": {**JSON, "tools.bash": "tool_say() { echo bash function; }\nexport -f tool_say\n"},
    "python": {**JSON, "tools.py": "def say():\n    return 'python function'\n"},
    "tools": {"tools/say/tool.sh": BASH_TOOL},
}
ANSWERS = {"functions": "bash function", "python": "python function", "tools": "bash tool\n"}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("first", KINDS)
def test_servers_whose_handlers_are_run_in_different_ways(folder: Path, first: str) -> None:
    """What runs the handlers of the others need not be carried by the first."""
    made = {}
    for name, files in KINDS.items():
        project = folder / f"{first}-{name}"
        write_files(project, files)
        made[name] = build(project, folder / f"{first}-{name}.pyz", "--allow", "*", *["--http"] * (name == first))
    others = [name for name in KINDS if name != first]
    options = [word for name in others for word in ("--also", f"/{name}={made[name]}")]
    with served(made[first], *options) as server, connect(server) as connection:
        assert f"{server.url} and /{', /'.join(others)}\n" in server.errors.read_text()
        for name in KINDS:
            path = b"/mcp " if name == first else f"/{name} ".encode()
            connection.sendall(request("say").replace(b"/mcp ", path))
            assert text_of(answer(connection)[2]) == ANSWERS[name]


def ended(server: Served, within: float) -> int:
    """Return the status of a server that ends within so many seconds."""
    began = time.monotonic()
    status = server.process.wait(within + 5)
    assert time.monotonic() - began < within
    return status


def test_a_call_that_runs_is_let_end(artifact: Path, tmp_path: Path) -> None:
    with served(artifact) as server, connect(server) as connection, connect(server) as other:
        connection.sendall(request("slow", seconds=0.7, mark=str(tmp_path / "mark")))
        wait_for(tmp_path / "mark.began")
        server.process.terminate()
        with pytest.raises(OSError):
            while True:
                connect(server).close()
        status, _, body = answer(connection)
        assert (status, text_of(body)) == (200, "waited")
        assert everything(connection) == b""
        assert everything(other) == b""
        assert ended(server, 10) == SUCCESS
    assert (tmp_path / "mark").exists()


OTHERS = {
    "granian": ("granian", "--interface", "asgi", "--host", "127.0.0.1", "--port", "{port}", "--no-ws"),
    "hypercorn": ("hypercorn", "--bind", "127.0.0.1:{port}"),
    "uvicorn": ("uvicorn", "--port", "{port}", "--no-access-log"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_same_application_runs_under_other_servers(artifact: Path, name: str) -> None:
    program = Path(sys.executable).with_name(name)
    if not program.exists():
        lacking(f"{name} is not installed")
    port = reserved_port()
    words = [word.format(port=port) for word in OTHERS[name][1:]]
    variables = {**os.environ, "PYTHONPATH": str(artifact)}
    process = subprocess.Popen([program, *words, "mcpc_app.asgi:app"], env=variables, stderr=subprocess.PIPE, text=True)
    try:
        with connected(port) as connection:
            connection.sendall(request("echo", text=name))
            status, _, body = answer(connection)
            assert (status, text_of(body)) == (200, name)
            connection.sendall(request("echo", text=name).replace(b"Host: 127.0.0.1", b"Host: evil.example"))
            assert answer(connection)[0] in (403, 421)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)


def connected(port: int) -> socket.socket:
    """Return a connection to a server that is about to listen."""
    until = time.monotonic() + 20
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=10)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
