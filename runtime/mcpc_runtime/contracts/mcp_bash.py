"""mcp-bash: a program finds its arguments in its environment, and its output, its status and its files are the answer.

What its end means is decided in that system's order: the error that it wrote down, too much output, time that was over,
another status than 0, an output schema, a whole result, JSON, text.  The files that it named are added to the content.
What it says with an error code of its own is an error of the request; a model sees only what is a result.
"""

from __future__ import annotations

from time import monotonic

from mcpc_runtime.mcp_bash.embedding import embedded
from mcpc_runtime.mcp_bash.outputs import (
    error_among,
    exit_code,
    is_error_result,
    is_result,
    mended,
    meta_of,
    one_of,
    satisfies,
    tail_of,
    text_of,
    whole_number,
)
from mcpc_runtime.mcp_bash.scripts import Script, sorted_json
from mcpc_runtime.mcp_bash.settings import settings_of
from mcpc_runtime.protocol.capabilities import declared, supports
from mcpc_runtime.protocol.downgrade import downgrade
from mcpc_runtime.protocol.effects import ABSENT, Failure, Outcome, Ready, text
from mcpc_runtime.protocol.facts import INTERNAL_ERROR, TIMEOUT_KEY
from mcpc_runtime.protocol.jsonrpc import parse
from mcpc_runtime.protocol.raised import ending
from mcpc_runtime.results import as_text, is_block

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.image import Image
    from mcpc_runtime.mcp_bash.scripts import Ran, Roots
    from mcpc_runtime.mcp_bash.settings import Settings
    from mcpc_runtime.protocol.effects import Call, Ending
    from mcpc_runtime.protocol.jsonrpc import Json
    from mcpc_runtime.work import Work

LIMIT = 18 << 20
"""No more of an output is kept, whatever a server allows."""
TIMED_OUT, TERMINATED = (124, 137), 143
"""The statuses of a program that was stopped because its time was over: by another one, or by a signal."""
ASK = ("elicitation.form", "elicitation.url")


def prepare(call: Call, image: Image) -> Script:
    """Return the tool to run, with everything that it is told."""
    definition, request = call.definition, call.request
    script = Script(settings_of(image), definition.handler[0], definition.name, facts_of(call))
    script.arguments = sorted_json(call.arguments)
    meta = request.params.get("_meta")
    if type(meta) is dict:
        script.meta = sorted_json(meta)
        token = meta.get("progressToken")
        script.token = str(token) if type(token) in (str, int) else ""
    can = declared(request)
    script.elicits = any(supports(can, name) for name in ASK)
    script.asks_roots = supports(can, "roots") and not call.is_task
    session = request.session
    script.roots = session.roots

    def remember(roots: Roots) -> None:
        if not request.wire.stateless:
            session.roots = roots

    script.remember = remember
    return script


def facts_of(call: Call) -> dict[str, Any]:
    """Return what is known of a tool beside its definition."""
    return dict(call.definition.handler[1])


def settings(call: Call) -> Settings:
    """Return the settings of the server that a call is made of."""
    return settings_of(call.request.session.image)


class Times:
    """How long a call may take.  `is_chosen`: somebody said so; `extends`: it has as long again when it reports."""

    __slots__ = ("extends", "is_chosen", "most", "seconds")

    def __init__(self, call: Call) -> None:
        facts, known = facts_of(call), settings(call)
        chosen = whole_number(call.request.params.get("timeoutSecs")) or facts.get("timeoutSecs")
        self.is_chosen = bool(chosen)
        self.seconds: int = chosen or known.seconds
        self.extends = bool(facts.get("progressExtendsTimeout")) or known.extends
        self.most: int = facts.get("maxTimeoutSecs") or known.most_seconds


def limit(call: Call) -> float:
    """Return how many seconds a call has; a client may ask for fewer, as of any tool."""
    times = Times(call)
    seconds = min(times.seconds, times.most) if times.extends else times.seconds
    meta = call.request.params.get("_meta")
    asked = meta.get(TIMEOUT_KEY) if type(meta) is dict else None
    return min(seconds, asked) if (type(asked) is int or type(asked) is float) and asked > 0 else seconds


def extended(call: Call, elapsed: float) -> float | None:
    """Return how many more seconds a call has that reports progress."""
    times = Times(call)
    return max(0.001, min(times.seconds, times.most - elapsed)) if times.extends else None


def expired(work: Work) -> Ending:
    """Return the answer of a call whose time is over."""
    times = Times(work.call)
    reason = "idle" if times.extends else "fixed"
    if times.extends and monotonic() - work.began >= times.most - 0.01:
        reason = "max_exceeded"
    errors = work.job.errors() if work.job is not None else b""
    return too_late(work.call, reason, TIMED_OUT[0], tail_of(errors, settings(work.call).tail_bytes))


def too_late(call: Call, reason: str, status: int, tail: str) -> Ending:
    """Return the result that says that a call took too long: a model may ask for less."""
    times, hint = Times(call), facts_of(call).get("timeoutHint")
    words = {
        "idle": f"Tool timed out after {times.seconds}s (no progress reported)",
        "max_exceeded": f"Tool exceeded maximum runtime of {times.most}s",
    }.get(reason, f"Tool timed out after {times.seconds}s")
    message = f"{words}\n\nSuggestion: {hint}" if hint else words
    error: dict[str, Json] = {"type": "timeout", "message": message, "timeoutSecs": times.seconds}
    error.update(reason=reason, exitCode=status)
    if times.extends:
        error.update(progressExtendsTimeout=True, maxTimeoutSecs=times.most)
    if hint:
        error["hint"] = hint
    outcome = Outcome([text(message)], {"success": False, "error": error}, is_error=True)
    outcome.meta = meta_of(status, tail)
    return shown(call, outcome, is_named=False)


def conclude(call: Call, ran: Ran) -> Ending:
    """Return what the end of a tool means."""
    if ran.refused is not None:
        return error(call, *ran.refused)
    if ran.problem or ran.completed is None or ran.completed.problem:
        problem = ran.problem or (ran.completed.problem if ran.completed is not None else "it was not run")
        return Failure(INTERNAL_ERROR, f"Internal error: {problem}")
    for step in STEPS:
        found = step(call, ran)
        if found is not None:
            return found
    return result(call, ran)


def error(call: Call, code: int, message: str, data: Json = None) -> Ending:
    """Return an error of the request; where the protocol keeps a code for itself, what is left of it."""
    if call.request.wire.stateless:
        return ending(call, {"code": code, "message": message, "data": data})
    return Failure(code, message, data)


def written_error(call: Call, ran: Ran) -> Ending | None:
    """Return the error that the tool wrote down, whatever else it did."""
    if not ran.error:
        return None
    found = error_among(ran.error)
    return error(call, *(found or (INTERNAL_ERROR, "Tool failed", text_of(ran.error))))


def flood(call: Call, ran: Ran) -> Ending | None:
    """Return the error of a tool that wrote too much."""
    known, completed = settings(call), ran.completed
    limits = {"output": known.output_bytes, "stderr": known.error_bytes}
    for (name, most), size in zip(limits.items(), completed.sizes, strict=True):  # type: ignore[union-attr]
        if size > min(most, LIMIT):
            return Failure(INTERNAL_ERROR, f"Tool {name} exceeded {min(most, LIMIT)} bytes")
    return Failure(INTERNAL_ERROR, f"Tool output exceeded {LIMIT} bytes") if completed.dropped else None  # type: ignore[union-attr]


def stopped(call: Call, ran: Ran) -> Ending | None:
    """Return the result of a tool that ended as one does whose time is over, if it had a limit of its own."""
    status = exit_code(ran.completed)
    if (status in TIMED_OUT or status == TERMINATED) and Times(call).is_chosen:
        return too_late(call, "fixed", status, tail(call, ran))
    return None


def failed(call: Call, ran: Ran) -> Ending | None:
    """Return the error of a tool with another status than 0: its own, or what it wrote."""
    status = exit_code(ran.completed)
    if not status:
        return None
    printed = ran.completed.printed  # type: ignore[union-attr]
    found = error_among(printed)
    if found is not None:
        return error(call, *found)
    whole = is_error_result(printed)
    if whole is not None and not in_dialect(call):
        return whole_result(call, ran, whole_outcome(call, whole))
    string = text_of(printed)
    if string:
        return Failure(INTERNAL_ERROR, "Tool failed", string)
    said = tail(call, ran)
    data: dict[str, Json] = {"exitCode": status, "_meta": meta_of(status, said)}
    if said:
        data["stderrTail"] = said
    return Failure(INTERNAL_ERROR, said.split("\n")[0].replace("\r", "") or "Tool failed", data)


def unfit(call: Call, ran: Ran) -> Ending | None:
    """Return the error of a tool whose output is not what its schema wants, as far as this system looks."""
    printed = ran.completed.printed  # type: ignore[union-attr]
    if not facts_of(call).get("output") or is_error_result(printed):
        return None
    value = one_of(printed)
    if value is None:
        how = "is not valid JSON" if printed.strip() else "is empty"
        return Failure(INTERNAL_ERROR, f"Tool output {how} for declared outputSchema")
    if in_dialect(call):
        schema = parse(facts_of(call)["metadata"].encode())
        schema = schema.get("outputSchema") if type(schema) is dict else None
        structured = value[0].get("structuredContent", {}) if is_result(value[0]) else value[0]  # type: ignore[union-attr]
        if not satisfies(schema, structured):
            return Failure(INTERNAL_ERROR, "Tool output does not satisfy outputSchema")
    return None


STEPS: tuple[Callable[[Call, Ran], Ending | None], ...] = (written_error, flood, stopped, failed, unfit)
"""What else than a result an end may mean, in the order in which it is decided."""


def tail(call: Call, ran: Ran) -> str:
    """Return the end of what a tool wrote to standard error."""
    return tail_of(ran.completed.errors, settings(call).tail_bytes)  # type: ignore[union-attr]


def result(call: Call, ran: Ran) -> Ending:
    """Return the result of a tool that ended well."""
    printed = ran.completed.printed  # type: ignore[union-attr]
    value = one_of(printed)
    whole: Any = is_error_result(printed) or (value[0] if value is not None and is_result(value[0]) else None)
    if whole is not None:
        outcome = whole_outcome(call, whole)
    else:
        outcome = Outcome([text(str(printed, "utf-8", "replace"))])
        if value is not None and (type(value[0]) is dict or facts_of(call).get("output") or in_dialect(call)):
            outcome.structured = value[0]
    return whole_result(call, ran, outcome)


def whole_result(call: Call, ran: Ran, outcome: Outcome) -> Ending:
    """Return a result with everything that is known beside what the tool printed."""
    outcome.meta = with_interface(call, mended({**outcome.meta, **meta_of(exit_code(ran.completed), tail(call, ran))}))
    outcome.content = [*outcome.content, *map(embedded, ran.embedded)]
    outcome.log = "\n".join(ran.warnings)
    return shown(call, outcome)


def with_interface(call: Call, meta: dict[str, Json]) -> dict[str, Json]:
    """Return metadata that names the interface in which hosts show the tool's results."""
    uri = facts_of(call).get("ui")
    return {**meta, "ui": {"resourceUri": uri}} if uri and "ui" not in meta else meta


def whole_outcome(call: Call, value: dict[str, Any]) -> Outcome:
    """Return the outcome that a tool printed itself; content that is no block is a text."""
    content = [one if is_block(one) else as_text(one) for one in value["content"]]
    usual: object = {} if facts_of(call).get("output") else ABSENT
    outcome = Outcome(content, value.get("structuredContent", usual), value["isError"] is True)
    meta = value.get("_meta")
    outcome.meta = meta if type(meta) is dict else {}
    return outcome


def in_dialect(call: Call) -> bool:
    """Tell whether a result is to look as mcp-bash's own: only where that speaks the protocol."""
    return settings(call).in_dialect and not call.request.wire.stateless and not call.chain


def shown(call: Call, outcome: Outcome, *, is_named: bool = True) -> Ending:
    """Return an outcome, in the dialect as the very result that mcp-bash would give."""
    if not in_dialect(call):
        return outcome
    made: dict[str, Json] = {"name": call.definition.name} if is_named else {}
    content: list[Json] = [downgrade(block, call.request.wire.content) for block in outcome.content]
    made.update(content=content, isError=outcome.is_error, _meta=outcome.meta)
    if outcome.structured is not ABSENT:
        made["structuredContent"] = outcome.structured  # type: ignore[assignment]
    ready = Ready(made)
    ready.log = outcome.log
    return ready
