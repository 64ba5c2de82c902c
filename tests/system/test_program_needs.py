"""Programs that need variables or arguments to start, of which none is packed; and those that ask their server themselves."""

import os
from pathlib import Path

import pytest

from support.artifact import build, contents
from support.files import write_files
from support.projects import parsed
from support.stdio import StdioClient, only_text, replies

HEAD = """import argparse, os, sys
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("shop")
@mcp.tool()
def add() -> int:
    return 1
"""
REQUIREMENTS = {"requirements.txt": "mcp==1.26.0\n"}
NEEDS = {
    "a key of the mapping": ("os.environ['TOKEN']", ["TOKEN"]),
    "two that messages name": (
        (
            "if not os.getenv('SHOP_ID'): sys.exit('SHOP_ID is missing')\n"
            "if not os.getenv('SHOP_PIN'): raise ValueError('set SHOP_PIN')"
        ),
        ["SHOP_ID", "SHOP_PIN"],
    ),
    "a status that a function returns": (
        (
            "def main():\n    if os.getenv('SHOP_URL', '')[:7] != 'http://':\n"
            "        print('Error: SHOP_URL is not set')\n        return 1\n    mcp.run()\nsys.exit(main())"
        ),
        ["SHOP_URL"],
    ),
    "a credential that no message names": (
        "key, level = os.getenv('API_KEY'), os.getenv('LEVEL')\nif not key or level: raise RuntimeError('no access')",
        ["API_KEY"],
    ),
    "arguments of a usage message": (
        (
            "p = argparse.ArgumentParser()\np.add_argument('--root', required=True)\np.add_argument('name')\n"
            "assert p.parse_args().root"
        ),
        ["--root"],
    ),
    "an argument that an exception names": (
        "if '--token' not in sys.argv: raise Exception(\"give '--token'\")",
        ["--token"],
    ),
}


@pytest.mark.parametrize("name", NEEDS)
def test_a_program_is_run_with_what_it_needs_to_start(name: str) -> None:
    written, needs = NEEDS[name]
    found, problems = parsed({"server.py": f"{HEAD}{written}\nmcp.run()\n", **REQUIREMENTS})
    assert found is not None, problems
    assert [tool.node.value["name"] for tool in found.tools] == ["add"]
    (warning,) = [problem for problem in problems if problem.code == "MCP306"]
    quoted = ", ".join(f"`{name}`" for name in needs)
    assert f"{quoted}: the build gave" in warning.message or f"({quoted}): the build gave" in warning.message
    assert "mcpc-build-value" not in repr(found.runtime_settings)


def test_a_value_that_the_program_offers_is_not_compiled() -> None:
    written = f"{HEAD}key = os.environ['KEY']\nmcp.add_tool(add, name='again', description=key)\nmcp.run()\n"
    found, problems = parsed({"server.py": written, **REQUIREMENTS})
    assert found is None
    (problem,) = [problem for problem in problems if problem.severity == "error"]
    assert problem.code == "MCP286"
    assert "--build-env KEY=VALUE" in problem.hint


def test_the_one_who_starts_the_server_gives_the_real_values(tmp_path: Path) -> None:
    written = (
        f"{HEAD}key = os.environ['KEY']\np = argparse.ArgumentParser()\np.add_argument('--root', required=True)\n"
        "root = p.parse_args().root\n@mcp.tool()\ndef read() -> str:\n    return f'{key} {root}'\nmcp.run()\n"
    )
    write_files(tmp_path / "project", {"server.py": written, **REQUIREMENTS})
    built = build(tmp_path / "project", tmp_path / "server.pyz")
    assert not any(b"mcpc-build-value" in data for data in contents(built).values())
    words = [built, "--", "--root", "/data"]
    (answer,) = replies(words, [("tools/call", {"name": "read", "arguments": {}})], env={**os.environ, "KEY": "own"})
    assert only_text(answer["result"]) == "own /data"


PROGRAM_DEMONSTRATIONS_HEAD = """import asyncio, sys
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
    return {"pyproject.toml": PROJECT, "server.py": PROGRAM_DEMONSTRATIONS_HEAD.replace("{asks}", asks) + end}


@pytest.mark.parametrize("asks", [CALLS, FAILS])
@pytest.mark.sampled(2)
def test_a_demonstration_is_imported_and_not_run(asks: str) -> None:
    found, problems = parsed(program(asks, GUARDED))
    assert found is not None, problems
    assert [tool.node.value["name"] for tool in found.tools] == ["add"]
    (warning,) = [problem for problem in problems if problem.code == "MCP298"]
    assert warning.severity == "warning"
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
@pytest.mark.sampled(4)
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
