"""What to do about a module that will not be there when a file is imported."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from mcpc.dependencies import provider

if TYPE_CHECKING:
    from collections.abc import Sequence

HINT = "add the package that has it to `requirements.txt`, or put the module beside the handlers"
FORMER = "fastmcp"
"""What servers were written for that only changed what they import."""
INSTEAD = "`mcpc` has what servers use of it (`Context`, `Field`, `ToolError`): import that from there; or "


def advice(name: str, known: Sequence[str]) -> str:
    """Return what to do about a module that is not there: how it is spelt, or which package has it."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
    if near:
        return f"did you mean `{near[0]}`?"
    here = provider(name)
    hint = f"add `{here}` to `requirements.txt`, and the server carries it" if here else HINT
    return INSTEAD + hint if name == FORMER else hint
