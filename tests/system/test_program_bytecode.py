"""The start of programs in built files: their bytecode, and the start before the first call."""

import marshal
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from mcpc.emit.bytecode import MAGIC
from mcpc_runtime.handlers.python.program_bytecode import ENTRY, ProgramCode
from support.artifact import build, built_fixture
from support.files import write_files
from support.processes import wait_for
from support.stdio import StdioClient, initialization

DATA = yaml.safe_load(Path(__file__).with_name("program_bytecode.yaml").read_text("utf-8"))
FILES = DATA["FILES"]


shelf = built_fixture(FILES)


def result(client: StdioClient, name: str) -> Any:
    return client.ask("tools/call", {"name": name, "arguments": {}})["result"]


def test_the_entry_has_what_the_program_imports(shelf: Path) -> None:
    data = zipfile.ZipFile(shelf).read(ENTRY)
    head = len(MAGIC) + 4
    table = marshal.loads(data[head : head + int.from_bytes(data[head - 4 : head], "little")])
    assert data.startswith(MAGIC)
    assert [*table] == ["src/shelf/__init__.py", "src/shelf/reports.py", "src/shelf/server.py"]


def test_modules_are_not_compiled_and_have_their_sources(shelf: Path) -> None:
    client = StdioClient(shelf)
    client.initialize()
    found = result(client, "describe")["structuredContent"]
    assert found["compiled here"] is False
    assert found["source"].startswith('def describe() -> dict[str, object]:\n    """Describe this function."""\n')
    assert found["line"] == "import inspect\n"
    assert found["file"] is True
    (block,) = result(client, "fail")["content"]
    assert "src/shelf/reports.py" in block["text"]
    assert ', line 22, in fail\n    raise LookupError("no such book")\n' in block["text"]
    client.close()


def test_a_module_that_is_imported_later_is_compiled_from_its_source(shelf: Path) -> None:
    client = StdioClient(shelf)
    client.initialize()
    assert result(client, "late")["structuredContent"] == {"result": True}
    client.close()


def test_other_bytecode_is_not_used(shelf: Path) -> None:
    data = zipfile.ZipFile(shelf).read(ENTRY)
    path = "/program/src/shelf/reports.py"
    code = ProgramCode("/program", data).of(path)
    assert code.co_filename == path
    assert {item.co_filename for item in code.co_consts if hasattr(item, "co_filename")} == {path}
    assert ProgramCode("/program", data).of("/elsewhere/src/shelf/reports.py") is None
    assert not ProgramCode("/program", bytes(len(MAGIC)) + data[len(MAGIC) :])


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
            said = iter(client.process.stderr.readline, b"")
            assert any(b"was not started before its first call" in line for line in said)
        made = client.ask("tools/call", {"name": "starts", "arguments": {}})
        assert made["result"]["structuredContent"] == {"result": 2 if fails == "yes" else 1}
