"""Lower tools and prompts to typed definitions, as far as their types allow.

{"$schema": an earlier draft, …}      without `$schema`, if no keyword in it means anything else in 2020-12
{"type": "array"}                     with `"items": {}`
{"properties": {"a": true}}           `{}` for `true`, as for `items`
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import is_
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import quoted
from mcpc.lower.bash_options import names_in
from mcpc.lower.command_lines import check_without_command
from mcpc.lower.handler_options import (
    check_client_requests,
    check_handler_options,
    lower_handler_options,
    result_limit,
    run_steps,
)
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
from mcpc.model.definitions import DEFAULTS_KEY, HANDLERS_KEY, SHOWN_KEY, options_node
from mcpc.model.ir import ExternalHandler, Prompt, PromptArgument, PythonFunction, Schema, Tool
from mcpc.model.ir.handlers import default_options
from mcpc.model.revisions import REVISIONS
from mcpc.reading import member_of
from mcpc.reading.json_tree import array_node, implied_member, implied_node, object_node
from mcpc.schema.dialects import DIALECTS, DRAFT_2020_12
from mcpc.schema.subschemas import PLAIN, SubschemaCollector
from mcpc_runtime.handlers.python.bindings.hints import UNCHECKED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.diagnostics import Diagnostic
    from mcpc.model.definitions import Definition
    from mcpc.model.ir import Handler, HandlerOptions, Traits
    from mcpc.options import Options
    from mcpc.reading import Json, Member, Node, Source
    from mcpc.schema.dialects import Dialect

BESIDE_REFERENCE = frozenset({"$ref", "$schema", "$comment", "$defs", "definitions", "description", "title"})
"""Keywords that may be beside a `$ref` in every draft, where earlier ones ignore them."""
COUNTING_ITEMS = "unevaluatedItems"
"""The keyword to which `items` would tell that all items are known."""


MAX_DEPTH = 100
"""How deep a schema may be that is rewritten: no client reads a deeper one."""


def in_client_form(schema: Node) -> Node:
    """Return a schema in the form that all clients take; the same one if it has it already.  O(its bytes)."""
    if not may_change(schema.value) or is_deep(schema):
        return schema
    search = SubschemaCollector(schema, PLAIN)
    search.run()
    return ClientForm(schema, [node for node in search.schemas if node.kind == "object"]).rewrite(schema)


def may_change(schema: Json) -> bool:
    """Tell whether any object in a schema, were it a subschema, would be rewritten: most schemas have none."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            properties = value.get("properties")
            if "$schema" in value or value.get("items") is True or lists_anything(value):
                return True
            if isinstance(properties, dict) and any(each is True for each in properties.values()):
                return True
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return False


def is_deep(schema: Node) -> bool:
    """Tell whether values in a schema are nested more than MAX_DEPTH deep."""
    # Level by level and not by recursion, which a deep schema would exceed.
    level = [schema]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in (*node.items, *(member.node for member in node.members))]
    return bool(level)


class ClientForm:
    """Writes one schema; `schemas`: its subschemas that are objects."""

    def __init__(self, root: Node, schemas: list[Node]) -> None:
        named = root.get("$schema")
        dialect = DIALECTS.get(str(named.value).removesuffix("#")) if named is not None else None
        self._root = root
        # By identity: an equal object in a `const` or a `default` is a value, and is not rewritten.
        self._schemas = {id(node) for node in schemas}
        self._drops_draft = (
            dialect is not None
            and dialect is not DRAFT_2020_12
            and all(means_the_same(node, dialect, is_root=node is root) for node in schemas)
        )
        self._adds_items = all(node.get(COUNTING_ITEMS) is None for node in schemas)

    def rewrite(self, node: Node) -> Node:
        """Rewrite the subschemas in a value; return the value itself if there is nothing to rewrite."""
        items = [self.rewrite(item) for item in node.items]
        if any(new is not old for new, old in zip(items, node.items, strict=True)):
            return array_node(items, node.span)
        members = [self._member(member) for member in node.members]
        if id(node) in self._schemas:
            members = [*self._rewritten(node, members)]
        is_same = len(members) == len(node.members) and all(map(is_, members, node.members))
        return node if is_same else object_node(members, node.span)

    def _member(self, member: Member) -> Member:
        node = self.rewrite(member.node)
        return member if node is member.node else replace(member, node=node)

    def _rewritten(self, schema: Node, members: Iterable[Member]) -> Iterator[Member]:
        """Yield the members of a subschema in the form that clients take."""
        for member in members:
            if member.key == "$schema" and schema is self._root and self._drops_draft:
                continue
            if member.key == "items" and member.node.value is True:
                yield replace(member, node=implied_node({}, member.node.span))
            elif member.key == "properties":
                yield replace_booleans(member)
            else:
                yield member
        if self._adds_items and isinstance(schema.value, dict) and lists_anything(schema.value):
            yield implied_member("items", {}, schema.span)


def replace_booleans(properties: Member) -> Member:
    """Return properties with `{}` in the place of `true`."""
    if not any(member.node.value is True for member in properties.node.members):
        return properties
    members = (
        replace(member, node=implied_node({}, member.node.span)) if member.node.value is True else member
        for member in properties.node.members
    )
    return replace(properties, node=object_node(members, properties.node.span))


def lists_anything(schema: dict[str, Json]) -> bool:
    """Tell whether a schema allows lists and does not say what is in them."""
    kind = schema.get("type")
    types = kind if isinstance(kind, list) else [kind]
    return "array" in types and "items" not in schema and "prefixItems" not in schema


def means_the_same(schema: Node, dialect: Dialect, *, is_root: bool) -> bool:
    """Tell whether a subschema means in 2020-12 what it means in an earlier draft."""
    names = {member.key for member in schema.members}
    newer, older = DRAFT_2020_12.keywords.keys(), dialect.keywords.keys()
    items, identifier = schema.get("items"), schema.get("$id")
    return not (
        # What only one of the two drafts knows; definitions are places for references in both.
        names & ((newer ^ older) - {"$defs", "definitions"})
        # 2020-12 calls a list of schemas, one for each item, `prefixItems`.
        or (items is not None and items.kind == "array")
        # Earlier drafts name a subschema by `"$id": "#name"`, for which 2020-12 has `$anchor`.
        or (identifier is not None and "#" in str(identifier.value))
        or ("$schema" in names and not is_root)
        or ("$ref" in names and dialect.lone_reference and names - BESIDE_REFERENCE)
        or COUNTING_ITEMS in names
    )


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
            yield from check_without_command(options)
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
    value = member_of(node, keys[-1], "string")
    return "" if value is None else str(value.value)


def lower_tool(node: Node, handler: Handler, general: Node | None, choices: Choices) -> Tool | None:
    """Return the tool, or None if a schema is not an object; `general` are the server's handler options."""
    options = choices.options
    name, schema = member_of(node, "name", "string"), member_of(node, "inputSchema", "object")
    output = node.get("outputSchema")
    if name is None or schema is None or (output is not None and output.kind != "object"):
        return None
    if options.dialect == OWN_DIALECT and not isinstance(handler, ExternalHandler):
        schema, output = in_client_form(schema), in_client_form(output) if output is not None else None
    running = _tool_running(node, lower_handler_options(handler, options_node(node), general))
    return Tool(
        name=str(name.value),
        span=name.span,
        node=node,
        input=replace(
            _input(node, schema, choices, handler.arguments if isinstance(handler, ExternalHandler) else "closed"),
            unchecked=_unchecked(handler),
            shown=member_of(member_of(node, "_meta", "object"), SHOWN_KEY, "object"),
        ),
        output=None if output is None else Schema(output, assert_formats=options.assert_formats),
        handler=run_steps(handler, running),
        running=replace(
            running, max_result=result_limit(options_node(node), general, default_options(handler).max_result)
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


def _tool_running(node: Node, options: HandlerOptions) -> HandlerOptions:
    """Return the options of a tool; without a `task` option, the protocol's `taskSupport` applies."""
    support = member_of(member_of(node, "execution", "object"), "taskSupport", "string")
    if support is None or support.value not in TASKS or options.task:
        return options
    value = member_of(options_node(node), "task", "string")
    return replace(options, task=str(support.value)) if value is None else options


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
