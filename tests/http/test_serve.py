"""`server.pyz serve`: what it refuses, how it is told where and for whom, how it ends, and the same under other servers."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.artifact import build
from support.needs import lacking
from support.ports import reserved_port
from support.processes import is_gone, until, wait_for
from support.serving import served
from support.talking import answer, connect, everything, request, text_of, write_project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.serving import Served

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


def ran(artifact: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a file that is not going to serve."""
    argv = [sys.executable, str(artifact), *words]
    variables = {**os.environ, **environment}
    return subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False, env=variables)


def test_a_store_or_a_carrier_that_can_never_be_used_is_told_before_serving(tmp_path: Path) -> None:
    tool = 'from mcpc import tool\n\n\n@tool(task=True)\ndef work() -> str:\n    """Work."""\n    return \'\'\n'
    project = tmp_path / "project"
    project.mkdir()
    (project / "server.json").write_text('{"serverInfo": {"name": "tasks", "version": "1"}}')
    (project / "tools.py").write_text(tool)
    server = build(project, tmp_path / "server.pyz", "--http")
    for words, said in (
        (("--tasks", "foo:bar"), "sqlite:PATH"),
        (("--tasks", "redis://localhost"), "--redis"),
        (("--events", "redis://localhost:port"), "--events"),
    ):
        found = ran(server, "serve", "--http", "0", *words)
        assert found.returncode == NOT_RUNNABLE, (words, found.stderr)
        assert said in found.stderr and "Traceback" not in found.stderr, found.stderr
        assert len(found.stderr.splitlines()) <= 2, found.stderr


def test_variables_mean_the_same_as_words_and_words_come_first(artifact: Path) -> None:
    variables = {"MCPC_PATH": "/elsewhere", "MCPC_ALLOW_HOST": "a.example b.example:81", "MCPC_METRICS": "0"}
    with served(artifact, environment=variables) as server:
        assert server.url.endswith("/elsewhere")
        with connect(server) as connection:
            asked = request("echo", text="x").replace(b"/mcp ", b"/elsewhere ")
            connection.sendall(asked.replace(b"127.0.0.1", b"a.example"))
            assert answer(connection)[0] == 200
    with served(artifact, "--path", "/here", environment=variables) as server:
        assert server.url.endswith("/here")
    assert "expected 1 or 0" in ran(artifact, "serve", "--http", "0", MCPC_OPEN="yes").stderr
    assert "MCPC_GRACE" in ran(artifact, "serve", "--http", "0", MCPC_GRACE="x").stderr


def test_a_file_without_http_says_how_it_gets_it(plain: Path) -> None:
    found = ran(plain, "serve", "--http", "0")
    assert found.returncode == NOT_RUNNABLE
    assert "mcpc build --http" in found.stderr


def test_a_port_that_is_taken_is_said(artifact: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        found = ran(artifact, "serve", "--http", str(taken.getsockname()[1]))
    assert found.returncode == UNREACHABLE
    assert "Address already in use" in found.stderr


def test_several_servers_have_a_path_each(artifact: Path, plain: Path) -> None:
    with served(artifact, "--also", f"/plain={plain}") as server, connect(server) as connection:
        connection.sendall(request("echo", text="one"))
        assert text_of(answer(connection)[2]) == "one"
        connection.sendall(request("echo", text="two").replace(b"/mcp ", b"/plain "))
        assert text_of(answer(connection)[2]) == "two"
        connection.sendall(request("echo", text="none").replace(b"/mcp ", b"/none "))
        assert answer(connection)[0] == 404


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
        for path, text in files.items():
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            (project / path).write_text(text)
        made[name] = build(project, folder / f"{first}-{name}.pyz", "--allow", "*", *["--http"] * (name == first))
    others = [name for name in KINDS if name != first]
    options = [word for name in others for word in ("--also", f"/{name}={made[name]}")]
    with served(made[first], *options) as server, connect(server) as connection:
        assert f"{server.url} and /{', /'.join(others)}\n" in server.errors.read_text()
        for name in KINDS:
            path = b"/mcp " if name == first else f"/{name} ".encode()
            connection.sendall(request("say").replace(b"/mcp ", path))
            assert text_of(answer(connection)[2]) == ANSWERS[name]


def test_a_server_with_inline_handlers_cannot_be_a_second_one(artifact: Path, folder: Path) -> None:
    """Their modules would be those of the first, if they have the same names."""
    project = folder / "inline"
    project.mkdir()
    (project / "server.json").write_text('{"serverInfo": {"name": "inline", "version": "1"}}')
    (project / "tools.py").write_text(
        'from mcpc import tool\n\n@tool(inline=True)\ndef here() -> str:\n    """Here."""\n    return "here"\n'
    )
    other = build(project, folder / "inline.pyz")
    found = ran(artifact, "serve", "--http", "0", "--also", f"/inline={other}")
    assert found.returncode == NOT_RUNNABLE
    assert "inline" in found.stderr


def test_it_starts_soon(artifact: Path) -> None:
    """From its start to its first answer, the best of some tries, against the best start of Python in turn with them."""
    best = floor = 99.0
    for _ in range(5):
        began = time.monotonic()
        subprocess.run([sys.executable, "-I", "-c", "import asyncio"], check=True)
        floor = min(floor, time.monotonic() - began)
        began = time.monotonic()
        with served(artifact) as server:
            best = min(best, time.monotonic() - began)
            assert server.process.poll() is None
    assert best < 8 * floor, f"{best:.3f} s; Python with asyncio starts in {floor:.3f} s"


def ended(server: Served, within: float) -> int:
    """Return the status of a server that ends within so many seconds."""
    began = time.monotonic()
    status = server.process.wait(within + 5)
    assert time.monotonic() - began < within
    return status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_server_ends_at_once(artifact: Path, number: signal.Signals) -> None:
    with served(artifact) as server, connect(server) as connection:
        server.process.send_signal(number)
        assert ended(server, 8) == SUCCESS
        assert everything(connection) == b""


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


def test_a_second_signal_ends_it_at_once(artifact: Path, tmp_path: Path) -> None:
    with served(artifact, "--grace", "30") as server, connect(server) as connection:
        connection.sendall(request("slow", seconds=60, mark=str(tmp_path / "mark")))
        worker = int(wait_for(tmp_path / "mark.began"))
        server.process.terminate()
        until(lambda: "stopping" in server.errors.read_text())
        assert server.process.poll() is None
        server.process.terminate()
        assert ended(server, 20) == -signal.SIGTERM
        assert is_gone(worker)
        serving, stopping = server.errors.read_text().splitlines()
        assert serving == f"serving {server.url}"
        assert stopping.endswith("stopping, 1 call under way: slow; they have 30 s")


def test_a_killed_server_leaves_nothing_behind(artifact: Path, tmp_path: Path) -> None:
    with served(artifact) as server, connect(server) as connection:
        connection.sendall(request("slow", seconds=60, mark=str(tmp_path / "mark")))
        worker = int(wait_for(tmp_path / "mark.began"))
        server.process.kill()
        assert is_gone(worker)


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


def test_an_answer_has_a_date_and_no_name_of_the_server(server: Served) -> None:
    with connect(server) as connection:
        connection.sendall(request("echo", text="x"))
        _, headers, body = answer(connection)
    assert "date" in headers
    assert "server" not in headers
    assert headers["x-content-type-options"] == "nosniff"
    assert json.loads(body)["id"] == 1
