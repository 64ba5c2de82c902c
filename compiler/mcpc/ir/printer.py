"""The representation as text that people read and golden tests compare: one line a fact, in the server's own order.

Whatever a project wrote is shown as JSON strings unless it is plain, so that no name can forge a line.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from mcpc.ir.nodes import BashFunction, Contents, Executable, Foreign, PythonFunction
from mcpc.ir.usual import USUAL, usual_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.ir.nodes import (
        Completion,
        Environment,
        Facet,
        Handler,
        HandlerFile,
        Parameter,
        Prompt,
        Resource,
        ResourceTemplate,
        Root,
        Running,
        Schema,
        Server,
        Tool,
    )
    from mcpc.sources import Json, Node

PLAIN = re.compile(r"[A-Za-z0-9_./+#$-]+")
DEEPEST = 3
LONGEST = 8
"""A schema is shown in short: not deeper than this, and not more choices of one value."""


def show(server: Server) -> str:
    """Return the server as text."""
    return "".join(f"{line}\n" for line in _lines(server))


def _lines(server: Server) -> Iterator[str]:
    yield f"server {_plain(server.name)} {_plain(server.version)}"
    yield f"  format {server.format}, dialect {server.dialect}"
    yield from _facts(server)
    for tool in server.tools:
        yield from _tool(tool)
    for prompt in server.prompts:
        yield from _prompt(prompt)
    for resource in server.resources:
        yield from _resource(resource)
    for template in server.templates:
        yield from _template(template)
    for completion in server.completions:
        yield from _completion(completion)
    for file in server.files:
        yield _file(file)


def _facts(server: Server) -> Iterator[str]:
    capabilities = server.node.get("capabilities")
    if capabilities is not None:
        yield f"  capabilities {_json(capabilities.value)}"
    if server.instructions:
        yield f"  instructions {_json(server.instructions)}"
    for kind in ("tools", "prompts", "resources"):
        size = getattr(server, f"{kind}_page_size")
        if size:
            yield f"  {kind} in pages of {size}"
    if server.changes:
        yield f"  tells of changes: {', '.join(sorted(server.changes))}"
    yield from map(_facet, server.facets)
    for name, value in server.environment:
        yield f"  environment {name}: {len(value.encode())} bytes"
    if server.unpack or any(isinstance(one.handler, Executable) for one in server.definitions):
        yield "  files unpacked"


def _facet(facet: Facet) -> str:
    offers = f"{len(facet.tools)} tools, {len(facet.prompts)} prompts, {len(facet.resources)} resources"
    return f"  over HTTP {_plain(facet.name)} at {_plain(facet.path)}: {offers}"


def _tool(tool: Tool) -> Iterator[str]:
    yield f"tool {_plain(tool.name)}"
    yield f"  handler {_handler(tool.handler)}"
    yield from _running(tool.running, tool.handler)
    yield f"  input {_schema(tool.input)}"
    if tool.output:
        yield f"  output {_schema(tool.output)}"
    for header, path in tool.headers:
        yield f"  header {_plain(header)} is {'.'.join(map(_plain, path))}"
    yield from _members(tool.members, ("name", "inputSchema", "outputSchema"))


def _prompt(prompt: Prompt) -> Iterator[str]:
    yield f"prompt {_plain(prompt.name)}"
    yield f"  handler {_handler(prompt.handler)}"
    yield from _running(prompt.running, prompt.handler)
    for argument in prompt.arguments:
        yield f"  argument {_plain(argument.name)}{'' if argument.required else '?'}"
    yield from _members(prompt.members, ("name", "arguments"))


def _resource(resource: Resource) -> Iterator[str]:
    yield f"resource {_plain(resource.name)} {_plain(resource.uri)}"
    yield from _source(resource)
    yield from _members(resource.members, ("name", "uri", "text", "blob", "root", *_shown_as_type(resource)))


def _template(template: ResourceTemplate) -> Iterator[str]:
    yield f"resource template {_plain(template.name)} {_plain(template.uri.text)}"
    yield from _source(template)
    for variable in template.uri.variables:
        yield f"  variable {_plain(variable.name)}{'?' if variable.optional else ''}"
    yield from _members(template.members, ("name", "uriTemplate", "root", *_shown_as_type(template)))


def _source(one: Resource | ResourceTemplate) -> Iterator[str]:
    """Yield where the content comes from, and of which type it is."""
    kind = f", {_plain(one.mime)}" if one.mime else ""
    if isinstance(one.content, Contents):
        yield f"  {'blob' if one.content.is_blob else 'text'} of {one.content.size} bytes{kind}"
    elif one.content is not None:
        yield f"  {_root(one.content)}{kind}"
    else:
        yield from (f"  type {_plain(one.mime)}",) if one.mime else ()
        yield f"  handler {_handler(one.handler) if one.handler else 'none'}"
        yield from _running(one.running, one.handler) if one.handler else ()


def _root(root: Root) -> str:
    return f"file {_plain(root.path)} below {_plain(root.folder)}"


def _shown_as_type(one: Resource | ResourceTemplate) -> tuple[str, ...]:
    return ("mimeType",) if one.mime else ()


def _completion(completion: Completion) -> Iterator[str]:
    yield f"completion of {_plain(completion.argument)} of the {completion.kind} {_plain(completion.ref)}"
    if completion.handler is None:
        yield f"  {len(completion.values)} values"
    else:
        yield f"  handler {_handler(completion.handler)}"
        yield from _running(completion.running, completion.handler)


def _running(running: Running, handler: Handler) -> Iterator[str]:
    """Yield what is unusual about the running of a handler; the usual environment is the contract's own."""
    if running.timeout != USUAL.timeout:
        yield f"  timeout {running.timeout:g} s"
    for way, wanted in (("inline", running.inline), ("isolated", running.isolated)):
        if wanted:
            yield f"  {way} {wanted}" if isinstance(wanted, str) else f"  {way}"
    if running.environment != usual_environment(handler):
        yield f"  finds {environment_in_words(running.environment)}"
    if running.requires:
        yield f"  requires {', '.join(map(str, running.requires))}"
    if running.task:
        yield f"  task {running.task}"
    for key, method, _ in running.asks:
        yield f"  asks {_plain(key)}: {method}"


def environment_in_words(environment: Environment) -> str:
    """Return what a handler finds of the environment."""
    if environment.inherit:
        return "the whole environment"
    return ", ".join(("a minimal environment", *environment.names))


def _members(node: Node, shown: tuple[str, ...]) -> Iterator[str]:
    for member in node.members:
        if member.key not in shown:
            yield f"  {_plain(member.key)} {_json(member.node.value)}"


def _file(file: HandlerFile) -> str:
    language = f" {file.language}" if file.language else ""
    executable = ", executable" if file.source.mode & 0o111 else ""
    return f"file {_plain(file.source.path)}{language}: {len(file.source.data)} bytes{executable}"


def _handler(handler: Handler) -> str:
    if not handler.file and not isinstance(handler, Foreign):
        return "none"
    return f"{CALLED[type(handler)](handler)}, contract {handler.contract}"


def _bash(handler: BashFunction) -> str:
    return f"bash {_plain(handler.function)} in {_plain(handler.file)}"


def _executable(handler: Executable) -> str:
    return " ".join(("executable", *map(_plain, (handler.file, *handler.words))))


def _python(handler: PythonFunction) -> str:
    parameters = [*map(_parameter, handler.parameters), *(["**"] if handler.accepts_any else [])]
    called = f"{handler.function}({', '.join(parameters)})"
    return f"{'async ' if handler.is_async else ''}python {called} in {_plain(handler.file)}"


def _foreign(handler: Foreign) -> str:
    compiled = f", compiled to {len(handler.compiled)} bytes" if handler.compiled else ""
    return f"{handler.contract} {_plain(handler.file)}{compiled}" if handler.file else handler.contract


CALLED: dict[type, Callable[[Any], str]] = {
    BashFunction: _bash,
    Executable: _executable,
    Foreign: _foreign,
    PythonFunction: _python,
}


def _parameter(parameter: Parameter) -> str:
    return f"{parameter.name}{'' if parameter.required else '?'}{'' if parameter.keyword else ' by position'}"


def _schema(schema: Schema) -> str:
    return f"{_shape(schema.value, 0)}{' closed' if schema.closed else ''}{'' if schema.decides else ' only described'}"


def _shape(schema: Json, depth: int) -> str:
    """Return what a schema lets through, in short: `{path: string, limit?: integer}`."""
    if depth > DEEPEST:
        return "…"
    if not isinstance(schema, dict):
        return WORDS.get(str(schema), "?")
    for keyword, words in CHOICES.items():
        if keyword in schema:
            return words(schema[keyword], depth)
    kinds = schema.get("type", "anything")
    each = [str(kind) for kind in (kinds if isinstance(kinds, list) else [kinds])]
    return " | ".join(SHAPES[kind](schema, depth) if kind in SHAPES else _plain(kind) for kind in each)


WORDS = {"True": "anything", "False": "nothing"}


def _array(schema: dict[str, Json], depth: int) -> str:
    return f"[{_shape(schema['items'], depth + 1)}]" if "items" in schema else "[]"


def _object(schema: dict[str, Json], depth: int) -> str:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return "{}"
    needed = required if isinstance(required, list) else []
    inside = (
        f"{_plain(name)}{'' if name in needed else '?'}: {_shape(value, depth + 1)}"
        for name, value in properties.items()
    )
    return "{" + ", ".join(inside) + "}"


SHAPES: dict[str, Callable[[dict[str, Json], int], str]] = {"array": _array, "object": _object}


def _either(values: Json, depth: int) -> str:
    return _some([_shape(value, depth + 1) for value in values] if isinstance(values, list) else [])


def _enum(values: Json, depth: int) -> str:
    return _some([_json(value) for value in values] if isinstance(values, list) else [])


def _some(choices: list[str]) -> str:
    return " | ".join([*choices[:LONGEST], *(["…"] if len(choices) > LONGEST else [])])


CHOICES: dict[str, Callable[[Json, int], str]] = {
    "$ref": lambda value, _: _plain(str(value)),
    "const": lambda value, _: _json(value),
    "enum": _enum,
    "anyOf": _either,
    "oneOf": _either,
}


def _plain(text: str) -> str:
    return text if PLAIN.fullmatch(text) else json.dumps(text)


def _json(value: Json) -> str:
    return json.dumps(value, separators=(", ", ": "))
