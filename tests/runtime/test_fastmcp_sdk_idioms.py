"""What projects do with the SDK besides registering functions works under the stand-ins, or says that it does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAD = """
import asyncio, sys
from mcpc_runtime.systems.fastmcp import program, standins
standins.install(sys.argv[1])
class Host:
    servers = []
    async def serve(self, server):
        lists = await server.mcpc_lists()
        print([entry.entry["name"] for entry in lists.tools], server.mcpc_information())
program.current_program.host = Host()
class Call:
    request_id = session_id = "1"; client_id = None; meta = {}; client_capabilities = {}; client_info = {}
    protocol_version = "2025-11-25"; transport = "http"; headers = {"X-Key": "k"}; http = {}; principal = None
def call(server, name, **arguments):
    result = asyncio.run(server.mcpc_call_tool(name, arguments, Call()))
    print([block["text"] for block in result["content"]], result["isError"])
"""


def run(generation, program):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "runtime")}
    command = [sys.executable, "-c", HEAD + program, generation]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.splitlines()


def test_server_that_is_run_tells_its_tools_and_its_version():
    program = """
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("a", host="0.0.0.0", stateless_http=True)
mcp.settings.port = 9
mcp._mcp_server.version = "3"
@mcp.tool()
def f(): "Say."
mcp.run(transport="streamable-http")
try:
    mcp.run(transport="other")
except ValueError as problem:
    print(problem)
"""
    assert run("sdk1", program) == ["['f'] {'name': 'a', 'version': '3'}", "Unknown transport: other"]


def test_subclass_replaces_lists_and_calls():
    program = """
from mcp.server.fastmcp import FastMCP
class Own(FastMCP):
    async def list_tools(self):
        return [tool for tool in await super().list_tools() if tool.name != "hidden"]
    async def call_tool(self, name, arguments):
        return [*await super().call_tool(name, arguments), *await super().call_tool(name, arguments)]
mcp = Own("a")
@mcp.tool(structured_output=False)
def f() -> str: return "x"
@mcp.tool()
def hidden(): pass
mcp.run()
call(mcp, "f")
"""
    assert run("sdk1", program) == ["['f'] {'name': 'a', 'version': ''}", "['x', 'x'] False"]


def test_low_level_handlers_of_a_decorated_server_can_be_replaced():
    program = """
from mcp.server.fastmcp import FastMCP
from mcp.types import CallToolRequest, ServerResult, TextContent, Tool
mcp = FastMCP("a")
@mcp._mcp_server.list_tools()
async def listed():
    return [Tool(name="own", inputSchema={"type": "object"})]
original = mcp._mcp_server.request_handlers[CallToolRequest]
async def traced(request):
    response = await original(request)
    response.root.content.append(TextContent(type="text", text=request.params.name))
    return ServerResult(response.root)
mcp._mcp_server.request_handlers[CallToolRequest] = traced
mcp.run()
call(mcp, "own")
"""
    assert run("sdk1", program) == ["['own'] {'name': 'a', 'version': ''}", "['Unknown tool: own', 'own'] True"]


def test_headers_of_the_http_request_are_known():
    program = """
from mcp.server.fastmcp import Context, FastMCP
mcp = FastMCP("a")
@mcp.tool()
def f(ctx: Context) -> str: return ctx.request_context.request.headers.get("x-key")
call(mcp, "f")
"""
    assert run("sdk1", program) == ["['k'] False"]


def test_parts_of_the_sdk_without_stand_in_can_be_imported_and_say_so_when_used():
    program = """
from mcp import ClientSession
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.shared.memory import create_connected_server_and_client_session
import mcp.types as types
from mcp.server.streamable_http import EventStore
class Store(EventStore): pass
Store()
try:
    stdio_client("x")
except Exception as problem:
    print(problem)
"""
    assert run("sdk1", program) == ["the adapter does not have `mcp.client.stdio.stdio_client`"]


@pytest.mark.parametrize("module", ["mcp.server.stdio", "mcp.server", "mcp.shared.exceptions"])
def test_a_private_name_that_a_project_sets_itself_is_not_there_before(module):
    program = f"""
import {module} as module
print(getattr(module, "_patched", "absent"))
module._patched = True
print(module._patched)
"""
    assert run("sdk1", program) == ["absent", "True"]


@pytest.mark.parametrize(("generation", "module"), [("sdk1", "mcp.server.fastmcp"), ("sdk2", "mcp.server.mcpserver")])
def test_options_about_authorization_are_noted(generation, module):
    name = {"sdk1": "FastMCP", "sdk2": "MCPServer"}[generation]
    program = f"""
from {module} import {name}
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcpc_runtime.systems.fastmcp.engine.server import taken_notes as notes
class Verifier(TokenVerifier):
    async def verify_token(self, token): return AccessToken(token=token, client_id="c", scopes=[])
{name}("a", token_verifier=Verifier(), auth=AuthSettings(issuer_url="https://i", resource_server_url="https://r"))
print([(note.text.partition("`")[2].partition("`")[0], note.line > 0) for note in notes()])
"""
    assert run(generation, program) == ["[('auth', True), ('token_verifier', True)]"]


def test_unknown_options_are_refused_as_there():
    program = """
from mcp.server.fastmcp import FastMCP
try:
    FastMCP("a", nothing=1)
except TypeError as problem:
    print(problem)
"""
    assert run("sdk1", program) == ["FastMCP.__init__() got an unexpected keyword argument 'nothing'"]


def test_middleware_is_around_calls():
    program = """
from mcp.server.mcpserver import MCPServer
async def twice(context, call_next):
    first = await call_next(context)
    second = await call_next(context)
    return first.model_copy(update={"content": [*first.content, *second.content]})
mcp = MCPServer("a", version="2", middleware=[twice])
@mcp.tool()
def f(): return "x"
call(mcp, "f")
mcp.run()
"""
    assert run("sdk2", program) == ["['x', 'x'] False", "['f'] {'name': 'a', 'version': '2'}"]
