"""Whether a schema accepts all that another accepts, by a rule for each keyword of the wider schema.

A rule answers True (certain), False (a constraint is new or tighter), or None where it does not decide.  What lists
its values is validated.  A pair that comes up below itself is taken to hold, so that recursive schemas are decided.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.release.comparison.constraints import COMBINATIONS, CONSTRAINTS, all_of, alternatives
from mcpc.release.comparison.placed_schemas import (
    Document,
    MalformedError,
    PlacedSchema,
    is_same,
    kinds_of,
    together,
    values_of,
)
from mcpc_runtime.protocol.validation.formats.ecma_regex import PatternError

if TYPE_CHECKING:
    Json = Any
    PlacedSchemas = tuple[PlacedSchema, ...]

MAX_DEPTH = 40
MAX_STEPS = 1_000
"""Schemas that are compared for one question, because alternatives multiply."""
KEYWORD_RULES = {**CONSTRAINTS, **COMBINATIONS}
OWNERS = {keyword: name for name, (_, keywords, _) in KEYWORD_RULES.items() for keyword in keywords}
"""The rule of each keyword."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether all is accepted; `reason`: why that is undecided."""

    holds: bool | None
    reason: str = ""


def accepts(wide: Json, narrow: Json, wide_root: Json = None, narrow_root: Json = None, *, kind: str = "") -> Answer:
    """Tell whether `wide` accepts every value (of a type) that `narrow` accepts; roots: the documents they are in."""
    document = Document(narrow if narrow_root is None else narrow_root)
    parts = [PlacedSchema(narrow, document), *([PlacedSchema({"type": kind}, document)] if kind else [])]
    search = Inclusion()
    try:
        holds = search.decide(PlacedSchema(wide, Document(wide if wide_root is None else wide_root)), together(*parts))
    except (MalformedError, PatternError, RecursionError) as problem:
        return Answer(None, f"a schema cannot be read ({problem})")
    return Answer(holds, search.reason if holds is None else "")


class Inclusion:
    """The rules at work: the pairs above, and the work that is left."""

    def __init__(self) -> None:
        self.reason = ""
        self._above: set[tuple[str, ...]] = set()
        self._depth = 0
        self._left = MAX_STEPS

    def decide(self, wide: PlacedSchema, narrow: PlacedSchemas) -> bool | None:
        """Tell whether `wide` accepts every value that all of `narrow` accept."""
        if any(part.schema is False for part in narrow) or isinstance(wide.schema, bool):
            return wide.schema is True or any(part.schema is False for part in narrow)
        if self._depth > MAX_DEPTH or self._left <= 0:
            self._note("the schemas have too many alternatives, or are nested too deeply")
            return None
        self._left -= 1
        values = values_of(narrow)
        if values is not None:
            return all(_is_kept(wide, narrow, value) for value in values)
        wide = wide.effective()
        self._depth += 1
        try:
            names = dict.fromkeys(OWNERS[name] for name in wide.keywords if name in OWNERS)
            return all_of(self._answer(each, wide, narrow) for each in names)
        finally:
            self._depth -= 1

    def below(self, wide: PlacedSchema, *narrow: PlacedSchema) -> bool | None:
        """Tell the same of the values of a property or an item."""
        parts = {_key(each): each for each in narrow if each.schema is not True}
        key = (_key(wide), *sorted(parts))
        if key in self._above or any(is_same(wide, part) for part in parts.values()):
            return True
        self._above.add(key)
        try:
            # Rules take the tightest bound of all parts, so there has to be one, even if it accepts everything.
            return self.decide(wide, together(*(parts.values() or narrow[:1])))
        finally:
            self._above.discard(key)

    def _answer(self, name: str, wide: PlacedSchema, narrow: PlacedSchemas) -> bool | None:
        """Return the answer of a rule; if it is not True, that of the alternatives of the narrower schema."""
        kinds, keywords, rule = KEYWORD_RULES[name]
        if not kinds & kinds_of(narrow):
            return True
        answer = rule(self, wide, narrow)
        cases = [] if answer else alternatives(narrow)
        if cases:
            part = wide.at({each: wide.keywords[each] for each in keywords if each in wide.keywords})
            answer = all_of(self.decide(part, each) for each in cases)
        if answer is None:
            self._note(f"no rule decides what the change of `{name}` means")
        return answer

    def _note(self, reason: str) -> None:
        self.reason = self.reason or reason


def _key(part: PlacedSchema) -> str:
    # A reference may lead elsewhere in another document; both documents live as long as the search does.
    return f"{id(part.document)} {json.dumps(part.schema, sort_keys=True)}"


def _is_kept(wide: PlacedSchema, narrow: PlacedSchemas, value: Json) -> bool:
    """Tell whether a value is accepted by `wide` if it is by `narrow`, whether or not formats are asserted."""
    return not any(
        all(each.accepts(value, formats=formats) for each in narrow) and not wide.accepts(value, formats=formats)
        for formats in (False, True)
    )
