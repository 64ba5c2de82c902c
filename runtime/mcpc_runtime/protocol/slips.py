"""What was meant by a value that is nearly right: the name that a slip stands for, the type that is easily had.

Names are compared only if they are short and few, so that nobody can make that take long.
"""

from __future__ import annotations

from mcpc_runtime.protocol.quotation import KINDS, VALUE_WIDTH, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NEAR_WIDTH = 40
NEAR_NAMES = 100
LITERALS = {"true": "boolean", "false": "boolean", "null": "null"}


def mended(value: object, types: Sequence[object]) -> str:
    """Return how a value of the wrong type becomes one of the right type, if that is plain."""
    kind, text = KINDS.get(type(value)), shown(value, VALUE_WIDTH // 2)
    if type(value) is str:
        return unquoted(value[:VALUE_WIDTH].strip(), types) or ("" if "array" not in types else f"; make it [{text}]")
    if kind is None:
        return ""
    if kind == "null":
        return "; leave it out if it is optional"
    if type(value) is list:
        is_one = len(value) == 1 and KINDS.get(type(value[0])) in types and not text.endswith("…")
        return f"; make it {text[1:-1]}" if is_one else ""
    if "array" in types:
        return f"; make it [{text}]"
    return f'; put it into quotes, "{text}"' if "string" in types and type(value) is not dict else ""


def unquoted(text: str, types: Sequence[object]) -> str:
    """Return how a string becomes what it looks like."""
    opening = {"[": "array", "{": "object"}.get(text[:1])
    if opening in types:
        return f"; give the {opening} itself, not as text in quotes"
    whole, dot, fraction = text.removeprefix("-").partition(".")
    is_number = text.isascii() and whole.isdecimal() and (whole[0] != "0" or whole == "0")
    if is_number and ("number" in types or "integer" in types) and (fraction.isdecimal() if dot else True):
        return f"; write it without quotes, {text}" if "number" in types or not dot else ""
    return f"; write it without quotes, {text.lower()}" if LITERALS.get(text.lower()) in types else ""


def nearest(given: object, known: Sequence[object], *, parts: bool = True) -> object:
    """Return the one of `known` that `given` looks like a slip of, or None.

    Strings are compared as names: without case and what joins words, then by their letters, then (`parts`) by words.
    """
    text = bare(given)
    if not 0 < len(text) <= NEAR_WIDTH:
        return None
    candidates = [one for one in known[:NEAR_NAMES] if 0 < len(bare(one)) <= NEAR_WIDTH]
    limit = 0 if len(text) < 3 else max(len(text) // 3, 1)
    best, least = None, limit + 1
    for one in candidates:
        is_name = type(one) is str and type(given) is str
        away = distance(folded(text), folded(bare(one)), limit) if is_name else (text != bare(one)) * (limit + 1)
        if away < least:
            best, least = one, away
    return best if best is not None or not parts else sharing(given, candidates)


def sharing(given: object, candidates: Sequence[object]) -> object:
    """Return the one candidate whose words are some of the words of `given`, or the other way round."""
    mine = words(given)
    alike = [one for one in candidates if mine and (mine < words(one) or mine > words(one) > set())]
    return alike[0] if len(alike) == 1 else None


def bare(value: object) -> str:
    """Return what a plain value looks like without quotes; nothing for any other."""
    if type(value) is str:
        return value
    return shown(value, NEAR_WIDTH) if type(value) in KINDS and type(value) not in (list, dict) else ""


def folded(name: str) -> str:
    """Return a name without case and without what joins its words."""
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


def words(name: object) -> set[str]:
    """Return the words of a name, however they are joined."""
    text = name if type(name) is str else ""
    split = [f" {char}" if char.isupper() and text[at - 1 : at].islower() else char for at, char in enumerate(text)]
    return {*"".join(split).lower().replace("_", " ").replace("-", " ").replace(".", " ").split()}


def distance(one: str, other: str, limit: int) -> int:
    """Return how many characters must be put in, left out, replaced or swapped; more than `limit` if it is more."""
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for line, char in enumerate(one, 1):
        earlier, before, row = before, row, [line]
        for at, wanted in enumerate(other, 1):
            cost = min(before[at] + 1, row[at - 1] + 1, before[at - 1] + (char != wanted))
            if line > 1 and at > 1 and char == other[at - 2] and one[line - 2] == wanted:
                cost = min(cost, earlier[at - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]
