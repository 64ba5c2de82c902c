"""Hints for a module that will be missing when a file is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.dependencies import provider
from mcpc.diagnostics.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_HINT = "add the package that contains it to `requirements.txt`, or put the module beside the handlers"
FASTMCP = "fastmcp"
"""The library of servers whose imports were only renamed."""
USE_MCPC = "`mcpc` has what servers use of it (`Context`, `Field`, `ToolError`): import that from there; or "


def missing_module_hint(name: str, known: Sequence[str]) -> str:
    """Return what to do about a missing module: its correct spelling, or the package that contains it."""
    near = did_you_mean(name, known, cutoff=0.8)
    if near:
        return near
    here = provider(name)
    hint = f"add `{here}` to `requirements.txt` to bundle it with the server" if here else DEFAULT_HINT
    return USE_MCPC + hint if name == FASTMCP else hint
