"""What a case expects of a reply, as a table of checks: each returns the differences from what was found."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics.model import counted
from mcpc.workbench.testing.case_fields import COMPLETION_ONLY
from mcpc.workbench.testing.model import NOTHING, Absent, Mismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpc.reading import Node
    from mcpc.schema import Validator
    from mcpc.workbench.testing.model import Case, Reply, SentRequest

Json = Any


@dataclass(frozen=True, slots=True)
class Judging:
    """One reply and what decides about it.  `output`: the validator of the tool's output schema, if it has one."""

    reply: Reply
    output: Validator | None = None

    @property
    def document(self) -> Json | Absent:
        """The value that `json` points into: the structured content, else the text as JSON, else the whole result."""
        if not isinstance(self.reply.structured, Absent):
            return self.reply.structured
        try:
            return json.loads(self.reply.text)
        except (ValueError, RecursionError):
            return dict(self.reply.result) or NOTHING


def differences(case: Case, judging: Judging) -> tuple[Mismatch, ...]:
    """Return how a reply differs from what a case expects."""
    stated = {member.key: member.node for member in case.expect.members} if case.expect is not None else {}
    mismatches = [*_error(judging, stated.get("error"))]
    if not mismatches:
        mismatches += [mismatch for key, node in stated.items() for mismatch in CHECKS[key](judging, node)]
        schema = stated.get("schema")
        mismatches += _schema(judging) if schema is None or schema.value else ()
    reply = judging.reply
    mismatches += [Mismatch("answers", "an answer for each question", question) for question in reply.questions]
    mismatches += [Mismatch("given.response", "a response to each request", line) for line in reply.unanswered]
    mismatches += [Mismatch("given.response", f"a request for the response {each}", NOTHING) for each in reply.unused]
    return tuple(mismatches)


def _error(judging: Judging, node: Node | None) -> Iterator[Mismatch]:
    """Compare whether there is an error; a number is the code of a JSON-RPC error."""
    reply, wanted = judging.reply, False if node is None else node.value
    is_number = isinstance(wanted, int) and not isinstance(wanted, bool)
    if (reply.code == wanted) if is_number else (reply.is_error == wanted):
        return
    answer = f"error {reply.code}: {reply.text}" if reply.code is not None else reply.text
    update: Json = (reply.code if is_number else None) or reply.is_error
    names = {True: "an error", False: "no error"}
    expected = f"error {wanted}" if is_number else names[bool(wanted)]
    yield Mismatch("error", expected, answer if reply.is_error else f"no error: {answer}", node, update)


def _text(judging: Judging, node: Node) -> Iterator[Mismatch]:
    if judging.reply.text != node.value:
        yield Mismatch("text", node.value, judging.reply.text, node, judging.reply.text)


def _contains(judging: Judging, node: Node) -> Iterator[Mismatch]:
    for each in node.items or (node,):
        if str(each.value) not in judging.reply.text:
            yield Mismatch("contains", each.value, judging.reply.text, each)


def _matches(judging: Judging, node: Node) -> Iterator[Mismatch]:
    for each in node.items or (node,):
        if not re.search(str(each.value), judging.reply.text):
            yield Mismatch("matches", each.value, judging.reply.text, each)


def _json(judging: Judging, node: Node) -> Iterator[Mismatch]:
    for member in node.members:
        actual = at_pointer(judging.document, member.key)
        if not same(actual, member.node.value):
            yield Mismatch(f"json {member.key or '(all)'}", member.node.value, actual, member.node, actual)


def _structured(judging: Judging, node: Node) -> Iterator[Mismatch]:
    actual = judging.reply.structured
    if not same(actual, node.value):
        yield Mismatch("structured", node.value, actual, node, actual)


def _schema(judging: Judging) -> Iterator[Mismatch]:
    """Compare the structured content of a success with the output schema; a case need not state it."""
    if judging.output is None or judging.reply.is_error:
        return
    actual = judging.reply.structured
    if isinstance(actual, Absent):
        yield Mismatch("schema", "structured content that fits the output schema", actual)
        return
    # One mistake may lead to many errors.
    for pointer, keyword, wanted in judging.output.errors(actual)[:3]:
        yield Mismatch(f"schema {pointer or '(all)'}", f"{keyword}: {compact(wanted)}", at_pointer(actual, pointer))


def _problems(judging: Judging, node: Node) -> Iterator[Mismatch]:
    """Compare the pointers to refused arguments."""
    actual = sorted({str(each.get("path", "")) for each in judging.reply.problems or ()})
    if actual != sorted({str(each.value) for each in node.items}):
        yield Mismatch("problems", node.value, actual, node, actual)


def _request(judging: Judging, node: Node) -> Iterator[Mismatch]:
    """Compare the requests that the tool has sent, in their order: all of them, and of each what is stated."""
    wanted, sent = node.items if node.kind == "array" else (node,), judging.reply.requests
    if len(wanted) != len(sent):
        yield Mismatch("request", counted(len(wanted), "request"), [each.line for each in sent], node)
        return
    for number, (request, each) in enumerate(zip(sent, wanted, strict=True), 1):
        what = "request" if len(wanted) == 1 else f"request {number}"
        for name, actual, stated in members_of_request(request, each):
            if not same(actual, stated.value):
                yield Mismatch(f"{what} {name}", stated.value, actual, stated, actual)


def members_of_request(request: SentRequest, node: Node) -> Iterator[tuple[str, Json, Node]]:
    """Yield what a case states of a request: its name, what was sent, and the expectation."""
    for member in node.members:
        if member.key == "headers":
            for header in member.node.members:
                yield f"header {header.key}", request.headers.get(header.key.lower()), header.node
        elif member.key == "body":
            yield "body", sent_body(request, is_text=member.node.kind == "string"), member.node
        else:
            yield member.key, getattr(request, member.key), member.node


def sent_body(request: SentRequest, *, is_text: bool) -> Json:
    """Return the body of a request as text, or as the value of its JSON if it is JSON."""
    text = request.body.decode("utf-8", "replace")
    try:
        return text if is_text else json.loads(text)
    except (ValueError, RecursionError):
        return text


def _completion_member(name: str) -> Callable[[Judging, Node], Iterator[Mismatch]]:
    def check(judging: Judging, node: Node) -> Iterator[Mismatch]:
        completion = judging.reply.structured
        actual = completion.get(name, NOTHING) if isinstance(completion, dict) else NOTHING
        if not same(actual, node.value):
            yield Mismatch(name, node.value, actual, node, actual)

    return check


def _within(judging: Judging, node: Node) -> Iterator[Mismatch]:
    spent = judging.reply.milliseconds
    if isinstance(node.value, int | float) and spent > node.value:
        yield Mismatch("within_ms", f"at most {node.value:g} ms", f"{spent:.0f} ms", node)


def _nothing(_judging: Judging, _node: Node) -> Iterator[Mismatch]:
    yield from ()


CHECKS: Mapping[str, Callable[[Judging, Node], Iterator[Mismatch]]] = {
    "error": _nothing,  # is compared first: if it differs, nothing else is compared
    "text": _text,
    "contains": _contains,
    "matches": _matches,
    "json": _json,
    "structured": _structured,
    "schema": _nothing,
    "problems": _problems,
    "request": _request,
    **{name: _completion_member(name) for name in COMPLETION_ONLY},
    "within_ms": _within,
}
"""The check of each field of `expect`."""


def at_pointer(value: Json | Absent, pointer: str) -> Json | Absent:
    """Return the value at a JSON Pointer (RFC 6901); NOTHING if there is none."""
    for part in pointer.split("/")[1:]:
        # In this order, so that `~01` becomes `~1` (RFC 6901, section 4).
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(key, NOTHING)
        elif isinstance(value, list) and key.isascii() and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return NOTHING
    return value


def same(actual: Json | Absent, expected: Json) -> bool:
    """Tell whether two JSON values are equal: 1 and 1.0 are, true and 1 are not."""
    if isinstance(actual, Absent) or isinstance(actual, bool) != isinstance(expected, bool):
        return False
    if isinstance(actual, dict) and isinstance(expected, dict):
        return actual.keys() == expected.keys() and all(same(actual[key], expected[key]) for key in expected)
    if isinstance(actual, list) and isinstance(expected, list):
        return len(actual) == len(expected) and all(map(same, actual, expected))
    return bool(actual == expected)


def compact(value: Json | Absent) -> str:
    """Return a value as JSON on one line."""
    return "nothing" if isinstance(value, Absent) else json.dumps(value, ensure_ascii=False)
