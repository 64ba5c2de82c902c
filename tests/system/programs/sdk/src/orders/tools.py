"""The tools, prompts and resources."""

import asyncio
import os
import signal
import sys
from typing import Literal

from mcp.server.fastmcp import Context, FastMCP, Image
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from . import HERE


class Order(BaseModel):
    """An order."""

    item: str = Field(description="What is ordered")
    count: int = Field(1, ge=1)


class Confirmation(BaseModel):
    """What is asked before an order is deleted."""

    sure: bool


class LateError(Exception):
    """Raised by an alarm."""


def limited() -> str:
    """Work with a time limit of its own."""

    def stop(*_: object) -> None:
        raise LateError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        while True:
            os.getpid()
    except LateError:
        return "stopped in time"
    finally:
        signal.signal(signal.SIGALRM, before)


def register(mcp: FastMCP) -> None:
    """Register everything with a server."""

    @mcp.tool(annotations=ToolAnnotations(destructiveHint=False))
    def order(item: str, count: int = 1, note: str = None) -> Order:
        """Order something."""
        return Order(item=item, count=count)

    @mcp.tool()
    async def wait(seconds: float, ctx: Context) -> str:
        """Wait, and report progress."""
        for step in range(3):
            await ctx.report_progress(step, 3)
            await asyncio.sleep(seconds / 3)
        await ctx.info("waited")
        return "done"

    @mcp.tool()
    async def delete(ctx: Context, item: str) -> str:
        """Delete an order after a question."""
        answer = await ctx.elicit(f"Delete {item}?", schema=Confirmation)
        return f"{answer.action}: {answer.data.sure if answer.action == 'accept' else None}"

    @mcp.tool()
    def opened(ctx: Context) -> list[str]:
        """Note this call in what the lifespan made."""
        made = ctx.request_context.lifespan_context
        made["opened"].append("again")
        return [made["version"], *made["opened"]]

    @mcp.tool()
    def inform(kind: Literal["notice", "variable", "arguments", "worker", "limited"]) -> str:
        """Tell something of the process."""
        told = {
            "notice": lambda: (HERE / "notice.txt").read_text().strip(),
            "variable": lambda: os.environ["ORDERS_VARIABLE"],
            "arguments": lambda: " ".join(sys.argv[1:]),
            "worker": lambda: str(os.getpid()),
            "limited": limited,
        }
        return told[kind]()

    @mcp.tool()
    def fail() -> int:
        """Fail."""
        raise ValueError("no such order")

    @mcp.tool()
    def picture() -> Image:
        """Return a picture."""
        return Image(data=b"\x89PNG", format="png")

    @mcp.tool()
    def lie() -> dict[str, int]:
        """Return what the schema does not allow."""
        return {"count": "many"}

    @mcp.resource("orders://{item}/state")
    def state(item: str) -> str:
        """Tell the state of an order."""
        return f"{item}: open"

    @mcp.resource("orders://all", mime_type="application/json")
    def every() -> dict[str, int]:
        """Tell all orders."""
        return {"nails": 3}

    @mcp.prompt()
    def ask(item: str, tone: str = "kind") -> str:
        """Ask for an order."""
        return f"Order {item} in a {tone} tone."

    @mcp.completion()
    async def complete(ref, argument, context):
        """Complete names of items."""
        from mcp.types import Completion

        values = [name for name in ("nails", "nuts", "screws") if name.startswith(argument.value)]
        return Completion(values=values, total=len(values), hasMore=False)
