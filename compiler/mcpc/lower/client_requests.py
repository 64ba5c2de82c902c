"""Check and read `read_client_requests` of `mcpc/handler`: the client requests that are made before a handler runs.

    {"who": {"method": "elicitation/create", "params": {"message": "Delete {file}?", "requestedSchema": {…}}}}

A text may contain the definition's arguments in braces. A form is a flat object of texts, numbers, choices and
booleans, as MCP requires.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.suggestions import quoted
from mcpc.model.definitions.json_kinds import kind_mismatch
from mcpc.reading import member_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from mcpc.diagnostics import Diagnostic
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
    found = []
    for member in written.members if written is not None else ():
        method, params = member.node.get("method"), member.node.get("params")
        if method is not None and method.value in CHECKS:
            value: Json = params.value if params is not None and params.kind == "object" else {}
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            found.append((member.key, str(method.value), text.encode("utf-8", "backslashreplace")))
    return tuple(found)


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
    if method is None or method.value not in CHECKS:
        found = "has no `method`" if method is None else f"cannot be `{method.value}`"
        yield diagnose("MCP128", (method or ask).span, f"a request {found}", f"one of {quoted(CHECKS)}")
    elif params is not None and params.kind != "object":
        yield diagnose("MCP128", params.span, kind_mismatch("`params`", "object", params))
    else:
        yield from CHECKS[str(method.value)](ask, params)


def _unfilled(node: Node, arguments: Collection[str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each text with an unknown argument."""
    for item in (*node.items, *(member.node for member in node.members)):
        yield from _unfilled(item, arguments)
    for name in PLACEHOLDER.findall(node.value) if isinstance(node.value, str) else ():
        if name not in arguments:
            known = ", ".join(f"`{{{argument}}}`" for argument in arguments)
            yield diagnose("MCP128", node.span, f"unknown argument `{name}`", f"one of {known}" if known else "")


def _require_param(ask: Node, params: Node | None, name: str, kind: str) -> Iterator[Diagnostic]:
    found = member_of(params, name)
    if found is None:
        yield diagnose("MCP128", ask.span, f"the request has no `{name}` in its `params`")
    elif found.kind != kind:
        yield diagnose("MCP128", found.span, kind_mismatch(f"`{name}`", kind, found))


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


CHECKS: dict[str, Callable[[Node, Node | None], Iterator[Diagnostic]]] = {
    "elicitation/create": _elicitation,
    "sampling/createMessage": _sampling,
    "roots/list": _roots,
}
"""The requests that a server may send to a client, each with its check."""
