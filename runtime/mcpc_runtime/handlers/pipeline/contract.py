"""The contract of pipelines: the runner makes the calls of a plan, and returns the result of the tool.

The plan: `steps`, and `result`, the row of the result if it is not that of the last step. A step:

    name    in messages            tool or record  the tool of the server that it calls, or the record of its own
    with    the rows of arguments  when, each      a condition; the tokens of a list, and how many items it may have
    as      the name of its result

A record is a definition that only this step can call, as `mcpc.emit.records` writes it.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from mcpc_runtime.handlers.contracts import ExpiredCall
from mcpc_runtime.handlers.pipeline.values import Scope, value_of
from mcpc_runtime.handlers.results import outcome_of_result, text_block
from mcpc_runtime.interfaces import Note
from mcpc_runtime.protocol.calls import offered_tool
from mcpc_runtime.protocol.definitions import Definition
from mcpc_runtime.protocol.effects import ABSENT, Call, Ending, Outcome, text_outcome
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.kept_results import Account

Step = dict[str, Any]
EACH, CONDITION = " for each item", " on a condition"


class PipelineInvocation:
    """A pipeline to run.  `account`: the memory account that is charged for the results of its steps."""

    __slots__ = ("account", "arguments", "call", "plan")

    def __init__(self, call: Call, image: Image) -> None:
        self.account: Account | None = None
        self.arguments = call.arguments
        self.call = call
        self.plan: dict[str, Any] = call.definition.handler[1]
        for step in self.plan["steps"]:
            # The plan is shared by all calls: the first one replaces each record by its definition.
            if "record" in step:
                step["definition"] = Definition(image, step["name"], step.pop("record"))

    def definition_of(self, step: Step) -> Definition | str:
        """Return what a step calls, or why this client may not call it."""
        definition: Definition | None = step.get("definition")
        if definition is None:
            session, name = self.call.request.session, step["tool"]
            definition = offered_tool(session, name)
            if definition is None:
                return str(session.image.refusals["tool_unknown"][1].replace("{name}", name))
        return definition

    def refused(self, reason: str) -> Outcome:
        """Return the result of a pipeline that has failed."""
        return text_outcome(reason, is_error=True)

    def finished(self, scope: Scope, last: Note | None) -> Outcome:
        """Return the result of the tool: what its plan says, or the result of the step that ran last."""
        row: Any = self.plan.get("result")
        if row is None and last is None:
            return text_outcome("nothing was done: no step applies")
        if row is None and last is not None and "content" in last:
            return outcome_of_result(last)
        value = value_of(row, scope) if row is not None else (last or {}).get("value")
        if value is ABSENT:
            return self.refused(f"there is no result at `/{'/'.join(row[1])}`")
        is_structured = type(value) in (dict, list) or self.call.definition.output is not None
        return Outcome([text_block(value)], value if is_structured else ABSENT)


def build_invocation(call: Call, image: Image) -> PipelineInvocation:
    """Return the pipeline of a call."""
    return PipelineInvocation(call, image)


def parse_result(call: Call, outcome: Outcome) -> Ending:
    """Return the result."""
    return outcome


def expired(running_call: ExpiredCall) -> Ending:
    """Return the ending of a pipeline whose time is over."""
    job: Any = running_call.job
    place = f" in {job.position}" if job is not None else ""
    seconds = round(monotonic() - running_call.began, 1)
    return text_outcome(f"{running_call.handler_call.name} was stopped after {seconds:g} s{place}", is_error=True)


def dry_run(call: Call, image: Image, stand_in: Callable[[str], str]) -> str:
    """Return which steps would run; what they would send is known only then."""
    plan = call.definition.handler[1]
    steps = (f"{step['name']}{EACH * ('each' in step)}{CONDITION * ('when' in step)}" for step in plan["steps"])
    return f"It would run a pipeline: {', then '.join(steps)}"
