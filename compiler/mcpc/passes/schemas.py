"""Schemas of a server: that each compiles and fits its place, its examples, and the models that are made of it.

A value beside only `type` and `enum` is checked here if it is valid, as most are. All others are checked by the
`jsonschema` library, which is imported on demand.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import did_you_mean
from mcpc.languages import is_models_file
from mcpc.model.ir import ExternalHandler, HttpHandler
from mcpc.schema import compile_of
from mcpc.schema.analysis import OPENING
from mcpc.schema.compilation import MAX_PROBLEMS
from mcpc.schema.conditions import has_type, types_of
from mcpc.schema.keywords import KEYWORDS
from mcpc.schema.models import build_models, digest_line, model_requests, tool_names
from mcpc.schema.subschemas import PLAIN, SubschemaCollector

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir import Schema, Server, Tool
    from mcpc.reading import Node

INPUT_HINT = 'arguments are always an object; write `"type": "object"`'
MAX_COMPARED = 100
"""With more names than this, no similar name is suggested."""
OUTPUT_HINT = "clients of revisions before 2026-07-28 will not see this schema or the structured result"


def check_schemas(server: Server) -> Diagnostics:
    """Report invalid schemas, input schemas of the wrong type, and output schemas that older clients reject."""
    problems: list[Diagnostic] = []
    for tool in server.tools:
        problems += _root(tool.input, f"the input schema of `{tool.name}`", "MCP115", INPUT_HINT)
        problems += compile_of(tool.input)[1]
        problems += islice(_impossible(tool), MAX_PROBLEMS)
        if tool.output:
            # What an API answers is not for the author of the project to change.
            if not (isinstance(tool.handler, HttpHandler) and server.is_of_document):
                problems += _root(tool.output, f"the output schema of `{tool.name}`", "MCP116", OUTPUT_HINT)
            problems += compile_of(tool.output)[1]
    return tuple(problems)


def _root(schema: Schema, label: str, code: str, hint: str) -> Iterator[Diagnostic]:
    kind = schema.node.get("type")
    if kind is None:
        yield diagnose(code, schema.node.span, f"{label} has no `type`", '`"object"`', hint)
    elif kind.value != "object":
        yield diagnose(code, kind.span, f"{label} has the type {json.dumps(kind.value)}", '`"object"`', hint)


def _impossible(tool: Tool) -> Iterator[Diagnostic]:
    """Report required arguments that the schema neither names nor allows otherwise."""
    root = {member.key: member.node for member in tool.input.node.members}
    more, required = root.get("additionalProperties"), root.get("required")
    takes_more = more.value is not False if more is not None else not tool.input.closed
    names_others = any(key in root for key in OPENING if key != "additionalProperties")
    if takes_more or names_others or required is None or not isinstance(required.value, list):
        return
    properties = root.get("properties")
    names = {member.key: None for member in properties.members} if properties is not None else {}
    for item in required.items:
        name = item.value
        if tool.input.decides and isinstance(name, str) and name not in names:
            hint = did_you_mean(name, names if len(names) <= MAX_COMPARED else (), f"name `{name}` in `properties`")
            message = f"`{name}` is required, but `{tool.name}` does not allow it"
            yield diagnose("MCP156", item.span, message, "one of the `properties`", hint)


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
                # By place, because one that several tools refer to is judged for each of them.
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
            refusal = authority.refusal(pointers[given.schema], given.value.value)
        except oracle.TooLongError:
            kind = JUDGED_KEYWORDS[given.keyword][1]
            message = f"checking this {kind} takes too long: its schema refers to too many others"
            yield diagnose("MCP008", given.value.span, message)
            return
        if refusal is not None:
            yield _problem(given, *refusal)


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
    # Texts only: in Python `1 == True`, and in JSON these differ.
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


HINT = "its class accepts every object; the compiled validator still checks arguments and results"


def check_models(server: Server) -> Diagnostics:
    """Report schemas without a model, and a models module that is out of date."""
    return (*_without(server), *_outdated(server))


def _without(server: Server) -> Iterator[Diagnostic]:
    for model in build_models(server, server.models):
        if model.problem:
            name, span = model.wanted.root, model.wanted.schema.node.span
            message = f"cannot generate a model for this schema of `{model.wanted.tool}`: {model.problem}"
            yield diagnose("MCP213", span, message, "", f"{HINT} (`{name}`)")


def _outdated(server: Server) -> Iterator[Diagnostic]:
    for file in server.files:
        if is_models_file(file.source) and file.source.text.partition("\n")[2].partition("\n")[0] != digest_line(
            model_requests(server, tool_names(server))
        ):
            span = Span(file.source.path, 0, file.source.text.find("\n"))
            message = "the file does not match the current tools"
            yield diagnose(
                "MCP215", span, message, "", f"write it again: `mcpc generate models . -o {file.source.path}`"
            )
