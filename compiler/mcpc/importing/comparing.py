"""What clients are shown of two servers: an import is not believed before its own output has been understood."""

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


def differing(before: Server, after: Server) -> Iterator[Diagnostic]:
    """Yield what clients are shown otherwise, in the newest revision."""
    earlier, later = shown(before), shown(after)
    for name in sorted(earlier.keys() | later.keys()):
        if name not in later:
            yield diagnose("MCP281", None, f"{name} is not there any more")
        elif name not in earlier:
            yield diagnose("MCP281", None, f"{name} was not there before")
        elif earlier[name] != later[name]:
            yield diagnose("MCP281", None, f"{name} is shown otherwise")
    for what in ("name", "version", "instructions"):
        if getattr(before, what) != getattr(after, what):
            yield diagnose("MCP281", None, f"the server's {what} is another")


def shown(server: Server) -> dict[str, bytes]:
    """Return each item of each list, by what a person calls it."""
    found: dict[str, bytes] = {}
    for listing in listings(server, REVISIONS[-1]):
        for item in listing.items:
            value = json.loads(item)
            key = value.get("uri") or value.get("uriTemplate") or value.get("name")
            found[f"`{key}` of `{listing.method}`"] = item
    return found
