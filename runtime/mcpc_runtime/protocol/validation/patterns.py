"""Linear-time matcher for patterns on which `re` could take long, with a limited budget per value.

A text is read from its end, with one state of an automaton per character; a state records which positions of the
pattern match the rest of the text from there on. States are created when they are first needed and cached, so that most
characters take one dictionary look-up, in C code. `mcpc.schema.ecma.matcher` describes the tables.

All texts of one value share one budget of steps. If it is used up, the value is refused: no argument occupies the
server for longer.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import reduce
from typing import Any

Table = tuple[Any, ...]
"""See `mcpc.schema.ecma.matcher.Table`."""
Budget = list[int]
"""The number of steps that are left, of some ten nanoseconds each."""
Conditions = tuple[str | int, ...]
Goal = tuple[tuple[tuple[int, Conditions], ...], tuple[Conditions, ...]]
Path = tuple[int | str, "Path"] | None
"""The last step of a path, and the path to it."""


STRIDE = 4096
"""Number of characters that are read between two checks whether the result is known."""
STEPS_PER_CHARACTER = 6
STEPS_PER_TEXT = 150
STEPS_PER_LOOKUP = 60
STEPS_PER_STATE = 400
STEPS_PER_POSITION = 40
"""Cost of a character in a known state, of a text, of a new transition, and of a new state."""
MAX_CACHED_STATES = 20_000
"""Maximum number of cached states and transitions of one pattern."""
OTHER, END = False, None
"""The next character: not part of a word, or the end of the text."""
MAX_SEARCHED_PARTS = 50_000
"""Maximum number of parts of a value in which a refused text is searched."""
EMPTY_TABLE = ((0,), (0,), (0,), (False,), (), (), (((), ()),), False)


class TextTooLongError(OverflowError):
    """A text would take too long to match. `text`: which; `most`: length that can always be matched."""

    def __init__(self, text: str, most: int) -> None:
        super().__init__("a string is too long to be matched against its pattern")
        self.text = text
        self.most = most


LAST_REFUSED: list[tuple[str, Table | None]] = []
"""The last text that was refused with the whole budget, until its errors are requested."""


def was_refused(text: str, table: Table | None) -> bool:
    """Tell whether this very text was refused before: to explain it takes no second attempt."""
    # The same object, not an equal text: comparing long ones takes time.
    if LAST_REFUSED and LAST_REFUSED[0][0] is text and LAST_REFUSED[0][1] == table:
        LAST_REFUSED.clear()
        return True
    return False


class StepBudgetError(Exception):
    """The budget is used up."""


class AutomatonState(dict[str, "AutomatonState"]):
    """The state at a position of a text, and the next state for each preceding character."""

    __slots__ = ("following", "is_match", "matcher", "matching", "next")

    def __init__(self, matcher: PatternMatcher, matching: int, following: bool | None) -> None:
        self.matcher = matcher
        self.matching = matching
        self.next = following
        self.following: dict[int, AutomatonState] = {}
        self.is_match: bool | None = None

    def __missing__(self, character: str) -> AutomatonState:
        """Return the state before `character`."""
        matcher = self.matcher
        number = matcher.numbers[bisect_right(matcher.starts, ord(character)) - 1]
        matcher.spend(STEPS_PER_LOOKUP)
        state = self.following.get(number)
        if state is None:
            state = self.following[number] = matcher.before(self, number)
        matcher.cached_count += 1
        self[character] = state
        return state


class PatternMatcher:
    """One pattern, and its cached states.

    `table`: None if there is none, and every text is refused; `most`: number of characters that can always be matched.
    """

    def __init__(self, table: Table | None, budget: Budget, most: int) -> None:
        self.starts, self.numbers, self.reads, self.words, self.rows, self.ends, self.goals, self.is_anchored = (
            table or EMPTY_TABLE
        )
        self.has_table = table is not None
        self.table = table
        self.budget = budget
        self.full_budget = budget[0]
        self.most = most
        self.clear()

    def clear(self) -> None:
        """Remove all cached states."""
        self.cached_count = 0
        self.states: dict[tuple[int, bool], AutomatonState] = {}
        self.end = AutomatonState(self, 0, END)
        self.found = AutomatonState(self, -1, OTHER)
        self.failed = AutomatonState(self, -2, OTHER)
        self.found.is_match, self.failed.is_match = True, False
        # Both are final: every character leads from them to themselves, so that a stride can be read to its end.
        self.found.following = dict.fromkeys(self.numbers, self.found)
        self.failed.following = dict.fromkeys(self.numbers, self.failed)

    def spend(self, steps: int) -> None:
        """Subtract steps from the budget; raise StepBudgetError if it is used up."""
        self.budget[0] -= steps
        if self.budget[0] < 0:
            raise StepBudgetError

    def search(self, text: str) -> bool | None:
        """Return whether the pattern is found in `text`, True or None; raise TextTooLongError beyond the budget."""
        if not self.has_table:
            raise TextTooLongError(text, self.most)
        if was_refused(text, self.table):
            raise TextTooLongError(text, self.most)
        # Only with the whole budget is a refusal that of this text alone; else the texts before it have used some.
        has_full_budget = self.budget[0] >= self.full_budget
        try:
            return self.search_from_end(text) or None
        except StepBudgetError:
            if has_full_budget:
                LAST_REFUSED[:] = [(text, self.table)]
            raise TextTooLongError(text, self.most) from None

    def search_from_end(self, text: str) -> bool:
        """Tell whether the pattern is found in `text`."""
        # Only between texts: within one, states are compared by identity, and the budget bounds how many are added.
        if self.cached_count > MAX_CACHED_STATES:
            self.clear()
        self.spend(STEPS_PER_TEXT)
        state = self.end
        end = len(text)
        while end:
            begin = max(0, end - STRIDE)
            self.spend(STEPS_PER_CHARACTER * (end - begin))
            # `dict.__getitem__` calls `__missing__` of a subclass for a character that is new in its state.
            state = reduce(dict.__getitem__, text[begin:end][::-1], state)
            if state is self.found or state is self.failed:
                break
            end = begin
        if state.is_match is None:
            state.is_match = self.matches(self.goals[-1], state, self.conditions_at(state, END))
        return state.is_match

    def state(self, matching: int, following: bool) -> AutomatonState:
        """Return the state in which these positions match, and the next character is part of a word or not."""
        # Matches end at the end of the text only, and none of those goes on to the left.
        if not matching and self.is_anchored:
            return self.failed
        key = matching, following
        state = self.states.get(key)
        if state is None:
            state = self.states[key] = AutomatonState(self, matching, following)
        return state

    def before(self, state: AutomatonState, number: int) -> AutomatonState:
        """Return the state before a character of the class `number`."""
        bits = self.reads[number]
        self.spend(STEPS_PER_STATE + STEPS_PER_POSITION * (bits.bit_count() + len(self.goals)))
        self.cached_count += 1
        is_word: bool = self.words[number]
        conditions = self.conditions_at(state, is_word)
        if self.matches(self.goals[-1], state, conditions):
            return self.found
        matching = 0
        while bits:
            bit = bits & -bits
            bits ^= bit
            position = bit.bit_length() - 1
            if self.matches((self.rows[position], self.ends[position]), state, conditions):
                matching |= bit
        return self.state(matching, is_word)

    def conditions_at(self, state: AutomatonState, before: bool | None) -> set[str | int]:
        """Return the conditions that hold between a character `before` (END: the text begins) and `state`."""
        conditions: set[str | int] = {"b" if bool(before) != bool(state.next) else "B"}
        if before is END:
            conditions.add("^")
        if state.next is END:
            conditions.add("$")
        for number, goal in enumerate(self.goals[:-1], 1):
            conditions.add(number if self.matches(goal, state, conditions) else -number)
        return conditions

    def matches(self, goal: Goal, state: AutomatonState, holding: set[str | int]) -> bool:
        """Tell whether the rest of the text begins with `goal`."""
        rows, empty = goal
        matching = state.matching
        for bits, conditions in rows:
            if bits & matching and holding.issuperset(conditions):
                return True
        return any(map(holding.issuperset, empty))


def pattern_errors(value: object, error: OverflowError) -> list[tuple[str, str, object]]:
    """Return the error of a value with a text that is too long: its location and the maximum length."""
    text, most = getattr(error, "text", ""), getattr(error, "most", 0)
    # A text within the limit can be matched by itself: others in the value have used up the budget.
    keyword = "patternLength" if len(text) > most else "patternWork"
    return [(text_pointer(value, text), keyword, most)]


def text_pointer(value: object, text: str) -> str:
    """Return the JSON Pointer to a text, or to the property with that name; "" if the search takes too long."""
    waiting: list[tuple[dict[str, object] | list[object], Path]] = (
        [(value, None)] if isinstance(value, dict | list) else []
    )
    remaining = MAX_SEARCHED_PARTS
    for container, path in waiting:
        for name, item in container.items() if isinstance(container, dict) else enumerate(container):
            remaining -= 1
            if item is text or name is text:
                return path_pointer((name, path))
            if type(item) is dict or type(item) is list:
                waiting.append((item, (name, path)))
        if remaining < 0:
            break
    return ""


def path_pointer(path: Path) -> str:
    """Return a linked path as a JSON Pointer."""
    steps = []
    while path is not None:
        name, path = path
        steps.append(f"/{name}" if isinstance(name, int) else pointer_step(name))
    return "".join(steps[::-1])


def pointer_step(name: str) -> str:
    """Return the JSON Pointer step to the property `name`; a very long name is cut off."""
    return "/" + name[:200].replace("~", "~0").replace("/", "~1")
