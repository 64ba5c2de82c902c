"""Check that every default and every example is valid for the schema that contains it.

A value beside only `type` and `enum` is checked here if it is valid, as most are. All others are checked by the
`jsonschema` library, which is imported on demand.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.model.ir import ExternalHandler
from mcpc.schema import compile_of
from mcpc.schema.json_types import has_type, types_of
from mcpc.schema.keywords import KEYWORDS
from mcpc.schema.subschemas import PLAIN, SubschemaCollector

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Schema, Server
    from mcpc.reading import Node

AUTHORITY = "mcpc.schema.jsonschema_oracle"
MENTIONED = ('"default"', '"examples"')
SIMPLE = frozenset(("type", "enum"))
JUDGED_KEYWORDS = {"default": ("MCP121", "default"), "examples": ("MCP122", "example")}
NO_NULL = "omit `default`: a value that may be missing needs none"
FIX_HINT = "correct the value, or let the schema accept it"
MAX_VALUE_LENGTH = 60


@dataclass(frozen=True, slots=True)
class DefaultOrExample:
    """A default or example, and the keywords of the schema that contains it."""

    keyword: str
    value: Node
    schema: Node
    keywords: Mapping[str, Node]


def check_examples(server: Server) -> Diagnostics:
    """Report defaults and examples that violate their own schemas, if a person wrote these."""
    problems: dict[object, Diagnostic] = {}
    for tool in server.tools:
        if isinstance(tool.handler, ExternalHandler) and tool.handler.generated:
            continue
        for schema in filter(None, (tool.input.enforced, tool.output)):
            text = json.dumps(schema.value)
            if any(word in text for word in MENTIONED) and compile_of(schema)[0] is not None:
                problems.update((problem.span, problem) for problem in _refused(schema))
    return tuple(problems.values())


def _refused(schema: Schema) -> Iterator[Diagnostic]:
    """Yield the invalid defaults and examples of one schema."""
    search = SubschemaCollector(schema.node, PLAIN)
    search.run()
    doubtful = [given for node, keywords in search.schemas.items() for given in _given(node, keywords)]
    if not doubtful:
        return
    oracle = import_module(AUTHORITY)
    authority = oracle.ReferenceValidator(schema.node, search.homes[schema.node].dialect)
    pointers = dict(schema.node.pointers())
    for given in doubtful:
        if given.schema not in pointers:
            continue  # in a metaschema that the schema refers to
        try:
            found = authority.refusal(pointers[given.schema], given.value.value)
        except oracle.TooLongError:
            kind = JUDGED_KEYWORDS[given.keyword][1]
            message = f"checking this {kind} takes too long: its schema refers to too many others"
            yield diagnose("MCP008", given.value.span, message)
            return
        if found is not None:
            yield _problem(given, *found)


def _given(node: Node, keywords: Mapping[str, Node]) -> Iterator[DefaultOrExample]:
    """Yield the values in one schema that are not trivially valid."""
    for keyword in JUDGED_KEYWORDS:
        written = keywords.get(keyword)
        for value in () if written is None else written.items if keyword == "examples" else (written,):
            if not _is_plainly_right(keywords, value):
                yield DefaultOrExample(keyword, value, node, keywords)


def _is_plainly_right(keywords: Mapping[str, Node], value: Node) -> bool:
    """Tell whether a value is valid by `type` and `enum` alone."""
    judging = {name for name in keywords if name == "type" or (name in KEYWORDS and KEYWORDS[name].judges)}
    choices = keywords.get("enum")
    is_chosen = choices is None or (
        isinstance(value.value, str) and value.value in [item.value for item in choices.items]
    )
    return judging <= SIMPLE and is_chosen and has_type(value.value, types_of(keywords.get("type")))


def _problem(given: DefaultOrExample, path: tuple[str | int, ...], reason: str) -> Diagnostic:
    """Return the diagnostic at the innermost position that it concerns."""
    node = given.value
    for step in path:
        node = (node.items[step] if isinstance(step, int) else node.get(step)) or node
    code, name = JUDGED_KEYWORDS[given.keyword]
    message = f"this {name} does not match its schema: {_shown(node.value)}, but {reason}"
    hint = NO_NULL if name == "default" and given.value.value is None else FIX_HINT
    return diagnose(code, node.span, message, "", hint)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text if len(text) <= MAX_VALUE_LENGTH else f'{text[:MAX_VALUE_LENGTH]}…'}`"
