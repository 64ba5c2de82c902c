"""mcp-bash's acceptance cases about prompts, resources, templates, completions and interfaces, by number.

`exact` is a server built with `--dialect mcp-bash`: refusals have the original's codes and words.  `plain` is the
default, where the specification of MCP decides what a client sees.  What is deliberately different is said at the test.
"""

import json
from pathlib import Path

import pytest

from support.artifact import build
from support.files import write_files
from support.needs import needs
from support.stdio import initialization, replies

Files = dict[str, str]
GREETING = "Hello from a resource file"
BASICS: Files = {
    "server.d/server.meta.json": '{"name": "basics", "version": "1.0.0"}',
    "resources/greeting.txt": f"{GREETING}\n",
    "resources/greeting.meta.json": json.dumps(
        {
            "name": "greeting",
            "description": "A greeting.",
            "uri": "file://./resources/greeting.txt",
            "mimeType": "text/plain",
            "provider": "file",
        }
    ),
    "prompts/greet.txt": "Hello, ${name}! {{mood}} {{unknown}} ${unknown} {{name}}\n",
    "prompts/greet.meta.json": json.dumps(
        {
            "name": "greet",
            "description": "Greet somebody.",
            "arguments": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string", "description": "Who."}, "mood": {"type": "string"}},
            },
            "metadata": {"m": 1},
        }
    ),
}
SUGGEST = """#!/usr/bin/env bash
set -euo pipefail
query="$(jq -r '.query' <<<"$MCP_COMPLETION_ARGS_JSON")"
"$MCPBASH_JSON_TOOL_BIN" -cn --arg q "$query" --argjson limit "$MCP_COMPLETION_LIMIT" --argjson at "$MCP_COMPLETION_OFFSET" '
  ["retry job", "review logs", "rebuild cache", "restart service", "report status"]
  | map(select(contains($q))) as $found | $found[$at:$at + $limit] as $page
  | {suggestions: $page, hasMore: ($at + ($page | length) < ($found | length)), next: ($at + ($page | length))}'
"""
COMPLETES: Files = {
    "server.d/server.meta.json": '{"name": "completes", "version": "1.0.0"}',
    "server.d/register.json": json.dumps(
        {"version": 1, "completions": [{"name": "demo", "path": "completions/suggest.sh", "timeoutSecs": 5}]}
    ),
    "completions/suggest.sh": SUGGEST,
    "prompts/demo.txt": "Query: {{query}}\n",
    "prompts/demo.meta.json": '{"name": "demo", "arguments": {"properties": {"query": {"type": "string"}}}}',
}
PROJECTS = {"basics": BASICS, "completes": COMPLETES}
ALLOW = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "MCPBASH_TOOL_ALLOW_DEFAULT": "allow"}


class Servers:
    """Every project, built in either way when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._built: dict[tuple[str, str], Path] = {}

    def __call__(self, name: str, dialect: str = "mcp") -> Path:
        if (name, dialect) not in self._built:
            project = write_files(self._folder / f"{name}-{dialect}", PROJECTS[name])
            target = self._folder / f"{name}-{dialect}.pyz"
            self._built[name, dialect] = build(project, target, "--dialect", dialect)
        return self._built[name, dialect]


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Servers:
    needs("bash", "jq")
    return Servers(tmp_path_factory.mktemp("mcp-bash-resources"))


def ask(server: Path, *requests: tuple[str, object], more: dict[str, str] | None = None) -> list[dict]:
    """The replies to these requests, in their order, after a handshake."""
    rows = [("initialize", initialization("2025-06-18")), *requests]
    return replies(server, rows, env={**ALLOW, **(more or {})})[1:]


def read(server: Path, uri: str, **how: object) -> dict:
    return ask(server, ("resources/read", {"uri": uri}), **how)[0]


def complete(server: Path, value: str, name: str = "demo", **more: object) -> dict:
    params = {"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": "query", "value": value}, **more}
    return ask(server, ("completion/complete", params), more={"FOO": "seen"})[0]


def test_5_to_6_resources(servers: Servers) -> None:
    for dialect in ("mcp", "mcp-bash"):
        reply = read(servers("basics", dialect), "file://./resources/greeting.txt")
        (contents,) = reply["result"]["contents"]
        assert contents == {"uri": "file://./resources/greeting.txt", "mimeType": "text/plain", "text": GREETING}


def test_6_outside_the_roots_and_without_a_uri(servers: Servers) -> None:
    """Deliberately different: who asks for a file outside is told as MCP says that there is no such resource."""
    requests = [
        ("resources/read", {"uri": "file:///etc/passwd"}),
        ("resources/read", {}),
        ("resources/read", {"name": "greeting"}),
        ("resources/read", {"name": "nope"}),
        ("resources/read", {"name": 7}),
    ]
    outside, nothing, named, *wrong = ask(servers("basics"), *requests)
    assert (outside["error"]["code"], nothing["error"]["code"]) == (-32002, -32602)
    assert named["result"]["contents"][0]["text"] == GREETING
    assert [reply["error"]["code"] for reply in wrong] == [-32602, -32602]
    outside, nothing, named, *_ = ask(servers("basics", "mcp-bash"), *requests)
    assert outside["error"]["code"] == -32603 and outside["error"]["message"] == "Resource outside allowed roots"
    assert nothing["error"] == {"code": -32602, "message": "Resource name or uri required"}
    assert named["result"]["contents"][0]["text"] == GREETING


def test_7_prompts(servers: Servers) -> None:
    """Better than the original: `${name}` of a declared argument is its place, too, as its own example has it."""
    text = "Hello, A&B|c{{mood}}! glad {{unknown}} ${unknown} A&B|c{{mood}}"
    arguments = {"name": "A&B|c{{mood}}", "mood": "glad"}
    for dialect in ("mcp", "mcp-bash"):
        reply = ask(servers("basics", dialect), ("prompts/get", {"name": "greet", "arguments": arguments}))[0]
        result = reply["result"]
        assert result["messages"] == [{"role": "user", "content": {"type": "text", "text": text}}]
        assert result["description"] == "Greet somebody."
        beside = {key: result.get(key) for key in ("text", "arguments", "metadata")}
        exact = {"text": text, "arguments": arguments, "metadata": {"m": 1}}
        assert beside == (exact if dialect == "mcp-bash" else dict.fromkeys(exact))


def test_11_completions(servers: Servers) -> None:
    server = servers("completes")
    first = complete(server, "re", limit=3)["result"]["completion"]
    assert (first["values"], first["hasMore"]) == (["retry job", "review logs", "rebuild cache"], True)
    second = complete(server, "re", limit=3, cursor=first["nextCursor"])["result"]["completion"]
    assert (second["values"], second["hasMore"]) == (["restart service", "report status"], False)
    assert "nextCursor" not in second


def test_subscriptions_have_names_in_the_dialect(servers: Servers) -> None:
    """Deliberately different: by default a subscription is its uri, as the specification has it."""
    uri = "file://./resources/greeting.txt"
    requests = [
        ("resources/subscribe", {"uri": uri}),
        ("resources/unsubscribe", {"subscriptionId": f"sub-{uri}"}),
        ("resources/unsubscribe", {"uri": uri}),
    ]
    subscribed, by_name, by_uri = ask(servers("basics", "mcp-bash"), *requests)
    assert subscribed["result"] == {"subscriptionId": f"sub-{uri}"}
    assert (by_name["result"], by_uri["result"]) == ({}, {})
    subscribed, by_name, by_uri = ask(servers("basics"), *requests)
    assert (subscribed["result"], by_name["error"]["code"], by_uri["result"]) == ({}, -32602, {})
