"""What bx-mcp's annotations would be in BoxLang: a server's tools, a resource and a prompt, beside `boxlang.json`."""

from typing import Annotated

from mcpc import Server, mcp_prompt, mcp_resource, mcp_tool

mcp = Server("inventory", version="1.2.0")

STOCK = {"bolt": 120, "nut": 80, "washer": 0}


@mcp_tool("How many of a part are in stock, and where")
def stock_get(part: Annotated[str, "the name of the part"]) -> dict:
    if part not in STOCK:
        raise LookupError(f"no part is called {part}")
    return {"part": part, "count": STOCK[part], "shelf": sorted(STOCK).index(part) + 1}


@mcp_tool({"name": "stock_search", "description": "Parts whose names have a text in them", "version": "1.1"})
def search(text: str, most: int = 10):
    """
    Args:
        text: what to look for
        most: how many to return
    """
    return [part for part in sorted(STOCK) if text in part][:most]


@mcp_tool
def greeting(name: str = "world") -> str:
    """A greeting.

    Args:
        name: who is greeted
    """
    return f"Hello, {name}!"


@mcp_resource
def policy() -> str:
    """What is reordered, and when."""
    return "A part is reordered when fewer than ten are left."


@mcp_resource({"uri": "config://units", "name": "units", "description": "Units", "mimeType": "application/json"})
def units():
    return {"count": "pieces"}


@mcp_prompt("A look at the whole store")
def full_system_audit():
    return "Look at every part, say which have run out, and propose what to order."


@mcp_prompt({"description": "A question about one part", "arguments": [{"name": "part", "description": "its name"}]})
def ask_about(part: str, tone: str = "plain"):
    return [
        {"content": f"How many of {part} are left? Answer in a {tone} tone."},
        {"role": "assistant", "content": "I shall call stock_get."},
    ]
