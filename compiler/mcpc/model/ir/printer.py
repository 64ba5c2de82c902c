"""Print a server as text, for `mcpc inspect --definitions` and golden tests: one fact per line, in the server's order.

Text of a project is printed as JSON strings unless it is plain, so that no name can forge a line.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from mcpc.model.ir.handlers import (
    DEFAULT,
    BashFunction,
    Executable,
    ExternalHandler,
    HttpHandler,
    PipelineHandler,
    PythonFunction,
    default_options,
)
from mcpc.model.ir.nodes import Completion, Prompt, Resource, ResourceTemplate, StaticContents, Tool
from mcpc.reading import is_executable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.model.ir.handlers import Environment, FunctionParameter, Handler, HandlerOptions
    from mcpc.model.ir.nodes import HandlerFile, Schema, Server, VirtualServer
    from mcpc.reading import Json

    AnyDefinition = Tool | Prompt | Resource | ResourceTemplate | Completion

PLAIN = re.compile(r"[A-Za-z0-9_./+#$-]+")
MAX_SHAPE_DEPTH = 3
MAX_CHOICES = 8
"""Limits of a printed schema: depth, and number of alternatives."""


def print_server(server: Server) -> str:
    """Return the server as text."""
    return "".join(f"{line}\n" for line in _lines(server))


def print_definition(item: AnyDefinition) -> str:
    """Return one definition as `print_server` prints it."""
    return "".join(f"{line}\n" for line in PRINTERS[type(item)](item))


def _lines(server: Server) -> Iterator[str]:
    yield f"server {_plain(server.name)} {_plain(server.version)}"
    yield f"  format {server.format}, dialect {server.dialect}"
    yield from _facts(server)
    for item in (*server.tools, *server.prompts, *server.readable, *server.completions):
        yield from PRINTERS[type(item)](item)
    for file in server.files:
        yield _file(file)


def _facts(server: Server) -> Iterator[str]:
    yield from _fields(server.info.fields(), ("name", "version"))
    if server.capabilities:
        yield f"  capabilities {_json({item.name: item.settings for item in server.capabilities})}"
    if server.instructions:
        yield f"  instructions {_json(server.instructions)}"
    yield from _fields(server.metadata.fields({}))
    yield from _traits(server)
    for kind in ("tools", "prompts", "resources"):
        size = getattr(server, f"{kind}_page_size")
        if size:
            yield f"  {kind} in pages of {size}"
    yield from _changes(server)
    yield from map(_virtual_server, server.virtual_servers)
    yield from _choices(server)
    for name, value in server.environment:
        yield f"  environment {name}: {len(value.encode())} bytes"
    if server.unpack or any(isinstance(item.handler, Executable) for item in server.definitions):
        yield "  files unpacked"


def _choices(server: Server) -> Iterator[str]:
    """Yield what the person who installs or starts the server chooses."""
    for setting in server.settings:
        words = [setting.type, *(word for word in ("required", "secret") if getattr(setting, word))]
        yield f"  setting {setting.name}: {', '.join(words)}"
    for toolset in server.toolsets:
        yield f"  toolset {_plain(toolset.name)}: {', '.join(_plain(pattern) for pattern, _ in toolset.patterns)}"


def _changes(server: Server) -> Iterator[str]:
    if server.changes:
        yield f"  tells of changes: {', '.join(sorted(server.changes))}"
    if server.is_watched:
        yield "  resources can be watched"


def _traits(server: Server) -> Iterator[str]:
    """Yield the differences for the server's system, and the settings of its runtime modules."""
    traits = server.traits
    for is_set, line in (
        (traits.unpacks_as_one_entry, "files that are read on disk are one entry"),
        (traits.announces_extensions, "extensions are announced in every revision"),
        (traits.describes_in_schema, "input schemas describe their tools"),
        (traits.serial, "calls run one after the other"),
        (traits.suspends_errexit, "errexit does not hold in functions of a shell"),
        (traits.keeps_argument_text, "handlers are given arguments as the client wrote them"),
    ):
        if is_set:
            yield f"  {line}"
    for name, settings in server.runtime_settings:
        yield f"  settings of {_plain(name)}: {', '.join(map(_plain, settings))}"
    if server.serves:
        yield f"  serves without definitions: {', '.join(sorted(server.serves))}"
    if server.run_time is not None and server.run_time.kinds:
        yield f"  lists at run time: {', '.join(sorted(server.run_time.kinds))}"
    for method, uri in server.live_lists:
        yield f"  {method} asks the handler of {_plain(uri)}"


def _virtual_server(each: VirtualServer) -> str:
    offers = f"{len(each.tools)} tools, {len(each.prompts)} prompts, {len(each.resources)} resources"
    return f"  over HTTP {_plain(each.name)} at {_plain(each.path)}: {offers}"


def _tool(tool: Tool) -> Iterator[str]:
    yield f"tool {_plain(tool.name)}"
    yield f"  handler {_handler(tool.handler)}"
    yield from _running(tool.running, tool.handler)
    defaults = "" if tool.input.completes or not tool.input.decides else " without defaults"
    yield f"  input {_schema(tool.input)}{defaults}"
    if tool.output:
        yield f"  output {_schema(tool.output)}"
    for header, path in tool.headers:
        yield f"  header {_plain(header)} is {'.'.join(map(_plain, path))}"
    if tool.may_run_again:
        yield "  runs again after an interruption"
    yield from _fields(tool.metadata.fields({"annotations": tool.annotations.fields()}))


def _prompt(prompt: Prompt) -> Iterator[str]:
    yield f"prompt {_plain(prompt.name)}"
    yield f"  handler {_handler(prompt.handler)}"
    yield from _running(prompt.running, prompt.handler)
    for argument in prompt.arguments:
        yield f"  argument {_plain(argument.name)}{'' if argument.required else '?'}"
        yield from (f"  {line}" for line in _fields(argument.metadata.fields({})))
    yield from _fields(prompt.metadata.fields({}))


def _resource(resource: Resource) -> Iterator[str]:
    yield f"resource {_plain(resource.name)} {_plain(resource.uri)}"
    yield from _source(resource)
    yield from _fields(resource.metadata.fields(_read(resource)))


def _template(template: ResourceTemplate) -> Iterator[str]:
    yield f"resource template {_plain(template.name)} {_plain(template.uri.text)}"
    yield from _source(template)
    for variable in template.uri.variables:
        yield f"  variable {_plain(variable.name)}{'?' if variable.optional else ''}"
    yield from _fields(template.metadata.fields(_read(template)))


def _source(item: Resource | ResourceTemplate) -> Iterator[str]:
    """Yield the source of the content, and its media type."""
    kind = f", {_plain(item.mime)}" if item.mime else ""
    if isinstance(item.content, StaticContents):
        yield f"  {'blob' if item.content.is_blob else 'text'} of {item.content.size} bytes{kind}"
    elif item.content is not None:
        yield f"  file {_plain(item.content.path)} below {_plain(item.content.folder)}{kind}"
    else:
        yield from (f"  type {_plain(item.mime)}",) if item.mime else ()
        yield f"  handler {_handler(item.handler) if item.handler else 'none'}"
        yield from _running(item.running, item.handler) if item.handler else ()


def _read(item: Resource | ResourceTemplate) -> dict[str, Json]:
    """Return the fields of a resource or a template that are printed beside the common ones."""
    # The size of static content is printed with it.
    known = item.content.size if isinstance(item.content, StaticContents) else None
    size: dict[str, Json] = {"size": item.size} if isinstance(item, Resource) and item.size != known else {}
    return {"annotations": item.annotations.fields(), **size}


def _completion(completion: Completion) -> Iterator[str]:
    yield f"completion of {_plain(completion.argument)} of the {completion.kind} {_plain(completion.ref)}"
    if completion.handler is None:
        yield f"  {len(completion.values)} values"
    else:
        yield f"  handler {_handler(completion.handler)}"
        yield from _running(completion.running, completion.handler)


def _running(running: HandlerOptions, handler: Handler) -> Iterator[str]:
    """Yield the options of a handler that differ from the defaults."""
    if running.timeout != DEFAULT.timeout:
        yield f"  timeout {running.timeout:g} s"
    for field, wanted in (("inline", running.inline), ("isolated", running.isolated)):
        if wanted:
            yield f"  {field} {wanted}" if isinstance(wanted, str) else f"  {field}"
    if running.environment != default_options(handler).environment:
        yield f"  finds {describe_environment(running.environment)}"
    limit = f"{running.max_result} bytes" if running.max_result else ""
    requires = ", ".join(map(str, running.requires))
    for label, value in (("requires", requires), ("task", running.task), ("results of at most", limit)):
        if value:
            yield f"  {label} {value}"
    for key, method, _ in running.asks:
        yield f"  asks {_plain(key)}: {method}"


def describe_environment(environment: Environment) -> str:
    """Return the environment of a handler as text."""
    if environment.inherit:
        return "the whole environment"
    return ", ".join(("a minimal environment", *environment.names))


def _fields(fields: dict[str, Json], printed: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield a line for each field that is not printed otherwise."""
    yield from (f"  {_plain(key)} {_json(value)}" for key, value in fields.items() if key not in printed)


def _file(file: HandlerFile) -> str:
    language = f" {file.language}" if file.language else ""
    executable = ", executable" if is_executable(file.source) else ""
    return f"file {_plain(file.source.path)}{language}: {len(file.source.data)} bytes{executable}"


def _handler(handler: Handler) -> str:
    # A stand-in for a missing handler has no file.
    if not handler.file and not isinstance(handler, ExternalHandler):
        return "none"
    return f"{CALLED[type(handler)](handler)}, contract {handler.contract}"


def _python(handler: PythonFunction) -> str:
    parameters = [*map(_parameter, handler.parameters), *(["**"] if handler.accepts_any else [])]
    called = f"{handler.function}({', '.join(parameters)})"
    return f"{'async ' if handler.is_async else ''}python {called} in {_plain(handler.file)}"


def _external(handler: ExternalHandler) -> str:
    compiled = f", compiled to {len(handler.compiled)} bytes" if handler.compiled else ""
    compiled += ", forks" if handler.forks else ""
    return f"{handler.contract} {_plain(handler.file)}{compiled}" if handler.file else handler.contract


def _pipeline(handler: PipelineHandler) -> str:
    steps = cast("tuple[dict[str, str], ...]", handler.plan["steps"])
    return f"pipeline {', '.join(_plain(step['name']) for step in steps)} in {_plain(handler.file)}"


CALLED: dict[type, Callable[[Any], str]] = {
    BashFunction: lambda handler: f"bash {_plain(handler.function)} in {_plain(handler.file)}",
    Executable: lambda handler: " ".join(("executable", *map(_plain, (handler.file, *handler.words)))),
    ExternalHandler: _external,
    HttpHandler: lambda handler: f"request {handler.plan['method']} in {_plain(handler.file)}",
    PipelineHandler: _pipeline,
    PythonFunction: _python,
}


def _parameter(parameter: FunctionParameter) -> str:
    return f"{parameter.name}{'' if parameter.required else '?'}{'' if parameter.keyword else ' by position'}"


def _schema(schema: Schema) -> str:
    decided = "" if schema.decides else " only described"
    formats = " with formats asserted" if schema.assert_formats else ""
    return f"{_shape(schema.value, 0)}{' closed' if schema.closed else ''}{decided}{formats}"


def _shape(schema: Json, depth: int) -> str:
    """Return a short form of a schema: `{path: string, limit?: integer}`."""
    if depth > MAX_SHAPE_DEPTH:
        return "…"
    # A boolean is a schema, too.
    if not isinstance(schema, dict):
        return WORDS.get(str(schema), "?")
    for keyword, arguments in CHOICES.items():
        if keyword in schema:
            return arguments(schema[keyword], depth)
    kinds = schema.get("type", "anything")
    each = [str(kind) for kind in (kinds if isinstance(kinds, list) else [kinds])]
    return " | ".join(SHAPES[kind](schema, depth) if kind in SHAPES else _plain(kind) for kind in each)


WORDS = {"True": "anything", "False": "nothing"}


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


SHAPES: dict[str, Callable[[dict[str, Json], int], str]] = {
    "array": lambda schema, depth: f"[{_shape(schema['items'], depth + 1)}]" if "items" in schema else "[]",
    "object": _object,
}


def _either(values: Json, depth: int) -> str:
    return _some([_shape(value, depth + 1) for value in values] if isinstance(values, list) else [])


def _enum(values: Json, depth: int) -> str:
    return _some([_json(value) for value in values] if isinstance(values, list) else [])


def _some(choices: list[str]) -> str:
    return " | ".join([*choices[:MAX_CHOICES], *(["…"] if len(choices) > MAX_CHOICES else [])])


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


PRINTERS: dict[type, Callable[[Any], Iterator[str]]] = {
    Tool: _tool,
    Prompt: _prompt,
    Resource: _resource,
    ResourceTemplate: _template,
    Completion: _completion,
}
"""The lines of a definition, by its type."""
