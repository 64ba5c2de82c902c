"""Tests of expectations: which differences a reply has from what a case expects."""

import json

import pytest

from mcpc.reading import Source
from mcpc.schema import compile
from mcpc.workbench.testing.case_files import read_cases
from mcpc.workbench.testing.client import header_value
from mcpc.workbench.testing.expectations import Judging, at_pointer, compact, differences, same
from mcpc.workbench.testing.model import NOTHING, Mismatch, Reply
from mcpc.workbench.testing.reports import mismatch_lines
from support.needs import ROOT

OUTPUT = compile({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
STRUCTURED = {"n": 3, "list": [{"a/b": None}]}
SUCCESS = Reply(is_error=False, text="one\ntwo", structured=STRUCTURED, milliseconds=5)
REFUSED = Reply(is_error=True, text="no", problems=({"path": "/b"}, {"path": "/a"}))
UNKNOWN = Reply(is_error=True, text="Unknown tool", code=-32602)
TEXT_ONLY = Reply(is_error=False, text='{"n": 1}')

ROWS = (
    (SUCCESS, None),
    (SUCCESS, {"error": False, "text": "one\ntwo", "contains": ["one", "two"], "matches": "^t?one$|^two"}),
    (SUCCESS, {"matches": "(?m)^two$"}),
    (SUCCESS, {"text": "one", "contains": ["one", "six"]}),
    (SUCCESS, {"error": True}),
    (SUCCESS, {"error": -32602, "text": "x"}),
    (SUCCESS, {"json": {"": STRUCTURED, "/n": 3.0, "/list/0/a~1b": None}}),
    (SUCCESS, {"json": {"/n": True, "/list/1": None, "/x": None}}),
    (SUCCESS, {"structured": STRUCTURED, "within_ms": 6}),
    (SUCCESS, {"structured": {"n": 3}, "within_ms": 4}),
    (TEXT_ONLY, {"json": {"/n": 1}, "schema": False}),
    (TEXT_ONLY, {}),
    (Reply(is_error=False, structured={"n": "x"}), {"schema": True}),
    (REFUSED, {"error": True, "problems": ["/a", "/b"]}),
    (REFUSED, {"error": True, "problems": ["/a"]}),
    (REFUSED, None),
    (UNKNOWN, {"error": -32602, "contains": "Unknown"}),
    (UNKNOWN, {"error": True}),
    (UNKNOWN, {"error": -32603}),
    (Reply(is_error=False, structured={"n": 1}, questions=("elicitation/create: Who?",)), None),
)


MORE = (
    (Reply(is_error=True, code=-32601, text="none"), {"error": -32602}),
    (Reply(is_error=True, text="no"), {"error": -32602}),
    (Reply(is_error=False, text="ok"), {"error": True}),
    (Reply(is_error=True, code=0, text="no"), {"error": False}),
    (Reply(is_error=False, text="[", result={"a": [1]}), {"json": {"/a/0": 2, "": {"a": [1]}}, "schema": False}),
    (Reply(is_error=False, text="["), {"json": {"/a": 2}, "schema": False}),
    (Reply(is_error=False, structured={"n": 1}, milliseconds=5.4), {"within_ms": 5.4}),
    (Reply(is_error=False, structured={"n": 1}, milliseconds=5.6), {"within_ms": 5.5}),
    (Reply(is_error=False, structured=[{}, 1, 2, 3]), {"structured": [{}, 1, 2, 3.0]}),
)


def test_differences_are_exactly_these(golden):
    told = ""
    for reply, expect in [*ROWS, *MORE]:
        case = {"name": "a", "tool": "t", **({} if expect is None else {"expect": expect})}
        (read,), _ = read_cases({"a.json": Source("a.json", json.dumps({"tests": [case]}).encode())})
        told += f"=== {json.dumps(expect)} of {reply.text!r} {compact(reply.structured)} {reply.code}\n"
        for each in differences(read, Judging(reply, OUTPUT)):
            place = each.node and (each.node.start, each.node.end)
            told += (
                f"{each.what}: {compact(each.expected)} | {compact(each.found)} | {place} | {compact(each.update)}\n"
            )
    golden(ROOT / "tests/golden/testing/differences.txt", told)


COMPLETION = {"values": ["a", "b"], "total": 2}


@pytest.mark.parametrize(
    ("structured", "expect", "found"),
    [
        (COMPLETION, {"values": ["a", "b"], "total": 2}, []),
        (COMPLETION, {"values": ["b", "a"], "total": 1, "hasMore": False}, ["values", "total", "hasMore"]),
        (NOTHING, {"total": 0}, ["total"]),
        ({"total": False}, {"total": 0}, ["total"]),
    ],
)
def test_members_of_a_completion_are_compared(structured, expect, found):
    case = {"name": "a", "complete": {"prompt": "p", "argument": "a"}, "expect": expect}
    (read,), problems = read_cases({"a.json": Source("a.json", json.dumps({"tests": [case]}).encode())})
    assert not problems
    reply = Reply(is_error=False, structured=structured)
    assert [mismatch.what for mismatch in differences(read, Judging(reply))] == found


def test_pointers():
    value = {"a": [1, {"": 2, "~": 3}]}
    assert [at_pointer(value, each) for each in ("", "/a/0", "/a/1/", "/a/1/~0")] == [value, 1, 2, 3]
    assert {at_pointer(value, each) for each in ("/a/2", "/a/-", "/a/00x", "/b/c")} == {NOTHING}


def test_equality_is_that_of_json():
    assert same({"a": 1, "b": [1.0]}, {"b": [1], "a": 1.0})
    assert not any(
        (same(1, True), same(None, NOTHING), same([], {}), same([1], [1, 2]), same({"a": 1}, {"a": 1, "b": 2}))
    )


def test_header_values():
    assert [header_value(each) for each in ("plain", True, 3)] == ["plain", "true", "3"]
    assert all(header_value(each).startswith("=?base64?") for each in ("ü", " a", "a\nb", "=?x"))


@pytest.mark.parametrize(("length", "caret"), [(10, 11), (67, 68), (68, None)])
def test_a_caret_is_below_the_first_difference_where_there_is_room(length, caret):
    lines = mismatch_lines(Mismatch("text", "x" * length + "a", "x" * length + "b"))
    assert lines[2:] == ([] if caret is None else [" " * (caret + 9) + "^"])
