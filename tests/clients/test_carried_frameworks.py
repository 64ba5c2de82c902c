"""Servers that are built with their framework answer as the original: each in both eras, over pipes and over HTTP.

The original is the same program under the framework itself, which is installed once in a run.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import yaml
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from uv import find_uv_bin

from support.artifact import build, locked, store
from support.files import write_files
from support.images import MODERN
from support.ports import reserved_port
from support.serving import served, stop
from support.stdio import StdioClient

pytestmark = pytest.mark.slow

DATA = yaml.safe_load(Path(__file__).with_name("carried_frameworks.yaml").read_text("utf-8"))
SERVER = DATA["SERVER"]
FASTMCP = {
    "IMPORTS": "from fastmcp import Context, FastMCP",
    "NEW": 'FastMCP("Sums", version="1.5", lifespan=lifespan)',
}
SDK = {
    "IMPORTS": "from mcp.server.mcpserver import Context, MCPServer",
    "NEW": 'MCPServer("Sums", version="1.5", lifespan=lifespan)',
}
FRAMEWORKS = {"fastmcp==4.1.2": FASTMCP, "fastmcp==4.2.3": FASTMCP, "mcp==2.3.0": SDK}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("add", {"numbers": [1, 2, 3]}),
    ("add", {"numbers": ["x"]}),
    ("fail", {"text": "no"}),
    ("state", {}),
)
PATIENCE = 60.0
"""Seconds until the original listens."""


def installed(framework: str) -> dict[str, str]:
    """Return the variables of a Python that has a framework."""
    folder, incomplete = store() / framework, store() / f"{framework}.incomplete"
    words = [find_uv_bin(), "pip", "install", "--quiet", "--python", sys.executable, "--target", str(incomplete)]
    with locked(store() / f"{framework}.lock"):
        if not folder.exists():
            subprocess.run([*words, framework], check=True, timeout=600)
            incomplete.rename(folder)
    return {"PYTHONPATH": str(folder)}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.sampled(3)
def test_calls_are_answered_as_by_the_original(framework: str, tmp_path: Path) -> None:
    server = SERVER
    for mark, text in FRAMEWORKS[framework].items():
        server = server.replace(mark, text)
    project = write_files(tmp_path / "project", {"server.py": server, "requirements.txt": f"{framework}\n"})
    built = build(project, tmp_path / "server.pyz", "--framework=original", "--http")
    environment = installed(framework)
    originals = {
        mode: anyio.run(answers, StdioTransport(sys.executable, [str(project / "server.py")], env=environment), mode)
        for mode in ("legacy", "auto")
    }
    for mode, expected in originals.items():
        assert expected["progress"] == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
        compare(anyio.run(answers, StdioTransport(sys.executable, [str(built)]), mode), expected)
    with original_over_http(project / "server.py", environment) as url, served(built) as listening:
        for mode in originals:
            compare(anyio.run(answers, listening.url, mode), anyio.run(answers, url, mode))


SKILLED = DATA["SKILLED"]
SKILL = "---\nname: opening\ndescription: How a game opens\n---\nSee [more](more.md).\n"
EXTENDED = (
    ("skills/list", {}),
    ("skills/get", {"uri": "skill://opening/SKILL.md"}),
    ("skills/nothing", {}),
    ("resources/read", {"uri": "skill://opening/SKILL.md"}),
    ("resources/read", {"uri": "ui://board"}),
    ("tools/call", {"name": "move", "arguments": {"piece": "king"}}),
    ("tools/list", {}),
)
"""Requests of extensions, and of what they are about."""
OWN = ("cacheScope", "ttlMs", "isError")
"""What a built server says itself: how long results are good, and `isError` only where it is true."""


def test_extensions_are_those_of_the_original(tmp_path: Path) -> None:
    framework = "fastmcp==4.2.3"
    files = {"server.py": SKILLED, "requirements.txt": f"{framework}\n", "skills/opening/SKILL.md": SKILL}
    project = write_files(tmp_path / "project", {**files, "skills/opening/more.md": "more\n"})
    built = build(project, tmp_path / "server.pyz", "--http")
    environment = installed(framework)
    original = project / "server.py"
    modern = asked(original, MODERN, environment)
    for envelope, expected in ((MODERN, modern), (None, asked(original, None, environment))):
        assert asked(built, envelope, None) == expected
        assert isinstance(expected["skills/list 0"], dict) is (envelope is not None)
    with served(built) as listening:
        found = {f"{method} {number}": kept(post(listening.url, method, params)) for number, (method, params) in ROWS}
    assert found == modern


ROWS = tuple(enumerate(EXTENDED))


def asked(server: Path, envelope: dict[str, Any] | None, environment: dict[str, str] | None) -> dict[str, Any]:
    """Return the answers over pipes: with an envelope in each request, or after a handshake."""
    with StdioClient(server, environment=environment) as client:
        if envelope is None:
            client.initialize()
        more = {} if envelope is None else {"_meta": envelope}
        rows = ((f"{method} {number}", client.ask(method, {**params, **more})) for number, (method, params) in ROWS)
        found = {name: kept(answer) for name, answer in rows}
        if envelope is not None:
            told = client.ask("server/discover", more)["result"]["capabilities"]
            assert told["extensions"].keys() == {"io.modelcontextprotocol/skills", "io.modelcontextprotocol/ui"}
        return found


def post(url: str, method: str, params: dict[str, Any]) -> Any:
    """Return the answer to a request over HTTP."""
    named = params.get("name") or params.get("uri")
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN["io.modelcontextprotocol/protocolVersion"],
        "Mcp-Method": method,
        **({"Mcp-Name": named} if named and method in ("tools/call", "resources/read") else {}),
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": MODERN}}
    request = urllib.request.Request(url, json.dumps(message).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            body = answer.read()
    except urllib.error.HTTPError as problem:
        body = problem.read()
    lines = [line.removeprefix(b"data: ") for line in body.splitlines() if line.startswith((b"data: {", b"{"))]
    return json.loads(lines[-1])


def kept(answer: dict[str, Any]) -> Any:
    """Return what is compared of an answer: its result, or the code of its error."""
    if "error" in answer:
        return answer["error"]["code"]
    return {name: value for name, value in answer["result"].items() if name not in OWN}


async def answers(place: Any, mode: str) -> dict[str, Any]:
    """Return the results of the calls, and the progress of the first one."""
    progress: list[tuple[float, float | None, str | None]] = []

    async def note(done: float, total: float | None, message: str | None) -> None:
        progress.append((done, total, message))

    async with Client(place, mode=mode, timeout=PATIENCE) as client:
        results = []
        for name, arguments in CALLS:
            try:
                found = await client.call_tool(name, arguments, raise_on_error=False, progress_handler=note)
            except Exception as problem:  # noqa: BLE001 - what a client raises is its answer
                results.append((type(problem).__name__, str(problem)))
            else:
                content = [block.model_dump(mode="json") for block in found.content]
                results.append((found.is_error, content, found.structured_content, found.meta))
        return {"protocol": client.session.protocol_version, "results": results, "progress": progress}


def compare(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Assert that answers are the original's.  Progress that comes close together is sent once; the last is sent."""
    assert (found["protocol"], found["results"]) == (expected["protocol"], expected["results"])
    assert found["progress"][-1:] == expected["progress"][-1:]
    rest = iter(expected["progress"])
    assert all(step in rest for step in found["progress"])


@contextmanager
def original_over_http(file: Path, environment: dict[str, str]) -> Iterator[str]:
    """Run the original until the block ends; it listens when the block begins."""
    port = reserved_port()
    variables = {**os.environ, **environment, "PORT": str(port)}
    process = subprocess.Popen([sys.executable, str(file)], env=variables, stdin=subprocess.DEVNULL)
    try:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        stop(process)
