"""Everything by decorators."""

from typing import Literal

from mcpc import Context, Server, completion, prompt, resource, tool

server = Server("functions", version="2.0", instructions="Use it.")


@tool
def add(a: int, b: int = 2) -> int:
    """Add two numbers.

    Args:
        a: the first
        b: the second
    """
    return a + b


@tool(name="long-name", title="Long", annotations={"readOnlyHint": True}, timeout=3)
async def long(kind: Literal["x", "y"], context: Context, *, names: list[str] | None = None) -> dict[str, int]:
    """Do it."""
    return {kind: 1}


@prompt
def ask(topic: str) -> str:
    """Ask."""
    return topic


@resource("functions://{name}/it", mime_type="text/plain")
def it(name: str) -> str:
    """Read it."""
    return name


@resource("functions://fixed")
def fixed() -> str:
    """Read the same."""
    return "x"
