"""Plain types, Google's docstrings, defaults, a prompt, and the usual last lines."""

from typing import Annotated, Literal

from fastmcp import FastMCP

mcp = FastMCP("Calculator", instructions="Calculates.")


@mcp.tool
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a + b


@mcp.tool()
def mean(values: list[float], digits: Annotated[int, "How many digits are kept"] = 2) -> float:
    """Average some numbers.

    The numbers are weighed alike.

    Args:
        values: The numbers.

    Returns:
        Their mean.

    Raises:
        ZeroDivisionError: Without numbers.
    """
    return round(sum(values) / len(values), digits)


@mcp.tool(name="convert", description="Convert a temperature.", tags={"units"}, annotations={"readOnlyHint": True})
def convert_temperature(degrees: float, to: Literal["C", "F"] = "C") -> str:
    converted = (degrees - 32) / 1.8 if to == "C" else degrees * 1.8 + 32
    return f"{converted:.1f} {to}"


@mcp.tool
async def divmod_of(a: int, b: int, note: str | None = None) -> dict[str, int]:
    """Divide with a remainder."""
    quotient, remainder = divmod(a, b)
    return {"quotient": quotient, "remainder": remainder}


@mcp.tool
def nothing() -> None:
    """Do nothing."""


@mcp.prompt
def explain(topic: str, audience: str = "a child") -> str:
    """Explain something.

    Args:
        topic: What is explained
    """
    return f"Explain {topic} to {audience}."


if __name__ == "__main__":
    mcp.run()
