"""A server whose components come from providers, through transforms: FastMCP 3 and later."""

import sys

from fastmcp import Context, FastMCP
from fastmcp.resources import Resource
from fastmcp.server.middleware import Middleware
from fastmcp.server.providers import AggregateProvider, LocalProvider, Provider
from fastmcp.server.transforms import (
    Namespace,
    Transform,
    VersionFilter,
)
from fastmcp.tools import Tool

mcp = FastMCP("providers")


class Scale(Tool):
    factor: int = 2

    async def run(self, arguments):
        return self.convert_result({"scaled": arguments["value"] * self.factor})


class Row(Resource):
    number: int = 0

    async def read(self):
        return f"row {self.number}"


VALUE = {"type": "object", "properties": {"value": {"type": "integer"}}, "required": ["value"]}


class Rows(Provider):
    async def _list_tools(self):
        return [Scale(name=f"scale_{n}", description=f"Times {n}", parameters=VALUE, factor=n) for n in (2, 3)]

    async def _list_resources(self):
        return [Row(uri=f"row://{n}", name=f"row {n}", number=n) for n in (1, 2)]


class Broken(Provider):
    async def _list_tools(self):
        raise RuntimeError("the source is away")

    async def _get_tool(self, name, version=None):
        raise RuntimeError("the source is away")


class Marked(Transform):
    async def list_tools(self, tools):
        return [each.model_copy(update={"title": f"({each.name})"}) for each in tools]

    async def get_tool(self, name, call_next, *, version=None):
        found = await call_next(name, version=version)
        return found and found.model_copy(update={"title": f"({name})"})


mcp.add_provider(Rows(), namespace="db")
mcp.add_provider(Broken())
local = LocalProvider()


@local.tool(tags={"extra"})
def plus(a: int, b: int = 1) -> int:
    """Add."""
    return a + b


@local.tool(enabled=False)
def never() -> str:
    return "hidden"


@local.resource("note://{name}")
def note(name: str) -> str:
    return f"note {name}"


@local.prompt
def ask(topic: str) -> str:
    return f"What is {topic}?"


both = AggregateProvider()
both.add_provider(local, namespace="in")
mcp.add_provider(both)


@mcp.tool(version="1.0")
def versioned() -> str:
    return "one"


@mcp.tool(name="versioned", version="2.0")
def versioned2() -> str:
    return "two"


@mcp.tool(name="versioned", version="10.0")
def versioned10() -> str:
    return "ten"


@mcp.tool
async def show(ctx: Context, hidden: bool) -> str:
    change = ctx.disable_components if hidden else ctx.enable_components
    await change(tags={"extra"}, components={"tool"})
    return "done"


class Shouting(Middleware):
    async def on_call_tool(self, context, call_next):
        result = await call_next(context)
        result.content[0].text += "!"
        return result


child = FastMCP("child", middleware=[Shouting()])


@child.tool
def hello(name: str) -> str:
    return f"hello {name}"


@child.tool
def other() -> str:
    raise ValueError("broken")


@child.resource("child://{a}/{b*}")
def deep(a: str, b: str) -> str:
    return f"{a} and {b}"


mcp.mount(child, namespace="child", tool_names={"hello": "greet"})
old = FastMCP("old", transforms=[VersionFilter(version_lt="2.0")])
old.tool(lambda: "old", name="kept", version="1.5")
old.tool(lambda: "new", name="kept", version="2.5")
mcp.mount(old)
shown = FastMCP("shown")
shown.tool(lambda: 1, name="a", tags={"x"})
shown.tool(lambda: 2, name="b")
shown.enable(tags={"x"}, only=True)
mcp.mount(shown, namespace="shown")
asking = FastMCP("asking")


@asking.resource("data://x")
def data() -> str:
    return "x of asking"


@asking.prompt
def question(n: int) -> str:
    return f"question {n}"


asking.add_transform(Namespace("asked"))
mcp.mount(asking)
mcp.add_transform(Marked())

if __name__ == "__main__":
    mcp.run(show_banner=False)
    sys.exit(0)
