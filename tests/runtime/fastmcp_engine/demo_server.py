"""A server for FastMCP 2, 3 and 4 that uses what projects use; the real packages' answers to its calls are recorded."""

import asyncio
import enum
import logging
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Optional

import fastmcp
from fastmcp import Context, FastMCP
from fastmcp.dependencies import CurrentContext, Depends
from fastmcp.exceptions import ResourceError, ToolError
from fastmcp.prompts import Message
from fastmcp.server.dependencies import get_context, get_http_headers, get_http_request
from fastmcp.server.elicitation import AcceptedElicitation, DeclinedElicitation
from fastmcp.server.middleware import Middleware
from fastmcp.tools import Tool
from fastmcp.utilities.types import Audio, File, Image
from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

MAJOR = int(fastmcp.__version__.partition(".")[0])
if MAJOR >= 3:
    from fastmcp.tools import ToolResult
else:
    from fastmcp.tools.tool import ToolResult
if MAJOR >= 4:
    from mcp_types import TextContent
else:
    from mcp.types import TextContent
logging.disable(logging.CRITICAL)
NOTES = []


@asynccontextmanager
async def lifespan(server):
    yield {"database": "open", "name": server.name}


class Noting(Middleware):
    async def on_message(self, context, call_next):
        if context.method not in ("tools/call", "resources/read", "prompts/get"):
            return await call_next(context)
        NOTES.append(f"message {context.method}")
        return await call_next(context)

    async def on_request(self, context, call_next):
        if context.method != "initialize" and not context.method.endswith("/list"):
            NOTES.append(f"request {context.type} {context.source}")
        return await call_next(context)

    async def on_call_tool(self, context, call_next):
        NOTES.append(f"tool {context.message.name} {sorted(context.message.arguments or {})}")
        if context.message.name == "blocked":
            raise ToolError("Not now.")
        result = await call_next(context)
        if context.message.name == "changed":
            return ToolResult(content=[*result.content, TextContent(type="text", text="and more")])
        return result

    async def on_read_resource(self, context, call_next):
        NOTES.append(f"resource {context.message.uri}")
        return await call_next(context)

    async def on_get_prompt(self, context, call_next):
        NOTES.append(f"prompt {context.message.name}")
        return await call_next(context)


mcp = FastMCP("demo", instructions="A demo.", lifespan=lifespan, middleware=[Noting()])


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    street: str
    zip_code: str = Field(alias="zipCode", default="0")


class Person(BaseModel):
    name: str
    age: int = Field(ge=0)
    address: Address | None = None


class Kept(BaseModel):
    model_config = ConfigDict(serialize_by_alias=False)
    inner_name: str = Field(alias="innerName", default="x")


class Point(TypedDict):
    x: int
    y: int


@dataclass
class Pair:
    left: str
    right: int = 0


@mcp.tool
def add(a: int, b: int = 2) -> int:
    """Add."""
    return a + b


@mcp.tool
def untyped(a, b=None):
    return [a, b]


@mcp.tool
def kinds(
    text: str,
    number: float = 1.5,
    flag: bool = False,
    items: list[int] = [],  # noqa: B006
    table: dict[str, int] | None = None,
    color: Color = Color.RED,
    level: Literal["low", "high"] = "low",
    when: datetime | None = None,
) -> str:
    return f"{text!r} {number!r} {flag!r} {items!r} {table!r} {color!r} {level!r} {when!r}"


@mcp.tool
def person(who: Person, pair: Pair | None = None) -> Person:
    return Person(name=who.name.upper(), age=who.age + 1, address=who.address)


@mcp.tool
def limited(
    n: Annotated[int, Field(ge=1, le=10, description="How many")], name: Annotated[str, "A name"] = "x"
) -> dict[str, Any]:
    return {"n": n, "name": name}


@mcp.tool
def field_default(n: int = Field(5, ge=1), text: str = Field(default="t", description="text")) -> list[str]:
    return [text] * n


@mcp.tool
def aliased(value: Annotated[int, Field(validation_alias=AliasChoices("value", "wert"))] = 1) -> int:
    return value


@mcp.tool
def nothing() -> None:
    return None


@mcp.tool
def returns_dict() -> dict:
    return {"z": 1, "a": [1, 2.5, None, True], "text": 'ä\n"q"', "float": 1e20, "small": 1e-7}


@mcp.tool
def returns_list() -> list[int]:
    return [1, 2, 3]


@mcp.tool
def returns_models() -> list[Person]:
    return [Person(name="a", age=1), Person(name="b", age=2, address=Address(street="s", zipCode="9"))]


@mcp.tool
def returns_alias() -> Address:
    return Address(street="s", zipCode="9")


@mcp.tool
def returns_kept() -> Kept:
    return Kept(innerName="y")


@mcp.tool
def returns_model_unannotated():
    return Person(name="a", age=1, address=Address(street="s"))


@mcp.tool
def returns_dataclass() -> Pair:
    return Pair("l", 3)


@mcp.tool
def returns_typed_dict() -> Point:
    return {"x": 1, "y": 2}


@mcp.tool
def returns_bytes() -> bytes:
    return b"abc"


@mcp.tool
def returns_raw_bytes():
    return b"\xff\xfe"


@mcp.tool
def returns_tuple() -> tuple[int, str]:
    return (1, "a")


@mcp.tool
def returns_set() -> set[int]:
    return {1}


@mcp.tool
def returns_time() -> datetime:
    return datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


@mcp.tool
def returns_enum() -> Color:
    return Color.BLUE


@mcp.tool
def returns_optional(some: bool) -> str | None:
    return "x" if some else None


@mcp.tool
def returns_any() -> Any:
    return {"any": 1}


@mcp.tool
def returns_object():
    class Thing:
        def __str__(self):
            return "a thing"

    return Thing()


@mcp.tool
def returns_empty_list() -> list[str]:
    return []


@mcp.tool
def returns_text_list():
    return ["a", "b"]


@mcp.tool
def returns_image():
    return Image(data=b"png", format="png")


@mcp.tool
def returns_jpg() -> Image:
    return Image(data=b"jpg", format="jpg")


@mcp.tool
def returns_mixed() -> list:
    return ["text", Image(data=b"png"), {"a": 1}, TextContent(type="text", text="block")]


@mcp.tool
def returns_helpers():
    return [Image(data=b"png"), Audio(data=b"wav"), File(data=b"hello", format="txt", name="note"), File(data=b"x")]


@mcp.tool
def returns_block():
    return TextContent(type="text", text="block")


@mcp.tool
def returns_blocks() -> list[TextContent]:
    return [TextContent(type="text", text="1"), TextContent(type="text", text="2")]


@mcp.tool
def returns_result():
    return ToolResult(content="text", structured_content={"a": 1})


@mcp.tool
def returns_result_list():
    return ToolResult(content=["a", {"b": 1}], meta={"k": "v"})


@mcp.tool
def returns_structured_only():
    return ToolResult(structured_content={"only": "this"})


@mcp.tool(output_schema=None)
def no_schema() -> dict[str, int]:
    return {"a": 1}


@mcp.tool(output_schema={"type": "object", "properties": {"n": {"type": "integer"}}})
def own_schema():
    return {"n": 1}


@mcp.tool
def generator():
    yield 1
    yield 2


@mcp.tool
async def asynchronous(seconds: float = 0.0) -> str:
    await asyncio.sleep(seconds)
    return "done"


@mcp.tool
def fails(kind: str = "value") -> str:
    raise {"value": ValueError("bad value"), "tool": ToolError("told"), "key": KeyError("k"), "os": OSError(2, "No")}[
        kind
    ]


@mcp.tool
def fails_inside() -> int:
    return Person(name="x", age=-1).age


@mcp.tool
def wrong_type() -> int:
    return "not a number"


@mcp.tool
async def logs(ctx: Context) -> str:
    await ctx.debug("d")
    await ctx.info("i", logger_name="mine")
    await ctx.warning("w", extra={"k": 1})
    await ctx.error("e")
    await ctx.log("l", level="notice")
    return "logged"


@mcp.tool
async def progresses(n: int, ctx: Context) -> str:
    for i in range(n):
        await ctx.report_progress(i, n, f"step {i}")
    await ctx.report_progress(n)
    return "ok"


@mcp.tool
async def optional_context(ctx: Optional[Context] = None) -> bool:  # noqa: UP045
    return ctx is not None


@mcp.tool
async def text_context(x: int, ctx: "Annotated[Context, 'it']") -> int:
    return x if isinstance(ctx, Context) else -1


@mcp.tool
async def current_context(c: Context = CurrentContext()) -> str:  # noqa: B008
    return c.fastmcp.name


@mcp.tool
async def about(ctx: Context) -> dict:
    headers = get_http_headers()
    try:
        get_http_request()
        request = "a request"
    except RuntimeError as problem:
        request = type(problem).__name__
    return {
        "request": isinstance(ctx.request_id, str) and bool(ctx.request_id),
        "session": isinstance(ctx.session_id, str) and bool(ctx.session_id),
        "client": ctx.client_id,
        "server": ctx.fastmcp.name,
        "same": get_context() is ctx or get_context().request_id == ctx.request_id,
        "lifespan": dict(ctx.request_context.lifespan_context),
        "headers": headers,
        "http": request,
    }


async def state(ctx, method, *arguments):
    result = getattr(ctx, method)(*arguments)
    return await result if asyncio.iscoroutine(result) else result


@mcp.tool
async def remember(key: str, value: str, ctx: Context) -> Any:
    before = await state(ctx, "get_state", key)
    await state(ctx, "set_state", key, value)
    return {"before": before, "now": await state(ctx, "get_state", key)}


def settings():
    return {"url": "u"}


async def connection(given: dict = Depends(settings)):  # noqa: B008
    return f"connected to {given['url']}"


@asynccontextmanager
async def transaction():
    NOTES.append("begin")
    try:
        yield "t1"
    finally:
        NOTES.append("end")


@mcp.tool
async def depends(x: int, db: str = Depends(connection), t: str = Depends(transaction)) -> str:
    return f"{x} {db} {t}"


def broken():
    raise ValueError("no dependency")


@mcp.tool
def depends_broken(x: str = Depends(broken)) -> str:
    return x


@mcp.tool
async def reads(uri: str, ctx: Context) -> list:
    result = await ctx.read_resource(uri)
    return [part.content for part in getattr(result, "contents", result)]


@mcp.tool
async def asks(kind: str, ctx: Context) -> str:
    types = {
        "person": Pair,
        "text": str,
        "number": int,
        "flag": bool,
        "choice": ["a", "b"],
        "literal": Literal["x", "y"],
        "color": Color,
        "titled": {"low": {"title": "Low"}, "high": {"title": "High"}},
        "several": [["p", "q"]],
        "model": Address,
        "nested": Person,
    }
    answer = await ctx.elicit(f"Which {kind}?", types[kind])
    if isinstance(answer, AcceptedElicitation):
        return f"accepted {answer.data!r}"
    return "declined" if isinstance(answer, DeclinedElicitation) else answer.action


@mcp.tool
async def samples(text: str, ctx: Context) -> str:
    result = await ctx.sample(text, system_prompt="Be brief.", temperature=0.5, max_tokens=50)
    return f"said {result.text}"


@mcp.tool
async def roots(ctx: Context) -> list[str]:
    return [str(root.uri) for root in await ctx.list_roots()]


@mcp.tool
def notes() -> list[str]:
    found = list(NOTES)
    NOTES.clear()
    return found


@mcp.tool
def blocked() -> str:
    return "never"


@mcp.tool
def changed() -> str:
    return "first"


@mcp.tool(name="renamed", description="Another", tags={"t"}, annotations={"readOnlyHint": True, "title": "R"})
def original(x: int) -> int:
    return x


@mcp.tool(timeout=0.05) if MAJOR >= 3 else mcp.tool
async def slow() -> str:
    await asyncio.sleep(0.2)
    return "slow"


class Methods:
    def __init__(self, n):
        self.n = n

    def times(self, x: int) -> int:
        return self.n * x

    @classmethod
    def made(cls, x: int) -> str:
        return f"{cls.__name__} {x}"

    @staticmethod
    def plain(x: int) -> int:
        return x


METHODS = Methods(3)
mcp.add_tool(Tool.from_function(METHODS.times))
mcp.add_tool(Tool.from_function(Methods.made))
mcp.add_tool(Tool.from_function(Methods.plain, name="static"))
mcp.add_tool(Tool.from_function(lambda x: x, name="anonymous"))


def search(query: str, limit: int = 10, unit: str = "m") -> str:
    return f"{query} {limit} {unit}"


mcp.add_tool(Tool.from_function(search))


@mcp.resource("data://text")
def text_resource() -> str:
    return "text"


@mcp.resource("data://json", mime_type="application/json")
def json_resource():
    return {"a": 1, "b": [1, 2]} if MAJOR < 3 else '{"a":1}'


@mcp.resource("data://dict")
def dict_resource() -> dict:
    return {"a": "ä"}


@mcp.resource("data://bytes", mime_type="image/png")
async def bytes_resource() -> bytes:
    return b"png"


@mcp.resource("data://context")
async def context_resource(ctx: Context) -> str:
    return f"{ctx.fastmcp.name}"


@mcp.resource("data://fails")
def failing_resource() -> str:
    raise ValueError("cannot read")


@mcp.resource("data://refuses")
def refusing_resource() -> str:
    raise ResourceError("refused")


@mcp.resource("items://{item_id}/part/{part}")
def item(item_id: int, part: str) -> str:
    return f"{item_id + 1} {part}"


@mcp.resource("files://{path*}")
def files(path: str) -> str:
    return path


@mcp.resource("search://{topic}{?limit,exact}")
def searching(topic: str, limit: int = 5, exact: bool = False) -> str:
    return f"{topic!r} {limit!r} {exact!r}"


@mcp.resource("fails://{x}")
def failing_template(x: str) -> str:
    raise ValueError("no template")


@mcp.prompt
def greet(name: str, times: int = 1) -> str:
    """Greet someone."""
    return f"Hello {name}" + "!" * times


@mcp.prompt(name="chat", description="A chat.")
def conversation(topic: str) -> list[Message]:
    return [Message(f"About {topic}?"), Message("Yes.", role="assistant")]


@mcp.prompt
def complex_prompt(numbers: list[int], options: dict[str, str] | None = None) -> str:
    return f"{sum(numbers)} {options!r}"


@mcp.prompt
async def context_prompt(ctx: Context) -> str:
    return ctx.fastmcp.name


@mcp.prompt
def fails_prompt() -> str:
    raise ValueError("no prompt")


@mcp.prompt
def text_list() -> list:
    return ["one", "two"]


child = FastMCP("child")


@child.tool
def inner(x: int, ctx: Context) -> str:
    return f"{ctx.fastmcp.name} {x}"


@child.tool
def inner_fails() -> str:
    raise ValueError("inside")


@child.resource("inner://value")
def inner_value() -> str:
    return "inner"


@child.resource("inner://{x}/t")
def inner_template(x: str) -> str:
    return f"inner {x}"


@child.prompt
def inner_prompt(a: str) -> str:
    return f"inner {a}"


mcp.mount(child, **{"namespace" if MAJOR >= 3 else "prefix": "sub"})
masked = FastMCP("masked", mask_error_details=True)


@masked.tool
def hides() -> str:
    raise ValueError("secret")


@masked.tool
def tells() -> str:
    raise ToolError("told")


mcp.mount(masked)

if __name__ == "__main__":
    mcp.run(show_banner=False)
    sys.exit(0)
