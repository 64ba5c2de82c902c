"""Writer of a pattern's tree in the syntax of `re`, for `re.ASCII`; only groups that are referred to capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.schema.ecma.code_point_sets import written_set
from mcpc.schema.ecma.tree import Assertion, Choice, Group, Look, Node, Reference, Repeat, Sequence, Set, nodes

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

Groups = dict[int, int]
"""The number of each group that captures, among those that do."""
PLACES = {"^": r"\A", "$": r"\Z", "b": r"\b", "B": r"(?!\b)"}
"""`$` is the very end, never the place before a last line feed; the `\\B` of `re` does not match in an empty text."""
LOOKS = {(True, True): "(?=", (True, False): "(?!", (False, True): "(?<=", (False, False): "(?<!"}
COUNTS = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def write_pattern(root: Node) -> str:
    """Return the pattern for `re`."""
    asked = {node.number for node in nodes(root) if isinstance(node, Reference)}
    groups = sorted({node.number for node in nodes(root) if isinstance(node, Group)} & asked)
    return _written(root, {number: place for place, number in enumerate(groups, 1)})


def _written(node: Node, groups: Groups) -> str:
    return WRITERS[type(node)](node, groups)


def _written_sequence(node: Sequence, groups: Groups) -> str:
    return "".join(_item(item, groups) for item in node.items)


def _written_choice(node: Choice, groups: Groups) -> str:
    return "|".join(_written(branch, groups) for branch in node.branches)


def _written_reference(node: Reference, groups: Groups) -> str:
    """A group that has matched nothing yet refers to the empty text."""
    return f"(?({groups[node.number]})\\{groups[node.number]})"


def _written_look(node: Look, groups: Groups) -> str:
    return f"{LOOKS[node.is_ahead, node.is_positive]}{_written(node.item, groups)})"


def _written_group(node: Group, groups: Groups) -> str:
    text = _written(node.item, groups)
    return f"({text})" if node.number in groups else text


def _item(node: Node, groups: Groups) -> str:
    """Return what stands beside other items."""
    while isinstance(node, Group) and node.number not in groups:
        node = node.item
    return f"(?:{_written(node, groups)})" if isinstance(node, Choice) else _written(node, groups)


def _repeated(node: Repeat, groups: Groups) -> str:
    item = node.item
    while isinstance(item, Group) and item.number not in groups:
        item = item.item
    text = _written(item, groups)
    if not isinstance(item, Set | Group):
        text = f"(?:{text})"
    most = "" if node.most is None else node.most
    count = f"{{{node.least}}}" if node.least == node.most else f"{{{node.least},{most}}}"
    return text + COUNTS.get((node.least, node.most), count) + ("?" if node.is_lazy else "")


WRITERS: dict[type[Node], Callable[[Any, Groups], str]] = {
    Set: lambda node, _: written_set(node.ranges),
    Sequence: _written_sequence,
    Choice: _written_choice,
    Repeat: _repeated,
    Group: _written_group,
    Look: _written_look,
    Assertion: lambda node, _: PLACES[node.kind],
    Reference: _written_reference,
}
