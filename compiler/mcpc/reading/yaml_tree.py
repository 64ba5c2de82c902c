"""YAML as the tree of `json_tree.py`: every value and every key with its position.

Scalars are parsed by the core schema of YAML 1.2 (`yes` is a string, a date is a string).  YAML that JSON cannot
represent is a problem, and is not guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml

from mcpc.reading.json_tree import Json, Member, Node
from mcpc.reading.yaml_mistakes import yaml_mistake

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_NODES = 10_000
MAX_DEPTH = 64
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
CORE: tuple[tuple[str, re.Pattern[str], str | None], ...] = (
    ("null", re.compile(r"(?:~|null|Null|NULL|)\Z"), None),
    ("bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), "tTfF"),
    ("int", re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z"), "-+0123456789"),
    ("float", FLOAT, "-+.0123456789"),
)
"""YAML 1.2, section 10.3.2: the type of an unquoted scalar by its form; anything else is a string."""
KINDS: dict[type[yaml.Node], tuple[str, ...]] = {
    yaml.MappingNode: ("map",),
    yaml.ScalarNode: ("null", "bool", "int", "float", "str"),
    yaml.SequenceNode: ("seq",),
}
"""The allowed tags of a node."""


class _CoreLoader(yaml.SafeLoader):
    """Composes nodes by the core schema; YAML's own constructors are never used."""

    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as the base has it


for _tag, _pattern, _first in CORE:
    _CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _pattern, list(_first) if _first else None)


class YamlError(Exception):
    """A text that is not YAML, or that JSON cannot represent: from which offset to which, why, and what to do."""

    def __init__(self, start: int, end: int, message: str, hint: str = "", *, is_syntax: bool = False) -> None:
        super().__init__(message)
        self.start, self.end, self.hint = start, end, hint
        self.is_syntax = is_syntax


def read_yaml(text: str, path: str, start: int = 0, most: int = MAX_NODES) -> Node:
    """Return a document as a node, None as a null; raise YamlError.

    `start`: where the text begins in its file.  `most`: how many values are read; each counts as often as it is used.
    """
    try:
        node = yaml.compose(text, Loader=_CoreLoader)
        if node is None:
            return Node(None, path, start, start)
        return _Reading(path, start, most).node(node)
    except yaml.YAMLError as problem:
        found = yaml_mistake(problem, text)
        raise YamlError(start + found.start, start + found.end, found.message, found.hint, is_syntax=True) from None
    except (RecursionError, ValueError) as problem:
        raise YamlError(start, start + 1, str(problem) or "it cannot be read", is_syntax=True) from None


@dataclass(slots=True)
class _Reading:
    """State of converting a document: each node counts as often as it is referred to."""

    path: str
    start: int
    most: int
    nodes: int = 0
    above: list[yaml.Node] = field(default_factory=list)

    def node(self, node: yaml.Node) -> Node:
        """Return a node of YAML as one of JSON."""
        self.nodes += 1
        if self.nodes > self.most or len(self.above) > MAX_DEPTH or node in self.above:
            raise self.refusal(node, "it is too large, or contains itself")
        kind = node.tag.removeprefix("tag:yaml.org,2002:")
        if kind not in KINDS[type(node)]:
            raise self.refusal(node, f"the tag `{node.tag}` cannot be represented in JSON")
        self.above.append(node)
        made = READERS[type(node)](self, node, kind)
        self.above.pop()
        return made

    def refusal(self, node: yaml.Node, message: str) -> YamlError:
        """Return the error at the position of a node."""
        return YamlError(self.start + node.start_mark.index, self.start + node.end_mark.index, message)

    def build_node(self, node: yaml.Node, value: Json, *parts: Member | Node) -> Node:
        """Return the node of a value, which ends where the last of its parts does if it is a block."""
        start, end = self.start + node.start_mark.index, self.start + node.end_mark.index
        members = tuple(part for part in parts if isinstance(part, Member))
        items = tuple(part for part in parts if isinstance(part, Node))
        if parts and not getattr(node, "flow_style", False):
            last = parts[-1]
            end = last.node.end if isinstance(last, Member) else last.end
        return Node(value, self.path, start, max(start, end), members, items)


def _mapping(reading: _Reading, node: yaml.Node, _kind: str) -> Node:
    members: dict[str, Member] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or not key.tag.endswith(":str"):
            raise reading.refusal(key, "a key is not a string")
        if key.value in members:
            raise reading.refusal(key, f"duplicate key `{key.value}`")
        start, end = reading.start + key.start_mark.index, reading.start + key.end_mark.index
        members[key.value] = Member(key.value, start, end, reading.node(value))
    return reading.build_node(node, {key: member.node.value for key, member in members.items()}, *members.values())


def _sequence(reading: _Reading, node: yaml.Node, _kind: str) -> Node:
    items = [reading.node(item) for item in node.value]
    return reading.build_node(node, [item.value for item in items], *items)


def _scalar(reading: _Reading, node: yaml.Node, kind: str) -> Node:
    text = str(node.value)
    if kind == "float" and (not FLOAT.match(text) or float(text) in (float("inf"), float("-inf"))):
        raise reading.refusal(node, f"the number `{text}` cannot be represented in JSON")
    return reading.build_node(node, scalar_value(kind, text))


def scalar_value(kind: str, text: str) -> Json:
    """Return a scalar of the core schema as JSON."""
    if kind == "int":
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        return int(text[2:] if base != 10 else text, base)
    if kind == "float":
        return float(text)
    return {"null": None, "bool": text.lower() == "true"}.get(kind, text)


READERS: dict[type[yaml.Node], Callable[[_Reading, yaml.Node, str], Node]] = {
    yaml.MappingNode: _mapping,
    yaml.ScalarNode: _scalar,
    yaml.SequenceNode: _sequence,
}
