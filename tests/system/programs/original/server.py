"""A server of the official SDK that is built with its framework; it uses an in-memory client of itself."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.prompts import base
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import Completion, CompletionArgument
from pydantic import BaseModel

print("printed to standard output")


@asynccontextmanager
async def lifespan(server: FastMCP) -> AsyncIterator[dict[str, str]]:
    print("lifespan begins", file=sys.stderr)
    server.resource("original://late")(late)
    yield {"opened": os.environ["ORIGINAL_VARIABLE"]}
    Path(os.environ["LEFT_FILE"]).write_text("left")


def late() -> str:
    """Read what the lifespan adds."""
    return "late"


server = FastMCP("Original", instructions="Runs with its framework.", lifespan=lifespan)
counted = {"calls": 0}


class Sum(BaseModel):
    total: int


class Color(BaseModel):
    color: str


@server.tool()
def add(a: int, b: int) -> Sum:
    """Add two numbers."""
    counted["calls"] += 1
    return Sum(total=a + b)


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("no such thing")


@server.tool()
def crash() -> str:
    """End the process."""
    os._exit(7)


@server.tool()
def state(context: Context) -> str:
    """Say what is open, and how many sums there were."""
    return f"{context.request_context.lifespan_context['opened']} {counted['calls']}"


@server.tool()
async def through_a_client(a: int) -> str:
    """Add with a client of this server."""
    async with create_connected_server_and_client_session(inner._mcp_server) as session:
        result = await session.call_tool("double", {"a": a})
    return result.content[0].text


@server.tool()
async def ask(context: Context) -> str:
    """Ask the user."""
    answer = await context.elicit("Which color?", Color)
    return f"{answer.action} {answer.data.color if answer.action == 'accept' else ''}"


@server.tool()
async def steps(context: Context) -> str:
    """Report progress and log."""
    for step in range(3):
        await context.report_progress(step, 2)
    await context.info("stepped")
    return "done"


@server.tool()
async def forever(context: Context) -> str:
    """Wait until it is cancelled."""
    await context.info("waiting")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        Path(os.environ["CANCELLED_FILE"]).write_text("cancelled")
        raise
    return "never"


@server.tool()
def long_text() -> str:
    """Return more than a pipe holds."""
    return "x" * (1 << 20)


@server.prompt()
def greet(name: str) -> list[base.Message]:
    """Greet."""
    return [base.UserMessage(f"Greet {name}.")]


@server.resource("original://{name}/about")
def about(name: str) -> str:
    """Read about a name."""
    return f"about {name}"


@server.completion()
async def complete(reference: object, argument: CompletionArgument, context: object) -> Completion:
    return Completion(values=[f"{argument.value}-1", f"{argument.value}-2"])


inner = FastMCP("Inner")


@inner.tool()
def double(a: int) -> int:
    return 2 * a


async def check() -> None:
    async with create_connected_server_and_client_session(inner._mcp_server) as session:
        await session.list_tools()


asyncio.run(check())

if __name__ == "__main__":
    server.run(transport="streamable-http")
