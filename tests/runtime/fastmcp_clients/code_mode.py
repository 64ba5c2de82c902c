"""The code mode of the stand-ins, with a sandbox whose programs are lists of calls: `python code_mode.py GENERATION`."""

import asyncio
import json
import sys
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "runtime"))
from mcpc_runtime.systems.fastmcp import standins

GENERATION = sys.argv[1]
standins.install(GENERATION)

from fastmcp import Client, FastMCP  # noqa: E402
from fastmcp.exceptions import ToolError  # noqa: E402
from fastmcp.experimental.transforms.code_mode import (  # noqa: E402
    CodeMode,
    GetSchemas,
    GetTags,
    ListTools,
    MontySandboxProvider,
    Search,
)


class Program:
    """A program of the sandbox: a list of calls as JSON; the value of the last one is its result."""

    def __init__(self, code, inputs=()):
        self.calls = json.loads(code)
        self.inputs = inputs

    async def run_async(self, *, inputs, external_functions, limits):
        assert limits == {"max_duration_secs": 30.0, "max_memory": 100_000_000}
        found = None
        for name, params in self.calls:
            found = await external_functions["call_tool"](name, params)
        return found


class OwnSandbox:
    """A sandbox of a project; its functions need not be awaited."""

    async def run(self, code, *, inputs=None, external_functions=None):
        return {"code": code, "functions": sorted(external_functions)}


def server(**options):
    mcp = FastMCP("modes")

    @mcp.tool(tags={"numbers"})
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @mcp.tool(tags={"texts"})
    def shout(text: str) -> str:
        """Return a text in upper case."""
        return text.upper()

    @mcp.tool
    def fail() -> str:
        raise ToolError("never works")

    mcp.add_transform(CodeMode(**options))
    return mcp


async def text(client, name, **arguments):
    return (await client.call_tool(name, arguments)).content[0].text


async def failure(client, name, **arguments):
    try:
        await client.call_tool(name, arguments)
    except ToolError as problem:
        return str(problem)
    raise AssertionError(f"{name} did not fail")


async def names(client):
    return [each.name for each in await client.list_tools()]


async def found_tools():
    async with Client(server()) as client:
        assert await names(client) == ["search", "get_schema", "execute"]
        assert await text(client, "search", query="add numbers") == "1 of 3 tools:\n\n- add: Add two numbers."
        assert (
            await text(client, "search", query="text", tags=["numbers"])
            == "0 of 3 tools:\n\nNo tools matched the query."
        )
        full = json.loads(await text(client, "search", query="upper case text", detail="full", limit=1))
        assert [each["name"] for each in full] == ["shout"]
        schema = await text(client, "get_schema", tools=["add", "other"])
        assert schema.startswith("### add\n")
        assert "- `a` (integer, required)" in schema
        assert schema.endswith("\n\nTools not found: other")
        assert await text(client, "get_schema", tools=["other"]) == "Tools not found: other"
        parts = json.loads(await text(client, "get_schema", tools=["add", "other"], detail="full"))
        assert [each.get("name", each.get("not_found")) for each in parts] == ["add", ["other"]]


async def listed_tools():
    discovery = [GetTags(), ListTools(), GetSchemas(name="describe"), Search(search_fn=lambda tools, query: tools[:1])]
    async with Client(server(discovery_tools=discovery, execute_tool_name="run")) as client:
        assert await names(client) == ["tags", "list_tools", "describe", "search", "run"]
        assert await text(client, "tags") == "- numbers (1 tool)\n- texts (1 tool)\n- untagged (1 tool)"
        assert "### texts\n- shout: Return a text in upper case." in await text(client, "tags", detail="full")
        assert "- fail" in (await text(client, "list_tools")).splitlines()
        assert await text(client, "search", query="x") == "1 of 3 tools:\n\n- add: Add two numbers."


async def code():
    calls = [["add", {"a": 1, "b": 2}], ["shout", {"text": "hey"}]]
    async with Client(server(max_tool_calls=2)) as client:
        result = await client.call_tool("execute", {"code": json.dumps(calls)})
        assert result.structured_content == {"result": "HEY"}
        assert "Tool call limit exceeded" in await failure(client, "execute", code=json.dumps([*calls, calls[0]]))
        assert "Unknown tool: execute" in await failure(client, "execute", code='[["execute", {"code": "[]"}]]')
        assert "never works" in await failure(client, "execute", code='[["fail", {}]]')
    async with Client(server(sandbox_provider=OwnSandbox())) as client:
        result = await client.call_tool("execute", {"code": "anything"})
        assert result.structured_content == {"code": "anything", "functions": ["call_tool"]}


async def refused():
    try:
        await server(execute_tool_name="search").list_tools()
    except ValueError as problem:
        assert "search" in str(problem)
    else:
        raise AssertionError("two tools have one name")
    del sys.modules["pydantic_monty"]
    try:
        await MontySandboxProvider(limits=None).run("[]")
    except ImportError as problem:
        assert "fastmcp[code-mode]" in str(problem)
    else:
        raise AssertionError("there is no sandbox")


async def main():
    await found_tools()
    await listed_tools()
    await code()
    await refused()


sandbox = ModuleType("pydantic_monty")
sandbox.Monty = Program
sys.modules["pydantic_monty"] = sandbox
asyncio.run(main())
