"""The contract of mcp-bash tools: arguments are in the environment; output, status and files are the result.

The checks follow that system's order: the error file, too much output, timeout, a status other than 0, the output
schema, a whole result, JSON, text.  The files that it named are added to the content.  An error with a code is an error
of the request; a model sees results only.

Embedding of the files that a tool names in its resources file, if they are below a root.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from mcpc_runtime.handlers.results import is_block, parse_single_value, text_block
from mcpc_runtime.protocol.capabilities import client_capabilities, supports
from mcpc_runtime.protocol.constants import INTERNAL_ERROR, TIMEOUT_KEY
from mcpc_runtime.protocol.contents import base64_of, contents_of, downgrade_content
from mcpc_runtime.protocol.effects import ABSENT, Call, Ending, Failure, FinishedResult, Outcome, text
from mcpc_runtime.protocol.handler_errors import error_ending as protocol_error_ending
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.jsonrpc import Json, ParseError, parse
from mcpc_runtime.protocol.media import media_type
from mcpc_runtime.server.running_calls import RunningCall
from mcpc_runtime.systems.mcp_bash.roots import absolute_below, containing_root, file_uri, real_path
from mcpc_runtime.systems.mcp_bash.scripts import (
    EmbeddedFile,
    PrintedResult,
    Roots,
    ScriptCall,
    ScriptResult,
    exit_code,
    find_error,
    find_error_result,
    is_result,
    parse_seconds,
    result_meta,
    satisfies,
    shell_text,
    sorted_json,
    text_tail,
    with_current_ui_key,
)
from mcpc_runtime.systems.mcp_bash.settings import McpBashSettings, settings_of
from mcpc_runtime.transports.platforms import LINE_END

MAX_OUTPUT = 18 << 20
"""Bytes: the maximum of a stored output, whatever a server configures."""
TIMED_OUT, TERMINATED = (124, 137), 143
"""The exit statuses after a timeout: of the `timeout` program, or by a signal."""
ELICITATION_CAPABILITIES = ("elicitation.form", "elicitation.url")


def build_invocation(call: Call, image: Image) -> ScriptCall:
    """Return the script to run, with all its inputs."""
    definition, request = call.definition, call.request
    script = ScriptCall(settings_of(image), definition.handler[0], definition.name, tool_facts(call))
    script.arguments = sorted_json(call.arguments)
    meta = request.params.get("_meta")
    if type(meta) is dict:
        script.meta = sorted_json(meta)
        token = meta.get("progressToken")
        script.token = str(token) if type(token) in (str, int) else ""
    can = client_capabilities(request)
    script.elicits = any(supports(can, name) for name in ELICITATION_CAPABILITIES)
    script.asks_roots = supports(can, "roots") and not call.is_task
    session = request.session
    script.roots = session.roots

    def remember(roots: Roots) -> None:
        # In the stateless era the next request brings its own.
        if not request.wire.stateless:
            session.roots = roots

    script.remember = remember
    return script


def tool_facts(call: Call) -> dict[str, Any]:
    """Return the tool's metadata of mcp-bash."""
    return dict(call.definition.handler[1])


def call_settings(call: Call) -> McpBashSettings:
    """Return the settings of the call's server."""
    return settings_of(call.request.session.image)


class TimeLimits:
    """The timeout of a call.  `is_chosen`: it is configured explicitly; `extends`: progress restarts it."""

    __slots__ = ("extends", "is_chosen", "most", "seconds")

    def __init__(self, call: Call) -> None:
        facts, settings = tool_facts(call), call_settings(call)
        explicit = parse_seconds(call.request.params.get("timeoutSecs")) or facts.get("timeoutSecs")
        self.is_chosen = bool(explicit)
        self.seconds: int = explicit or settings.seconds
        self.extends = bool(facts.get("progressExtendsTimeout")) or settings.extends
        self.most: int = facts.get("maxTimeoutSecs") or settings.most_seconds


def limit(call: Call) -> float:
    """Return the timeout of a call in seconds; a client may request a shorter one, as for any tool."""
    times = TimeLimits(call)
    seconds = min(times.seconds, times.most) if times.extends else times.seconds
    meta = call.request.params.get("_meta")
    requested = meta.get(TIMEOUT_KEY) if type(meta) is dict else None
    return (
        min(seconds, requested) if (type(requested) is int or type(requested) is float) and requested > 0 else seconds
    )


def extended(call: Call, elapsed: float) -> float | None:
    """Return the remaining seconds of a call that reports progress; None if progress does not extend it."""
    times = TimeLimits(call)
    return max(0.001, min(times.seconds, times.most - elapsed)) if times.extends else None


def expired(running: RunningCall) -> Ending:
    """Return the result of a call after its timeout."""
    call = running.handler_call
    times = TimeLimits(call)
    reason = "idle" if times.extends else "fixed"
    # What was left was computed from an earlier reading of the clock: 10 ms cover the difference.
    if times.extends and monotonic() - running.began >= times.most - 0.01:
        reason = "max_exceeded"
    read_errors: Callable[[], bytes] | None = getattr(running.job, "errors", None)
    errors = b"" if read_errors is None else read_errors()
    return timeout_result(call, reason, TIMED_OUT[0], text_tail(errors, call_settings(call).tail_bytes))


def timeout_result(call: Call, reason: str, status: int, tail: str) -> Ending:
    """Return the timeout error as a result, so that a model may request less."""
    times, hint = TimeLimits(call), tool_facts(call).get("timeoutHint")
    summary = {
        "idle": f"Tool timed out after {times.seconds}s (no progress reported)",
        "max_exceeded": f"Tool exceeded maximum runtime of {times.most}s",
    }.get(reason, f"Tool timed out after {times.seconds}s")
    message = f"{summary}\n\nSuggestion: {hint}" if hint else summary
    error: dict[str, Json] = {"type": "timeout", "message": message, "timeoutSecs": times.seconds}
    error.update(reason=reason, exitCode=status)
    if times.extends:
        error.update(progressExtendsTimeout=True, maxTimeoutSecs=times.most)
    if hint:
        error["hint"] = hint
    outcome = Outcome([text(message)], {"success": False, "error": error}, is_error=True)
    outcome.meta = result_meta(status, tail)
    return encode_outcome(call, outcome, is_named=False)


def parse_result(call: Call, ran: ScriptResult) -> Ending:
    """Convert the result of a script to an ending."""
    if ran.refused is not None:
        return error_ending(call, *ran.refused)
    problem = ran.problem or ran.completed.problem
    if problem:
        return Failure(INTERNAL_ERROR, f"Internal error: {problem}")
    for step in CHECKS:
        ending = step(call, ran)
        if ending is not None:
            return ending
    return parse_output(call, ran)


def error_ending(call: Call, code: int, message: str, data: Json = None) -> Ending:
    """Return an error of the request; codes that the protocol reserves are converted."""
    if call.request.wire.stateless:
        return protocol_error_ending(call, {"code": code, "message": message, "data": data})
    return Failure(code, message, data)


def check_error_file(call: Call, ran: ScriptResult) -> Ending | None:
    """Return the error in the tool's error file, if any."""
    if not ran.error:
        return None
    error = find_error(ran.error)
    return error_ending(call, *(error or (INTERNAL_ERROR, "Tool failed", shell_text(ran.error))))


def check_output_size(call: Call, ran: ScriptResult) -> Ending | None:
    """Return the error of a tool whose output is too large."""
    settings, completed = call_settings(call), ran.completed
    limits = {"output": settings.output_bytes, "stderr": settings.error_bytes}
    for (name, most), size in zip(limits.items(), completed.sizes, strict=True):
        if size > min(most, MAX_OUTPUT):
            return Failure(INTERNAL_ERROR, f"Tool {name} exceeded {min(most, MAX_OUTPUT)} bytes")
    return Failure(INTERNAL_ERROR, f"Tool output exceeded {MAX_OUTPUT} bytes") if completed.dropped else None


def check_terminated(call: Call, ran: ScriptResult) -> Ending | None:
    """Return the timeout result of a tool that ended with a timeout's status, if its timeout is explicit."""
    status = exit_code(ran.completed)
    # Without an explicit timeout, such a status may be one of the script's own.
    if (status in TIMED_OUT or status == TERMINATED) and TimeLimits(call).is_chosen:
        return timeout_result(call, "fixed", status, stderr_tail(call, ran))
    return None


def check_exit_status(call: Call, ran: ScriptResult) -> Ending | None:
    """Return the error of a tool with a status other than 0: the printed error, or its output."""
    status = exit_code(ran.completed)
    if not status:
        return None
    printed = ran.completed.printed
    error = find_error(printed)
    if error is not None:
        return error_ending(call, *error)
    printed_result = find_error_result(printed)
    if printed_result is not None and not in_dialect(call):
        return complete_result(call, ran, parse_printed_result(call, printed_result))
    string = shell_text(printed)
    if string:
        return Failure(INTERNAL_ERROR, "Tool failed", string)
    errors = stderr_tail(call, ran)
    data: dict[str, Json] = {"exitCode": status, "_meta": result_meta(status, errors)}
    if errors:
        data["stderrTail"] = errors
    return Failure(INTERNAL_ERROR, errors.split("\n")[0].replace("\r", "") or "Tool failed", data)


def check_output_schema(call: Call, ran: ScriptResult) -> Ending | None:
    """Return the error of a tool whose output does not match its schema, as far as mcp-bash checks it."""
    printed = ran.completed.printed
    # An error need not match the schema.
    if not tool_facts(call).get("output") or find_error_result(printed):
        return None
    value = parse_single_value(printed)
    if value is None:
        how = "is not valid JSON" if printed.strip() else "is empty"
        return Failure(INTERNAL_ERROR, f"Tool output {how} for declared outputSchema")
    if in_dialect(call):
        schema = parse(tool_facts(call)["metadata"].encode())
        schema = schema.get("outputSchema") if type(schema) is dict else None
        printed_value = value[0]
        structured = (
            printed_value.get("structuredContent", {})
            if type(printed_value) is dict and is_result(printed_value)
            else printed_value
        )
        if not satisfies(schema, structured):
            return Failure(INTERNAL_ERROR, "Tool output does not satisfy outputSchema")
    return None


CHECKS: tuple[Callable[[Call, ScriptResult], Ending | None], ...] = (
    check_error_file,
    check_output_size,
    check_terminated,
    check_exit_status,
    check_output_schema,
)
"""The checks before an output is a result, in their order."""


def stderr_tail(call: Call, ran: ScriptResult) -> str:
    """Return the last bytes of standard error as text."""
    return text_tail(ran.completed.errors, call_settings(call).tail_bytes)


def parse_output(call: Call, ran: ScriptResult) -> Ending:
    """Return the result of a successful tool."""
    printed = ran.completed.printed
    value = parse_single_value(printed)
    result = find_error_result(printed) or (value[0] if value is not None and is_result(value[0]) else None)
    if result is not None:
        outcome = parse_printed_result(call, result)
    else:
        outcome = Outcome([text(str(printed, "utf-8", "replace").replace(LINE_END, "\n"))])
        if value is not None and (type(value[0]) is dict or tool_facts(call).get("output") or in_dialect(call)):
            outcome.structured = value[0]
    return complete_result(call, ran, outcome)


def complete_result(call: Call, ran: ScriptResult, outcome: Outcome) -> Ending:
    """Return a result with metadata, embedded files and warnings added."""
    outcome.meta = add_interface(
        call, with_current_ui_key({**outcome.meta, **result_meta(exit_code(ran.completed), stderr_tail(call, ran))})
    )
    outcome.content = [*outcome.content, *map(embedded_resource, ran.embedded)]
    outcome.log = "\n".join(ran.warnings)
    return encode_outcome(call, outcome)


def add_interface(call: Call, meta: dict[str, Json]) -> dict[str, Json]:
    """Return metadata with the uri of the tool's user interface, if it has one."""
    uri = tool_facts(call).get("ui")
    return {**meta, "ui": {"resourceUri": uri}} if uri and "ui" not in meta else meta


def parse_printed_result(call: Call, value: PrintedResult) -> Outcome:
    """Return the outcome of a printed result; content items that are not blocks become texts."""
    content = [item if is_block(item) else text_block(item) for item in value["content"]]
    # With an output schema, structured content has to be there (MCP revision 2025-06-18).
    default: object = {} if tool_facts(call).get("output") else ABSENT
    outcome = Outcome(content, value.get("structuredContent", default), value["isError"] is True)
    meta = value.get("_meta")
    outcome.meta = meta if type(meta) is dict else {}
    return outcome


def in_dialect(call: Call) -> bool:
    """Tell whether a result has mcp-bash's own format: in the handshake era, and not for nested calls."""
    return call_settings(call).in_dialect and not call.request.wire.stateless and not call.chain


def encode_outcome(call: Call, outcome: Outcome, *, is_named: bool = True) -> Ending:
    """Return an outcome; in the dialect, as exactly the result of mcp-bash."""
    if not in_dialect(call):
        return outcome
    result: dict[str, Json] = {"name": call.definition.name} if is_named else {}
    content: list[Json] = [downgrade_content(block, call.request.wire.content) for block in outcome.content]
    result.update(content=content, isError=outcome.is_error, _meta=outcome.meta)
    if outcome.structured is not ABSENT:
        result["structuredContent"] = outcome.structured  # type: ignore[assignment]
    ending = FinishedResult(result)
    ending.log = outcome.log
    return ending


FileEntry = tuple[str, str, str]


MAX_FILES = 100
PROBE_LENGTH = 1024
"""The number of bytes that decide whether a file is text."""
FIELDS = ("path", "mimeType", "uri")


def parse_file_list(data: bytes) -> list[FileEntry]:
    """Return path, media type and uri of each file; the last two are empty if they are missing."""
    try:
        value = parse(data)
    except ParseError:
        # Not JSON: a path a line, its media type and its uri behind tabs.
        lines = str(data, "utf-8", "surrogateescape").replace(LINE_END, "\n").split("\n")
        rows = [first_fields(*line.split("\t"), "", "") for line in lines]
    else:
        rows = [parse_entry(entry) for entry in (value if type(value) is list else [value])]
    return [row for row in rows if row[0]]


def parse_entry(value: Json) -> FileEntry:
    """Return path, media type and uri of one entry."""
    if type(value) is str:
        return value, "", ""
    if type(value) is not dict:
        return "", "", ""
    path, mime, uri = (field if type(field) is str else "" for field in map(value.get, FIELDS))
    return path, mime, uri


def first_fields(path: str, mime: str, uri: str, *_: str) -> FileEntry:
    """Return the first three fields of a line."""
    return path, mime, uri


def find_embeddable(roots: Roots, home: str, rows: list[FileEntry]) -> tuple[list[tuple[str, EmbeddedFile]], list[str]]:
    """Return each allowed file with its root, and warnings about the others."""
    files, warnings = [], []
    for path, mime, uri in rows[:MAX_FILES]:
        real = real_path(absolute_below(home, path))
        root = containing_root(roots, real) if real else None
        if root is None:
            warnings.append(f"{path!r} was left out of the answer: it is outside the roots")
        else:
            files.append((root, EmbeddedFile(real, mime, uri or file_uri(real))))
    if len(rows) > MAX_FILES:
        warnings.append(f"{len(rows) - MAX_FILES} files were left out of the answer: the maximum is {MAX_FILES}")
    return files, warnings


def split_below_root(root: str, path: str) -> tuple[str, str]:
    """Return a folder and the path of a file below it; the file may be the root itself."""
    if path == root:
        above, _, name = path.rpartition("/")
        return above or "/", name
    return root, path[len(root.rstrip("/")) + 1 :]


def embedded_resource(file: EmbeddedFile) -> Json:
    """Return a file as a content block: text if its type and its first bytes are, else a blob."""
    mime = file.mime or media_type(file.path, file.data)
    if b"\0" in file.data[:PROBE_LENGTH]:
        return {"type": "resource", "resource": {"uri": file.uri, "mimeType": mime, "blob": base64_of(file.data)}}
    return {"type": "resource", "resource": contents_of(file.uri, mime, file.data)}
