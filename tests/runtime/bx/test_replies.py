"""Whole replies of bx-mcp's endpoint, status, headers and body, as a golden file; and its conversions."""

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.http.app import Application
from mcpc_runtime.http.settings import HttpSettings
from mcpc_runtime.protocol.effects import Failure
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.tool_choice import ToolSelection
from mcpc_runtime.systems.bx import auth, endpoint, methods, variables
from mcpc_runtime.systems.bx.methods import MAX_CACHED_LISTS, ServerView
from support.asgi import Client
from support.images import archive, image_of
from support.needs import ROOT

PATH = "/~bxmcp/boxlang.bxm"
TOOLS = """
from mcpc import mcp_prompt, mcp_resource, mcp_tool
@mcp_tool("A")
def a_get(text: str): return text
@mcp_tool("B")
def b_get(): return 1
@mcp_tool("C")
def c_set(): return 1
@mcp_prompt
def ask(topic: str): return topic
"""
SETTINGS = {"modules": {"bxmcp": {"settings": {"corsAllowedOrigins": ["https://app.example.com"]}}}}
JSON, EVENTS = ("accept", "application/json"), ("accept", "text/Event-stream")


def build(page: int = 0) -> Image:
    return image_of(archive({"tools.py": TOOLS, "boxlang.json": json.dumps(SETTINGS)}, tools_page_size=page).data)


def request(method: str, params: Any = None, identifier: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "method": method, **({} if params is None else {"params": params})}


VERSION = re.compile(r',"version":"[^"]*"')
Case = tuple[str, Any, tuple[tuple[str, str], ...]]
CASES: list[Case] = [
    ("GET", None, ()),
    ("GET", "id=a-b&x=1", ()),
    ("GET", "x=1&id=%41", ()),
    ("OPTIONS", None, ()),
    ("OPTIONS", None, (("origin", "http://localhost:1"),)),
    ("OPTIONS", None, (("origin", "https://other.example"),)),
    ("OPTIONS", None, (("origin", "https://app.example.com"),)),
    ("GET", None, (("origin", "https://app.example.com"),)),
    ("DELETE", None, ()),
    ("POST", request("initialize"), (JSON,)),
    ("POST", request("ping"), (EVENTS,)),
    ("POST", request("ping", identifier="x"), (JSON, ("x-request-id", "id-1"))),
    ("POST", request("ping", identifier=""), (JSON, ("x-request-id", "id 1"))),
    ("POST", request("ping", identifier=None), (JSON, ("x-request-id", "x" * 129))),
    ("POST", request("ping", identifier=1.5), (JSON, ("origin", "http://127.0.0.1"))),
    ("POST", {"method": "ping"}, (JSON, ("origin", "https://other.example"))),
    ("POST", {"method": "ping", "id": True}, (JSON,)),
    ("POST", [], (EVENTS,)),
    ("POST", b"no", (JSON,)),
    ("POST", request(""), (JSON,)),
    ("POST", request("tools/lists"), (JSON,)),
    ("POST", request("tools/list", []), (JSON,)),
    ("POST", request("tools/list"), (JSON,)),
    ("POST", request("prompts/list"), (JSON,)),
    ("POST", request("resources/list"), (JSON,)),
    ("POST", request("tools/call", {}), (JSON,)),
    ("POST", request("tools/call", {"name": ""}), (JSON,)),
    ("POST", request("tools/call", {"name": "none"}), (JSON,)),
    ("POST", request("tools/call", {"name": "a_get", "arguments": []}), (JSON,)),
    ("POST", request("tools/call", {"name": "a_get", "args": {"text": 5}}), (JSON,)),
    ("POST", request("tools/call", {"name": "a_get", "arguments": None, "args": {"text": "t", "x": 1}}), (JSON,)),
    ("POST", request("prompts/get", {"name": "none"}), (JSON,)),
    ("POST", request("prompts/get", {"name": "ask", "args": 5}), (JSON,)),
    ("POST", request("prompts/get", {"name": "ask", "args": {}}), (JSON,)),
    ("POST", request("resources/read", {"uri": "test://none"}), (JSON,)),
    ("POST", request("resources/read"), (JSON,)),
]


async def answer_of(client: Client, case: Case) -> str:
    method, body, headers = case
    if method == "POST":
        answer = await client.post(body, *headers, path=PATH)
    else:
        answer = await client.send(method, *headers, path=f"{PATH}?{body or ''}")
    text = await answer.body()
    kept = {name: value for name, value in answer.headers.items() if name not in ("x-request-id", "content-length")}
    given = answer.headers["x-request-id"]
    kept["x-request-id"] = given if ("x-request-id", given) in headers else f"{len(given)} characters"
    return f"{json.dumps(case, default=repr)}\n    {answer.status} {json.dumps(kept)}\n    {VERSION.sub('', text.decode())!r}\n"


def test_replies(golden: Callable[[Path, str], None]) -> None:
    async def whole() -> str:
        application = Application(build(), HttpSettings(grace_seconds=2.0))
        application.begin()
        try:
            async with asyncio.timeout(60):
                return "".join([await answer_of(Client(application), case) for case in CASES])
        finally:
            await application.shutdown()

    golden(ROOT / "tests/golden/bx_replies.txt", asyncio.run(whole()))


def test_a_list_is_read_once_for_each_selection() -> None:
    view = ServerView(build(page=1))
    reads: list[Any] = []
    wire = view.wire

    def page(*words: Any) -> Any:
        reads.append(words)
        return wire.page(*words)

    view.wire = SimpleNamespace(lists=wire.lists, page=page, initialize=wire.initialize)  # type: ignore[assignment]
    assert [tool["name"] for tool in view.listed("tools", None)] == ["a_get", "b_get", "c_set"]
    assert (len(reads), [cursor is None for _, cursor in reads]) == (3, [True, False, False])
    getters = ToolSelection((("*_get",), ()))
    for _ in range(2):
        assert [tool["name"] for tool in view.listed("tools", getters)] == ["a_get", "b_get"]
        assert [prompt["name"] for prompt in view.listed("prompts", getters)] == ["ask"]
        assert view.listed("resources", None) == []
    before = len(reads)
    for number in range(MAX_CACHED_LISTS - 4):
        view.listed("tools", ToolSelection(((f"{number}",), ())))
    added = len(reads) - before
    for kind, allows in (("tools", None), ("tools", getters), ("prompts", None)):
        view.listed(kind, allows)
    assert len(reads) - before == added
    view.listed("tools", ToolSelection((("last",), ())))
    view.listed("tools", ToolSelection((("last one",), ())))
    after = len(reads)
    view.listed("tools", None)
    view.listed("tools", getters)
    assert len(reads) == after  # what was used last is kept
    assert view.about(getters)["capabilities"] == {"tools": {}, "prompts": {}}
    assert view.about(ToolSelection((("none",), ())))["capabilities"] == {"prompts": {}}


@pytest.mark.parametrize(
    ("result", "converted"),
    [
        ({"content": []}, ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "image", "data": ""}, {"type": "text", "text": "b"}]},
         'a\n{"type":"image","data":""}\nb'),
        ({"content": [{"type": "text", "text": "a"}], "isError": False}, "a"),
        ({"content": [{"type": "text", "text": "no"}], "isError": True}, Failure(methods.FAILED, "no")),
    ],
)  # fmt: skip
def test_a_result_is_one_text(result: Any, converted: Any) -> None:
    found = methods.convert_tool_result(result)
    if isinstance(converted, Failure):
        assert isinstance(found, Failure)
        assert (found.code, found.message) == (converted.code, converted.message)
    else:
        assert found == {"content": [{"type": "text", "text": converted}]}


def test_requests_are_converted_both_ways() -> None:
    view = ServerView(build())
    prompt = methods.get_prompt(view, {"name": "ask", "args": {"topic": "t", "n": 5, "l": [1]}}, None)
    assert isinstance(prompt, methods.McpRequest)
    assert (prompt.method, prompt.params) == (
        "prompts/get",
        {"name": "ask", "arguments": {"topic": "t", "n": "5", "l": "[1]"}},
    )
    assert prompt.convert({"messages": [1], "more": 1}) == {"description": "", "messages": [1]}
    assert prompt.convert({"messages": [], "description": "d"}) == {"description": "d", "messages": []}
    resource = methods.read_resource(view, {"uri": "u", "more": 1}, None)
    assert (resource.method, resource.params) == ("resources/read", {"uri": "u"})
    assert resource.convert({"contents": [1], "_meta": {}}) == {"contents": [1]}
    tool = methods.call_tool(view, {"name": "a_get", "args": {"text": "t"}}, None)
    assert isinstance(tool, methods.McpRequest)
    assert (tool.method, tool.params) == ("tools/call", {"name": "a_get", "arguments": {"text": "t"}})
    wrong = {"name": "a_get", "args": {"text": "t", "more": 1}}
    assert isinstance(methods.call_tool(view, wrong, None), Failure)
    view.image.tolerant = "1"
    corrected = methods.call_tool(view, wrong, None)
    assert isinstance(corrected, methods.McpRequest) and corrected.params == tool.params
    entry = methods.tool_entry(
        {"name": "n", "inputSchema": {"type": "object", "required": ["a"], "x": 1}, "title": "t"}
    )
    schema = {"type": "object", "properties": {}, "required": ["a"], "x": 1}
    assert entry == {"name": "n", "description": "", "inputSchema": schema}


@pytest.mark.parametrize(
    ("method", "code", "converted"),
    [
        ("tools/call", -32603, -32000), ("resources/read", -32002, -32001), ("tools/call", -32002, -32002),
        ("tools/call", -5, -5), ("resources/read", -32603, -32000),
    ],
)  # fmt: skip
def test_errors_have_the_codes_of_bx(method: str, code: int, converted: int) -> None:
    failure = methods.convert_error(method, {"code": code, "message": "m", "data": 1})
    assert (failure.code, failure.message, failure.data) == (converted, "m", 1)


def test_an_intersection_is_what_both_have() -> None:
    first, second = ToolSelection((("a*",), ())), ToolSelection((("*b",), ()))
    both, same = endpoint.Intersection(first, second), endpoint.Intersection(first, second)
    assert [both(name) for name in ("ab", "ax", "xb")] == [True, False, False]
    assert (both == same, hash(both) == hash(same)) == (True, True)
    assert (both == endpoint.Intersection(second, first), both == first) == (False, False)


@pytest.mark.parametrize(
    ("pairs", "added"),
    [
        ([], []),
        ([(b"x-api-key", b" k ")], [(b"authorization", b"Bearer k")]),
        ([(b"x-api-key", b"k"), (b"authorization", b"Basic x")], []),
        ([(b"other", b"k")], []),
    ],
)
def test_an_api_key_is_a_bearer_token(pairs: Any, added: Any) -> None:
    assert auth.with_api_key(pairs) == [*pairs, *added]


def test_the_variables_of_tokens_are_secrets() -> None:
    tokens = [("variable", "A", ()), ("digest", "00", ()), ("variable", "B", ())]
    image: Any = SimpleNamespace(index={"bx": {"tokens": tokens, "allowed": None}})
    assert (variables.secret_variables(image), auth.allowed_addresses(image)) == (["A", "B"], ())
    image.index["bx"]["allowed"] = ["10.0.0.0/8"]
    assert auth.allowed_addresses(image) == ("10.0.0.0/8",)
    other: Any = SimpleNamespace(index={"bx": image.index["bx"]})
    assert auth.refuse_beside(other, image) == ""
    assert auth.refuse_beside(other, SimpleNamespace(index={})) != ""  # type: ignore[arg-type]
    assert auth.path_option(HttpSettings(bx_path="/x")) == ("--bx-path", "/x")
