"""Resources: every uri has the answer of its revision, and what handlers return becomes contents."""

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpc_runtime.handlers.bash import contract as mcbox
from mcpc_runtime.handlers.executable import contract as executable
from mcpc_runtime.handlers.invocations import ProcessResult
from mcpc_runtime.handlers.python import contract as python
from mcpc_runtime.handlers.python.contract import FunctionResult
from mcpc_runtime.protocol import uri_matching
from mcpc_runtime.protocol.effects import Call, StartHandler
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.requests import Request
from mcpc_runtime.protocol.session import Session
from support.images import MODERN, archive, ask, image_of, request
from support.messages import STATELESS

LONG = "test://" + "x" * 400
FILES = {
    "server.json": json.dumps({"serverInfo": {"name": "shelf", "version": "1"}}),
    "resources.json": json.dumps(
        {
            "resources": [
                {"uri": "test://text", "name": "text", "description": "d", "text": "hé\n", "mimeType": "text/plain"},
                {"uri": "test://blob", "name": "blob", "description": "d", "blob": "AAH/", "mimeType": "image/png"},
                {"uri": LONG, "name": "long", "description": "d", "text": "long"},
                {"uri": "test://fixed", "name": "fixed", "description": "d", "root": {"folder": "/r", "path": "a.md"}},
                {"uri": "test://live", "name": "live", "description": "d"},
                {"uri": "test://typed", "name": "typed", "description": "d", "mimeType": "text/csv"},
            ],
            "resourceTemplates": [
                {"uriTemplate": "users://{id}/profile{?lang,page}", "name": "profile", "description": "d"},
                {"uriTemplate": "wiki://{+page}", "name": "wiki", "description": "d"},
                {"uriTemplate": "parts://all{/path*}", "name": "parts", "description": "d"},
                {"uriTemplate": "file:///docs/{+path}", "name": "docs", "description": "d", "root": "/r"},
                {"uriTemplate": "one://{name}", "name": "one", "description": "d", "root": "/r"},
                {"uriTemplate": "deep://x{/path*}", "name": "deep", "description": "d", "root": "/r"},
            ],
        }
    ),
    "resources.py": "".join(
        f"def resource_{name}(**given): return given\n" for name in ("live", "typed", "profile", "wiki", "parts")
    ),
}


@cache
def image() -> Image:
    return image_of(archive(FILES).data)


def read(uri: object, revision: str = "2025-11-25", **more: object) -> Any:
    session = Session(image())
    if revision == STATELESS:
        return ask(session, request("resources/read", {"uri": uri, "_meta": MODERN, **more}))
    session.wire = image().revision(revision)
    return ask(session, request("resources/read", {"uri": uri, **more}))


REFUSED = [
    # what no server may act on, whatever it has: R01, R02, R03, and what is no uri
    "file:///docs/../../etc/passwd", "file:///docs/..%2f..%2fetc/passwd", "file:///docs/%2e%2e/etc/passwd",
    "file:///docs/%2E%2E%2Fetc", "file:///docs/..%252fetc", "file:///docs/%252e%252e/etc", "file:///docs/..\\etc",
    "file:///docs/..%5cetc", "file:///docs/%c0%ae%c0%ae/etc", "file:///docs/%e0%80%ae%e0%80%ae/etc", "file:///docs/..",
    "file:///docs/a/..", "file:///docs/a/..?x", "file:///docs/a/..;/b", "file:///docs/a%00.txt", "file:///docs/a%2500.txt",
    "file:///docs/a\0.txt", "file:///docs//etc/passwd", "file:///docs//host/share", "file:///docs/file:///etc/passwd",
    "file:///docs/https://example.org/", "file:///docs/%2fetc/passwd", "file:///docs/a%2fb", "file:///docs/a%252fb",
    "file:///docs/a%5cb", "file:///docs/C:%5cx", "file:///docs/./a", "file:///docs/a/./b", "file:///docs/a//b",
    "file:///docs/a/", "one://..", "one://.", "one://%2e", "one://%2e%2e", "one://..%2fa", "one://a%2fb", "one://%2fetc",
    "one://a%00", "deep://x/..", "deep://x//etc", "deep://x/a%2fb", "deep://x/", "users://../profile",
    "users://a%2f..%2fb/profile", "users://%00/profile", "users://a%ff/profile", "users://%C3/profile", "wiki://a/../b",
    "wiki://a?x=..&y", "test://%00", "", "x", "test", "test:", "://x", "1test://x", "te st://x", "test://a b", "test://a\nb",
    "test://\x7f", "test://é", "test://{x}", "test://a|b", "test://a%", "test://a%zz", "test://a\\b", "test://\ud800",
    "test://" + "x" * 5000, "test:" + "%61" * 2000, None, 5, True, [], {}, ["test://text"],
]  # fmt: skip


@pytest.mark.parametrize("uri", REFUSED, ids=lambda uri: repr(uri)[:60])
@pytest.mark.parametrize("revision", ["2025-11-25", STATELESS])
def test_what_could_never_be_served_is_an_invalid_parameter(revision: str, uri: object) -> None:
    error = read(uri, revision)["error"]
    assert error["code"] == -32602
    assert error.get("data") == ({"uri": uri} if type(uri) is str and len(uri) <= 4096 else None)


@given(st.text())
def test_no_text_breaks_the_reading(text: str) -> None:
    for uri in (text, f"test://{text}", f"users://{text}/profile", f"file:///docs/{text}", f"deep://x/{text}"):
        reply = read(uri)
        if isinstance(reply, StartHandler) and reply.call.definition.contract == "file":
            path = reply.call.arguments["path"]
            assert "\0" not in path and all(part not in ("", ".", "..") for part in path.split("/"))


@given(st.text(st.characters(codec="utf-8")))
def test_decoding_is_the_inverse_of_encoding(text: str) -> None:
    assert uri_matching.decode_escapes("".join(f"%{byte:02x}" for byte in text.encode())) == text


def start(uri: str, method: str = "resources/read", revision: str = "2025-11-25") -> Call:
    wire = image().revision(revision)
    asked = Request(Session(image()), 1, method, {"uri": uri, "_meta": MODERN}, wire)
    found = image().resource(uri)
    assert found is not None
    return Call(asked, found, {})


def completed(printed: bytes = b"", errors: bytes = b"", status: int = 0, dropped: int = 0) -> ProcessResult:
    result = ProcessResult()
    result.printed, result.errors, result.output = printed, errors, printed + errors
    result.status, result.dropped = status, dropped
    return result


def test_tools_that_a_resource_calls_are_tools() -> None:
    """A call within another's request is concluded as what it is."""
    inner = start("test://live")
    inner = Call(inner.request, inner.definition, {}, ("outer",))
    outcome = python.parse_result(inner, FunctionResult("text"))
    assert outcome.content == [{"type": "text", "text": "text"}]  # type: ignore[union-attr]
    for contract in (executable, mcbox):
        assert contract.parse_result(inner, completed(b"text")).content == [{"type": "text", "text": "text"}]
    prompted = start("test://live", "prompts/get")
    prompted = Call(prompted.request, prompted.definition, {}, ("outer",))
    assert python.parse_result(prompted, FunctionResult(problem="x")).is_error  # type: ignore[union-attr]


def test_bytes_of_a_tool_are_a_text() -> None:
    call = start("test://live", "tools/call")
    outcome = python.parse_result(call, FunctionResult({"mcpc/blob": "AAH/"}))
    assert not outcome.is_error  # type: ignore[union-attr]
    assert outcome.content == [{"type": "text", "text": "AAH/"}]  # type: ignore[union-attr]


MANY = 3_000


@pytest.fixture(scope="module")
def many() -> Image:
    def one(number: int) -> dict:
        return {"uri": f"test://{number}", "name": f"n{number}", "description": "d", "text": str(number)}

    files = {"server.json": FILES["server.json"], "resources.json": json.dumps({"resources": [*map(one, range(MANY))]})}
    return image_of(archive(files, resources_page_size=1000).data)


def test_a_cursor_that_was_not_given_out_here_is_refused(many: Image) -> None:
    """R08: forged, foreign, out of bounds, of another build."""
    given = ask(Session(many), request("resources/list"))["result"]["nextCursor"]
    number, _, mark = given.partition(".")
    forged = ["", "x", "1", number, f"{number}.", f".{mark}", f"0.{mark}", f"-1.{mark}", f"100.{mark}", f"1e1.{mark}",
              f"1.{mark[:-1]}x", f"{given} ", f"٣.{mark}", "99999999999." + mark, 1, [], {}]  # fmt: skip
    for cursor in forged:
        reply = ask(Session(many), request("resources/list", {"cursor": cursor}))
        assert reply["error"]["code"] == -32602, cursor
