"""A value of `--build-env` is found wherever, and however, it is written in what a program offers."""

import base64
import json
from types import MappingProxyType
from urllib.parse import quote_plus

import pytest

from mcpc.frontends.fastmcp.baked_values import baked_values
from mcpc.frontends.fastmcp.program import Offered, ProgramDescription

SECRET = 'p"ss w\u00f6rd/+1'
PLAIN = "abcdef"
WRITTEN = {
    "as it is": SECRET,
    "within a text": f"use {SECRET} here",
    "JSON": json.dumps({"a": SECRET}),
    "JSON with all letters": json.dumps({"a": SECRET}, ensure_ascii=False),
    "Python": repr([SECRET]),
    "an address": f"https://example.org/?key={quote_plus(SECRET)}",
    "hexadecimal": SECRET.encode().hex(),
    **{
        f"base64 after {before} bytes": base64.b64encode(b"-" * before + SECRET.encode() + b"--").decode()
        for before in range(4)
    },
    "base64 for addresses": base64.urlsafe_b64encode(SECRET.encode()).decode(),
}


def described(text: str) -> ProgramDescription:
    tool = Offered({"name": "find", "inputSchema": {"properties": {"key": {"default": text}}}}, "server.py", 3)
    return ProgramDescription({"name": "s"}, MappingProxyType({"tools": (Offered({"name": "other"}), tool)}))


def found(description: object, **environment: str) -> list[tuple[str, str]]:
    rows = [*baked_values(description, environment, "server.py")]
    assert {(row.code, row.span.path if row.span else "") for row in rows} <= {("MCP714", "server.py")}
    return [(row.message.split("`")[1], row.message.rpartition(" in ")[2]) for row in rows]


@pytest.mark.parametrize("how", WRITTEN)
def test_a_value_is_found_however_it_is_written(how: str) -> None:
    place = "lists.tools.find.inputSchema.properties.key.default"
    assert found(described(WRITTEN[how]), KEY=SECRET, OTHER="another value") == [("KEY", place)]


@pytest.mark.parametrize(
    ("description", "place"),
    [
        (ProgramDescription({"instructions": PLAIN}, {}), "server.instructions"),
        (ProgramDescription({}, {"tools": (Offered({PLAIN: 1}),)}), f"lists.tools.0.{PLAIN}"),
        (ProgramDescription({}, {"tools": (Offered({"name": PLAIN}),)}), f"lists.tools.{PLAIN}"),
        (ProgramDescription({}, {}, routes=("/", f"/{PLAIN}")), "routes.1"),
        (ProgramDescription({}, {"resources": (Offered({"uri": f"x://{PLAIN}"}),)}), "lists.resources.0.uri"),
        (ProgramDescription({}, {"tools": (Offered({"data": PLAIN.encode()}),)}), "lists.tools.0.data"),
    ],
)
def test_a_value_is_found_wherever_it_is(description: object, place: str) -> None:
    assert found(description, B=PLAIN, A=PLAIN) == [("A", place), ("B", place)]


def test_a_value_with_another_end_is_not_found() -> None:
    for before in range(3):
        written = base64.b64encode(b"-" * before + b"abcdefghijkX").decode()
        assert found(described(written), KEY="abcdefghijkl") == []


def test_a_short_value_may_stand_anywhere() -> None:
    assert found(described("abcde"), KEY="abcde") == []
    assert found(described("abcdef"), KEY="abcdef") != []
    assert found(None, KEY=PLAIN) == []
