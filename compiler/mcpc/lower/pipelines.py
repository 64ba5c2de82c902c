"""Read `pipeline` of a handler, calls one after the other as data, into the plan that the runtime interprets.

    {"pipeline": [{"tool": "forecast", "with": {"city": "/arguments/city"}, "as": "f"},
                  {"each": "/f/days", "http": {…}, "with": {"day": "/item/date"}, "as": "days",
                   "when": {"value": "/f/ok", "equals": true}}],
     "result": {"members": {"city": "/arguments/city", "days": "/f/days"}}}

A text is a JSON Pointer into `arguments`, the result of an earlier step by its name, or `item`; each is followed
through the schemas, so that one that can point to nothing is refused here. A request or a command of a step is read as
if it were a tool whose arguments are those in `with`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics.model import did_you_mean, quoted
from mcpc.lower.bash_options import names_in
from mcpc.lower.command_lines import BESIDE, command_line
from mcpc.lower.pointers import Described, constant, items_of, member_at, mismatch, resolve
from mcpc.lower.requests import request_handler
from mcpc.lower.step_values import UNNAMED, StepValues
from mcpc.model.definitions import HANDLER_KEY, KIND_NAMES, options_node, pipeline_node
from mcpc.model.ir import PipelineHandler, PipelineStep
from mcpc.reading import member_of
from mcpc.reading.json_tree import Member, Node, implied_member, implied_node, object_node

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostics
    from mcpc.lower.step_values import Value
    from mcpc.model.definitions import Definition, ToolDefinition
    from mcpc.model.ir import Handler
    from mcpc.model.ir.handlers import PlainData

CALLS = ("tool", "http", "command")
TESTS = ("equals", "exists")
RESERVED = ("arguments", "item")
"""What pointers begin with beside the names of steps."""
MAX_STEPS, MAX_ITEMS, DEFAULT_ITEMS = 32, 1000, 100
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
OUTPUT_SCHEMAS: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "lines": {"type": "object", "properties": {"lines": {"type": "array", "items": {"type": "string"}}}},
    "csv": {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object"}}}},
}
"""What the result of a command is, by its `output`."""


def pipeline_handler(tool: Node, definition: Definition) -> tuple[PipelineHandler | None, Diagnostics]:
    """Return the handler of a tool that is a pipeline, and what is wrong with it."""
    node = pipeline_node(tool)
    if node is None or node.kind != "array" or any(item.kind != "object" for item in node.items):
        return None, ()  # its type is reported with those of all fields
    reader = PipelineReader(tool, definition)
    plan = reader.read(node)
    is_wrong = not reader.is_complete or any(problem.code != UNNAMED for problem in reader.problems)
    handler = None if is_wrong else PipelineHandler(plan, node.span, tuple(reader.inline))
    return handler, tuple(reader.problems)


class PipelineReader(StepValues):
    """Reads one plan; `inline`: requests and commands of its steps, `problems`: what is wrong with it.

    It is not complete if the type of a field is wrong, which is reported with those of all fields.
    """

    def __init__(self, tool: Node, definition: Definition) -> None:
        super().__init__(member_of(tool, "inputSchema", "object") or implied_node({}, tool.span))
        self._tool = tool
        self._definition = definition
        self._tools = {name: item for item in definition.tools if (name := name_of(item.node))}
        self.is_complete = True
        self.inline: list[PipelineStep] = []

    def read(self, node: Node) -> dict[str, PlainData]:
        """Return the plan, as far as it is valid."""
        if not 1 <= len(node.items) <= MAX_STEPS:
            self.refuse(node.span, f"a pipeline of {len(node.items)} steps", f"1 to {MAX_STEPS} steps")
            return {}
        self.later = [str(name.value) for step in node.items if (name := step.get("as")) is not None]
        plan: dict[str, Any] = {"steps": tuple(self._step(step) for step in node.items)}
        result = member_of(options_node(self._tool), "result")
        if result is not None:
            value = self.value(result)
            plan["result"] = value.row
            output = member_of(self._tool, "outputSchema", "object")
            self.check_fit(result, value, None if output is None else Described(output, output))
        self._check_unused()
        return plan

    def _step(self, node: Node) -> dict[str, PlainData]:
        kinds = [kind for kind in CALLS if node.get(kind) is not None]
        if len(kinds) != 1:
            message = f"this step has {quoted(kinds, ' and ')}" if kinds else "this step calls nothing"
            self.refuse(node.span, message, f"one of {quoted(CALLS)}")
            return {}
        for key in BESIDE:
            written = node.get(key)
            if written is not None and kinds != ["command"]:
                self.refuse(written.span, f"`{key}` is of a command, but this step calls {quoted(kinds)}")
        row: dict[str, Any] = {}
        if (when := member_of(node, "when", "object")) is not None:
            row["when"] = self._condition(when)
        each = member_of(node, "each", "string")
        if each is not None:
            row["each"] = self._each(node, each)
        elif (most := node.get("maxItems")) is not None:
            self.refuse(most.span, "`maxItems` is of a list, but this step has no `each`")
        values = self.values(member_of(node, "with", "object"))
        row["with"] = tuple((name, value.row) for name, (_, value) in values.items())
        call, result = self._tool_call(node, values) if kinds == ["tool"] else self._inline(node, kinds[0], values)
        # `item` is there only in its own step.
        self.scope.pop("item", None)
        return {**row, **call, **self._name(node, listed(result, node) if each is not None else result)}

    def _name(self, node: Node, result: Described | None) -> dict[str, PlainData]:
        """Return the name of a step's result, from where on pointers may point into it."""
        named = member_of(node, "as", "string")
        if named is None:
            return {}
        name = str(named.value)
        self.later.remove(name)
        if name in RESERVED or name in self.scope or not NAME.fullmatch(name):
            taken = name in RESERVED or name in self.scope
            expected = "a name of its own" if taken else "letters, digits, `_` and `-`; a letter first"
            self.refuse(named.span, f"a result cannot be named `{name}`", expected)
        self.scope.setdefault(name, result)
        return {"as": name}

    def _condition(self, node: Node) -> tuple[tuple[str, ...], str, object] | None:
        tests = [test for test in TESTS if node.get(test) is not None]
        pointer = member_of(node, "value", "string")
        form = '`{"value": "/f/count", "equals": 3}` or `{"value": …, "exists": true}`'
        if len(tests) != 1 or pointer is None:
            self.refuse(node.span, "this is no condition", form)
            return None
        expected = node.get(tests[0]) or node
        value = self.pointer(pointer)
        if tests == ["exists"] and expected.kind != "boolean":
            self.refuse(expected.span, f"`exists` is {KIND_NAMES[expected.kind]}", "`true` or `false`")
        if value is None:
            return None
        if tests == ["equals"] and (reason := mismatch(constant(expected.value, expected), value.described)):
            self.refuse(expected.span, f"never true: this {reason}")
        return value.row[1], tests[0], expected.value

    def _each(self, node: Node, pointer: Node) -> tuple[tuple[str, ...], int]:
        value = self.pointer(pointer)
        items, fault = items_of(value.described) if value is not None else (None, None)
        if fault is not None:
            self.report(pointer, fault)
        self.scope["item"] = items
        most = member_of(node, "maxItems", "number")
        if most is not None and not (isinstance(most.value, int) and 1 <= most.value <= MAX_ITEMS):
            self.refuse(most.span, f"`maxItems` is {most.value}", f"an integer from 1 to {MAX_ITEMS:,}")
        number = most.value if most is not None and isinstance(most.value, int) else DEFAULT_ITEMS
        return (value.row[1] if value is not None else ()), number

    def _tool_call(
        self, node: Node, values: dict[str, tuple[Member, Value]]
    ) -> tuple[dict[str, PlainData], Described | None]:
        """Return the call of a tool, and its result."""
        named = member_of(node, "tool", "string")
        name = str(named.value) if named is not None else ""
        tool = self._tools.get(name)
        if named is None:
            self.is_complete = False
            return {}, None
        if tool is None:
            listed_later = self._definition.run_time
            if listed_later is None or "tools" not in listed_later.kinds | listed_later.changing:
                self.refuse(named.span, f"the server has no tool `{name}`", "", did_you_mean(name, self._tools))
            return {"name": name, "tool": name}, None
        chain = self._cycle(name)
        if chain:
            self.refuse(named.span, f"the pipeline calls itself: {' > '.join(chain)}")
        self._check_arguments(named, tool, values)
        output = member_of(tool.node, "outputSchema", "object")
        return {"name": name, "tool": name}, None if output is None else Described(output, output)

    def _check_arguments(self, named: Node, tool: ToolDefinition, values: dict[str, tuple[Member, Value]]) -> None:
        schema = member_of(tool.node, "inputSchema", "object")
        if schema is None:
            return
        described = Described(schema, schema, closed=getattr(tool.handler, "arguments", "closed") == "closed")
        for name, (member, value) in values.items():
            place, fault = member_at(described, name)
            if fault is not None and fault.certain:
                # The fault says "has no `name`"; a tool has arguments and no members.
                message = f"the tool `{named.value}` {fault.message.replace('no', 'no argument', 1)}"
                self.refuse(member.key_span, message, fault.expected, fault.hint)
            self.check_fit(member.node, value, place)
        whole = resolve(described)
        required = member_of(whole, "required", "array")
        for item in required.items if required is not None else ():
            if item.value not in values and isinstance(item.value, str):
                message = f"the tool `{named.value}` requires `{item.value}`"
                self.refuse(named.span, message, f'`"with": {{"{item.value}": …}}`')

    def _inline(
        self, node: Node, kind: str, values: dict[str, tuple[Member, Value]]
    ) -> tuple[dict[str, PlainData], Described | None]:
        """Return the call of a request or a command, and its result; it is read as a tool with these arguments."""
        properties = [argument_of(member, value) for member, value in values.values()]
        schema = [implied_member("additionalProperties", False, node.span)]
        schema.append(Member("properties", node.start, node.end, object_node(properties, node.span)))
        options = object_node([member for member in node.members if member.key in (kind, *BESIDE)], node.span)
        meta = object_node([Member(HANDLER_KEY, node.start, node.end, options)], node.span)
        members = [
            implied_member("name", name_of(self._tool), node.span),
            Member("inputSchema", node.start, node.end, object_node(schema, node.span)),
            Member("_meta", node.start, node.end, meta),
        ]
        tool = object_node(members, node.span)
        handler: Handler | None
        if kind == "http":
            handler, wrong = request_handler(tool, STEP)
        else:
            handler, wrong = command_line(tool, self._definition, STEP)
        self.problems += wrong
        name = step_name(node, kind)
        self.is_complete = self.is_complete and handler is not None
        if handler is not None:
            self.inline.append(PipelineStep(name, node, handler))
        output = member_of(node, "output")
        known = OUTPUT_SCHEMAS.get(str(output.value) if output is not None else "text") if kind == "command" else None
        result = None if known is None else implied_node(known, node.span)
        # Without a handler the place is wrong, but then the plan is not used.
        call: dict[str, PlainData] = {"name": name, "record": len(self.inline) - 1}
        return call, None if result is None else Described(result, result)

    def _cycle(self, name: str) -> list[str]:
        """Return the pipelines from this one to itself through a step; empty if it does not call itself."""
        own = name_of(self._tool)
        waiting, seen = [[own, name]], set()
        while waiting:
            chain = waiting.pop()
            if chain[-1] == own:
                return chain
            if chain[-1] in seen or chain[-1] not in self._tools:
                continue
            seen.add(chain[-1])
            steps = pipeline_node(self._tools[chain[-1]].node)
            called = [member_of(step, "tool", "string") for step in (steps.items if steps is not None else ())]
            waiting += [[*chain, str(tool.value)] for tool in called if tool is not None]
        return []

    def _check_unused(self) -> None:
        for name, span in names_in(self.arguments.schema).items():
            # Not beside other problems: a step that could not be read may be the one that uses it.
            if name not in self.used and not self.problems:
                hint = "give it to a step, or remove it"
                self.refuse(span, f"the argument `{name}` is nowhere in the pipeline", "", hint)


STEP = "`with` of this step"


def name_of(tool: Node) -> str:
    """Return the name of a tool, an empty text if it has none."""
    name = member_of(tool, "name", "string")
    return str(name.value) if name is not None else ""


def step_name(node: Node, kind: str) -> str:
    """Return the name of a step that calls no tool: of its result, or of what it does."""
    named = member_of(node, "as", "string")
    if named is not None:
        return str(named.value)
    call = node.get(kind) or node
    words = [call.get("method"), call.get("path")] if kind == "http" else [call, *call.items[:1]]
    return " ".join(word.value for word in words if word is not None and isinstance(word.value, str))


def argument_of(member: Member, value: Value) -> Member:
    """Return an argument in `with` as a property of an input schema."""
    schema = resolve(value.described) if value.described is not None else None
    known = {} if schema is None else schema.value
    return Member(member.key, member.key_start, member.key_end, implied_node(known, member.node.span))


def listed(result: Described | None, node: Node) -> Described:
    """Return the list of the results of one step."""
    items = None if result is None else resolve(result)
    schema = implied_node({"type": "array", **({} if items is None else {"items": items.value})}, node.span)
    return Described(schema, schema if result is None else result.root)
