"""Model of Python's `re`: the number of steps that its backtracking takes to search a text for a pattern.

The order of alternatives, the treatment of empty iterations of a loop, and the restart at each position are those of
its matcher; one of its instructions is one step here, up to a constant factor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from mcpc.schema.ecma.code_point_sets import WORD, contains
from mcpc.schema.ecma.tree import Assertion, Choice, Group, Look, Node, Reference, Repeat, Sequence, Set, children

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.schema.ecma.code_point_sets import Ranges


class Op(Enum):
    """What an instruction does; see `_OPERATIONS`."""

    SET = auto()
    ASSERTION = auto()
    SPLIT = auto()
    JUMP = auto()
    ENTER = auto()
    LOOP = auto()
    OPEN = auto()
    CLOSE = auto()
    REFERENCE = auto()
    LOOK = auto()
    FOUND = auto()


Instruction = tuple[Op, Any]
Thread = tuple[int, int, Any, dict[int, tuple[int, int]]]
"""Instruction, position in the text, loops (iterations, start of the last one, outer loops), captures."""
NEVER = -1


def program(node: Node) -> list[Instruction]:
    """Return the instructions that match `node`."""
    code: list[Instruction] = []
    _emit(node, code)
    code.append((Op.FOUND, None))
    return code


def _emit(node: Node, code: list[Instruction]) -> None:
    _EMITTERS[type(node)](node, code)


def _emit_sequence(node: Sequence, code: list[Instruction]) -> None:
    for item in node.items:
        _emit(item, code)


def _emit_group(node: Group, code: list[Instruction]) -> None:
    code.append((Op.OPEN, node.number))
    _emit(node.item, code)
    code.append((Op.CLOSE, node.number))


def _emit_look(node: Look, code: list[Instruction]) -> None:
    code.append((Op.LOOK, (program(node.item), 0 if node.is_ahead else width(node.item), node.is_positive)))


def _emit_choice(node: Choice, code: list[Instruction]) -> None:
    split = len(code)
    code.append((Op.SPLIT, ()))
    starts, ends = [], []
    for branch in node.branches:
        starts.append(len(code))
        _emit(branch, code)
        ends.append(len(code))
        code.append((Op.JUMP, 0))
    code[split] = (Op.SPLIT, tuple(starts))
    for end in ends:
        code[end] = (Op.JUMP, len(code))


def _emit_repeat(node: Repeat, code: list[Instruction]) -> None:
    code.append((Op.ENTER, None))
    head = len(code)
    code.append((Op.LOOP, None))
    _emit(node.item, code)
    code.append((Op.JUMP, head))
    code[head] = (Op.LOOP, (node, len(code)))


_EMITTERS: dict[type[Node], Callable[[Any, list[Instruction]], None]] = {
    Set: lambda node, code: code.append((Op.SET, node.ranges)),
    Sequence: _emit_sequence,
    Choice: _emit_choice,
    Repeat: _emit_repeat,
    Group: _emit_group,
    Look: _emit_look,
    Assertion: lambda node, code: code.append((Op.ASSERTION, node.kind)),
    Reference: lambda node, code: code.append((Op.REFERENCE, node.number)),
}


def width(node: Node) -> int:
    """Return the number of characters that `node`, part of a lookbehind, matches: that of its first branch."""
    if isinstance(node, Set):
        return 1
    if isinstance(node, Choice):
        return width(node.branches[0])
    if isinstance(node, Look):
        return 0
    return sum(map(width, children(node))) * (node.least if isinstance(node, Repeat) else 1)


@dataclass(slots=True)
class Machine:
    """A pattern that is run on texts, with at most `limit` steps each; `total`: the steps of all texts."""

    root: Node
    limit: int
    steps: int = 0
    total: int = 0
    text: str = ""
    code: list[Instruction] = field(default_factory=list)
    known: dict[tuple[int, str], bool] = field(default_factory=dict)

    def count(self, text: str) -> int:
        """Return the steps of a search for the pattern in `text`, whether it is found or not."""
        self.code = self.code or program(self.root)
        self.steps, self.text = 0, text
        for start in range(len(text) + 1):
            if self.run(self.code, start) or self.steps >= self.limit:
                break
        self.total += self.steps
        return self.steps

    def run(self, code: list[Instruction], start: int) -> bool:
        """Tell whether `code` matches at `start`; no, once the limit is reached."""
        waiting: list[Thread] = [(0, start, None, {})]
        while waiting and self.steps < self.limit:
            self.steps += 1
            at, position, loops, captures = waiting.pop()
            op, operand = code[at]
            if op is Op.FOUND:
                return True
            waiting += _OPERATIONS[op](self, operand, (at, position, loops, captures))
        return False

    def holds(self, ranges: Ranges, position: int) -> bool:
        """Tell whether the character at `position` is in `ranges`."""
        if position >= len(self.text):
            return False
        # The pattern keeps its ranges alive, so an identity means one of them only.
        key = id(ranges), self.text[position]
        if key not in self.known:
            self.known[key] = contains(ranges, ord(key[1]))
        return self.known[key]

    def is_word(self, position: int) -> bool:
        r"""Tell whether there is a character of `\w` at `position`."""
        return position >= 0 and self.holds(WORD, position)


def _set(machine: Machine, ranges: Ranges, thread: Thread) -> list[Thread]:
    at, position, loops, captures = thread
    return [(at + 1, position + 1, loops, captures)] if machine.holds(ranges, position) else []


def _assertion(machine: Machine, kind: str, thread: Thread) -> list[Thread]:
    at, position, loops, captures = thread
    if kind == "^":
        holds = position == 0
    elif kind == "$":
        holds = position == len(machine.text)
    else:
        holds = (machine.is_word(position - 1) != machine.is_word(position)) == (kind == "b")
    return [(at + 1, position, loops, captures)] if holds else []


def _split(_machine: Machine, starts: tuple[int, ...], thread: Thread) -> list[Thread]:
    # The last of the waiting threads runs first.
    return [(start, *thread[1:]) for start in reversed(starts)]


def _jump(_machine: Machine, target: int, thread: Thread) -> list[Thread]:
    return [(target, *thread[1:])]


def _enter(_machine: Machine, _operand: None, thread: Thread) -> list[Thread]:
    at, position, loops, captures = thread
    return [(at + 1, position, (0, NEVER, loops), captures)]


def _loop(_machine: Machine, operand: tuple[Repeat, int], thread: Thread) -> list[Thread]:
    node, target = operand
    at, position, (rounds, last, around), captures = thread
    if rounds < node.least:
        return [(at + 1, position, (rounds + 1, last, around), captures)]
    # A round that matched nothing is the last: the next one would not match anything either.
    leave = (target, position, around, captures)
    if (node.most is not None and rounds >= node.most) or position == last:
        return [leave]
    again = (at + 1, position, (rounds + 1, position, around), captures)
    return [again, leave] if node.is_lazy else [leave, again]


def _open(_machine: Machine, number: int, thread: Thread) -> list[Thread]:
    at, position, loops, captures = thread
    # Until the group ends, its start has another key: a reference within it means the round before.
    return [(at + 1, position, loops, {**captures, -number: (position, position)})]


def _close(_machine: Machine, number: int, thread: Thread) -> list[Thread]:
    at, position, loops, captures = thread
    return [(at + 1, position, loops, {**captures, number: (captures[-number][0], position)})]


def _reference(machine: Machine, number: int, thread: Thread) -> list[Thread]:
    at, position, loops, captures = thread
    # A group that has not matched refers to the empty text.
    start, end = captures.get(number, (0, 0))
    holds = machine.text.startswith(machine.text[start:end], position)
    return [(at + 1, position + end - start, loops, captures)] if holds else []


def _look(machine: Machine, operand: tuple[list[Instruction], int, bool], thread: Thread) -> list[Thread]:
    at, position, loops, captures = thread
    code, back, is_positive = operand
    holds = position >= back and machine.run(code, position - back)
    return [(at + 1, position, loops, captures)] if holds == is_positive else []


_OPERATIONS: dict[Op, Callable[[Machine, Any, Thread], list[Thread]]] = {
    Op.SET: _set,
    Op.ASSERTION: _assertion,
    Op.SPLIT: _split,
    Op.JUMP: _jump,
    Op.ENTER: _enter,
    Op.LOOP: _loop,
    Op.OPEN: _open,
    Op.CLOSE: _close,
    Op.REFERENCE: _reference,
    Op.LOOK: _look,
}
"""The threads after each instruction, the first choice last."""
