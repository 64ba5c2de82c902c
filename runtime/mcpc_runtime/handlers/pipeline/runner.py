"""Runner of pipelines: calls the tools of a plan one after the other, as a handler that calls other tools does.

It waits for nothing itself: each result of a step leads to the next call.  A step that fails ends the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcpc_runtime.handlers.pipeline.contract import PipelineInvocation, Step
from mcpc_runtime.handlers.pipeline.values import Scope, holds, value_at, value_of
from mcpc_runtime.handlers.results import parse_single_value
from mcpc_runtime.handlers.runner_context import RunnerContext
from mcpc_runtime.interfaces import Note, Notify
from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.protocol.notifications import number_or_none

MAX_RESULTS = 64 << 20
"""Characters of all results of the steps of one call."""


class PipelineJob:
    """One running pipeline.

    `at`: the number of its step; `items`: those for which this step is called, `results`: of those that are done.
    `last`: the result of the step that ran last: as it was answered, or `value`, the list of those for each item.
    """

    __slots__ = ("_done", "_note", "_scope", "_size", "at", "invocation", "items", "last", "results")

    def __init__(self, invocation: PipelineInvocation, done: Callable[[Any], None], note: Notify) -> None:
        self.invocation = invocation
        self.at = 0
        self.items: list[Json] = []
        self.results: list[Json] = []
        self.last: Note | None = None
        self._done: Callable[[Any], None] | None = done
        self._note: Callable[[Any], None] = note
        self._scope: Scope = {"arguments": invocation.arguments}
        self._size = 0

    @property
    def step(self) -> Step:
        """The step that runs."""
        step: Step = self.invocation.plan["steps"][self.at]
        return step

    @property
    def position(self) -> str:
        """The step that runs, in messages."""
        item = f", item {len(self.results) + 1}" if "each" in self.step else ""
        return f"step {self.at + 1} (`{self.step['name']}`){item}"

    def proceed(self) -> None:
        """Begin the next step whose condition holds; end after the last one."""
        steps = self.invocation.plan["steps"]
        while self.at < len(steps):
            if holds(self.step.get("when"), self._scope):
                items = self._items()
                if items is None:
                    return
                self.items, self.results = items, []
                if items:
                    self._call()
                    return
                self._close_step(None)
            else:
                self.at += 1
        self.end(self.invocation.finished(self._scope, self.last))

    def take(self, result: Note) -> None:
        """Take the result of a call, and make the next one."""
        if self._done is None:
            return
        content = result["content"]
        blocks = [block for block in content if type(block) is dict] if type(content) is list else []
        texts = [str(block["text"]) for block in blocks if type(block.get("text")) is str]
        if result.get("isError"):
            self._fail("\n".join(texts))
            return
        size = sum(len(value) for block in blocks for value in block.values() if type(value) is str)
        self._size += size
        account = self.invocation.account
        if self._size > MAX_RESULTS or (account is not None and not account.charge(size)):
            self._fail("the results of the steps are too large")
            return
        has_structure = "structuredContent" in result
        self.results.append(result["structuredContent"] if has_structure else self._read("\n".join(texts)))
        if len(self.results) < len(self.items):
            self._call()
        else:
            self._close_step(result)
            self.proceed()

    def end(self, outcome: object = None) -> None:
        """End it, with a result unless it was stopped."""
        done, self._done = self._done, None
        self._note = ignore  # which refers to the call
        if done is not None and outcome is not None:
            done(outcome)

    def progress(self, note: Note) -> Note:
        """Return the progress of the step that runs as that of the whole: steps that are done, of how many."""
        value, total = number_or_none(note.get("progress")), number_or_none(note.get("total"))
        if value is None:
            return note
        # Without a total each value comes nearer to 1, and none reaches it.
        part = value / total if total is not None and total > 0 else value / (1 + abs(value))
        part = min(max(part, 0.0), 1.0)
        whole = self.at + (len(self.results) + part) / max(len(self.items), 1)
        return {**note, "progress": round(whole, 6), "total": len(self.invocation.plan["steps"])}

    def _items(self) -> list[Json] | None:
        """Return for what the step is called: the items of its list, or once; None if it cannot be called."""
        if "each" not in self.step:
            return [None]
        tokens, most = self.step["each"]
        listed = value_at(tokens, self._scope)
        self.results = []
        if type(listed) is not list:
            self._fail(f"there is no list at `/{'/'.join(tokens)}`", of_item=False)
        elif len(listed) > most:
            self._fail(f"{len(listed)} items at `/{'/'.join(tokens)}`; at most {most}", of_item=False)
        else:
            return listed
        return None

    def _call(self) -> None:
        step = self.step
        definition = self.invocation.definition_of(step)
        if isinstance(definition, str):
            self._fail(definition)
            return
        if "each" in step:
            self._scope["item"] = self.items[len(self.results)]
        arguments = value_of(("members", step["with"]), self._scope)
        self._note({"call": definition, "arguments": arguments, "reply": self.at})

    def _read(self, text: str) -> Json:
        """Return a result without structured content: its text, or the JSON object or list that a tool says."""
        is_read = "tool" in self.step and text[:1] in ("{", "[")
        value = parse_single_value(text.encode("utf-8", "surrogatepass")) if is_read else None
        return text if value is None else value[0]

    def _close_step(self, result: Note | None) -> None:
        """Keep the result of the step that has ended."""
        is_each = "each" in self.step
        value: Json = self.results if is_each else self.results[0]
        if "as" in self.step:
            self._scope[self.step["as"]] = value
        self.last = {"value": value} if is_each or result is None else result
        self.at += 1

    def _fail(self, reason: str, *, of_item: bool = True) -> None:
        place = self.position if of_item else self.position.partition(", item")[0]
        self.end(self.invocation.refused(f"{place}: {reason}"))


def ignore(note: Note) -> None:
    """Send nothing: the pipeline is over."""


class PipelineRunner:
    """Runs the pipelines of a server."""

    def __init__(self, host: RunnerContext) -> None:
        """Take the context of runners, of which it needs nothing."""

    def start(self, invocation: PipelineInvocation, done: Callable[[Any], None], note: Notify) -> PipelineJob:
        """Begin a pipeline."""
        job = PipelineJob(invocation, done, note)
        job.proceed()
        return job

    def answer(self, job: PipelineJob, reply: Json, result: Note) -> None:
        """Hand the result of a call to the pipeline that made it."""
        job.take(result)

    def progress_of_step(self, job: PipelineJob, note: Note) -> Note:
        """Return the progress of a pipeline from that of the call that it made."""
        return job.progress(note)

    def stop(self, job: PipelineJob) -> None:
        """Make no more calls; the dispatcher stops the one that runs."""
        job.end()

    def close(self) -> None:
        """Do nothing: it holds nothing."""
