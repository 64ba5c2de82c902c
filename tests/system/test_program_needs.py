"""Programs that do not start without variables or arguments: a build gives them others, and none of them is packed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from support.artifact import build, contents
from support.files import write_files
from support.projects import parsed
from support.stdio import only_text, replies

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
