"""A server of decorated functions for the SDK: its version 2, or 1, which has other names."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from typing import Annotated, Any, Literal, TypedDict

from pydantic import BaseModel, Field

try:
    from mcp.server.mcpserver import Context, Image, MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.mcpserver.prompts.base import AssistantMessage, UserMessage
    from mcp.server.mcpserver.resources import TextResource
    from mcp_types import Completion, EmbeddedResource, TextContent, TextResourceContents, ToolAnnotations

    IS_FIRST, READ_ONLY, SERVER = False, "read_only_hint", "mcp_server"
except ImportError:
    from mcp.server.fastmcp import Context, Image
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.server.fastmcp.exceptions import ToolError
    from mcp.server.fastmcp.prompts.base import AssistantMessage, UserMessage
    from mcp.server.fastmcp.resources import TextResource
    from mcp.server.session import ServerSession
    from mcp.types import Completion, EmbeddedResource, TextContent, TextResourceContents, ToolAnnotations

    IS_FIRST, READ_ONLY, SERVER = True, "readOnlyHint", "fastmcp"


@dataclasses.dataclass
class App:
    db: str


@asynccontextmanager
async def lifespan(server: MCPServer) -> AsyncIterator[App]:
    yield App(f"db of {server.name}")


mcp = MCPServer("demo", instructions="Use it.", lifespan=lifespan)


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: int
    y: int = Field(default=0, description="Height")
    label: str | None = None


class Sizes(TypedDict):
    width: int
    depth: float


@dataclasses.dataclass
class Box:
    name: str
    size: int = 2


@mcp.tool()
def add(a: int, b: int = 2) -> int:
    """Add two numbers.

    More text.
    """
    return a + b


@mcp.tool(name="shapes", title="Shapes", annotations=ToolAnnotations(**{READ_ONLY: True}, title="S"))
def shape(
    point: Point,
    tags: list[str],
    color: Annotated[Color, Field(description="A color")] = Color.RED,
    mode: Literal["a", "b"] = "a",
    when: date | None = None,
) -> str:
    return f"{point!r} {tags} {color} {mode} {when}"


@mcp.tool()
def kinds(kind):
    """Return a kind of value."""
    match kind:
        case "text":
            return "hi"
        case "number":
            return 1.5
        case "none":
            return None
        case "list":
            return ["a", 1, {"b": None}]
        case "dict":
            return {"a": [1], "é": "é"}
        case "model":
            return Point(x=1)
        case "dataclass":
            return Box("b")
        case "image":
            return Image(data=b"png", format="jpeg")
        case "mixed":
            return ["text", Image(data=b"png"), TextContent(type="text", text="c"), Point(x=2)]
        case "bytes":
            return b"\x00\xff"
        case "resource":
            return EmbeddedResource(type="resource", resource=TextResourceContents(uri="memo://x", text="t"))
        case "object":
            return object
        case "date":
            return date(2025, 1, 2)
        case "error":
            raise ValueError("it is wrong")
        case "tool_error":
            raise ToolError("refused")
    raise KeyError(kind)


@mcp.tool()
def model(x: int) -> Point:
    return Point(x=x, label="l")


@mcp.tool()
def sizes(width: int) -> Sizes:
    return {"width": width, "depth": 1}


@mcp.tool()
def box() -> Box:
    return Box("b")


@mcp.tool()
def names(count: int) -> list[str]:
    return ["n"] * count


@mcp.tool()
def mapping() -> dict[str, int]:
    return {"a": 1}


@mcp.tool()
def wrong() -> int:
    return "text"


@mcp.tool()
def either(value: int | str | None = None) -> int | str | None:
    return value


@mcp.tool(structured_output=False)
def plain(items: list[int]) -> list[int]:
    return items


@mcp.tool()
def contents() -> list[TextContent]:
    return [TextContent(type="text", text="a")]


AppContext = Context[ServerSession, App] if IS_FIRST else Context[App]


@mcp.tool()
async def ask(what: str, ctx: AppContext) -> str:
    match what:
        case "lifespan":
            return ctx.request_context.lifespan_context.db
        case "log":
            await ctx.info("hello")
            await ctx.warning("careful")
            return "logged"
        case "progress":
            await ctx.report_progress(1, 2)
            return "half"
        case "elicit":
            result = await ctx.elicit("Name?", Name)
            return f"{result.action} {result.data.n}"
        case "read":
            return str([(each.content, each.mime_type) for each in await ctx.read_resource("memo://one")])
        case "context":
            facts = (
                (ctx.client_id, getattr(ctx, SERVER).name, mcp.get_context().request_id == ctx.request_id)
                if IS_FIRST
                else (getattr(ctx, SERVER).name,)
            )
            return str((ctx.request_id != "", *facts))
        case "tools":
            return str([tool.name for tool in await mcp.list_tools()][:3])
        case "manager":
            return str([tool.name for tool in mcp._tool_manager.list_tools()][:3])
    return "nothing"


class Name(BaseModel):
    n: str


@mcp.tool()
def copy(schema: str, json: str = "j") -> str:
    """A parameter that pydantic has a method of that name for."""
    return schema + json


@mcp.prompt()
def greet(name: str, times: int = 1) -> str:
    """Greet someone."""
    return f"Hello {name} " * times


@mcp.prompt(title="Talk")
async def talk(topic: Annotated[str, Field(description="The topic")]) -> list[Any]:
    return [
        UserMessage(f"About {topic}"),
        AssistantMessage("Yes?"),
        {"role": "user", "content": "ok"},
        {"role": "user", "content": {"type": "text", "text": "x"}},
    ]


@mcp.prompt()
def broken() -> str:
    raise ValueError("no")


@mcp.resource("memo://one")
def one() -> str:
    """The first."""
    return "text"


@mcp.resource("memo://json", mime_type="application/json", name="json")
async def as_json() -> dict:
    return {"a": 1}


@mcp.resource("memo://bytes", mime_type="image/png")
def as_bytes() -> bytes:
    return b"\x00\x01"


@mcp.resource("https://example.com/fails")
def fails() -> str:
    raise ValueError("no")


@mcp.resource("memo://{name}/{part}")
def template(name: str, part: int) -> str:
    """A part."""
    return f"{name} {part!r}"


@mcp.prompt()
async def where(ctx: Context, part: str = "p") -> str:
    return f"{getattr(ctx, SERVER).name} {part}"


@mcp.resource("context://{name}")
def context_of(name: str, ctx: Context) -> str:
    return f"{name} of {getattr(ctx, SERVER).name}"


mcp.add_resource(TextResource(uri="memo://added", name="added", text="t"))


@mcp.completion()
async def complete(ref, argument, context):
    return Completion(values=[argument.value + "1"]) if argument.name == "name" else None
