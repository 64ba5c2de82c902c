"""Tools whose answers can be checked, whichever replica gives them."""

import time

from mcpc import Context, tool


@tool(readOnlyHint=True)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(readOnlyHint=True)
def greet(context: Context) -> str:
    """Greet whoever answers."""
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    answer = context.elicit("What is your name?", schema, key="name")
    return f"Hello, {answer.data['name']}!"


@tool(task="optional", readOnlyHint=True)
def compute(seconds: float, label: str) -> str:
    """Compute for a while."""
    time.sleep(seconds)
    return f"computed {label}"


@tool(task="optional", idempotentHint=True)
def forget(label: str, context: Context) -> str:
    """Ask, and forget a label."""
    schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
    answer = context.elicit(f"Forget {label}?", schema, key="sure")
    return f"forgot {label}" if answer.data["sure"] else f"kept {label}"
