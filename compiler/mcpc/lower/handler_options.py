"""Read the options of a handler (`mcpc/handler`), with the server's own as defaults (`mcpc/handlers`).

    {"who": {"method": "elicitation/create", "params": {"message": "Delete {file}?", "requestedSchema": {…}}}}

A text may contain the definition's arguments in braces. A form is a flat object of texts, numbers, choices and
booleans, as MCP requires.

The environment policy is the definition's, else the server's, else the contract's: handlers written for mcbox get the
server's whole environment, others get the standard variables and the declared ones. Lists of names and of programs are
merged.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import quoted
from mcpc.model.definitions import KIND_NAMES, handler_kinds, kind_mismatch
from mcpc.model.ir import Environment, ExternalHandler, HandlerOptions, PipelineHandler, ProgramRequirement
from mcpc.model.ir.handlers import COMMAND_LINE, DEFAULT, PROGRAM_NAME, default_options, with_steps
from mcpc.reading import member_of
from mcpc_runtime.artifact.start_options import parse_result_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Literal

    from mcpc.diagnostics import Diagnostic
    from mcpc.model.ir import Handler
    from mcpc.reading import Json, Node

PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")
KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
MAX_REQUESTS = 16
FORM_TYPES = ("string", "number", "integer", "boolean")
FORMATS = ("email", "uri", "date", "date-time")
SHAPE = '`{"method": …, "params": {…}}`'

Asks = tuple[tuple[str, str, bytes], ...]


def read_client_requests(options: Node | None) -> Asks:
    """Return the valid requests: key, method, params as JSON."""
    written = member_of(options, "asks")
    requests = []
    for member in written.members if written is not None else ():
        method, params = member.node.get("method"), member.node.get("params")
        if method is not None and method.value in REQUEST_CHECKS:
            value: Json = params.value if params is not None and params.kind == "object" else {}
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            # Half of a surrogate pair becomes `\udXXX`, which is its escape in JSON, too.
            requests.append((member.key, str(method.value), text.encode("utf-8", "backslashreplace")))
    return tuple(requests)


def check_client_requests(options: Node | None, arguments: Collection[str]) -> Iterator[Diagnostic]:
    """Yield the problems of client requests; `arguments`: those of the definition."""
    written = member_of(options, "asks", "object")
    if written is None:
        return
    if len(written.members) > MAX_REQUESTS:
        message = f"{len(written.members)} requests before one call are too many"
        yield diagnose("MCP128", written.span, message, f"at most {MAX_REQUESTS}")
    for member in written.members:
        if not KEY.fullmatch(member.key):
            yield diagnose(
                "MCP128", member.key_span, f"invalid key of an answer: `{member.key}`", "letters, digits and `_ . -`"
            )
        yield from _check_request(member.node)
        yield from _unfilled(member.node, arguments)


def _check_request(ask: Node) -> Iterator[Diagnostic]:
    if ask.kind != "object":
        yield diagnose("MCP128", ask.span, kind_mismatch("a question", "object", ask), SHAPE)
        return
    for member in ask.members:
        if member.key not in ("method", "params"):
            yield diagnose("MCP128", member.key_span, f"unknown member `{member.key}` of a request", SHAPE)
    method, params = ask.get("method"), ask.get("params")
    if method is None or method.value not in REQUEST_CHECKS:
        fault = "has no `method`" if method is None else f"cannot be `{method.value}`"
        yield diagnose("MCP128", (method or ask).span, f"a request {fault}", f"one of {quoted(REQUEST_CHECKS)}")
    elif params is not None and params.kind != "object":
        yield diagnose("MCP128", params.span, kind_mismatch("`params`", "object", params))
    else:
        yield from REQUEST_CHECKS[str(method.value)](ask, params)


def _unfilled(node: Node, arguments: Collection[str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each text with an unknown argument."""
    for item in (*node.items, *(member.node for member in node.members)):
        yield from _unfilled(item, arguments)
    for name in PLACEHOLDER.findall(node.value) if isinstance(node.value, str) else ():
        if name not in arguments:
            known = ", ".join(f"`{{{argument}}}`" for argument in arguments)
            yield diagnose("MCP128", node.span, f"unknown argument `{name}`", f"one of {known}" if known else "")


def _require_param(ask: Node, params: Node | None, name: str, kind: str) -> Iterator[Diagnostic]:
    param = member_of(params, name)
    if param is None:
        yield diagnose("MCP128", ask.span, f"the request has no `{name}` in its `params`")
    elif param.kind != kind:
        yield diagnose("MCP128", param.span, kind_mismatch(f"`{name}`", kind, param))


def _elicitation(ask: Node, params: Node | None) -> Iterator[Diagnostic]:
    yield from _require_param(ask, params, "message", "string")
    mode = member_of(params, "mode")
    if mode is not None and mode.value not in ("form", "url"):
        yield diagnose("MCP128", mode.span, f"`mode` cannot be `{mode.value}`", "`form` or `url`")
    elif mode is not None and mode.value == "url":
        yield from _require_param(ask, params, "url", "string")
    else:
        yield from _require_param(ask, params, "requestedSchema", "object")
        schema = member_of(params, "requestedSchema", "object")
        yield from check_form(schema) if schema is not None else ()


def check_form(schema: Node) -> Iterator[Diagnostic]:
    """Yield the parts of a form's schema that MCP does not allow."""
    kind, properties = schema.get("type"), schema.get("properties")
    if kind is None or kind.value != "object":
        yield diagnose("MCP128", schema.span, "a form must be an object", '`"type": "object"`')
    if properties is None or properties.kind != "object":
        yield diagnose("MCP128", schema.span, "a form has no `properties`", "an object of fields")
        return
    for member in schema.members:
        if member.key not in ("type", "properties", "required", "$schema"):
            yield diagnose("MCP128", member.key_span, f"unsupported keyword `{member.key}` in a form", "a flat object")
    for member in properties.members:
        yield from _check_field(member.node, member.key)


def _check_field(field: Node, name: str) -> Iterator[Diagnostic]:
    kind = field.get("type")
    expected = f"{', '.join(f'`{known}`' for known in FORM_TYPES)}, or an array of choices"
    written = kind.value if kind is not None else None
    place = (kind or field).span
    if written == "array":
        if not _are_choices(field.get("items"), "anyOf"):
            yield diagnose("MCP128", place, f"`{name}` of the form is a list, but not of choices", expected)
    elif written not in FORM_TYPES:
        yield diagnose("MCP128", place, f"unsupported type of the field `{name}` of the form", expected)
    form = field.get("format")
    if form is not None and form.value not in FORMATS:
        yield diagnose("MCP128", form.span, f"unsupported format `{form.value}` in a form", ", ".join(FORMATS))
    if field.get("oneOf") is not None and not _are_choices(field, "oneOf"):
        yield diagnose("MCP128", place, f"the choices of `{name}` have no `const` and `title`")


def _are_choices(node: Node | None, keyword: str) -> bool:
    """Tell whether a schema is an enumeration of texts, with or without titles."""
    if node is None or node.kind != "object":
        return False
    titled, plain = node.get(keyword), node.get("enum")
    if titled is not None:
        return titled.kind == "array" and all(
            _is_text(item.get("const")) and _is_text(item.get("title")) for item in titled.items
        )
    return plain is not None and plain.kind == "array" and all(map(_is_text, plain.items))


def _is_text(node: Node | None) -> bool:
    return node is not None and node.kind == "string"


def _sampling(ask: Node, params: Node | None) -> Iterator[Diagnostic]:
    yield from _require_param(ask, params, "messages", "array")
    yield from _require_param(ask, params, "maxTokens", "number")


def _roots(ask: Node, params: Node | None) -> Iterator[Diagnostic]:
    return iter(())


REQUEST_CHECKS: dict[str, Callable[[Node, Node | None], Iterator[Diagnostic]]] = {
    "elicitation/create": _elicitation,
    "sampling/createMessage": _sampling,
    "roots/list": _roots,
}
"""The requests that a server may send to a client, each with its check."""


MAX_SECONDS = 86_400
"""One day."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")
MAX_RESULT = "maxResult"
POLICIES = ("inherit", "minimal")
NAMES = 'names like `"API_KEY"` or `"AWS_*"`'
# A name, perhaps with `>=` and a version of up to eight numbers.
PROGRAM = re.compile(
    rf"(?P<command>{PROGRAM_NAME.pattern}) *(?:>= *(?P<version>[0-9]{{1,9}}(?:\.[0-9]{{1,9}}){{0,7}}))?"
)
LOOP = "loop"
"""Value of `inline` beside true and false."""
A_PROGRAM = "the name of a program, with an optional minimum version: `jq`, `git >= 2.30`"


def check_handler_options(options: Node) -> Iterator[Diagnostic]:
    """Yield the invalid values of handler options; unknown fields and types are checked before."""
    kinds = handler_kinds(options)
    for member in kinds[1:]:
        message = f"a handler is either `{kinds[0].key}` or `{member.key}`"
        yield diagnose("MCP245", member.key_span, message, "", "remove one of them")
    result = options.get("result")
    if result is not None and options.get("pipeline") is None:
        yield diagnose("MCP168", result.span, "`result` is of a pipeline, but there is no `pipeline`")
    for member in options.members:
        if member.key in CHECKS:
            yield from CHECKS[member.key](member.node)


def lower_handler_options(handler: Handler | None, own: Node | None, general: Node | None) -> HandlerOptions:
    """Return the options of a handler; `own` are the definition's, `general` the server's."""
    if handler is None:
        return DEFAULT
    if own is None and general is None:
        return default_options(handler)
    return HandlerOptions(
        timeout=next(
            (time for time in map(_timeout, (own, general)) if time is not None), default_options(handler).timeout
        ),
        inline=_inline(own),
        isolated=_is_true(own, "isolated"),
        environment=_environment(handler, own, general),
        # Of several rows for a program the last one counts, which is the definition's own.
        requires=tuple({item.command: item for item in _all_requirements(handler, own, general)}.values()),
        task=next((task for task in map(_task, (own, general)) if task is not None), ""),
        asks=read_client_requests(own),
    )


def run_steps(handler: Handler, running: HandlerOptions) -> Handler:
    """Return a pipeline whose requests and commands run as it does; any other handler as it is."""
    if not isinstance(handler, PipelineHandler):
        return handler
    own = HandlerOptions(timeout=running.timeout, environment=running.environment)
    return replace(handler, steps=tuple(replace(step, running=own) for step in handler.steps))


def result_limit(own: Node | None, general: Node | None, otherwise: int = 0) -> int:
    """Return the limit of a tool's result in bytes, 0 for none, as the tool or the server says it."""
    written = (member_of(options, MAX_RESULT) for options in (own, general))
    return next((limit for node in written if node is not None and (limit := _limit(node)) is not None), otherwise)


def _limit(node: Node) -> int | None:
    """Return the limit that a number of bytes or a text such as `64K` says; None if it is neither."""
    if node.kind not in ("number", "string"):
        return None
    try:
        return parse_result_limit(str(node.value))
    except ValueError:
        return None


def _wrong_limit(node: Node) -> Iterator[Diagnostic]:
    if _limit(node) is None:
        message = f"invalid limit of results: {_shown_value(node)}"
        yield diagnose("MCP163", node.span, message, 'a size of at least 1K, such as `"64K"`, or 0 for no limit')


def _inline(options: Node | None) -> bool | Literal["loop"]:
    value = member_of(options, "inline")
    return "loop" if value is not None and value.value == LOOP else _is_true(options, "inline")


def _task(options: Node | None) -> str | None:
    """Return the task support; `forbidden` is the default."""
    value = member_of(options, "task")
    if value is None or value.kind != "string":
        return None
    return "" if value.value == "forbidden" else str(value.value)


def _is_true(options: Node | None, key: str) -> bool:
    value = member_of(options, key)
    return value is not None and value.value is True


def _timeout(options: Node | None) -> float | None:
    value = member_of(options, "timeout")
    return float(str(value.value)) if value is not None and _can_be_time(value) else None


def _can_be_time(node: Node) -> bool:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 < value <= MAX_SECONDS and math.isfinite(value)


def _environment(handler: Handler, own: Node | None, general: Node | None) -> Environment:
    policies = [policy.value for options in (own, general) if (policy := member_of(options, "environment")) is not None]
    if not policies:
        return default_options(handler).environment
    if not isinstance(policies[0], list):
        return Environment(inherit=policies[0] == "inherit")
    # The first one is the definition's, and decides; lists of both are joined, the server's names first.
    named = [name for names in reversed(policies) if isinstance(names, list) for name in names]
    return Environment(names=tuple(dict.fromkeys(name for name in named if isinstance(name, str))))


def _requires(options: Node | None) -> Iterator[ProgramRequirement]:
    required = member_of(options, "requires")
    for item in required.items if required is not None else ():
        match = PROGRAM.fullmatch(item.value.strip()) if isinstance(item.value, str) else None
        if match:
            yield ProgramRequirement(match["command"], match["version"] or "", item.span)


def _all_requirements(handler: Handler, own: Node | None, general: Node | None) -> Iterator[ProgramRequirement]:
    """Yield the programs of command lines that are on PATH, and those that the options name, perhaps with a version."""
    for part in with_steps([handler]):
        if isinstance(part, ExternalHandler) and part.contract == COMMAND_LINE and part.facts[0]:
            yield ProgramRequirement(str(part.facts[0]), "", part.span)
    yield from _requires(general)
    yield from _requires(own)


def _wrong_time(node: Node) -> Iterator[Diagnostic]:
    if node.kind == "number" and not _can_be_time(node):
        message = f"invalid timeout: {node.value} seconds"
        yield diagnose("MCP238", node.span, message, f"more than 0 and at most {MAX_SECONDS} seconds")


def _wrong_environment(node: Node) -> Iterator[Diagnostic]:
    if node.kind == "string" and node.value not in POLICIES:
        hint = f'write `["{node.value}"]` for a list with one name' if NAME.fullmatch(str(node.value)) else ""
        yield diagnose(
            "MCP239",
            node.span,
            f"unknown environment policy `{_without_value(node)}`",
            f"{EITHER}, or a list of {NAMES}",
            hint,
        )
    elif node.kind not in ("string", "array"):
        message = f"`environment` cannot be {KIND_NAMES[node.kind]}"
        yield diagnose("MCP239", node.span, message, f"{EITHER}, or a list of {NAMES}")
    for item in node.items:
        yield from _wrong_name(item)


EITHER = " or ".join(f'`"{policy}"`' for policy in POLICIES)


def _without_value(node: Node) -> str:
    """Return a text without the value that it may assign, which may be secret."""
    return str(node.value).partition("=")[0]


def _wrong_name(item: Node) -> Iterator[Diagnostic]:
    value = item.value
    if not isinstance(value, str):
        yield diagnose("MCP239", item.span, f"the name of a variable cannot be {KIND_NAMES[item.kind]}", NAMES)
    elif "=" in value:
        message = f"`{_without_value(item)}` has a value, but values are never built in"
        hint = f'write `"{_without_value(item)}"` alone; the server reads its value from its environment'
        yield diagnose("MCP239", item.span, message, NAMES, hint)
    elif not NAME.fullmatch(value):
        hint = 'use `"environment": "inherit"` to pass all variables' if value == "*" else ""
        yield diagnose("MCP239", item.span, f"invalid variable name `{value}`", NAMES, hint)


def _wrong_requirements(node: Node) -> Iterator[Diagnostic]:
    for item in node.items:
        if isinstance(item.value, str) and not PROGRAM.fullmatch(item.value.strip()):
            yield diagnose(
                "MCP240",
                item.span,
                f"`{item.value}` is not a program name",
                A_PROGRAM,
                _suggested_requirement(item.value),
            )


def _suggested_requirement(written: str) -> str:
    if "/" in written:
        return "programs are looked for on PATH; files of the project do not belong in `requires`"
    return "only `>=` is supported" if re.search(r"[<>=~!^]", written) else ""


def _wrong_inline(node: Node) -> Iterator[Diagnostic]:
    if node.kind != "boolean" and node.value != LOOP:
        yield diagnose("MCP237", node.span, f"`inline` cannot be {_shown_word(node)}", f'`true`, `false` or `"{LOOP}"`')


def _shown_word(node: Node) -> str:
    return f"`{node.value}`" if node.kind == "string" else KIND_NAMES[node.kind]


def _shown_value(node: Node) -> str:
    return f"`{node.value}`" if node.kind in ("number", "string") else KIND_NAMES[node.kind]


CHECKS: dict[str, Callable[[Node], Iterator[Diagnostic]]] = {
    "inline": _wrong_inline,
    MAX_RESULT: _wrong_limit,
    "timeout": _wrong_time,
    "environment": _wrong_environment,
    "requires": _wrong_requirements,
}
