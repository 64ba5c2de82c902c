"""Format for `mcpc dev`: a JSON list with the text of each problem, so that known problems can be left out.

It is internal to the compiler and its child process: no option of `--format` names it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.diagnostics.formats.text import render_blocks
from mcpc.diagnostics.model import in_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics.formats.source_location import SourceText
    from mcpc.diagnostics.model import Diagnostics

BLOCKS = "blocks:"
"""Prefix of this format's name; the terminal's width in columns follows, 0 without a terminal."""


def as_blocks(diagnostics: Diagnostics, sources: Mapping[str, SourceText], width: int) -> str:
    """Return the problems as JSON: `plain` is the text without colours and wrapping, `painted` that for a terminal."""
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
