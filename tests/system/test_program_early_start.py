"""Programs that start before their first call: when a client over standard input has read the list of tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.artifact import build
from support.files import write_files
from support.processes import wait_for
from support.stdio import StdioClient, initialization

PROGRAM = """\
import os

from mcp.server.fastmcp import FastMCP

with open(os.environ.get("STARTS", os.devnull), "a") as file:
    file.write("x")
if os.environ.get("FAILS") == "yes" and os.path.getsize(os.environ["STARTS"]) == 1:
    raise RuntimeError("not yet")
mcp = FastMCP("early")


@mcp.tool()
def starts() -> int:
    return os.path.getsize(os.environ["STARTS"])


mcp.run()
"""


@pytest.fixture(scope="module", params=["adapter", "original"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("early")
    files = {"server.py": PROGRAM, "requirements.txt": "mcp==1.26.0\n"}
    write_files(folder / "project", files)
    return build(folder / "project", folder / "server.pyz", f"--framework={request.param}")


@pytest.mark.parametrize("fails", ["no", "yes"])
def test_a_program_is_started_once_its_tools_are_listed(server: Path, tmp_path: Path, fails: str) -> None:
    """One that cannot be started then is started by the first call."""
    starts = tmp_path / "starts"
    with StdioClient(server, environment={"STARTS": str(starts), "FAILS": fails}) as client:
        client.ask("initialize", initialization())
        client.ask("prompts/list")
        assert not starts.exists()
        client.ask("tools/list")
        assert wait_for(starts) == "x"
        if fails == "yes":
            assert client.process.stderr is not None
            said = iter(client.process.stderr.readline, b"")
            assert any(b"was not started before its first call" in line for line in said)
        made = client.ask("tools/call", {"name": "starts", "arguments": {}})
        assert made["result"]["structuredContent"] == {"result": 2 if fails == "yes" else 1}
