"""Turn the objects that were written into the nodes of the representation, as far as their types allow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.definitions.handling import DEFAULTS, HANDLERS, handling
from mcpc.diagnostics import diagnose
from mcpc.ir import Prompt, PromptArgument, Schema, Tool
from mcpc.ir.places import place
from mcpc.lower.asking import asks_wrong
from mcpc.lower.headers import headers
from mcpc.lower.running import running, said_wrong
from mcpc.lower.shapes import COMPLETION, PROMPT, RESOURCE, SERVER, TEMPLATE, TOOL, misfits
from mcpc.lower.variables import names_in
from mcpc.revisions import REVISIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpc.definitions import Definition
    from mcpc.diagnostics import Diagnostic
    from mcpc.ir import Handler, Running
    from mcpc.options import Options
    from mcpc.sources import Node, Source

VERSIONS = tuple(revision.version for revision in REVISIONS)


def written_wrong(definition: Definition) -> Iterator[Diagnostic]:
    """Yield every field of the definition that is missing, unknown or of the wrong type."""
    if definition.server:
        yield from misfits(definition.server.node, SERVER, "the server description")
        yield from said_wrong(handling(definition.server.node, HANDLERS))
        yield from _unknown_revision(member(definition.server.node, "protocolVersion", "string"))
    for tool in definition.tools:
        yield from misfits(tool.node, TOOL, "a tool")
        yield from said_wrong(handling(tool.node))
        schema = member(tool.node, "inputSchema", "object")
        yield from asks_wrong(handling(tool.node), names_in(schema) if schema else ())
    for prompt in definition.prompts:
        yield from misfits(prompt.node, PROMPT, "a prompt")
        yield from said_wrong(handling(prompt.node))
        arguments = _arguments(prompt.node)
        yield from asks_wrong(handling(prompt.node), [str(name.value) for _, name in arguments])
        yield from _repeated(arguments, definition.sources)
    for kind, shape, label in OTHERS:
        for one in getattr(definition, kind):
            yield from misfits(one.node, shape, label)
            yield from said_wrong(handling(one.node))


OTHERS = (
    ("resources", RESOURCE, "a resource"),
    ("templates", TEMPLATE, "a resource template"),
    ("completions", COMPLETION, "a completion"),
)


def member(node: Node | None, key: str, kind: str) -> Node | None:
    """Return the member `key` of an object if it is there and of that kind."""
    found = node.get(key) if node is not None and node.kind == "object" else None
    return found if found is not None and found.kind == kind else None


def text(node: Node | None, *keys: str) -> str:
    """Return the string at the end of `keys`, or nothing if something else is there."""
    for key in keys[:-1]:
        node = member(node, key, "object")
    found = member(node, keys[-1], "string")
    return "" if found is None else str(found.value)


def lower_tool(node: Node, handler: Handler, general: Node | None, options: Options) -> Tool | None:
    """Return the tool, or None if its schemas are no objects; `general` is what the server says of every handler."""
    name, schema = member(node, "name", "string"), member(node, "inputSchema", "object")
    output = node.get("outputSchema")
    if name is None or schema is None or (output is not None and output.kind != "object"):
        return None
    # mcbox refuses arguments that a tool's schema does not name, and so does every tool here.
    return Tool(
        name=str(name.value),
        span=name.span,
        members=node,
        input=_input(node, schema, options),
        output=None if output is None else Schema(output, assert_formats=options.assert_formats),
        handler=handler,
        running=_tool_running(node, running(handler, handling(node), general)),
        headers=headers(schema),
    )


def _input(node: Node, schema: Node, options: Options) -> Schema:
    """Return what a call's arguments must be, unless the tool looks at them itself."""
    said = member(handling(node), "validate", "boolean")
    decides = options.validate or said is None or said.value is True
    completed = decides and completes(node, options)
    return Schema(schema, closed=True, assert_formats=options.assert_formats, completes=completed, decides=decides)


def _tool_running(node: Node, found: Running) -> Running:
    """Return how a tool is run; where nobody says whether it is a task, what clients were once shown says it."""
    support = text(node, "execution", "taskSupport")
    said = member(handling(node), "task", "string")
    return replace(found, task=support) if said is None and not found.task and support in TASKS else found


TASKS = ("optional", "required")


def completes(node: Node, options: Options) -> bool:
    """Say whether a handler finds defaults in place of what the caller left out.

    Not where it is promised the text of the call itself, as mcbox does, and not where the tool says no.
    """
    wanted = member(member(node, "_meta", "object"), DEFAULTS, "boolean")
    return options.defaults and options.dialect != "mcbox" and (wanted is None or wanted.value is True)


def lower_prompt(node: Node, handler: Handler, general: Node | None) -> Prompt | None:
    """Return the prompt, with those of its arguments that have a name."""
    name = member(node, "name", "string")
    if name is None:
        return None
    arguments = tuple(_argument(item, argument) for item, argument in _arguments(node))
    return Prompt(
        name=str(name.value),
        span=name.span,
        members=node,
        arguments=arguments,
        handler=handler,
        running=running(handler, handling(node), general),
    )


def _arguments(node: Node) -> list[tuple[Node, Node]]:
    """Return the arguments of a prompt that have a name, each with the node of that name."""
    listed = member(node, "arguments", "array")
    named = [(item, member(item, "name", "string")) for item in (listed.items if listed else ())]
    return [(item, name) for item, name in named if name is not None]


def _argument(item: Node, name: Node) -> PromptArgument:
    required = member(item, "required", "boolean")
    return PromptArgument(str(name.value), required is not None and required.value is True, name.span)


def _unknown_revision(node: Node | None) -> Iterator[Diagnostic]:
    if node is not None and node.value not in VERSIONS:
        known = ", ".join(f"`{version}`" for version in VERSIONS)
        yield diagnose("MCP301", node.span, f"there is no protocol version `{node.value}`", f"one of {known}")


def _repeated(arguments: Sequence[tuple[Node, Node]], sources: Sequence[Source]) -> Iterator[Diagnostic]:
    firsts: dict[str, Node] = {}
    for _, name in arguments:
        first = firsts.setdefault(str(name.value), name)
        if first is not name:
            hint = f"the first is at {place(first.span, sources)}; remove or rename one of them"
            yield diagnose("MCP104", name.span, f"two arguments of one prompt are called `{name.value}`", "", hint)
