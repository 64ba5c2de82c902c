"""What to say of patterns that can take long, where no bound beside them makes them harmless."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.schema.backtracking import backtracking
from mcpc.schema.shapes import MANY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.sources import Node

SHOWN = 40


def slow_patterns(keywords: Mapping[str, Node]) -> Iterator[Diagnostic]:
    """Yield a problem for each slow pattern among the keywords of one schema; names of properties have no bound."""
    pattern, bound, named = (keywords.get(keyword) for keyword in ("pattern", "maxLength", "patternProperties"))
    if pattern is not None and type(pattern.value) is str:
        yield from _slow(pattern.value, pattern.span, _length(bound))
    for member in named.members if named is not None and len(named.members) <= MANY else ():
        yield from _slow(member.key, member.key_span, None)


def _length(bound: Node | None) -> int | None:
    value = bound.value if bound is not None else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if type(value) is int else None


def _slow(pattern: str, span: Span, longest: int | None) -> Iterator[Diagnostic]:
    verdict = backtracking(pattern, longest)
    if verdict is None:
        return
    pumped = " and ".join(f"`{_shown(pump)}`" for pump in dict.fromkeys(verdict.attack.pumped))
    message = f"the pattern `{_shown(pattern)}` can take {verdict.cost} steps for n characters"
    example = f"more repetitions of {pumped} in `{_shown(verdict.example)}` show it"
    if verdict.degree is None:
        hint = f"{example}; bound the text with `maxLength`, or let the pattern read each text in one way only"
        yield diagnose("MCP118", span, message, hint=hint)
    else:
        hint = f"{example}; bound the text with `maxLength`, or begin the pattern with `^`"
        yield diagnose("MCP119", span, message, hint=hint)


def _shown(text: str) -> str:
    written = json.dumps(text)[1:-1]
    return written if len(written) <= SHOWN else f"{written[:SHOWN]}…"
