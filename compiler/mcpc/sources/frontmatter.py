"""YAML frontmatter of a Markdown file (between the first two `---` lines) as JSON, with the position of every key.

    ---                               {"name": "git-workflow", "description": "…"}
    name: git-workflow
    description: …
    ---

Scalars are parsed by the core schema of YAML 1.2 (`yes` is a string, a date is a string), because clients receive the
frontmatter and compare it with their own parse. YAML that JSON cannot represent is a problem, and is not guessed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import yaml

from mcpc.diagnostics import Span, diagnose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.sources.json_tree import Json
    from mcpc.sources.source import Source

FENCED = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)(?:\r?\n)?^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
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


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """Parsed frontmatter: the object, and the positions of its members."""

    value: dict[str, Json]
    places: Mapping[str, Span]
    span: Span


class _CoreLoader(yaml.SafeLoader):
    """Composes nodes by the core schema; YAML's own constructors are never used."""

    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as the base has it


for _tag, _pattern, _first in CORE:
    _CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _pattern, list(_first) if _first else None)


class _RefusedError(Exception):
    """A node that JSON cannot represent, with its YAML mark."""

    def __init__(self, node: yaml.Node, message: str) -> None:
        super().__init__(message)
        self.node = node


@dataclass(slots=True)
class _Reading:
    """State of converting a document: each node counts as often as it is referred to."""

    nodes: int = 0
    above: list[yaml.Node] = field(default_factory=list)

    def value(self, node: yaml.Node) -> Json:
        """Return a node as JSON."""
        self.nodes += 1
        if self.nodes > MAX_NODES or len(self.above) > MAX_DEPTH or node in self.above:
            raise _RefusedError(node, "the frontmatter is too large, or contains itself")
        self.above.append(node)
        made = self._made(node)
        self.above.pop()
        return made

    def _made(self, node: yaml.Node) -> Json:
        kind = node.tag.removeprefix("tag:yaml.org,2002:")
        if kind not in KINDS[type(node)]:
            raise _RefusedError(node, f"the tag `{node.tag}` cannot be represented in JSON")
        if isinstance(node, yaml.MappingNode):
            return dict(self._pairs(node))
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item) for item in node.value]
        return scalar_value(kind, node)

    def _pairs(self, node: yaml.MappingNode) -> list[tuple[str, Json]]:
        pairs: dict[str, Json] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or not key.tag.endswith(":str"):
                raise _RefusedError(key, "a key is not a string")
            if key.value in pairs:
                raise _RefusedError(key, f"duplicate key `{key.value}`")
            pairs[key.value] = self.value(value)
        return list(pairs.items())


def scalar_value(kind: str, node: yaml.Node) -> Json:
    """Return a scalar of the core schema as JSON."""
    text = str(node.value)
    if kind == "int":
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        return int(text[2:] if base != 10 else text, base)
    if kind == "float":
        if not FLOAT.match(text) or float(text) in (float("inf"), float("-inf")):
            raise _RefusedError(node, f"the number `{text}` cannot be represented in JSON")
        return float(text)
    return {"null": None, "bool": text.lower() == "true"}.get(kind, text)


KINDS: dict[type[yaml.Node], tuple[str, ...]] = {
    yaml.MappingNode: ("map",),
    yaml.ScalarNode: ("null", "bool", "int", "float", "str"),
    yaml.SequenceNode: ("seq",),
}
"""The allowed tags of a node."""


def read_frontmatter(source: Source) -> tuple[Frontmatter | None, Diagnostics]:
    """Return the frontmatter of a Markdown file, or None and what is wrong with it."""
    fenced = FENCED.match(source.text)
    if fenced is None:
        hint = "the first line is `---`, then `name: …` and `description: …`, then `---` again"
        problem = diagnose("MCP130", Span(source.path, 0, 3), f"`{source.path}` has no frontmatter", "", hint)
        return None, (problem,)
    start = fenced.start(1)
    try:
        node = yaml.compose(fenced[1], Loader=_CoreLoader)
        if not isinstance(node, yaml.MappingNode):
            return None, (diagnose("MCP130", Span(source.path, 0, fenced.end()), "the frontmatter is not a mapping"),)
        value = _Reading().value(node)
    except (yaml.YAMLError, _RefusedError, RecursionError, ValueError) as problem:
        return None, (_malformed(problem, source, start, fenced.end(1)),)
    places = {
        key.value: Span(source.path, start + key.start_mark.index, start + content.end_mark.index)
        for key, content in node.value
    }
    return Frontmatter(dict(value), places, Span(source.path, start, fenced.end(1))), ()  # type: ignore[arg-type]


def _malformed(problem: Exception, source: Source, start: int, end: int) -> Diagnostic:
    """Return the diagnostic for frontmatter that cannot be parsed, at the position of the error."""
    if isinstance(problem, _RefusedError):
        node = problem.node
        span = Span(source.path, start + node.start_mark.index, start + node.end_mark.index)
        return diagnose("MCP131", span, str(problem))
    mark = getattr(problem, "problem_mark", None)
    at = start + (mark.index if mark is not None else 0)
    words = str(getattr(problem, "problem", None) or getattr(problem, "reason", None) or "it cannot be read")
    return diagnose("MCP131", Span(source.path, at, min(at + 1, end)), f"the frontmatter is not valid YAML: {words}")
