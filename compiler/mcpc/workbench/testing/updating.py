"""Expectations written anew in their files, where all ways of a case found the same other value.

Only the text of a value is replaced, so that comments and the order of a file stay.  The new text is read again before
it is used: a file in which anything else would change is left as it is.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.reading import Source, parse_json
from mcpc.reading.yaml_tree import YamlError, read_yaml
from mcpc.workbench.testing.case_files import MAX_VALUES
from mcpc.workbench.testing.model import Absent
from mcpc.workbench.testing.yaml_text import block_text, flow_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcpc.reading import Node
    from mcpc.workbench.testing.results import CaseResult

    Json = Any


@dataclass(frozen=True, slots=True)
class Edit:
    """A value of a file that gets another one."""

    node: Node
    value: Json


def updates(results: Iterable[CaseResult], sources: Mapping[str, Source]) -> tuple[dict[str, str], int]:
    """Return the new texts of files by path, and how many expectations they change."""
    edits: dict[str, list[Edit]] = {}
    for result in results:
        edits.setdefault(result.case.file, []).extend(edits_of(result))
    texts, count = {}, 0
    for path, found in edits.items():
        text = edited(sources[path], found) if found else None
        if text is not None:
            texts[path] = text
            count += len(found)
    return texts, count


def edits_of(result: CaseResult) -> list[Edit]:
    """Return the edits of a case: of what differs in the same way in all of its ways."""
    ways = set(result.variants)
    return [
        Edit(failure.mismatch.node, failure.mismatch.update)
        for failure in result.failures
        if failure.mismatch.node is not None
        and not isinstance(failure.mismatch.update, Absent)
        and set(failure.variants) == ways
    ]


def edited(source: Source, edits: Sequence[Edit]) -> str | None:
    """Return the text of a file with other values; None if anything else of it would change."""
    root = read_tree(source.path, source.text)
    wanted = None if root is None else json.dumps(with_values(root, edits))
    for has_blocks in (True, False):
        text = replaced(source.text, edits, has_blocks=has_blocks)
        after = read_tree(source.path, text)
        if after is not None and json.dumps(after.value) == wanted:
            return text
    return None


def replaced(text: str, edits: Sequence[Edit], *, has_blocks: bool) -> str:
    """Return a text with other values in place of some; with `has_blocks` a block of lines stays one."""
    for edit in sorted(edits, key=lambda each: each.node.start, reverse=True):
        start = edit.node.start
        end = start + len(text[start : edit.node.end].rstrip())
        is_block = has_blocks and text[start] in "|>" and isinstance(edit.value, str) and "\n" in edit.value
        written = block_text(edit.value, _indent(text, start)) if is_block else flow_value(edit.value)
        text = text[:start] + written + text[end:]
    return text


def _indent(text: str, at: int) -> str:
    """Return what is before the lines of a block whose key is on the line of `at`."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return " " * (len(line) - len(line.lstrip(" -")) + 2)


def with_values(root: Node, edits: Sequence[Edit]) -> Json:
    """Return the value of a file with other values at the positions of some."""
    by_place = {(edit.node.start, edit.node.end): edit.value for edit in edits}
    value = copy.deepcopy(root.value)
    for node, pointer in root.pointers():
        if (node.start, node.end) in by_place and pointer:
            above, key = _above(value, pointer)
            above[key] = by_place[node.start, node.end]
    return value


def _above(value: Json, pointer: str) -> tuple[Json, Json]:
    """Return what holds the value at a pointer, and its key there."""
    *path, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for part in path:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value, int(last) if isinstance(value, list) else last


def read_tree(path: str, text: str) -> Node | None:
    """Return the value of a case file; None if it cannot be read."""
    if path.endswith(".json"):
        return parse_json(Source(path, text.encode("utf-8", "surrogateescape")))[0]
    try:
        return read_yaml(text, path, most=MAX_VALUES)
    except YamlError:
        return None
