"""Files that ask their server themselves: they are imported as the frameworks' commands do, with a warning."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.artifact import build
from support.files import write_files
from support.projects import parsed
from support.stdio import StdioClient

HEAD = """import asyncio, sys
from fastmcp import Client, FastMCP

mcp = FastMCP("demo")


@mcp.tool
def add(a: int, b: int) -> int:
    return a + b


async def main():
    async with Client(mcp) as client:
        {asks}


"""
CALLS = "print((await client.call_tool('add', {'a': 1, 'b': 2})).data)"
FAILS = "await client.call_tool('subtract', {})"
GUARDED = "if __name__ == '__main__':\n    asyncio.run(main())\n"
PROJECT = "[project]\nname = 'demo'\nversion = '1'\ndependencies = ['fastmcp==4.1.2']\n"


def program(asks: str, end: str) -> dict[str, object]:
    return {"pyproject.toml": PROJECT, "server.py": HEAD.replace("{asks}", asks) + end}


@pytest.mark.parametrize("asks", [CALLS, FAILS])
def test_a_demonstration_is_imported_and_not_run(asks: str) -> None:
    found, problems = parsed(program(asks, GUARDED))
    assert found is not None, problems
    assert [tool.node.value["name"] for tool in found.tools] == ["add"]
    (warning,) = [problem for problem in problems if problem.code == "MCP298"]
    assert warning.severity == "warning"
    assert warning.span is not None
    assert warning.span.path == "server.py"
    assert "--entry server.py:mcp" in warning.hint
    ((_, entry),) = found.runtime_settings
    assert (entry["kind"], entry["target"]) == ("object", "server.py:mcp")


NOT_IMPORTED = {
    "it serves, too": (CALLS, "if __name__ == '__main__':\n    asyncio.run(main())\n    mcp.run()\n"),
    "it is asked without a guard": (CALLS, "asyncio.run(main())\n"),
    "it ends without asking": (CALLS, "if __name__ == '__main__':\n    print('hello')\n"),
    "it registers more when it is run": (
        CALLS,
        "if __name__ == '__main__':\n    mcp.tool(main)\n    asyncio.run(main())\n",
    ),
}


@pytest.mark.parametrize("name", NOT_IMPORTED)
def test_a_file_that_does_more_is_run(name: str) -> None:
    asks, end = NOT_IMPORTED[name]
    found, problems = parsed(program(asks, end))
    assert found is not None, problems
    ((_, entry),) = found.runtime_settings
    if name == "it is asked without a guard":
        assert entry["kind"] == "object"  # importing it is running it
    else:
        assert (entry["kind"], entry["target"]) == ("file", "server.py")
        assert "MCP298" not in [problem.code for problem in problems]


def test_the_built_server_does_not_run_the_demonstration(tmp_path: Path) -> None:
    end = "print('module', file=sys.stderr)\nif __name__ == '__main__':\n    print('demonstration', file=sys.stderr)\n    asyncio.run(main())\n"
    server = build(write_files(tmp_path / "project", program(CALLS, end)), tmp_path / "server.pyz")
    client = StdioClient(server)
    client.initialize()
    answer = client.ask("tools/call", {"name": "add", "arguments": {"a": 2, "b": 3}})["result"]
    assert answer["structuredContent"] == {"result": 5}
    _, errors = client.end()
    assert b"module" in errors
    assert b"demonstration" not in errors
