"""The fields of a file of cases, and of what is in it, as tables: the types of each, and what else it has to be."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics.model import quoted
from mcpc.workbench.testing.model import BOTH, ERAS, TRANSPORTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpc.reading import Json

TESTS = "tests"
KINDS = ("tool", "prompt", "resource", "complete")
"""The fields that say what a case calls."""
# `\Z`, because `$` also matches in front of a last line end.
POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*\Z")
REQUEST_LINE = re.compile(r"[A-Z]+ /[!-~]*\Z")
HEADER = re.compile(r"[A-Za-z0-9-]+\Z")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class CaseField:
    """A field of an object: the types that its value may have, and a check that returns what is wrong beside them."""

    kinds: tuple[str, ...]
    expected: str
    check: Callable[[Json], str] = lambda _: ""


def _choice(*names: str) -> CaseField:
    expected = quoted(names, " or ")
    return CaseField(("string",), expected, lambda value: "" if value in names else f"found `{value}`")


def _texts_of(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _text_problem(value: Json) -> str:
    return "" if all(isinstance(each, str) for each in _texts_of(value)) else "an item is not a text"


def _pattern_problem(value: Json) -> str:
    try:
        for each in _texts_of(value):
            re.compile(each if isinstance(each, str) else str(each))
    except re.error as problem:
        return f"not a regular expression: {problem}"
    return _text_problem(value)


def _pointer_problem(value: Json) -> str:
    """Return the first key or item that is not a JSON Pointer."""
    wrong = [each for each in value or () if not (isinstance(each, str) and POINTER.match(each))]  # type: ignore[union-attr]
    return f"{json.dumps(wrong[0])} is not a JSON Pointer; one begins with `/`" if wrong else ""


def _variables_problem(value: Json) -> str:
    for name, each in value.items() if isinstance(value, dict) else ():
        if not VARIABLE.match(name):
            return f"`{name}` is not the name of a variable"
        if isinstance(each, dict | list) or each is None:
            return f"the value of `{name}` is not a text, a number or a boolean"
    return ""


def _headers_problem(value: Json) -> str:
    for name, each in value.items() if isinstance(value, dict) else ():
        if not HEADER.match(name):
            return f"`{name}` is not the name of a header"
        if not isinstance(each, str) or not each.isascii() or not each.isprintable():
            return f"the value of `{name}` is not a text of printable ASCII characters"
    return ""


def _expected_headers_problem(value: Json) -> str:
    """Return what is wrong with headers of which null means that it is not sent."""
    return _headers_problem(
        {name: each for name, each in value.items() if each is not None} if isinstance(value, dict) else {}
    )


def _status_problem(value: Json) -> str:
    is_status = isinstance(value, int) and LEAST_STATUS <= value <= GREATEST_STATUS
    return "" if is_status else f"it is not an integer from {LEAST_STATUS} to {GREATEST_STATUS}"


def _base64_problem(value: Json) -> str:
    try:
        base64.b64decode(str(value), validate=True)
    except ValueError:
        return "it is not base64"
    return ""


def _answers_problem(value: Json) -> str:
    return "" if all(isinstance(each, dict) for each in _texts_of(value)) else "an item is not an object"


def _error_problem(value: Json) -> str:
    return "" if isinstance(value, bool | int) else "the number of a JSON-RPC error is an integer"


def _count_problem(value: Json) -> str:
    return "" if isinstance(value, int) and value >= 0 else "it is not an integer from 0"


def _positive(value: Json) -> str:
    return "" if isinstance(value, int | float) and value > 0 else "it is not above 0"


# Final responses only: after one of 1xx another has to follow (RFC 9110, section 15.2).
LEAST_STATUS, GREATEST_STATUS = 200, 599
VARIABLES = CaseField(("object",), "an object of texts", _variables_problem)
SHARED_FIELDS = {
    "era": _choice(*ERAS, BOTH),
    "transport": _choice(*TRANSPORTS, BOTH),
    "env": VARIABLES,
    "settings": VARIABLES,
    "headers": CaseField(("object",), "an object of texts", _headers_problem),
    "serial": CaseField(("boolean",), "true or false"),
}
"""Fields of a file, and of a case, which counts more."""
FILE_FIELDS = {TESTS: CaseField(("array",), "a list of cases"), **SHARED_FIELDS}
CASE_FIELDS = {
    "name": CaseField(("string",), "a text", lambda value: "" if str(value).strip() else "it is empty"),
    "tool": CaseField(("string",), "a name"),
    "prompt": CaseField(("string",), "a name"),
    "resource": CaseField(("string",), "a URI"),
    "complete": CaseField(("object",), "an object such as `{prompt: NAME, argument: NAME, value: TEXT}`"),
    "arguments": CaseField(("object",), "an object"),
    "answers": CaseField(("array",), "a list of results, such as `{action: accept, content: {}}`", _answers_problem),
    "given": CaseField(("object",), "an object such as `{response: {status: 200, body: …}}`"),
    "expect": CaseField(("object",), "an object"),
    **SHARED_FIELDS,
}
REFERENCES = ("prompt", "resource")
"""What has an argument that is completed: a prompt by its name, or a resource by its template."""
COMPLETE_FIELDS = {
    "prompt": CaseField(("string",), "a name"),
    "resource": CaseField(("string",), "a URI template"),
    "argument": CaseField(("string",), "the name of an argument or a variable"),
    "value": CaseField(("string",), "a text"),
}
COMPLETION_ONLY = ("values", "total", "hasMore")
"""Fields of `expect` that only a case with `complete` may have."""
EXPECT_FIELDS = {
    "error": CaseField(("boolean", "number"), "true, false, or the number of a JSON-RPC error", _error_problem),
    "text": CaseField(("string",), "a text"),
    "contains": CaseField(("string", "array"), "a text, or a list of texts", _text_problem),
    "matches": CaseField(("string", "array"), "a regular expression, or a list of them", _pattern_problem),
    "json": CaseField(("object",), "an object of values by JSON Pointer", _pointer_problem),
    "structured": CaseField(("object", "array", "string", "number", "boolean", "null"), "a value"),
    "schema": CaseField(("boolean",), "true or false"),
    "problems": CaseField(("array",), "a list of JSON Pointers", _pointer_problem),
    "request": CaseField(("object", "array"), "a request, or a list of them", _answers_problem),
    "values": CaseField(("array",), "a list of texts", _text_problem),
    "total": CaseField(("number",), "a number of values", _count_problem),
    "hasMore": CaseField(("boolean",), "true or false"),
    "within_ms": CaseField(("number",), "a number of milliseconds", _positive),
}


ANY = ("object", "array", "string", "number", "boolean", "null")
GIVEN_FIELDS = {"response": CaseField(("object", "array"), "a response, or a list of them", _answers_problem)}
RESPONSE_FIELDS = {
    "to": CaseField(
        ("string",),
        "a method and a target, such as `GET /pets?limit=5`",
        lambda value: "" if REQUEST_LINE.match(str(value)) else f"found `{value}`",
    ),
    "status": CaseField(("number",), "a status", _status_problem),
    "headers": CaseField(("object",), "an object of texts", _headers_problem),
    "body": CaseField(ANY, "a text, or a value for JSON"),
    "base64": CaseField(("string",), "bytes as base64", _base64_problem),
}
REQUEST_FIELDS = {
    "method": CaseField(("string",), "a method"),
    "target": CaseField(("string",), "a path with its query"),
    "headers": CaseField(
        ("object",), "an object of texts, null for a header that is not sent", _expected_headers_problem
    ),
    "body": CaseField(ANY, "a text, or the value of JSON"),
}
