"""Handlers that are pipelines: calls of tools of each kind, their values, failures and limits, as a client sees them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build
from support.files import write_files
from support.http_api import Api, http_api
from support.posts import post_stateless
from support.serving import served
from support.stdio import StdioClient, only_text

NUMBER, WORD, WORDS = {"type": "number"}, {"type": "string"}, {"type": "array", "items": {"type": "string"}}
FUNCTIONS = """
import threading
from mcpc import Context
calls = []
def weather(city):
    calls.append(city)
    return {"city": city, "days": [{"high": 1}, {"high": 2.5}]}
def add(a, b):
    return f"{a + b:g}"
def steps(n, context: Context):
    for number in range(n):
        context.progress(number + 1, n)
    return str(len(calls))
def waits():
    threading.Event().wait()
def wrong():
    return {"days": 1}
def large(n):
    return "x" * n
def plain():
    return {"a": [1]}
def called():
    return {"calls": calls}
"""
BASH = 'tool_shout() { printf "%s!" "${1//[!A-Z]/}"; }\ntool_fails() { echo "no such city" >&2; return 3; }\n'
ASK = {"http": {"method": "GET", "base": {"setting": "API_URL"}, "path": "/x", "query": {"q": {"argument": "q"}}}}
CITY, DAYS = "/arguments/city", {"tool": "weather", "with": {"city": "/arguments/city"}, "as": "w"}
ECHO = {"command": [sys.executable.rpartition("/")[2], "-c", "import sys; print(*sys.argv[2:], sep='\\n')",
                    "--", {"argument": "words", "repeat": True}], "output": "lines"}  # fmt: skip
SUMS = {"each": "/w/days", "tool": "add", "with": {"a": "/item/high", "b": "/arguments/more"}, "as": "sums"}


def tool(name: str, handler: dict[str, Any] | None = None, output: Any = None, **properties: Any) -> dict[str, Any]:
    required = [key for key in properties if handler is None or key == "a"]
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    more = {} if output is None else {"outputSchema": {"type": "object", "properties": output}}
    meta = {} if handler is None else {"_meta": {"mcpc/handler": handler}}
    return {"name": name, "description": "d", "inputSchema": schema, **more, **meta}


def pipeline(name: str, *steps: Any, result: Any = None, timeout: float = 30, **properties: Any) -> dict[str, Any]:
    handler = {"pipeline": steps, "timeout": timeout, **({} if result is None else {"result": result})}
    return tool(name, handler, **properties)


TOOLS = [
    tool("weather", output={"city": WORD, "days": {"type": "array"}}, city=WORD),
    tool("add", {"inline": True}, a=NUMBER, b={**NUMBER, "default": 0}),
    tool("shout", word=WORD),
    tool("steps", n=NUMBER),
    tool("wrong", output={"days": {"type": "array"}}),
    tool("called", output={"calls": {"type": "array"}}),
    *(tool(name) for name in ("fails", "waits", "plain")),
    tool("large", n=NUMBER),
    tool("fixed", {"content": [{"type": "text", "text": "[1]"}, {"type": "text", "text": "more"}]}),
    pipeline("kinds", DAYS, {"tool": "shout", "with": {"word": "/w/city"}, "as": "s"}, {"tool": "fixed", "as": "f"},
             {**ECHO, "with": {"words": {"items": ["/w/city", "/s", {"constant": "--x"}]}}, "as": "e"},
             {**ASK, "with": {"q": "/e/lines/2"}, "as": "h"},
             result={"members": {"s": "/s", "f": "/f", "lines": "/e/lines", "h": "/h", "none": "/w/none"}}, city=WORD),
    pipeline("sums", DAYS, SUMS, city=WORD, more=NUMBER),
    pipeline("twice", {"each": "/arguments/cities", "maxItems": 2, "tool": "sums",
                       "with": {"city": "/item", "more": 1}}, cities=WORDS),
    pipeline("maybe", {**DAYS, "when": {"value": "/arguments/city", "exists": True}},
             {"tool": "fails", "when": {"value": "/w/days/0/high", "equals": True}},
             {"tool": "add", "when": {"value": "/w/days/1", "equals": {"high": 2.5}}, "with": {"a": 7}}, city=WORD),
    pipeline("nothing", DAYS, result="/w/none", city=WORD),
    pipeline("texts", {"tool": "plain", "as": "p"}, {"command": ["echo", "{}"], "as": "c"},
             result={"items": ["/p/a/0", "/c"]}),
    pipeline("passes", DAYS, city=WORD),
    pipeline("failing", {"tool": "add", "with": {"a": 1}}, {"tool": "fails", "as": "f"}, {"tool": "waits"}),
    pipeline("broken", {"tool": "wrong"}),
    pipeline("refused", {"each": "/arguments/words", "tool": "add", "with": {"a": 1, "b": "/item"}},
             words={"type": "array"}),
    pipeline("slow", {"tool": "add", "with": {"a": 1}}, {"tool": "waits"}, timeout=0.3),
    pipeline("waiting", {"tool": "called", "as": "c"}, {"tool": "waits"}),
    pipeline("big", *([{"each": "/arguments/n", "tool": "large", "with": {"n": "/item"}}] * 3),
             n={"type": "array", "items": NUMBER}),
    pipeline("slowly", {"tool": "steps", "with": {"n": 2}}, {"each": "/arguments/n", "tool": "steps", "with": {"n": "/item"}},
             n={"type": "array", "items": NUMBER}),
]  # fmt: skip


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with http_api() as answering:
        yield answering


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("pipelines")
    about = {"serverInfo": {"name": "pipelines", "version": "1"}, "settings": [{"name": "API_URL"}]}
    files = {"server.json": json.dumps(about), "tools.json": json.dumps({"tools": TOOLS})}
    write_files(project, {**files, "tools.py": FUNCTIONS, "tools.bash": BASH})
    return build(project, project.with_suffix(".pyz"), "--http")


@pytest.fixture(scope="module")
def client(server: Path, api: Api) -> Iterator[StdioClient]:
    with StdioClient(server, environment={"API_URL": api.url}) as talking:
        talking.initialize()
        yield talking


KINDS = {"s": "B!", "f": "[1]\nmore", "lines": ["Bern", "B!", "--x"], "h": {"ok": True}}
CALLS: list[tuple[str, dict[str, Any], str, Any]] = [
    # The tool, its arguments, its text, and its structured content.
    ("kinds", {"city": "Bern"}, json.dumps(KINDS, separators=(",", ":")), KINDS),
    ("sums", {"city": "Bern", "more": 2}, '["3","4.5"]', None),
    ("sums", {"city": "Bern"}, '["1","2.5"]', None),
    ("twice", {"cities": ["a", "b"]}, '[["2","3.5"],["2","3.5"]]', None),
    ("twice", {"cities": []}, "[]", None),
    ("texts", {}, '[1,"{}"]', None),
    ("maybe", {"city": "Bern"}, "7", None),
    ("maybe", {}, "nothing was done: no step applies", None),
    ("passes", {"city": "x"}, '{"city":"x","days":[{"high":1},{"high":2.5}]}',
     {"city": "x", "days": [{"high": 1}, {"high": 2.5}]}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "text", "structured"), CALLS)
def test_values_go_from_step_to_step(
    client: StdioClient, name: str, arguments: dict[str, Any], text: str, structured: Any
) -> None:
    result = client.call_tool(name, **arguments)
    assert (only_text(result), result.get("structuredContent")) == (text, structured)
    assert "isError" not in result


REFUSAL = """step 1 (`add`), item 2: Invalid arguments for add: 1 problem; fix and call again
- /b: received "x" (string); expected number"""
FAILURES: list[tuple[str, dict[str, Any], str]] = [
    ("twice", {"cities": ["a", "b", "c"]}, "step 1 (`sums`): 3 items at `/arguments/cities`; at most 2"),
    ("twice", {}, "step 1 (`sums`): there is no list at `/arguments/cities`"),
    ("nothing", {"city": "x"}, "there is no result at `/w/none`"),
    ("failing", {}, "step 2 (`fails`): no such city"),
    ("broken", {}, "step 1 (`wrong`): Internal error: tool output does not match outputSchema"),
    ("refused", {"words": [1, "x"]}, REFUSAL),
    ("slow", {}, "slow was stopped after 0.3 s in step 2 (`waits`)"),
    ("big", {"n": [9_000_000] * 3}, "step 3 (`large`), item 2: the results of the steps are too large"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "text"), FAILURES)
def test_a_step_that_fails_ends_the_call(client: StdioClient, name: str, arguments: dict[str, Any], text: str) -> None:
    result = client.call_tool(name, **arguments)
    assert (only_text(result), result["isError"]) == (text, True)


def test_progress_of_steps_is_that_of_the_pipeline(client: StdioClient) -> None:
    client.said.clear()
    params = {"name": "slowly", "arguments": {"n": [2, 4]}, "_meta": {"progressToken": "p"}}
    client.reply(client.begin("tools/call", params))
    said = [message["params"] for message in client.said if message.get("method") == "notifications/progress"]
    values = [row["progress"] for row in said]
    assert values == sorted(values) and {row["total"] for row in said} == {2}
    assert values[0] == 0.5 and values[-1] == 2 and set(values) <= {0.5, 1, 1.25, 1.5, 1.625, 1.75, 1.875, 2}


def test_a_cancelled_pipeline_calls_nothing_more(server: Path) -> None:
    with StdioClient(server) as talking:
        talking.initialize()
        number = talking.begin("tools/call", {"name": "waiting", "arguments": {}})
        talking.send({"method": "notifications/cancelled", "params": {"requestId": number}})
        assert talking.call_tool("sums", city="Bern")["content"]
        assert {message.get("id") for message in talking.said} == {1, number + 1}


def test_steps_are_offered_to_the_client(server: Path, api: Api, tmp_path: Path) -> None:
    with StdioClient(server, "--tools", "sums,add") as talking:
        talking.initialize()
        unknown = only_text(talking.call_tool("sums", city="Bern"))
        assert unknown == "step 1 (`weather`): Unknown tool: weather"
    tokens = tmp_path / "tokens"
    tokens.write_text("one the-token-of-one kinds,weather\nall the-token-of-everybody\n")
    tokens.chmod(0o600)
    with served(server, "--token-file", str(tokens), environment={"API_URL": api.url}) as serving:
        for token, text in (("one", "step 2 (`shout`): Unknown tool: shout"), ("everybody", json.dumps(KINDS))):
            params = {"name": "kinds", "arguments": {"city": "Bern"}}
            answer = post_stateless(serving.url, "tools/call", params, authorization=f"Bearer the-token-of-{token}")
            assert only_text(answer.message["result"]).replace(" ", "") == text.replace(" ", "")
