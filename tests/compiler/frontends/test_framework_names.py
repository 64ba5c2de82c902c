"""Which names of a framework the files of a program use."""

import pytest

from mcpc.frontends.fastmcp.entry_points import EntryPoint
from mcpc.frontends.fastmcp.framework_names import framework_names
from support.projects import tree

FILES = {
    "server.py": "import helper\nfrom fastmcp import Client, FastMCP\nimport mcp.types as types\n\n\n"
    "def call():\n    from mcp import ClientSession\n    return types.Tool, ClientSession, FastMCP.as_proxy\n",
    "helper.py": "import fastmcp\nimport requests\n\n\ndef ask():\n    return fastmcp.client.Client, requests.get\n",
    "unused.py": "from fastmcp import Skill\n",
}
NAMES = [
    ["fastmcp", "helper.py", 1],
    ["fastmcp.client", "helper.py", 6],
    ["fastmcp.client.Client", "helper.py", 6],
    ["fastmcp.Client", "server.py", 2],
    ["fastmcp.FastMCP", "server.py", 2],
    ["fastmcp.FastMCP.as_proxy", "server.py", 8],
    ["mcp.ClientSession", "server.py", 7],
    ["mcp.types", "server.py", 3],
    ["mcp.types.Tool", "server.py", 8],
]
ONE = {
    "ready to fail": ("try:\n    from fastmcp import Skill\nexcept ImportError:\n    Skill = None\n", []),
    "for type checkers": ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from fastmcp import Skill\n", []),
    "a parameter of the name": ("import mcp\n\n\ndef register(mcp):\n    mcp.tool()\n", ["mcp"]),
    "a variable of the name": ("import mcp.server\nmcp = make()\nmcp.tool()\n", ["mcp.server"]),
    "all names": ("from mcp.types import *\n", ["mcp.types"]),
    "a relative import": ("from .mcp import Tool\n", []),
    "another package": ("import mcps\nmcps.tool()\n", []),
    "not Python": ("from mcp import\n", []),
}


def test_the_names_of_all_files_that_are_reached() -> None:
    assert framework_names(tree(FILES), EntryPoint("file", "server.py", file="server.py")) == NAMES


@pytest.mark.parametrize("name", ONE)
def test_what_counts_as_a_name(name: str) -> None:
    text, names = ONE[name]
    found = framework_names(tree({"server.py": text}), EntryPoint("file", "server.py", file="server.py"))
    assert [row[0] for row in found] == names
