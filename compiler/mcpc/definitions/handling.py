"""What a definition says of how its handler is run: in its `_meta`, under keys that clients are not shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.sources import Node

HANDLER = "mcpc/handler"
"""The key in the `_meta` of a tool or a prompt."""
HANDLERS = "mcpc/handlers"
"""The key in the server's `_meta`: what holds for all of them."""
DEFAULTS = "mcpc/defaults"
"""The key in a tool's `_meta` that says whether its defaults are filled in."""
CONTENTS = ("text", "blob", "file", "root", "values")
"""The members by which a resource, a template or a completion needs no handler."""
KNOWN_CONTENT = ("content", "messages", "contents")
"""The members of `HANDLER` that say what a tool, a prompt or a resource always answers."""
ELSEWHERE = ("contract", *KNOWN_CONTENT)
"""The members of `HANDLER` by which a definition wants neither a function nor a program."""
OURS = "mcpc/"
"""What every key begins with that is said to the compiler alone."""


def handling(node: Node | None, key: str = HANDLER) -> Node | None:
    """Return the object that says how the handler of a definition is run, if there is one."""
    meta = node.get("_meta") if node is not None else None
    found = meta.get(key) if meta is not None else None
    return found if found is not None and found.kind == "object" else None


def command(node: Node) -> Node | None:
    """Return what names the program that is the handler, if a definition has one."""
    found = handling(node)
    return None if found is None else found.get("command")


def is_elsewhere(node: Node) -> bool:
    """Tell whether a definition says that it is run by another system's part of the project, or what it answers."""
    found = handling(node) if node.kind == "object" else None
    return found is not None and any(found.get(key) is not None for key in ELSEWHERE)
