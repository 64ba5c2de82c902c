"""Texts about tools of other servers: redirecting their use, displacing them, and having their names.

A server may describe the order of its own tools.  What it says about a tool that is not its own is about another
server, whether or not that is scanned at the same time.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from mcpc.release.scan.confusables import skeleton
from mcpc.release.scan.model import Hit, Role, Text
from mcpc.release.scan.readings import fold, sentences
from mcpc.release.scan.rules.tool_names import word_set
from mcpc.release.scan.vocabulary import IDENTIFIER, Occurrence, occurrences, sequence, together

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.release.scan.model import ServerTexts
    from mcpc.release.scan.readings import FoldedWord

READ = frozenset({Role.PROSE, Role.VALUE, Role.CONTENTS})
REDIRECTING = frozenset(
    {"recipient", "recipients", "bcc", "cc", "redirect", "replace", "instead", "substitute", "forward", "route"}
)
"""Words that make a sentence about an unknown tool an order."""
GAP_TO_ORDER = 12
STEERED = (
    ("mention", "trigger", "is used", "alter", "parameter of it"),
    ("mention", "trigger", "calls", "alter", "parameter of it"),
    ("mention", "works only", "this tool"),
    ("mention", "trigger", "is used", "instead"),
    ("mention", "must call", "beforehand", "trigger"),
)
"""Meanings that, in any order, steer the use of a tool that is mentioned."""
WIDTH = 20
KINDS_OF_TOOL = word_set(
    "email mail payment file search browser shell terminal calendar messaging transfer banking trading database "
    "git slack sms write read fetch weather crypto wallet upload"
)
"""Words that name a tool of another server, before `tool`."""


def find_shadowing(server: ServerTexts, others: Sequence[ServerTexts]) -> Iterator[Hit]:
    """Yield texts of a server about tools that are not its own; `others`: the servers that are scanned with it."""
    own = {text.text.lower() for text in server.texts if text.role is Role.NAME}
    foreign = {name.lower() for other in others for name in other.tool_names} - own
    for text in server.texts:
        if text.role in READ and len(text.text) > 15:
            yield from _of_text(text, own, foreign)


def _of_text(text: Text, own: set[str], foreign: set[str]) -> Iterator[Hit]:
    seen: set[str] = set()
    folded = fold(text.text)
    if not foreign and not IDENTIFIER.search(folded.text) and " tool" not in folded.text:
        return
    for sentence in sentences(folded):
        for hit in _of_sentence(text, sentence, own, foreign):
            if hit.code not in seen:
                seen.add(hit.code)
                yield hit


def _of_sentence(text: Text, sentence: Sequence[FoldedWord], own: set[str], foreign: set[str]) -> Iterator[Hit]:
    named, unknown = _mentions(sentence, own, foreign)
    if not named and not unknown:
        return
    found = occurrences(sentence)
    for mentions, is_known in ((named, True), (unknown, False)):
        found["mention"] = mentions
        ends = _redirected(found, sentence, is_known=is_known)
        if ends:
            yield _hit("SCAN201", text, sentence, *ends)
        steered = next(filter(None, (together(found, row, WIDTH) for row in STEERED)), None)
        if steered:
            yield _hit("SCAN201", text, sentence, steered[0], steered[-1])
        displaced = sequence(found, ("instead of", "mention"), 2) if is_known else None
        if displaced:
            yield _hit("SCAN202", text, sentence, *displaced)
    for one in named:
        if IDENTIFIER.fullmatch(sentence[one.start].text):
            yield _hit("SCAN205", text, sentence, one, one)
            return


def _mentions(
    sentence: Sequence[FoldedWord], own: set[str], foreign: set[str]
) -> tuple[list[Occurrence], list[Occurrence]]:
    """Return where tools of other scanned servers are named, and where something that may be a tool is."""
    named: list[Occurrence] = []
    unknown: list[Occurrence] = []
    for number, word in enumerate(sentence):
        if word.text in foreign and (not word.text.isalpha() or _is_called(sentence, number)):
            named.append(Occurrence(number, number + 1))
        elif word.text not in own and IDENTIFIER.fullmatch(word.text):
            unknown.append(Occurrence(number, number + 1))
        elif (
            word.text in KINDS_OF_TOOL
            and sentence[number + 1 : number + 2]
            and sentence[number + 1].text in ("tool", "tools")
        ):
            unknown.append(Occurrence(number, number + 2))
    return named, unknown


def _is_called(sentence: Sequence[FoldedWord], number: int) -> bool:
    """Tell whether an ordinary word is the name of a tool here."""
    near = [*sentence[max(0, number - 1) : number], *sentence[number + 1 : number + 2]]
    return any(word.text in ("tool", "tools", "calling", "call", "invoking", "invoke", "function") for word in near)


def _redirected(
    found: Mapping[str, list[Occurrence]], sentence: Sequence[FoldedWord], *, is_known: bool
) -> tuple[Occurrence, Occurrence] | None:
    """Return the range of an order about the use of a mentioned tool."""
    orders = [one for one in found.get("order", ()) if is_known or sentence[one.start].text in REDIRECTING]
    ends = sequence(found, ("when", "using", "mention"), 3) or (
        sequence(found, ("using", "mention"), 2) if is_known else None
    )
    called = sequence(found, ("you must", "invoke", "mention"), 2)
    if not ends or called:
        return called
    after = next((one for one in orders if 0 <= one.start - ends[1].end <= GAP_TO_ORDER), None)
    before = next((one for one in orders if 0 <= ends[0].start - one.end <= GAP_TO_ORDER), None)
    if after:
        return ends[0], after
    return (before, ends[1]) if before else None


def _hit(code: str, text: Text, sentence: Sequence[FoldedWord], first: Occurrence, last: Occurrence) -> Hit:
    return Hit(code, text, sentence[first.start].start, sentence[last.end - 1].end)


def find_same_names(servers: Sequence[ServerTexts]) -> Iterator[tuple[ServerTexts, Hit]]:
    """Yield tools with the name of another server's tool, and those with a name that looks like it."""
    for one, other in combinations(servers, 2):
        exact = dict(zip(one.tool_names, one.items("tools"), strict=True))
        shapes = {skeleton(name): name for name in one.tool_names}
        for number, name in enumerate(other.tool_names):
            text = Text("tool", name, "name", f"/tools/{number}/name", Role.NAME, name)
            if name in exact and one.server.name == other.server.name and exact[name] == other.items("tools")[number]:
                continue  # one server, named twice
            if name in exact:
                yield other, Hit("SCAN203", text, 0, len(name), f"with {one.server.name}")
            elif skeleton(name) in shapes:
                like = shapes[skeleton(name)]
                yield other, Hit("SCAN204", text, 0, len(name), f"it looks like `{like}` of {one.server.name}")
