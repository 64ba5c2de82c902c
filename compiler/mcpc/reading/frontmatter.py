"""YAML frontmatter of a Markdown file (between the first two `---` lines) as JSON, with the position of every key.

    ---                               {"name": "git-workflow", "description": "…"}
    name: git-workflow
    description: …
    ---

Clients receive the frontmatter and compare it with their own parse, so that scalars have to be those of YAML 1.2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.reading.yaml_tree import YamlError, read_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.reading.json_tree import Json
    from mcpc.reading.source import Source

FENCED = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)(?:\r?\n)?^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """Parsed frontmatter: the object, and the positions of its members."""

    value: dict[str, Json]
    places: Mapping[str, Span]
    span: Span


def read_frontmatter(source: Source) -> tuple[Frontmatter | None, Diagnostics]:
    """Return the frontmatter of a Markdown file, or None and what is wrong with it."""
    fenced = FENCED.match(source.text)
    if fenced is None:
        hint = "the first line is `---`, then `name: …` and `description: …`, then `---` again"
        problem = diagnose("MCP130", Span(source.path, 0, 3), f"`{source.path}` has no frontmatter", "", hint)
        return None, (problem,)
    start = fenced.start(1)
    try:
        node = read_yaml(fenced[1], source.path, start)
    except YamlError as problem:
        message = f"the frontmatter is not valid YAML: {problem}" if problem.is_syntax else str(problem)
        return None, (
            diagnose(
                "MCP131", Span(source.path, problem.start, min(problem.end, fenced.end(1))), message, "", problem.hint
            ),
        )
    if not isinstance(node.value, dict):
        return None, (diagnose("MCP130", Span(source.path, 0, fenced.end()), "the frontmatter is not a mapping"),)
    places = {each.key: Span(source.path, each.key_start, each.node.end) for each in node.members}
    return Frontmatter(node.value, places, Span(source.path, start, fenced.end(1))), ()
