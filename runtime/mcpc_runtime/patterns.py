"""Patterns on which `re` could take long, looked for in time that is linear, and bounded for each call.

A text is read from its end, one state of a table for each character; what is known in a state is which places of the
pattern match the rest of the text from there on.  States are made when they are first needed and kept, so that most
characters are one look into a dictionary, by C code.  `mcpc.schema.ecma_matcher` says what the tables are.

All texts that one value has are judged out of one fund of steps.  Where it is spent, the value is refused: no argument
holds the server for longer.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import reduce

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Table = tuple[Any, ...]
    """See `mcpc.schema.ecma_matcher.Table`."""
    Fund = list[int]
    """How many steps are left, of some ten nanoseconds each."""
    Conditions = tuple[str | int, ...]

STRIDE = 4096
"""So many characters are read before it is asked whether the answer is known."""
STEPS_A_CHARACTER = 6
STEPS_A_TEXT = 150
STEPS_A_LOOK = 60
STEPS_A_STATE = 400
STEPS_A_PLACE = 40
"""What it costs to go on in a known state, to begin a text, to meet a new character in a state, to make a state."""
MOST_KEPT = 20_000
"""States and transitions that are kept of one pattern."""
OTHER, END = False, None
"""What the next character is, if it is not part of a word."""
MOST_LOOKED_AT = 50_000
"""In so many parts of a value a text is looked for that was too long."""
NOTHING = ((0,), (0,), (0,), (False,), (), (), (((), ()),), False)


class TooLongError(OverflowError):
    """A text would take too long to be judged.  `text`: which; `most`: as many characters are surely judged."""

    def __init__(self, text: str, most: int) -> None:
        super().__init__("a text is too long to be matched against its pattern")
        self.text = text
        self.most = most


REFUSED: list[tuple[str, Table | None]] = []
"""The text that was refused last although nothing else had been judged, until it is asked why it was."""


def is_known(text: str, table: Table | None) -> bool:
    """Say whether this very text was refused before: to say why takes no second attempt."""
    if REFUSED and REFUSED[0][0] is text and REFUSED[0][1] == table:
        REFUSED.clear()
        return True
    return False


class SpentError(Exception):
    """The fund is spent."""


class State(dict[str, "State"]):
    """What is known at a place of a text, and where each character before that place leads."""

    __slots__ = ("begins", "following", "matcher", "matching", "next")

    def __init__(self, matcher: Matcher, matching: int, following: bool | None) -> None:
        self.matcher = matcher
        self.matching = matching
        self.next = following
        self.following: dict[int, State] = {}
        self.begins: bool | None = None

    def __missing__(self, character: str) -> State:
        """Return the state before `character`."""
        matcher = self.matcher
        number = matcher.numbers[bisect_right(matcher.starts, ord(character)) - 1]
        matcher.spend(STEPS_A_LOOK)
        state = self.following.get(number)
        if state is None:
            state = self.following[number] = matcher.before(self, number)
        matcher.kept += 1
        self[character] = state
        return state


class Matcher:
    """One pattern, and the states of it that have been needed.

    `table`: None if there is none, and every text is refused; `most`: as many characters are judged.
    """

    def __init__(self, table: Table | None, fund: Fund, most: int) -> None:
        self.starts, self.numbers, self.reads, self.words, self.rows, self.ends, self.goals, self.is_anchored = (
            table or NOTHING
        )
        self.has_table = table is not None
        self.table = table
        self.fund = fund
        self.whole = fund[0]
        self.most = most
        self.clear()

    def clear(self) -> None:
        """Forget every state."""
        self.kept = 0
        self.states: dict[tuple[int, bool], State] = {}
        self.end = State(self, 0, END)
        self.found = State(self, -1, OTHER)
        self.lost = State(self, -2, OTHER)
        self.found.begins, self.lost.begins = True, False
        self.found.following = dict.fromkeys(self.numbers, self.found)
        self.lost.following = dict.fromkeys(self.numbers, self.lost)

    def spend(self, steps: int) -> None:
        """Take steps out of the fund."""
        self.fund[0] -= steps
        if self.fund[0] < 0:
            raise SpentError

    def search(self, text: str) -> bool | None:
        """Say whether the pattern is found in `text`, True or None; raise TooLongError if the fund does not suffice."""
        if not self.has_table:
            raise TooLongError(text, self.most)
        if is_known(text, self.table):
            raise TooLongError(text, self.most)
        is_alone = self.fund[0] >= self.whole
        try:
            return self.reads_from_end(text) or None
        except SpentError:
            if is_alone:
                REFUSED[:] = [(text, self.table)]
            raise TooLongError(text, self.most) from None

    def reads_from_end(self, text: str) -> bool:
        """Say whether the pattern is found in `text`."""
        if self.kept > MOST_KEPT:
            self.clear()
        self.spend(STEPS_A_TEXT)
        state = self.end
        end = len(text)
        while end:
            begin = max(0, end - STRIDE)
            self.spend(STEPS_A_CHARACTER * (end - begin))
            state = reduce(dict.__getitem__, text[begin:end][::-1], state)
            if state is self.found or state is self.lost:
                break
            end = begin
        if state.begins is None:
            state.begins = self.matches(self.goals[-1], state, self.known(state, END))
        return state.begins

    def state(self, matching: int, following: bool) -> State:
        """Return the state in which these places match, and the next character is of a word or not."""
        if not matching and self.is_anchored:
            return self.lost
        key = matching, following
        state = self.states.get(key)
        if state is None:
            state = self.states[key] = State(self, matching, following)
        return state

    def before(self, state: State, number: int) -> State:
        """Return the state before a character of the class `number`."""
        bits = self.reads[number]
        self.spend(STEPS_A_STATE + STEPS_A_PLACE * (bits.bit_count() + len(self.goals)))
        self.kept += 1
        is_word: bool = self.words[number]
        known = self.known(state, is_word)
        if self.matches(self.goals[-1], state, known):
            return self.found
        matching = 0
        while bits:
            bit = bits & -bits
            bits ^= bit
            place = bit.bit_length() - 1
            if self.matches((self.rows[place], self.ends[place]), state, known):
                matching |= bit
        return self.state(matching, is_word)

    def known(self, state: State, before: bool | None) -> set[str | int]:
        """Return the conditions that hold between a character `before` (END: the text begins) and `state`."""
        known: set[str | int] = {"b" if bool(before) != bool(state.next) else "B"}
        if before is END:
            known.add("^")
        if state.next is END:
            known.add("$")
        for number, goal in enumerate(self.goals[:-1], 1):
            known.add(number if self.matches(goal, state, known) else -number)
        return known

    def matches(self, goal: tuple[Any, Any], state: State, known: set[str | int]) -> bool:
        """Say whether the rest of the text begins with what `goal` wants."""
        rows, empty = goal
        matching = state.matching
        for bits, conditions in rows:
            if bits & matching and known.issuperset(conditions):
                return True
        return any(map(known.issuperset, empty))


def complaints(value: object, error: OverflowError) -> list[tuple[str, str, object]]:
    """Return what to say of a value with a text that was too long: where that is, and how long it may be."""
    text, most = getattr(error, "text", ""), getattr(error, "most", 0)
    keyword = "patternLength" if len(text) > most else "patternWork"
    return [(pointer(value, text), keyword, most)]


def pointer(value: object, text: str) -> str:
    """Return the JSON Pointer to a text, or to the property that it is the name of; "" if it is not found soon."""
    waiting: list[tuple[Any, Any]] = [(value, None)] if type(value) in (dict, list) else []
    room = MOST_LOOKED_AT
    for container, way in waiting:
        pairs = container.items() if type(container) is dict else enumerate(container)
        for name, part in pairs:
            room -= 1
            if part is text or name is text:
                return spelled((name, way))
            if type(part) is dict or type(part) is list:
                waiting.append((part, (name, way)))
        if room < 0:
            break
    return ""


def spelled(way: Any) -> str:
    """Return a way as a JSON Pointer."""
    steps = []
    while way is not None:
        name, way = way
        steps.append(f"/{name}" if type(name) is int else step(name))
    return "".join(steps[::-1])


def step(name: str) -> str:
    """Return the step of a JSON Pointer to the property `name`, whose end is left out if it is very long."""
    return "/" + name[:200].replace("~", "~0").replace("/", "~1")
