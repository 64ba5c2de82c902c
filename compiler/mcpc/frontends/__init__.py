"""The formats a project may be written in; the first that recognises a directory reads it."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.frontends import native
from mcpc.frontends.frontend import Frontend

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostics
    from mcpc.options import Options
    from mcpc.sources import SourceTree

__all__ = ["FRONTENDS", "Frontend", "recognise"]

FRONTENDS: tuple[Frontend, ...] = (Frontend("native", ("mcbox",), native.recognises, native.parse, native.LOOKS_FOR),)


def recognise(tree: SourceTree, options: Options) -> tuple[Frontend | None, Diagnostics]:
    """Return the front end that reads `tree`: the one the options name, else the first that recognises it."""
    if options.format:
        return _named(options.format)
    for frontend in FRONTENDS:
        if frontend.recognises(tree):
            return frontend, ()
    wanted = "; ".join(f"{frontend.name}: {frontend.looks_for}" for frontend in FRONTENDS)
    return None, (
        diagnose("MCP009", None, "no project was recognised here", wanted, "`mcpc new` makes a project to begin with"),
    )


def _named(name: str) -> tuple[Frontend | None, Diagnostics]:
    rows = {known: frontend for frontend in FRONTENDS for known in (frontend.name, *frontend.aliases)}
    if name in rows:
        return rows[name], ()
    near = difflib.get_close_matches(name, rows, n=1)
    hint = f"did you mean `{near[0]}`?" if near else ""
    expected = "one of " + ", ".join(f"`{known}`" for known in rows)
    return None, (diagnose("MCP009", None, f"there is no format `{name}`", expected, hint),)
