"""mcp-bash's acceptance cases about prompts, resources, templates, completions and interfaces, by number.

`exact` is a server built with `--dialect mcp-bash`: refusals have the original's codes and words.  `plain` is the
default, where the specification of MCP decides what a client sees.  What is deliberately different is said at the test.
"""

import base64
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
OVERRIDES: Files = {
    "server.d/server.meta.json": '{"name": "overrides", "version": "1.0.0"}',
    "server.d/register.json": json.dumps(
        {
            "version": 1,
            "tools": [
                {"name": "manual.one", "description": "One.", "path": "one.sh", "inputSchema": {"type": "object"}}
            ],
            "resources": [
                {
                    "name": "echo.hello",
                    "path": "placeholder.txt",
                    "uri": "echo://Hello-from-a-register",
                    "mimeType": "text/plain",
                    "provider": "echo",
                }
            ],
            "prompts": [
                {
                    "name": "manual.prompt",
                    "description": "Explains.",
                    "path": "manual.txt",
                    "arguments": {"type": "object", "properties": {"topic": {"type": "string"}}},
                }
            ],
        }
    ),
    "tools/one.sh": "#!/usr/bin/env bash\necho one\n",
    "tools/found/two.sh": "#!/usr/bin/env bash\necho two\n",
    "resources/placeholder.txt": "not this\n",
    "resources/found.txt": "nor this\n",
    "prompts/manual.txt": "How registers work. Topic hint: {{topic}}.\n",
    "prompts/found.txt": "Not registered.\n",
}
SUGGEST = """#!/usr/bin/env bash
set -euo pipefail
query="$(jq -r '.query' <<<"$MCP_COMPLETION_ARGS_JSON")"
[[ "$query" != fail ]] || { echo "no such thing" >&2; exit 3; }
[[ "$query" != env ]] || { printf '["%s|%s|%s|%s"]' "$MCP_COMPLETION_NAME" "${MCP_PROMPT_REL_PATH:-}" "$MCP_COMPLETION_LIMIT" "${FOO:-hidden}"; exit; }
[[ "$query" != list ]] || { echo '["one","two","three","four","five","six"]'; exit; }
[[ "$query" != broken ]] || { echo '{"suggestions": [1]}'; exit; }
[[ "$query" != words ]] || { echo 'no JSON at all'; exit; }
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
    "prompts/beside.txt": "Query: {{query}}\n",
    "prompts/beside.meta.json": '{"name": "beside", "arguments": {"properties": {"query": {"type": "string"}}}}',
    "prompts/beside.completion.sh": SUGGEST,
}
TEMPLATES: Files = {
    "server.d/server.meta.json": '{"name": "templates", "version": "1.0.0"}',
    "server.d/register.json": json.dumps(
        {
            "version": 1,
            "resourceTemplates": [
                {
                    "name": "project-files",
                    "uriTemplate": "file:///{path}",
                    "description": "Registered.",
                    "annotations": {"audience": ["assistant"]},
                },
                {"name": "logs", "title": "Logs", "uriTemplate": "file:///var/log/{service}/{date}.log"},
            ],
        }
    ),
    "resources/example.txt": "Reachable by a template.\n",
    "resources/project-files.meta.json": json.dumps(
        {"name": "project-files", "uriTemplate": "file:///{path}", "mimeType": "application/octet-stream"}
    ),
    "resources/tree.meta.json": '{"name": "tree", "uriTemplate": "git+https://{repo}/{ref}/{path}"}',
}
PAGE = "<!doctype html><title>Weather</title><p>Sun.</p>\n"
INTERFACES: Files = {
    "server.d/server.meta.json": '{"name": "shows", "version": "1.0.0"}',
    "tools/weather/tool.sh": "#!/usr/bin/env bash\necho sun\n",
    "tools/weather/tool.meta.json": '{"name": "weather", "description": "The weather."}',
    "tools/weather/ui/index.html": PAGE,
    "ui/board/index.html": PAGE,
    "ui/board/ui.meta.json": '{"description": "A board.", "meta": {"prefersBorder": false}}',
}
PROJECTS = {
    "basics": BASICS,
    "overrides": OVERRIDES,
    "completes": COMPLETES,
    "templates": TEMPLATES,
    "interfaces": INTERFACES,
}
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


def test_6_roots_of_the_environment(servers: Servers, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a b.txt").write_text("inside")
    (tmp_path / "out.txt").write_text("outside")
    (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "out.txt")
    server, more = servers("basics", "mcp-bash"), {"MCP_RESOURCES_ROOTS": f"/nowhere:{tmp_path}/in"}
    found = {
        uri: read(server, uri, more=more)
        for uri in (
            f"file://{tmp_path}/in/a%20b.txt",
            f"file://{tmp_path}/out.txt",
            f"file://{tmp_path}/in/link.txt",
            f"file://{tmp_path}/in/none.txt",
            f"file://{tmp_path}/in/..%2Fout.txt",
            f"file://{tmp_path}/in/../out.txt",
            f"file://{tmp_path}/in/%00",
            f"file://{tmp_path}/in/{'x' * 4000}",
            f"file://{tmp_path}/in/{'x' * 5000}",
            "file://./resources/greeting.txt",
        )
    }
    answers = [reply.get("result", {}).get("contents", [{}])[0].get("text") for reply in found.values()]
    assert answers == ["inside", *[None] * 9]
    codes = [reply["error"]["code"] for reply in list(found.values())[1:]]
    assert codes == [-32603, -32603, -32002, -32602, -32602, -32602, -32002, -32602, -32603]


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


def test_8_prompts_are_listed_and_refused(servers: Servers) -> None:
    """Better than the original: a required argument that is missing is an error."""
    requests = [
        ("prompts/list", {}),
        ("prompts/get", {"name": "nope"}),
        ("prompts/get", {"name": "greet", "arguments": {"mood": "glad"}}),
        ("prompts/get", {"name": "greet", "arguments": {"name": "A", "unknown": 7, "mood": True}}),
    ]
    listed, unknown, missing, odd = ask(servers("basics"), *requests)
    (prompt,) = listed["result"]["prompts"]
    required = [{"name": one["name"], "required": one.get("required", False)} for one in prompt["arguments"]]
    assert required == [{"name": "name", "required": True}, {"name": "mood", "required": False}]
    assert not {"path", "role", "metadata"} & prompt.keys()
    assert (unknown["error"]["code"], missing["error"]["code"]) == (-32602, -32602)
    assert odd["result"]["messages"][0]["content"]["text"] == "Hello, A! true 7 ${unknown} A"
    listed, unknown, *_ = ask(servers("basics", "mcp-bash"), *requests)
    assert {"path", "role", "metadata"} <= listed["result"]["prompts"][0].keys()
    assert unknown["error"] == {"code": -32602, "message": "Prompt not found"}


def test_10_registered_definitions_take_the_place_of_others(servers: Servers) -> None:
    requests = [
        ("tools/list", {}),
        ("resources/list", {}),
        ("prompts/list", {}),
        ("resources/read", {"uri": "echo://Hello-from-a-register"}),
        ("resources/read", {"uri": "echo://any%20other"}),
        ("prompts/get", {"name": "manual.prompt", "arguments": {"topic": "x"}}),
        ("prompts/get", {"name": "manual.prompt"}),
    ]
    tools, resources, prompts, echoed, other, prompt, bare = ask(servers("overrides"), *requests)
    assert [one["name"] for one in tools["result"]["tools"]] == ["manual.one"]
    assert [one["name"] for one in resources["result"]["resources"]] == ["echo.hello"]
    assert [one["name"] for one in prompts["result"]["prompts"]] == ["manual.prompt"]
    assert echoed["result"]["contents"][0]["text"] == "Hello-from-a-register"
    assert other["result"]["contents"][0]["text"] == "any other"
    (message,) = prompt["result"]["messages"]
    assert message["role"] == "user" and message["content"]["text"].endswith("Topic hint: x.")
    assert bare["result"]["messages"][0]["content"]["text"].endswith("Topic hint: {{topic}}.")


def test_11_completions(servers: Servers) -> None:
    server = servers("completes")
    first = complete(server, "re", limit=3)["result"]["completion"]
    assert (first["values"], first["hasMore"]) == (["retry job", "review logs", "rebuild cache"], True)
    second = complete(server, "re", limit=3, cursor=first["nextCursor"])["result"]["completion"]
    assert (second["values"], second["hasMore"]) == (["restart service", "report status"], False)
    assert "nextCursor" not in second


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("env", {"values": ["demo||5|hidden"], "hasMore": False, "total": 1}),
        ("list", {"values": ["one", "two", "three", "four", "five"], "hasMore": True, "total": 6}),
        ("words", {"values": [], "hasMore": False, "total": 0}),
    ],
)
def test_11_what_scripts_print(servers: Servers, value: str, expected: dict) -> None:
    assert complete(servers("completes"), value)["result"]["completion"] == expected


def test_11_what_lies_beside_a_prompt_completes_it(servers: Servers) -> None:
    reply = complete(servers("completes"), "env", "beside")
    assert reply["result"]["completion"]["values"] == ["beside|beside.txt|5|hidden"]


def test_11_what_goes_wrong(servers: Servers) -> None:
    server = servers("completes")
    assert complete(server, "fail")["error"] == {"code": -32603, "message": "no such thing"}
    assert complete(server, "broken")["error"]["message"] == "Completion provider emitted invalid JSON"
    for cursor in ("bogus", base64.urlsafe_b64encode(b'{"name":"other","offset":1}').decode(), "é", 7):
        assert complete(server, "re", cursor=cursor)["error"] == {"code": -32602, "message": "Invalid cursor"}


def test_11_what_nobody_completes(servers: Servers) -> None:
    """Deliberately different: the original makes up three values for whatever it does not know."""
    reply = complete(servers("completes"), "re", "nobody")
    assert reply["result"]["completion"] == {"values": [], "total": 0, "hasMore": False}
    for project in ("completes", "overrides"):  # the latter has no completion at all
        reply = complete(servers(project, "mcp-bash"), "re", "nobody")
        assert reply["result"]["completion"]["values"] == ["re", "re snippet", "re example"]


def test_12_templates(servers: Servers) -> None:
    requests = [
        ("resources/templates/list", {}),
        ("resources/read", {"uri": "file://./resources/example.txt"}),
        ("resources/read", {"uri": "file:///etc%2Fpasswd"}),
        ("resources/read", {"uri": "git+https://host/main/a"}),
    ]
    listed, example, outside, disabled = ask(servers("templates"), *requests)
    templates = listed["result"]["resourceTemplates"]
    assert [one["name"] for one in templates] == ["logs", "project-files", "tree"]
    assert templates[1]["annotations"] == {"audience": ["assistant"]} and "mimeType" not in templates[1]
    assert example["result"]["contents"][0]["text"] == "Reachable by a template."
    assert outside["error"]["code"] == -32002
    assert disabled["error"]["code"] == -32602 and "MCPBASH_ENABLE_GIT_PROVIDER" in disabled["error"]["message"]


def test_13_interfaces(servers: Servers) -> None:
    uris = ["ui://shows/weather", "ui://shows/board"]
    requests = [("tools/list", {}), ("resources/list", {}), *(("resources/read", {"uri": uri}) for uri in uris)]
    tools, resources, *pages = ask(servers("interfaces"), *requests)
    (tool,) = tools["result"]["tools"]
    assert tool["_meta"]["ui"]["resourceUri"] == uris[0]
    assert sorted(one["uri"] for one in resources["result"]["resources"]) == sorted(uris)
    for page in pages:
        (contents,) = page["result"]["contents"]
        assert contents["mimeType"] == "text/html;profile=mcp-app" and "Sun." in contents["text"]
    assert read(servers("interfaces"), "ui://shows/none")["error"]["code"] == -32002


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
