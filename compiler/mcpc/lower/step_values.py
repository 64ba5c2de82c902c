"""Read the values of a pipeline's steps, and follow their pointers through schemas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.lower.bash_options import names_in
from mcpc.lower.pointers import Described, constant, member_at, mismatch, tokens_of
from mcpc.model.definitions import KIND_NAMES
from mcpc.reading.json_tree import implied_node

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.lower.pointers import PointerFault
    from mcpc.reading import Node
    from mcpc.reading.json_tree import Member

CODE, UNNAMED = "MCP168", "MCP169"
SOURCES = ("argument", "constant", "members", "items")
A_VALUE = '`"/arguments/city"`, `"/STEP/days/0"`, or `{"constant": "metric"}`'
Row = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class Value:
    """A value: its row in the plan (see `mcpc_runtime.handlers.pipeline.values`), and what is known of it."""

    row: Row
    described: Described | None = None


NOTHING = Value(("constant", None))


class StepValues:
    """Reads values; `scope`: what pointers begin with, and what is known of it, `used`: the arguments that are used.

    `later`: the names of results that are not there yet; `problems`: what is wrong.
    """

    def __init__(self, schema: Node) -> None:
        self.arguments = Described(schema, schema, closed=True)
        self.scope: dict[str, Described | None] = {"arguments": self.arguments}
        self.later: list[str] = []
        self.used: set[str] = set()
        self.problems: list[Diagnostic] = []

    def values(self, node: Node | None) -> dict[str, tuple[Member, Value]]:
        """Return the values of members by name, each with its member."""
        return {member.key: (member, self.value(member.node)) for member in (node.members if node else ())}

    def value(self, node: Node) -> Value:
        """Return a value; one of which nothing is known if it is wrong."""
        if node.kind == "string":
            return self.pointer(node) or NOTHING
        if node.kind == "array":
            self.refuse(node.span, "a value cannot be an array", '`{"items": […]}` or `{"constant": […]}`')
            return NOTHING
        if node.kind != "object":
            return Value(("constant", node.value), constant(node.value, node))
        keys = [member.key for member in node.members]
        source = node.get(keys[0]) if len(keys) == 1 and keys[0] in SOURCES else None
        if source is None:
            hint = '`{"members": {…}}` for an object'
            message = f"a value is {quoted(keys, ' and ') or 'empty'}"
            self.refuse(node.span, message, f"one of {quoted(SOURCES)}", hint)
            return NOTHING
        return self._sourced(node, keys[0], source)

    def _sourced(self, node: Node, key: str, source: Node) -> Value:
        if key == "constant":
            return Value((key, source.value), constant(source.value, source))
        kind = {"argument": "string", "members": "object", "items": "array"}[key]
        if source.kind != kind:
            self.refuse(source.span, f"`{key}` is {KIND_NAMES[source.kind]}", KIND_NAMES[kind])
            return NOTHING
        if key == "argument":
            return self._follow(source, ("arguments", str(source.value))) or NOTHING
        described = implied_node({"type": kind}, node.span)
        if key == "items":
            rows: Any = tuple(self.value(item).row for item in source.items)
        else:
            rows = tuple((name, value.row) for name, (_, value) in self.values(source).items())
        return Value((key, rows), Described(described, described))

    def pointer(self, node: Node) -> Value | None:
        """Return what a pointer in a text points to; None if there can be nothing."""
        tokens = tokens_of(str(node.value))
        if tokens is None:
            hint = f'`{{"constant": "{node.value}"}}` is the text itself' if "~" not in str(node.value) else ""
            self.refuse(node.span, f"`{node.value}` is not a JSON Pointer", A_VALUE, hint)
            return None
        return self._follow(node, tokens)

    def _follow(self, node: Node, tokens: tuple[str, ...]) -> Value | None:
        """Return what a pointer points to; None if there can be nothing."""
        first = tokens[0]
        if first not in self.scope:
            hint = did_you_mean(first, self.scope)
            hint = f"the step named `{first}` is not done before this one" if first in self.later else hint
            self.refuse(node.span, f"`/{first}` is not known here", quoted(f"/{name}" for name in self.scope), hint)
            return None
        if first == "arguments":
            # A pointer to all arguments uses each of them.
            self.used.update(tokens[1:2] or names_in(self.arguments.schema))
        described = self.scope[first]
        for number, token in enumerate(tokens[1:], 1):
            if described is None:
                break
            described, fault = member_at(described, token)
            if fault is not None:
                self.report(node, fault, "/".join(("", *tokens[:number])))
                if fault.certain:
                    return None
        return Value(("at", tokens), described)

    def check_fit(self, node: Node, value: Value, place: Described | None) -> None:
        """Report a value that never fits where it is used."""
        reason = mismatch(value.described, place)
        if reason:
            self.refuse(node.span, f"this {reason}")

    def report(self, node: Node, fault: PointerFault, place: str = "") -> None:
        """Report why a pointer points to nothing; `place`: as far as it leads."""
        message = f"`{place or node.value}` {fault.message}"
        code = CODE if fault.certain else UNNAMED
        self.problems.append(diagnose(code, node.span, message, fault.expected, fault.hint))

    def refuse(self, span: Span, message: str, expected: str = "", hint: str = "") -> None:
        """Report what a pipeline cannot be."""
        self.problems.append(diagnose(CODE, span, message, expected, hint))
