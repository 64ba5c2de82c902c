"""Calls with arguments that are made: those that the input schema of a tool accepts, and those that it just refuses.

Accepted arguments must not lead to an unintended error, nor to a result that does not fit the output schema.
Refused arguments must not reach the handler.  What fails is made as small as it can be, and is the same for one seed.
Each call is made in one of the plan's ways, which is drawn with its arguments; what fails is then tried in all of them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import hypothesis
from hypothesis import errors
from hypothesis import strategies as st

from mcpc.client.client import ConversationError
from mcpc.schema import SchemaError, compile
from mcpc.workbench.testing.client import call_params
from mcpc.workbench.testing.expectations import compact
from mcpc.workbench.testing.model import Absent, Fault, Variant
from mcpc.workbench.testing.running import compiled, is_read_only
from mcpc.workbench.testing.servers import CallRoute
from mcpc.workbench.testing.strategies import Proposals, anything, near_misses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mcpc.schema import Validator
    from mcpc.workbench.testing.model import Reply
    from mcpc.workbench.testing.servers import Connection

    Json = Any
    Judge = Callable[[Reply], str]

# JSON-RPC 2.0, section 5.1.
INVALID_PARAMS = -32602
MAX_ARGUMENTS = 60_000
"""Larger arguments are not sent: they would wait in the pipe of a server that has stopped."""
UNINTENDED = re.compile(
    r"(?:Error (?:executing|calling) tool [^:]*: )?"
    r"(?:(?:[A-Za-z_][\w.]*(?:Error|Exception)|StopIteration|AssertionError)(?::|\Z)"
    r"|(?:.*: )?line \d+: (?!warning: )|Internal error|Traceback \(most recent call last\))"
)
"""How a text begins that is an exception or a message of Bash, and no answer of the handler."""
SURVEY = 12
"""How many refused arguments decide whether mcpc checks those of a tool."""
OVERDUE = re.compile(r"(?i)\b(?:timed out|time limit|did not end in)\b")
# As shells report them: a time limit (124), a program that cannot be run (125 to 127), a signal (from 128).
BY_SIGNAL = re.compile(r"\bby signal \d+|exited with status (?:12[4-9]|1[3-9]\d)\b")
DEFAULT = Variant("stdio", "stateless")


@dataclass(frozen=True, slots=True)
class FuzzPlan:
    """How a server is fuzzed.

    `examples`: how many accepted arguments each tool gets, and a third as many refused.  `variants`: the ways in which
    it is called; a fault of several is reported for the first.
    """

    seed: int = 0
    examples: int = 100
    tools: tuple[str, ...] = ()
    with_effects: bool = False
    variants: tuple[Variant, ...] = (DEFAULT,)


class FaultFoundError(Exception):
    """One call has a fault; Hypothesis looks for smaller arguments with one."""


def select_tools(tools: Sequence[Mapping[str, Json]], plan: FuzzPlan) -> tuple[list[Mapping[str, Json]], list[str]]:
    """Return the tools to fuzz, and the names of those that may have effects and are left out."""
    if plan.tools:
        return [tool for tool in tools if tool["name"] in plan.tools], []
    chosen = [tool for tool in tools if plan.with_effects or is_read_only(tool)]
    return chosen, [str(tool["name"]) for tool in tools if tool not in chosen]


def fuzz_tool(tool: Mapping[str, Json], connection: Connection, plan: FuzzPlan) -> Iterator[Fault]:
    """Yield at most two faults of a tool: with accepted, and with refused arguments."""
    schema = {"type": "object", **(tool.get("inputSchema") or {})}
    try:
        validator = compile(schema)
    except SchemaError:
        return
    accepted = Proposals(schema).of(schema).filter(lambda value: is_sendable(value) and validator.accepts(value))
    output = compiled(tool.get("outputSchema"))
    refused = refused_arguments(schema, accepted, validator)
    rounds = ((accepted, plan.examples, True), (refused, max(plan.examples // 3, 1), False))
    for strategy, count, is_accepted in rounds:
        search = FaultSearch(str(tool["name"]), connection, output, is_accepted)
        calls = st.tuples(st.sampled_from(plan.variants), strategy)
        fault = search.run(calls, plan.seed, count)
        if fault is not None and (is_accepted or search.is_checked(calls, plan.seed)):
            yield replace(fault, variants=search.failing(fault, plan.variants), tried=plan.variants)


def is_sendable(value: Json) -> bool:
    """Tell whether arguments are an object that fits into a pipe."""
    return isinstance(value, dict) and len(json.dumps(value)) <= MAX_ARGUMENTS


@dataclass(slots=True)
class FaultSearch:
    """The search for one fault of a tool.

    `refusals`: how many calls mcpc itself has refused.  `is_surveying`: faults do not end the search.
    """

    tool: str
    connection: Connection
    output: Validator | None
    is_accepted: bool
    last: Fault | None = None
    refusals: int = 0
    is_surveying: bool = False

    def run(self, strategy: st.SearchStrategy[Json], seed: int, count: int) -> Fault | None:
        """Return the fault with the smallest arguments; None if there is none, or no arguments can be made."""
        options = hypothesis.settings(
            max_examples=count,
            # Nothing of earlier runs: one seed has to lead to one result.
            database=None,
            deadline=None,
            derandomize=False,
            phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
            # That arguments are slow or hard to find is a matter of the schema, and no fault of the tool.
            suppress_health_check=list(hypothesis.HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
        )
        test = hypothesis.seed(seed)(options(hypothesis.given(strategy)(self._try)))
        try:
            test()
        # A fault that did not show again is reported as it was found.
        except (FaultFoundError, errors.Flaky):
            return self.last
        except errors.Unsatisfiable:
            return None
        return None

    def is_checked(self, strategy: st.SearchStrategy[Json], seed: int) -> bool:
        """Tell whether mcpc checks the arguments of the tool: those of some formats are the handler's own business."""
        if not self.refusals:
            self.is_surveying = True
            self.run(strategy, seed, SURVEY)
        return self.refusals > 0

    def failing(self, fault: Fault, variants: Sequence[Variant]) -> tuple[Variant, ...]:
        """Return the ways in which the arguments of a fault have one."""
        failing_variants = tuple(each for each in variants if self._call(each, fault.arguments)[0])
        return failing_variants or fault.variants

    def _try(self, call: tuple[Variant, Json]) -> None:
        variant, arguments = call
        problem, answer = self._call(variant, arguments)
        if problem and not self.is_surveying:
            self.last = Fault(self.tool, arguments, problem, answer, self.is_accepted, (variant,))
            raise FaultFoundError(problem)

    def _call(self, variant: Variant, arguments: Json) -> tuple[str, str]:
        """Return what is wrong with a call, an empty text if nothing is, and what was answered."""
        try:
            reply = self.connection.request(CallRoute(variant), "tool", call_params("tool", self.tool, arguments))
        except ConversationError as failure:
            return "the server did not answer", str(failure)
        self.refusals += bool(reply.problems)
        return self._problem(reply), reply.text

    def _problem(self, reply: Reply) -> str:
        return problem_of_accepted(reply, self.output) if self.is_accepted else problem_of_refused(reply)


def problem_of_accepted(reply: Reply, output: Validator | None) -> str:
    """Return what is wrong with the reply to arguments that the schema accepts; an empty text if nothing is."""
    if reply.problems is not None or reply.code == INVALID_PARAMS:
        return "arguments that the schema accepts are refused"
    if reply.code is not None:
        return f"the call ends with error {reply.code}"
    if not reply.is_error:
        return _output_problem(reply, output)
    if reply.text.startswith("Internal error: tool output"):
        return "the result does not fit the output schema"
    if UNINTENDED.match(reply.text) or BY_SIGNAL.search(reply.text):
        return "the handler fails with an unintended error"
    return "the call exceeds its time limit" if OVERDUE.search(reply.text) else ""


def _output_problem(reply: Reply, output: Validator | None) -> str:
    if output is None:
        return ""
    if isinstance(reply.structured, Absent):
        return "the result has no structured content"
    wrong = output.errors(reply.structured)
    if not wrong:
        return ""
    pointer, keyword, wanted = wrong[0]
    return f"the result does not fit the output schema: {pointer or '(all)'}: {keyword} {compact(wanted)}"


def problem_of_refused(reply: Reply) -> str:
    """Return what is wrong with the reply to arguments that the schema refuses; an empty text if nothing is."""
    if reply.is_error and (reply.problems or reply.code == INVALID_PARAMS):
        return ""
    return "arguments that the schema refuses reach the handler"


def refused_arguments(schema: Json, accepted: st.SearchStrategy[Json], validator: Validator) -> st.SearchStrategy[Json]:
    """Return arguments that a schema refuses: accepted ones with one change."""
    properties = schema.get("properties") or {}
    names = st.sampled_from([*properties, *schema.get("required", ()), "unknown"])

    @st.composite
    def changed(draw: st.DrawFn) -> Json:
        """Draw accepted arguments; take one away, or give it another value."""
        arguments, name = dict(draw(accepted)), draw(names)
        misses = near_misses(properties.get(name))
        is_near = bool(misses) and draw(st.booleans())
        value = draw(st.sampled_from(misses)) if is_near else draw(st.one_of(st.none(), anything()))
        if name in arguments and draw(st.integers(0, 3)) == 0:
            del arguments[name]
        else:
            arguments[name] = value
        return arguments

    return changed().filter(lambda value: is_sendable(value) and not validator.accepts(value))
