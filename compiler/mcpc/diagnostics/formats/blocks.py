"""Problems for `mcpc dev`: a JSON list in which each has its text, so that those already told can be left out.

This is between two processes of one compiler, not a format for others: no option of `--format` names it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.text import render_blocks
from mcpc.diagnostics.model import in_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics.formats.place import SourceText
    from mcpc.diagnostics.model import Diagnostics

BLOCKS = "blocks:"
"""What the name of this format begins with; the columns of the terminal follow, 0 where there is none."""


def as_blocks(diagnostics: Diagnostics, sources: Mapping[str, SourceText], width: int) -> str:
    """Return the problems as JSON: `plain` is the text without colour and wrapping, `painted` that for a terminal."""
    problems = in_order(diagnostics)
    plain = render_blocks(problems, sources, colour=False)
    painted = render_blocks(problems, sources, colour=True, width=width)
    rows = [
        {
            "code": problem.code,
            "severity": problem.severity.value,
            "path": problem.span.path if problem.span else "",
            "message": problem.message,
            "plain": plain[number],
            "painted": painted[number],
        }
        for number, problem in enumerate(problems)
    ]
    return json.dumps(rows) + "\n"
