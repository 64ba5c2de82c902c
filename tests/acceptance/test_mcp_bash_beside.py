"""What projects of mcp-bash do beside the numbered cases: completions of all kinds, providers alone, results that fail.

Deliberate differences say so; `exact` servers are built with `--dialect mcp-bash`.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build, carried, mcpc
from support.mcp_bash_client import ALLOW, BASH, Client, clients, error, text, write
from support.needs import needs
from support.posts import post_stateless
from support.serving import served

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
TELLS = BASH + 'printf \'["%s|%s|%s"]\' "$MCP_COMPLETION_NAME" "$MCP_COMPLETION_LIMIT" "$MCP_COMPLETION_OFFSET"\n'
SHOWS = BASH + (
    'printf \'["%s","%s","%s","%s","%s"]\' "$MCP_COMPLETION_NAME" "$MCP_RESOURCE_URI" "$MCP_RESOURCE_PROVIDER" '
    '"$MCP_RESOURCE_REL_PATH" "${MCP_RESOURCE_PATH#"$MCPBASH_PROJECT_ROOT"}"\n'
)
ENTRY = (
    BASH + 'jq -cn --argjson entry "$MCP_RESOURCE_METADATA" \'[$entry.name, $entry.path // "", $entry.uri // ""]\'\n'
)
FAILS = '{"content":[{"type":"text","text":"no file"}],"structuredContent":{"e":1},"isError":true}'
RESOURCE = {"name": "poem", "uri": "file://./resources/poem.txt"}
TEMPLATE = {"name": "log", "uriTemplate": "file:///var/log/{day}.log", "provider": "file"}
REGISTER = {"version": 1, "completions": [{"name": "city", "path": "completions/city.sh", "timeoutSecs": 9}]}


@pytest.fixture
def client() -> Iterator[Callable[..., Client]]:
    needs("bash", "jq")
    with clients() as make:
        yield make


def complete(server: Client, value: str = "x", argument: str = "a", **ref: str) -> dict:
    named = {"type": "ref/prompt" if "name" in ref else "ref/resource", **ref}
    params = {"ref": named, "argument": {"name": argument, "value": value}}
    return server.ask("completion/complete", params)["result"]["completion"]


def begun(client: Callable[..., Client], server: Path, **environment: str) -> Client:
    started = client(server, **ALLOW, **environment)
    started.start()
    return started


def test_a_completion_registered_for_nothing(client, tmp_path: Path) -> None:
    """Even in a project that has nothing else, and clients are told that there are completions."""
    project = write(
        tmp_path / "p", {}, **{"server.d/register.json": json.dumps(REGISTER), "completions/city.sh": TELLS}
    )
    told = mcpc("check", project).stderr
    assert "warning[MCP151]" in told
    assert "only clients that know this name" in told
    server = client(build(project, tmp_path / "s.pyz"))
    assert server.start()["capabilities"]["completions"] == {}
    assert complete(server, name="city")["values"] == ["city|5|0"]
    assert complete(server, name="town")["values"] == []
    assert server.ask("prompts/list")["error"]["code"] == -32601


def test_a_completion_registered_for_a_prompt_answers_for_any_argument(client, tmp_path: Path) -> None:
    files = {
        "server.d/register.json": json.dumps(REGISTER),
        "completions/city.sh": TELLS,
        "prompts/city.txt": "{{a}}",
        "prompts/city.meta.json": '{"name": "city", "description": "d", "arguments": {"properties": {"a": {}}}}',
    }
    server = begun(client, build(write(tmp_path / "p", {}, **files), tmp_path / "s.pyz"))
    for argument in ("a", "another"):
        assert complete(server, argument=argument, name="city")["values"] == ["city|5|0"]


def beside(**scripts: str) -> dict[str, str]:
    return {
        "resources/poem.txt": "rose\n",
        "resources/poem.meta.json": json.dumps({**RESOURCE, "description": "A poem."}),
        "resources/log.meta.json": json.dumps({**TEMPLATE, "description": "Logs."}),
        **{f"resources/{name}.completion.sh": script for name, script in scripts.items()},
    }


def test_scripts_beside_a_resource_and_a_template_are_told_of_them(client, tmp_path: Path) -> None:
    project = write(tmp_path / "p", {}, **beside(poem=SHOWS, log=SHOWS))
    server = begun(client, build(project, tmp_path / "s.pyz"))
    found = complete(server, uri=RESOURCE["uri"])["values"]
    assert found == ["poem", RESOURCE["uri"], "file", "poem.txt", "/resources/poem.txt"]
    found = complete(server, argument="day", uri=TEMPLATE["uriTemplate"])["values"]
    assert found == ["log", TEMPLATE["uriTemplate"], "file", "", ""]  # a template is no file
    listed = server.ask("resources/list")["result"]["resources"]
    assert [one["name"] for one in listed] == ["poem"]


def test_they_find_the_entry_of_the_registry(client, tmp_path: Path) -> None:
    project = write(tmp_path / "p", {}, **beside(poem=ENTRY, log=ENTRY))
    server = begun(client, build(project, tmp_path / "s.pyz"))
    assert complete(server, uri=RESOURCE["uri"])["values"] == ["poem", "poem.txt", RESOURCE["uri"]]
    assert complete(server, argument="day", uri=TEMPLATE["uriTemplate"])["values"][0] == "log"


def test_a_script_beside_a_resource_is_worth_a_note(tmp_path: Path) -> None:
    told = mcpc("check", write(tmp_path / "p", {}, **beside(poem=TELLS, log=TELLS))).stderr
    assert told.count("[MCP233]") == 1
    assert "poem.completion.sh" in told
    assert "MCP151" not in told


def test_providers_alone_are_resources(client, tmp_path: Path) -> None:
    """Whatever they take is read; lists are empty, for nothing is listed."""
    notes = BASH + 'printf "what %s says" "${1#notes://}"\n'
    server = client(build(write(tmp_path / "p", {}, **{"providers/notes.sh": notes}), tmp_path / "s.pyz"), **ALLOW)
    assert server.start()["capabilities"]["resources"] == {"subscribe": True}
    assert server.ask("resources/list")["result"]["resources"] == []
    contents = server.ask("resources/read", {"uri": "notes://today"})["result"]["contents"]
    assert contents[0]["text"] == "what today says"
    assert error(server.ask("resources/read", {"uri": "other://today"}))[0] == -32002


def test_a_resource_that_nobody_has_in_the_stateless_era(client, tmp_path: Path) -> None:
    """The dialect's code is one that this era has no more."""
    project = write(tmp_path / "p", {}, **beside())
    for dialect, words in (("mcp", "Resource not found: nobody://x"), ("mcp-bash", "Resource not found")):
        server = client(build(project, tmp_path / f"{dialect}.pyz", "--dialect", dialect))
        reply = server.ask("resources/read", {"uri": "nobody://x", "_meta": MODERN})
        assert error(reply) == (-32602, words)


FAILING = {
    "fails": (BASH + f"echo '{FAILS}'; echo why >&2; exit 4\n", {}),
    "declares": (BASH + f"echo '{FAILS}'; exit 4\n", {"outputSchema": {"type": "object", "required": ["nothing"]}}),
    "boasts": (BASH + f"echo '{FAILS.replace('true', 'false')}'; exit 4\n", {}),
}


def test_what_a_tool_says_before_it_fails(client, tmp_path: Path) -> None:
    """Deliberately different: a whole result that says it is an error is one, whatever the status; the original's
    examples count on it, and it answers `Tool failed` with the result as a string, as the dialect does.
    """
    project = write(tmp_path / "p", FAILING)
    plain = begun(client, build(project, tmp_path / "s.pyz"))
    result = plain.call("fails")["result"]
    assert (result["isError"], result["structuredContent"]) == (True, {"e": 1})
    assert result["_meta"] == {"exitCode": 4, "stderr": "why"}
    assert text(plain.call("declares")) == "no file"
    assert error(plain.call("boasts")) == (-32603, "Tool failed")  # a failure that says it is none
    exact = begun(client, build(project, tmp_path / "e.pyz", "--dialect", "mcp-bash"))
    for name in FAILING:
        assert error(exact.call(name)) == (-32603, "Tool failed")


@pytest.mark.slow
def test_an_empty_line_on_the_stream_is_a_sign_of_life(client, tmp_path: Path) -> None:
    """So does a tool whose progress gives it more time say that it gets on, if it has nothing to tell."""
    loop = 'for n in 1 2 3 4 5; do sleep 0.5; printf "%b" "$WHAT" >>"$MCP_PROGRESS_STREAM"; done; echo done\n'
    meta = {"timeoutSecs": 1, "progressExtendsTimeout": True}
    tools = {name: (BASH + f"WHAT='{what}'\n{loop}", meta) for name, what in (("alive", "\\n"), ("mute", ""))}
    server = begun(client, build(write(tmp_path / "p", tools), tmp_path / "s.pyz"))
    assert text(server.call("alive")) == "done\n"
    assert server.call("mute")["result"]["structuredContent"]["error"]["reason"] == "idle"
    assert not [one for one in server.said if one.get("method") == "notifications/progress"]


LISTS = ("tools", "resources", "prompts", "custom_tools", "custom_resources", "custom_prompts")
TOLD = {"id": "known", "title": "t", "description": "d", "content": [{"type": "text", "text": "k"}]}
DOCS = {"id": "r", "title": "t", "description": "d", "uri": "docs://r", "content": [{"type": "text", "text": "r"}]}
BOTH = {
    "servers.json": json.dumps([{"name": "part", "path": "part", "features": ["f.json"]}]),
    "f.json": json.dumps({**{key: [] for key in LISTS}, "tools": [TOLD], "resources": [DOCS]}),
    "providers/notes.sh": BASH + "echo secret\n",
}
KEY = "k" * 40


def post(url: str, method: str, token: str, **params: Any) -> dict:
    meta = {"_meta": {"mcpbash/remoteToken": token}} if token else {}
    return post_stateless(url, method, {**params, **meta}).message


def test_a_part_of_a_server_is_under_its_token_and_has_nothing_of_the_rest(tmp_path: Path) -> None:
    needs("bash")
    project = write(tmp_path / "p", {"hello": (BASH + "echo hi\n", {})}, **BOTH)
    server = build(project, tmp_path / "s.pyz", "--http")
    with served(server, environment={**ALLOW, "MCPBASH_REMOTE_TOKEN": KEY}) as live:
        for path, tools in (("/mcp", {"hello", "known"}), ("/part", {"known"})):
            url = live.root + path
            assert error(post(url, "tools/list", "")) == (-32602, "Remote token missing or invalid")
            assert {tool["name"] for tool in post(url, "tools/list", KEY)["result"]["tools"]} == tools
            assert post(url, "resources/read", KEY, uri="docs://r")["result"]["contents"][0]["text"] == "r"
        assert post(live.root + "/mcp", "resources/read", KEY, uri="notes://x")["result"]["contents"][0]["text"]
        assert error(post(live.root + "/part", "resources/read", KEY, uri="notes://x"))[0] == -32602


def test_nobody_else_carries_any_of_it(tmp_path: Path) -> None:
    needs("bash")
    project = write(tmp_path / "p", {}, **{"providers/notes.sh": BASH, "prompts/p.txt": "x"})
    names = carried(build(project, tmp_path / "s.pyz"))
    assert "handlers/.mcpc/mcp-bash/providers/git.sh" in names
    assert "handlers/.mcpc/mcp-bash/sdk/tool-sdk.sh" not in names  # no file can mean it
    assert "mcpc_runtime/systems/mcp_bash/runner.py" not in names  # there is no tool


def test_the_files_of_a_project_are_one_entry(tmp_path: Path) -> None:
    """A start takes as long as the archive has entries, however many tools there are."""
    needs("bash")
    tools = {f"tool-{n}": (BASH + f"echo {n}\n", {}) for n in range(40)}
    few = zipfile.ZipFile(build(write(tmp_path / "a", {"tool-0": tools["tool-0"]}), tmp_path / "a.pyz"))
    many = zipfile.ZipFile(build(write(tmp_path / "b", tools), tmp_path / "b.pyz"))
    with few, many:
        assert few.namelist() == many.namelist()
        with zipfile.ZipFile(io.BytesIO(many.read("handlers.zip"))) as files:
            for name, (script, _) in tools.items():
                assert files.read(f"tools/{name}/tool.sh") == script.encode()
