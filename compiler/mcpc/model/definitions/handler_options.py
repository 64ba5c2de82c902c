"""Keys of `_meta` that set how a definition's handler is run; clients do not see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.reading import member_of

if TYPE_CHECKING:
    from mcpc.reading import Node

HANDLER_KEY = "mcpc/handler"
"""The key in the `_meta` of a tool or a prompt."""
HANDLERS_KEY = "mcpc/handlers"
"""The key in the server's `_meta`: options of all handlers."""
DEFAULTS_KEY = "mcpc/defaults"
"""The key in a tool's `_meta` that sets whether defaults are filled in."""
CONTENT_KEYS = ("text", "blob", "file", "root", "values")
"""Members with which a resource, a template or a completion needs no handler."""
STATIC_RESULT_KEYS = ("content", "messages", "contents")
"""Members of `HANDLER_KEY` that contain the constant result of a tool, a prompt or a resource."""
EXTERNAL_KEYS = ("contract", *STATIC_RESULT_KEYS)
"""Members of `HANDLER_KEY` with which a definition needs neither a function nor a program."""
COMPILER_PREFIX = "mcpc/"
"""Prefix of all keys that only the compiler reads."""


def options_node(node: Node | None, key: str = HANDLER_KEY) -> Node | None:
    """Return the object with a definition's handler options, if it has one."""
    return member_of(member_of(node, "_meta"), key, "object")


def command_node(node: Node) -> Node | None:
    """Return the value that names the program of a handler, if the definition has one."""
    return member_of(options_node(node), "command")


def has_external_handler(node: Node) -> bool:
    """Tell whether another system's part of the project runs the definition, or its result is constant."""
    found = options_node(node)
    return found is not None and any(found.get(key) is not None for key in EXTERNAL_KEYS)
