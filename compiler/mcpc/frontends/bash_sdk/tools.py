"""Tools: the entries of the script's list, each with its function `tool_NAME`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import nearest
from mcpc.frontends.bash_sdk.scripts import FUNCTION_PREFIX
from mcpc.model.definitions import HANDLER_KEY, ToolDefinition, kind_mismatch
from mcpc.model.ir import ExternalHandler
from mcpc.reading import Member
from mcpc.reading.json_tree import fields_of, implied_member, implied_node, member_at_value, object_node, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.diagnostics import Diagnostic
    from mcpc.frontends.bash_sdk.scripts import ScriptFunction, ServerScript
    from mcpc.reading import Json, Node

CONTRACT = "bash_sdk"
SHAPE = '`{"tools": […]}`'
OLD_SCHEMA, SCHEMA = "parameters", "inputSchema"
SECONDS = 600
"""The timeout of a tool; the SDK has none."""
NOT_CALLED = ("_cancel",)
"""Endings of functions that belong to a tool and are not tools."""


class ToolReader:
    """Reads the tools of a script.

    `options`: how their functions are run; `style`: the version of the SDK; `isolated`: each call reads the script.
    """

    def __init__(self, script: ServerScript, style: str, options: Mapping[str, Json], *, isolated: bool) -> None:
        self._script = script
        self._style = style
        self._options = options
        self._isolated = isolated
        self._functions = script.functions()
        self._traps = any("trap" in source.text for source in (*script.files, *script.others))
        self._used: set[str] = set()
        self._renamed: list[Member] = []
        self.problems: list[Diagnostic] = []

    def read(self, listed: Node) -> tuple[ToolDefinition, ...]:
        """Return the tools in the script's list."""
        items = self._items(listed)
        names = {FUNCTION_PREFIX + text_of(fields_of(item), "name") for item in items}
        self._used = names & self._functions.keys()
        tools = tuple(self._tool(item) for item in items)
        self.problems += self._old_names()
        return tools

    def _items(self, listed: Node) -> Sequence[Node]:
        tools = listed.get("tools") if listed.kind == "object" else None
        if listed.kind != "object":
            self.problems.append(
                diagnose("MCP101", listed.span, kind_mismatch(f"`{listed.path}`", "object", listed), SHAPE)
            )
        elif tools is None:
            self.problems.append(diagnose("MCP102", listed.span, f"`{listed.path}` has no `tools`", SHAPE))
        elif tools.kind != "array":
            self.problems.append(diagnose("MCP101", tools.span, kind_mismatch("`tools`", "array", tools), SHAPE))
        return tools.items if tools is not None and tools.kind == "array" else ()

    def _tool(self, node: Node) -> ToolDefinition:
        if node.kind != "object":
            return ToolDefinition(node)
        fields = fields_of(node)
        name = text_of(fields, "name")
        members = [member for member in node.members if member.key not in (OLD_SCHEMA, SCHEMA, "_meta")]
        members += [self._schema(node), self._meta(node)]
        order = [OLD_SCHEMA if member.key == SCHEMA and SCHEMA not in fields else member.key for member in members]
        # In the author's order, also where a schema has its new name; implied members come last.
        written = {member.key: number for number, member in enumerate(node.members)}
        ranked = sorted(zip(order, members, strict=True), key=lambda row: written.get(row[0], len(written)))
        tool = object_node([member for _, member in ranked], node.span)
        return ToolDefinition(tool, handler=self._handler(name, fields) if name else None)

    def _handler(self, name: str, fields: Mapping[str, Member]) -> ExternalHandler:
        function = self._functions.get(FUNCTION_PREFIX + name)
        span = fields["name"].node.span
        if function is None:
            self.problems.append(self._unimplemented(name, fields["name"]))
        else:
            span = function.span
        facts = (FUNCTION_PREFIX + name, self._style, self._traps, self._isolated)
        return ExternalHandler(self._script.source.path, span, CONTRACT, facts, unpacks=True)

    def _unimplemented(self, name: str, member: Member) -> Diagnostic:
        wanted = FUNCTION_PREFIX + name
        near = nearest(wanted, [known for known in self._functions if known not in self._used], 0.75)
        place = f"`{wanted}` in `{self._script.source.path}`, or in a file that it reads"
        hint = f"did you mean the function `{near}`?" if near else ""
        return diagnose("MCP201", member.node.span, f"no function implements the tool `{name}`", place, hint)

    def unused(self) -> Iterator[Diagnostic]:
        """Yield problems of functions whose names are those of tools that are not listed."""
        for function in self._functions.values():
            if function.name not in self._used and not function.name.endswith(NOT_CALLED):
                yield self._not_listed(function)

    @staticmethod
    def _not_listed(function: ScriptFunction) -> Diagnostic:
        hint = "add the tool to the list of tools, or rename the function if it is only a helper"
        return diagnose("MCP202", function.span, f"`{function.name}` does not implement a tool", "", hint)

    def _old_names(self) -> Iterator[Diagnostic]:
        """Yield one problem for all schemas with their older name."""
        if self._renamed:
            others = len(self._renamed) - 1
            more = f", here and {others} more time{'s' * (others > 1)}" if others else ""
            message = f"`{OLD_SCHEMA}` is read as `{SCHEMA}`, the name that clients know{more}"
            yield diagnose("MCP294", self._renamed[0].key_span, message, f"`{SCHEMA}`", "rename it")

    def _schema(self, node: Node) -> Member:
        """Return the input schema, which describes an object, also one that is called `parameters`."""
        fields = fields_of(node)
        written = fields.get(SCHEMA) or fields.get(OLD_SCHEMA)
        if written is None:
            return implied_member(SCHEMA, {"type": "object"}, node.span)
        if written.key == OLD_SCHEMA:
            self._renamed.append(written)
        schema = written.node
        if schema.kind == "object" and "type" not in fields_of(schema):
            schema = object_node([implied_member("type", "object", schema.span), *schema.members], schema.span)
        return Member(SCHEMA, written.key_start, written.key_end, schema)

    def _meta(self, node: Node) -> Member:
        """Return the metadata with the options of the function; those that the author wrote take precedence."""
        written = fields_of(node).get("_meta")
        if written is not None and written.node.kind != "object":
            return written
        meta = fields_of(written.node) if written is not None else {}
        options = implied_node(dict(self._options), node.span)
        own = meta.get(HANDLER_KEY)
        if own is not None and own.node.kind != "object":
            return Member("_meta", node.start, node.end, object_node(meta.values(), node.span))
        # Of two members with one key the last one counts.
        merged = object_node([*options.members, *(own.node.members if own is not None else ())], node.span)
        return member_at_value("_meta", object_node([*meta.values(), member_at_value(HANDLER_KEY, merged)], node.span))
