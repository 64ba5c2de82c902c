"""Diagnostics for patterns for which `re` can take long, and whose texts are not bounded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.schema.ecma.backtracking import backtracking
from mcpc.schema.ecma.matcher import searching
from mcpc.schema.keywords import MAX_PATTERNS
from mcpc_runtime.protocol.validation.formats.ecma_regex import PatternError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.reading import Node
    from mcpc.schema.ecma.backtracking import Verdict
    from mcpc.schema.ecma.matcher import PatternGuard

SHOWN = 40
LONG = 10_000
"""Length of texts for which patterns are reported; longer texts are not considered."""
BOUND = "bound the text with `maxLength`"


def slow_patterns(keywords: Mapping[str, Node]) -> Iterator[Diagnostic]:
    """Yield a problem for each slow pattern among the keywords of one schema."""
    pattern, named = keywords.get("pattern"), keywords.get("patternProperties")
    if pattern is not None and type(pattern.value) is str:
        yield from _slow(pattern.value, pattern.span, _longest(keywords))
    names = keywords.get("propertyNames")
    longest = _longest({member.key: member.node for member in names.members}) if names is not None else None
    for member in named.members if named is not None and len(named.members) <= MAX_PATTERNS else ():
        yield from _slow(member.key, member.key_span, longest)


def _longest(keywords: Mapping[str, Node]) -> int | None:
    """Return the maximum length of a text that other keywords accept."""
    bound, constant, constants = (keywords.get(keyword) for keyword in ("maxLength", "const", "enum"))
    values = [constant.value] if constant is not None else [item.value for item in constants.items] if constants else []
    if values:
        # Without a text among the values, no text at all is accepted.
        return max((len(value) for value in values if isinstance(value, str)), default=0)
    value = bound.value if bound is not None else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if type(value) is int else None


def _slow(pattern: str, span: Span, longest: int | None) -> Iterator[Diagnostic]:
    try:
        guard = searching(pattern).guard
    except PatternError:
        return
    if guard is None:
        return
    verdict = backtracking(pattern, longest)
    if verdict is not None and verdict.degree is None:
        yield _exponential(pattern, span, verdict)
    elif (longest is None or longest > max(guard.length, 0)) and guard.length < LONG:
        yield _guarded(pattern, span, guard, verdict)


def _exponential(pattern: str, span: Span, verdict: Verdict) -> Diagnostic:
    message = f"the pattern `{_shown(pattern)}` can take {verdict.cost} steps for n characters"
    hint = f"{_example(verdict)}; {BOUND}, or let the pattern read each text in one way only"
    return diagnose("MCP118", span, message, hint=hint)


def _guarded(pattern: str, span: Span, guard: PatternGuard, verdict: Verdict | None) -> Diagnostic:
    """Return the problem of a pattern that may not take linear time, with its consequence."""
    name = f"the pattern `{_shown(pattern)}`"
    if guard.length < 0 and guard.table is None:
        return diagnose("MCP159", span, f"{name} is too large to say how long looking for it takes", hint=SIMPLER)
    if guard.table is None:
        message = f"{name} is matched against texts of at most {guard.length} characters; longer ones are refused"
        return diagnose("MCP158", span, message, hint=f"{BOUND}, or do without references and look-behinds")
    texts = f"texts of more than {guard.length} characters" if guard.length >= 0 else "all texts"
    done = f"{texts} are matched by an automaton instead, up to some {guard.most}"
    if verdict is not None:
        message = f"{name} can take {verdict.cost} steps for n characters"
        return diagnose("MCP119", span, message, hint=f"{_example(verdict)}; {done}; {BOUND}")
    message = f"{name} is not sure to take linear time; {done}"
    return diagnose("MCP157", span, message, hint=f"{BOUND}, or let the pattern read each text in one way only")


SIMPLER = "write it with fewer alternatives and repetitions, or check the value in the handler"


def _example(verdict: Verdict) -> str:
    pumped = " and ".join(f"`{_shown(pump)}`" for pump in dict.fromkeys(verdict.attack.pumped))
    return f"more repetitions of {pumped} in `{_shown(verdict.example)}` show it"


def _shown(text: str) -> str:
    written = json.dumps(text)[1:-1]
    return written if len(written) <= SHOWN else f"{written[:SHOWN]}…"
