"""Lower tools and prompts to typed definitions, as far as their types allow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.suggestions import quoted
from mcpc.lower.client_form import in_client_form
from mcpc.lower.client_requests import check_client_requests
from mcpc.lower.handler_options import check_handler_options, lower_handler_options, result_limit
from mcpc.lower.metadata import (
    NOT_SHOWN_OF_TOOL,
    PROMPT_ARGUMENT_FIELDS,
    PROMPT_FIELDS,
    TOOL_FIELDS,
    lower_metadata,
    tool_annotations,
    user_interface,
)
from mcpc.lower.protocol_schema import COMPLETION, PROMPT, RESOURCE, SERVER, TEMPLATE, TOOL, check_fields
from mcpc.lower.variables import names_in
from mcpc.model.definitions.handler_options import DEFAULTS_KEY, HANDLERS_KEY, options_node
from mcpc.model.ir import ExternalHandler, Prompt, PromptArgument, PythonFunction, Schema, Tool
from mcpc.model.revisions import REVISIONS
from mcpc.reading import member_of
from mcpc_runtime.handlers.python.bindings.hints import UNCHECKED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.diagnostics import Diagnostic
    from mcpc.model.definitions import Definition
    from mcpc.model.ir import Handler, HandlerOptions, Traits
    from mcpc.options import Options
    from mcpc.reading import Node, Source

HEADER_KEYWORD, MAX_HEADER_DEPTH = "x-mcp-header", 32
VERSIONS = tuple(revision.version for revision in REVISIONS)


@dataclass(frozen=True, slots=True)
class Choices:
    """Settings for all definitions: the build options, and the traits of the project's systems."""

    options: Options
    traits: Traits


def check_definitions(definition: Definition) -> Iterator[Diagnostic]:
    """Yield every field of the definition that is missing, unknown or of the wrong type."""
    if definition.server:
        yield from check_fields(definition.server.node, SERVER, "the server description")
        options = options_node(definition.server.node, HANDLERS_KEY)
        yield from check_handler_options(options) if options else ()
        yield from _unknown_revision(member_of(definition.server.node, "protocolVersion", "string"))
    for tool in definition.tools:
        yield from check_fields(tool.node, TOOL, "a tool")
        options = options_node(tool.node)
        if options is not None:
            yield from check_handler_options(options)
            schema = member_of(tool.node, "inputSchema", "object")
            yield from check_client_requests(options, names_in(schema) if schema else ())
    for prompt in definition.prompts:
        yield from check_fields(prompt.node, PROMPT, "a prompt")
        arguments = _arguments(prompt.node)
        options = options_node(prompt.node)
        if options is not None:
            yield from check_handler_options(options)
            yield from check_client_requests(options, [str(name.value) for _, name in arguments])
        yield from _repeated(arguments, definition.sources)
    for kind, shape, label in OTHERS:
        for item in getattr(definition, kind):
            yield from check_fields(item.node, shape, label)
            options = options_node(item.node)
            yield from check_handler_options(options) if options else ()


OTHERS = (
    ("resources", RESOURCE, "a resource"),
    ("templates", TEMPLATE, "a resource template"),
    ("completions", COMPLETION, "a completion"),
)


def string_at(node: Node | None, *keys: str) -> str:
    """Return the string at the path `keys`, or an empty string."""
    for key in keys[:-1]:
        node = member_of(node, key, "object")
    found = member_of(node, keys[-1], "string")
    return "" if found is None else str(found.value)


def lower_tool(node: Node, handler: Handler, general: Node | None, choices: Choices) -> Tool | None:
    """Return the tool, or None if a schema is not an object; `general` are the server's handler options."""
    options = choices.options
    name, schema = member_of(node, "name", "string"), member_of(node, "inputSchema", "object")
    output = node.get("outputSchema")
    if name is None or schema is None or (output is not None and output.kind != "object"):
        return None
    if options.dialect == OWN_DIALECT and not isinstance(handler, ExternalHandler):
        schema, output = in_client_form(schema), in_client_form(output) if output is not None else None
    return Tool(
        name=str(name.value),
        span=name.span,
        node=node,
        input=replace(
            _input(node, schema, choices, handler.arguments if isinstance(handler, ExternalHandler) else "closed"),
            unchecked=_unchecked(handler),
        ),
        output=None if output is None else Schema(output, assert_formats=options.assert_formats),
        handler=handler,
        running=replace(
            _tool_running(node, lower_handler_options(handler, options_node(node), general)),
            max_result=result_limit(options_node(node), general),
        ),
        headers=tuple(_headers(schema, ())),
        metadata=lower_metadata(node, TOOL_FIELDS, NOT_SHOWN_OF_TOOL),
        annotations=tool_annotations(node),
        interface=user_interface(node),
    )


def _unchecked(handler: Handler) -> frozenset[str]:
    """Return the arguments that a Python function gets as the client sent them, for pydantic to judge."""
    binding = handler.binding if isinstance(handler, PythonFunction) else ()
    return frozenset(mode.removeprefix(UNCHECKED) for mode in binding if mode.startswith(UNCHECKED))


def _input(node: Node, schema: Node, choices: Choices, arguments: str) -> Schema:
    """Return the input schema; a tool may opt out of validation and of defaults.

    Arguments that a schema does not name are refused, as in mcbox, unless the handler's system accepts them
    (`ExternalHandler.arguments`). Defaults are not filled in if the handler gets the unchanged text of the call.
    """
    options = choices.options
    value = member_of(options_node(node), "validate", "boolean")
    decides = arguments != "handler" and (options.validate or value is None or value.value is True)
    wanted = member_of(member_of(node, "_meta", "object"), DEFAULTS_KEY, "boolean")
    is_wanted = options.defaults and (wanted is None or wanted.value is True)
    closed = arguments == "closed"
    completed = closed and decides and is_wanted and not choices.traits.keeps_argument_text
    return Schema(schema, closed=closed, assert_formats=options.assert_formats, completes=completed, decides=decides)


def _headers(schema: Node, path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the header names (`x-mcp-header`) of arguments, each with the path of keys to its argument."""
    properties = schema.get("properties")
    if len(path) >= MAX_HEADER_DEPTH or properties is None:
        return
    for member in properties.members:
        name = member.node.get(HEADER_KEYWORD)
        if name is not None and isinstance(name.value, str):
            yield name.value, (*path, member.key)
        yield from _headers(member.node, (*path, member.key))


def _tool_running(node: Node, found: HandlerOptions) -> HandlerOptions:
    """Return the options of a tool; without a `task` option, the protocol's `taskSupport` applies."""
    support = member_of(member_of(node, "execution", "object"), "taskSupport", "string")
    if support is None or support.value not in TASKS or found.task:
        return found
    value = member_of(options_node(node), "task", "string")
    return replace(found, task=str(support.value)) if value is None else found


TASKS = ("optional", "required")
OWN_DIALECT = "mcp"
"""The dialect of projects whose lists need not be those of another system."""


def lower_prompt(node: Node, handler: Handler, general: Node | None) -> Prompt | None:
    """Return the prompt, with its named arguments."""
    name = member_of(node, "name", "string")
    if name is None:
        return None
    arguments = tuple(_argument(item, argument) for item, argument in _arguments(node))
    return Prompt(
        name=str(name.value),
        span=name.span,
        node=node,
        arguments=arguments,
        handler=handler,
        running=lower_handler_options(handler, options_node(node), general),
        metadata=lower_metadata(node, PROMPT_FIELDS),
    )


def _arguments(node: Node) -> list[tuple[Node, Node]]:
    """Return the named arguments of a prompt, each with the node of its name."""
    listed = member_of(node, "arguments", "array")
    named = [(item, member_of(item, "name", "string")) for item in (listed.items if listed else ())]
    return [(item, name) for item, name in named if name is not None]


def _argument(item: Node, name: Node) -> PromptArgument:
    required = member_of(item, "required", "boolean")
    is_required = required is not None and required.value is True
    return PromptArgument(str(name.value), is_required, name.span, lower_metadata(item, PROMPT_ARGUMENT_FIELDS))


def _unknown_revision(node: Node | None) -> Iterator[Diagnostic]:
    if node is not None and node.value not in VERSIONS:
        yield diagnose("MCP301", node.span, f"unknown protocol version `{node.value}`", f"one of {quoted(VERSIONS)}")


def _repeated(arguments: Sequence[tuple[Node, Node]], sources: Sequence[Source]) -> Iterator[Diagnostic]:
    firsts: dict[str, Node] = {}
    for _, name in arguments:
        first = firsts.setdefault(str(name.value), name)
        if first is not name:
            hint = f"the first is at {first.span.place_in(sources)}; remove or rename one of them"
            yield diagnose("MCP104", name.span, f"two arguments of one prompt have the name `{name.value}`", "", hint)
