"""Fuzzing of a tool in this process: which tools, which replies are faults, and the smallest arguments of each."""

from collections.abc import Callable
from typing import Any

import pytest

from mcpc.client.client import ConversationError
from mcpc.schema import compile
from mcpc.workbench.testing import fuzzing
from mcpc.workbench.testing.fuzzing import (
    FuzzPlan,
    fuzz_tool,
    is_sendable,
    problem_of_accepted,
    problem_of_refused,
    select_tools,
)
from mcpc.workbench.testing.model import Fault, Reply, Variant
from mcpc.workbench.testing.servers import CallRoute

READ_ONLY = {"readOnlyHint": True}
TOOLS = [{"name": "a", "annotations": READ_ONLY}, {"name": "b"}, {"name": "c", "annotations": READ_ONLY}]
STDIO, HTTP = Variant("stdio", "stateless"), Variant("http", "stateless")


@pytest.mark.parametrize(
    ("plan", "chosen", "left_out"),
    [(FuzzPlan(), "ac", ["b"]), (FuzzPlan(with_effects=True), "abc", []), (FuzzPlan(tools=("b", "c")), "bc", [])],
)
def test_tools_are_selected(plan: FuzzPlan, chosen: str, left_out: list[str]) -> None:
    tools, others = select_tools(TOOLS, plan)
    assert ("".join(tool["name"] for tool in tools), others) == (chosen, left_out)


OUTPUT = compile({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
REFUSED, CODE, UNINTENDED, LATE = (
    "arguments that the schema accepts are refused",
    "the call ends with error -32603",
    "the handler fails with an unintended error",
    "the call exceeds its time limit",
)


def error(text: str) -> Reply:
    return Reply(is_error=True, text=text)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(False, structured={"n": 1}), ""),
        (Reply(False), "the result has no structured content"),
        (Reply(False, structured=3), 'the result does not fit the output schema: (all): type "object"'),
        (Reply(False, structured={"n": "x"}), 'the result does not fit the output schema: /n: type "integer"'),
        (Reply(True, problems=()), REFUSED),
        (Reply(True, code=-32602), REFUSED),
        (Reply(True, code=-32603), CODE),
        (error("Internal error: tool output is odd"), "the result does not fit the output schema"),
        (error("not found"), ""),
        (error("ValueError: x"), UNINTENDED),
        (error("Error executing tool t: mod.OddException"), UNINTENDED),
        (error("Error calling tool t: StopIteration"), UNINTENDED),
        (error("no ValueError: x"), ""),
        (error("ValueErrors: x"), ""),
        (error("tools.bash: line 3: x: not found"), UNINTENDED),
        (error("line 3: warning: x"), ""),
        (error("Internal error"), UNINTENDED),
        (error("Traceback (most recent call last)"), UNINTENDED),
        (error("it was ended by signal 9"), UNINTENDED),
        (error("exited with status 127"), UNINTENDED),
        (error("exited with status 123"), ""),
        (error("exited with status 1"), ""),
        (error("the call timed out"), LATE),
        (error("it did not end in 3 s"), LATE),
    ],
)
def test_replies_to_accepted_arguments(reply: Reply, problem: str) -> None:
    assert problem_of_accepted(reply, OUTPUT) == problem
    assert problem_of_accepted(Reply(False), None) == ""


@pytest.mark.parametrize(
    ("reply", "is_fault"),
    [
        (Reply(True, problems=({"path": "/a"},)), False),
        (Reply(True, code=-32602), False),
        (Reply(True, code=-32603), True),
        (Reply(True, problems=()), True),
        (Reply(False, problems=({"path": "/a"},)), True),
        (error("x"), True),
    ],
)
def test_replies_to_refused_arguments(reply: Reply, is_fault: bool) -> None:
    assert bool(problem_of_refused(reply)) is is_fault


@pytest.mark.parametrize(("value", "is_sent"), [({}, True), ([], False), ({"a": "x" * 59_991}, True), ({"a": "x" * 59_992}, False)])  # fmt: skip
def test_large_arguments_are_not_sent(value: object, is_sent: bool) -> None:
    assert is_sendable(value) is is_sent


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 99}},
    "required": ["n"],
    "additionalProperties": False,
}
VALIDATOR = compile(SCHEMA)


class Connection:
    """A server in this process: a function answers what its schema accepts; `checks`: whether it refuses the rest."""

    def __init__(self, answer: Callable[[Variant, int], Reply], *, checks: bool = True) -> None:
        self.answer, self.checks = answer, checks
        self.calls: list[tuple[Variant, Any]] = []

    def request(self, route: CallRoute, kind: str, params: dict[str, Any]) -> Reply:
        assert (kind, params["name"], route.headers) == ("tool", "t", ())
        arguments = params["arguments"]
        self.calls.append((route.variant, arguments))
        if VALIDATOR.accepts(arguments):
            return self.answer(route.variant, arguments["n"])
        return Reply(True, problems=({"path": ""},)) if self.checks else Reply(False, "taken")


def faults(connection: Connection, **plan: Any) -> list[Fault]:
    given: Any = connection
    tool = {"name": "t", "inputSchema": SCHEMA}
    return [*fuzz_tool(tool, given, FuzzPlan(**{"examples": 30, **plan}))]


def test_a_server_without_faults_gets_as_many_calls_as_the_plan_says() -> None:
    connection = Connection(lambda *_: Reply(False, "ok"))
    assert faults(connection, examples=30) == []
    accepted = [VALIDATOR.accepts(arguments) for _, arguments in connection.calls]
    assert (sum(accepted), len(accepted) - sum(accepted)) == (30, 10)
    again = Connection(lambda *_: Reply(False, "ok"))
    faults(again, examples=30)
    assert again.calls == connection.calls
    other = Connection(lambda *_: Reply(False, "ok"))
    assert faults(other, examples=2, seed=7) == []
    assert [VALIDATOR.accepts(arguments) for _, arguments in other.calls].count(False) == 1
    assert fuzzing.FuzzPlan().variants == (STDIO,)


def test_the_smallest_arguments_of_a_fault_are_found() -> None:
    connection = Connection(lambda _, n: error("ValueError: x") if n >= 1 else Reply(False, "ok"))
    (fault,) = faults(connection, variants=(STDIO, HTTP))
    assert fault == Fault("t", {"n": 1}, UNINTENDED, "ValueError: x", True, (STDIO, HTTP), (STDIO, HTTP))
    only = Connection(lambda way, n: error("ValueError: x") if n >= 1 and way == HTTP else Reply(False, "ok"))
    (fault,) = faults(only, variants=(STDIO, HTTP))
    assert (fault.arguments, fault.variants, fault.case["transport"]) == ({"n": 1}, (HTTP,), "http")


def test_a_server_that_does_not_answer_is_a_fault() -> None:
    def answer(_: Variant, n: int) -> Reply:
        raise ConversationError(f"it ended at {n}")

    (fault,) = faults(Connection(answer))
    assert (fault.problem, fault.found, fault.arguments) == ("the server did not answer", "it ended at 0", {"n": 0})


def test_arguments_that_reach_the_handler_are_a_fault_where_they_are_checked() -> None:
    wrong = Connection(lambda *_: Reply(False, "ok"), checks=False)
    assert faults(wrong) == []  # a tool of which none is refused has its own checks
    seen: list[int] = []

    def request(route: CallRoute, kind: str, params: dict[str, Any]) -> Reply:
        arguments = params["arguments"]
        if VALIDATOR.accepts(arguments) or "n" in arguments:
            return Reply(False, "taken")
        seen.append(1)
        return Reply(True, problems=({"path": "/n"},))

    some: Any = Connection(lambda *_: Reply(False, "ok"))
    some.request = request
    (fault,) = faults(some)
    assert (fault.is_accepted, fault.problem, fault.found) == (False, problem_of_refused(Reply(False)), "taken")
    assert not VALIDATOR.accepts(fault.arguments)
    assert "n" in fault.arguments
    assert fault.case["expect"] == {"error": True}
    assert seen


def test_a_tool_without_values_or_without_a_schema_has_no_faults() -> None:
    connection: Any = Connection(lambda *_: Reply(False, "ok"))
    for schema in ({"enum": []}, {"type": "nonsense"}):
        assert [*fuzz_tool({"name": "t", "inputSchema": schema}, connection, FuzzPlan(examples=5))] == []
    assert connection.calls == []
