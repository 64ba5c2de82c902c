"""Comparison of the lists that clients of two servers see, which verifies an import."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.emit.responses import listings
from mcpc.revisions import REVISIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.ir import Server


def list_differences(before: Server, after: Server) -> Iterator[Diagnostic]:
    """Yield differences that clients see, in the newest revision."""
    earlier, later = listed_items(before), listed_items(after)
    for name in sorted(earlier.keys() | later.keys()):
        if name not in later:
            yield diagnose("MCP281", None, f"{name} no longer exists")
        elif name not in earlier:
            yield diagnose("MCP281", None, f"{name} is new")
        elif earlier[name] != later[name]:
            yield diagnose("MCP281", None, f"{name} is shown differently")
    for what in ("name", "version", "instructions"):
        if getattr(before, what) != getattr(after, what):
            yield diagnose("MCP281", None, f"the server's {what} has changed")


def listed_items(server: Server) -> dict[str, bytes]:
    """Return each item of each list, by its name in messages."""
    found: dict[str, bytes] = {}
    for listing in listings(server, REVISIONS[-1]):
        for item in listing.items:
            value = json.loads(item)
            key = value.get("uri") or value.get("uriTemplate") or value.get("name")
            found[f"`{key}` of `{listing.method}`"] = item
    return found
