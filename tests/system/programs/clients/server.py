"""Tools that use other servers: one in this process, one in a separate process, one over HTTP."""

import os
import sys
from pathlib import Path

from fastmcp import Client, Context, FastMCP
from fastmcp.client.transports import PythonStdioTransport, StreamableHttpTransport
from fastmcp.exceptions import ToolError
from fastmcp.server import create_proxy
from pydantic import BaseModel

PEER = Path(__file__).parent / "peer.py"
library = FastMCP("library")
mcp = FastMCP("clients")


class Book(BaseModel):
    title: str
    pages: int = 0


@library.tool
async def find(title: str, ctx: Context) -> Book:
    """Find a book."""
    if title == "none":
        raise ToolError("no such book")
    await ctx.info(f"found {title}")
    return Book(title=title, pages=7)


@library.resource("library://opening")
def opening() -> str:
    return "always"


@library.prompt
def recommend(count: int) -> str:
    return f"Recommend {count + 1} books."


@mcp.tool
async def in_memory(title: str) -> str:
    """Use the server of this process."""
    told = []

    async def log(message):
        told.append(message.data["msg"])

    async with Client(library, log_handler=log) as client:
        names = [tool.name for tool in await client.list_tools()]
        try:
            book = (await client.call_tool("find", {"title": title})).data
        except ToolError as problem:
            return f"failed: {problem}"
        (opened,) = await client.read_resource("library://opening")
        prompt = await client.get_prompt("recommend", {"count": 2})
        return f"{names} {book.title} {book.pages} {told} {opened.text} {prompt.messages[0].content.text}"


@mcp.tool
async def in_a_process(n: int) -> list[str]:
    """Use a server that is started for the call."""
    steps: list[str] = []

    async def progress(done, total, message):
        steps.append(f"{done}/{total}")

    transport = PythonStdioTransport(PEER, python_cmd=sys.executable, keep_alive=False)
    async with Client(transport, progress_handler=progress) as client:
        tools = await client.list_tools()
        result = await client.call_tool("double", {"n": n})
        return [client.initialize_result.server_info.name, str(len(tools)), str(result.structured_content), *steps]


@mcp.tool
async def over_http(item: str) -> str:
    """Use a server over HTTP."""
    async with Client(StreamableHttpTransport(os.environ["ORDERS_URL"])) as client:
        result = await client.call_tool("order", {"item": item})
        return str(result.structured_content)


@mcp.tool
async def unreachable() -> str:
    """Use a server that is not there."""
    try:
        async with Client("http://127.0.0.1:9/mcp"):
            return "connected"
    except RuntimeError as problem:
        return str(problem).partition(":")[0]


mcp.mount(create_proxy(library, name="proxy"), "books")

if __name__ == "__main__":
    mcp.run()
