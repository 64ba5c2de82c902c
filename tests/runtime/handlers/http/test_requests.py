"""Handlers that are requests: what reaches the API, byte for byte, and what the client gets of its answers.

`requests.json` has a plan, arguments, and the request that they become; `answers.json` an answer of the API and the
result of the tool.  All are tools of one built server, called over standard input and output.
"""

import json
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from support.artifact import build
from support.http_api import Api, http_api
from support.needs import needs
from support.posts import post_stateless
from support.processes import run_program
from support.serving import served
from support.stdio import StdioClient

HERE = Path(__file__).parent
REQUESTS: list[dict[str, Any]] = json.loads((HERE / "requests.json").read_text("utf-8"))
ANSWERS: list[dict[str, Any]] = json.loads((HERE / "answers.json").read_text("utf-8"))
BASE = {"setting": "API_URL"}
SECRET = "s3cret/ü"
SETTINGS = [{"name": name} for name in ("API_URL", "PLAIN", "UNSET")]
SETTINGS += [{"name": name, "secret": True} for name in ("KEY", "TOKEN")]
LARGEST = 100 << 10
"""The memory in kB that a server may have had, whatever it is answered."""


def arguments_of(value: Any) -> set[str]:
    """Return the arguments that a plan uses."""
    if isinstance(value, dict):
        own = {value["argument"]} if isinstance(value.get("argument"), str) else set()
        return own.union(*map(arguments_of, value.values()))
    return set().union(*map(arguments_of, value)) if isinstance(value, list) else set()


def tool(name: str, http: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the definition of a request."""
    plan = {"method": "GET", "base": BASE, "path": "/x", **http}
    names = arguments_of(plan) | set(re.findall(r"\{(\w+)\}", plan["path"])) - set(plan.get("places", {}))
    handler = {"http": plan, **more.pop("handler", {})}
    schema = {"type": "object", "properties": {key: {} for key in sorted(names)}}
    return {"name": name, "description": "d", "inputSchema": schema, "_meta": {"mcpc/handler": handler}, **more}


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with http_api() as served:
        yield served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, api: Api) -> Path:
    project = tmp_path_factory.mktemp("plans")
    names = [tool(row["name"], row["http"]) for row in REQUESTS]
    names += [
        tool(row["name"], {"path": "/do/" + row["do"], **row.get("http", {})}, **row.get("more", {})) for row in ANSWERS
    ]
    names.append(tool("waits", {"path": "/do/silent"}))
    names.append(tool("own-denied", {"path": "/do/denied", "security": [[{"perUser": "X-User-Token"}]]}))
    scheme = {"tokenUrl": f"{api.url}/oauth/do/token?x=1", "id": "PLAIN", "secret": "TOKEN", "scopes": ["a", "b"]}
    names.append(tool("guarded", {"path": "/do/guarded", "security": [[{"clientCredentials": scheme}]]}))
    refresh = {**scheme, "token": "KEY", "in": "body"}
    names.append(tool("refreshed", {"path": "/do/guarded", "security": [[{"refreshToken": refresh}]]}))
    names.append(tool("odd-header", {"security": [[{"perUser": "X`id`"}]]}))
    names.append(tool("secret-base", {"base": {"setting": "KEY"}}))
    command = {"command": ["ls", {"setting": "PLAIN"}, {"argument": "v"}], "stdin": {"setting": "KEY"}}
    schema = {"type": "object", "properties": {"v": {"type": "string"}}}
    each = {"each": "/arguments/v", "maxItems": 2, "tool": "query-empty", "with": {"v": "/item"}}
    handler = {"pipeline": [{"tool": "query-left-out", "with": {}}, each]}
    listed = {"type": "object", "required": ["v"], "properties": {"v": {"type": "array"}}}
    names.append({"name": "steps", "description": "d", "inputSchema": listed, "_meta": {"mcpc/handler": handler}})
    names.append({"name": "listed", "description": "d", "inputSchema": schema, "_meta": {"mcpc/handler": command}})
    about = {"serverInfo": {"name": "plans", "version": "1"}, "settings": SETTINGS}
    (project / "server.json").write_text(json.dumps(about))
    (project / "tools.json").write_text(json.dumps({"tools": names}))
    return build(project, project.with_suffix(".pyz"), "--http")


def settings_of(api: Api) -> dict[str, str]:
    return {"API_URL": f"{api.url}/v1/", "PLAIN": "k/1", "KEY": SECRET, "TOKEN": "t0ken-1"}


@pytest.fixture(scope="module")
def client(server: Path, api: Api) -> Iterator[StdioClient]:
    with StdioClient(server, environment=settings_of(api)) as talking:
        talking.initialize()
        yield talking


def result_of(client: StdioClient, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = client.call_tool(name, **arguments)
    return result


@pytest.mark.parametrize("row", REQUESTS, ids=lambda row: row["name"])
def test_a_plan_becomes_one_request(client: StdioClient, api: Api, row: dict[str, Any]) -> None:
    api.requests.clear()
    result = result_of(client, row["name"], row["arguments"])
    if "refused" in row:
        assert api.requests == [] and result["isError"]
        assert row["refused"] in result["content"][0]["text"]
        return
    check_sent(api, row)
    assert not result.get("isError") and result["structuredContent"] == {"ok": True}


def check_sent(api: Api, row: dict[str, Any]) -> None:
    """Compare the one request that came with that of a row."""
    (sent,) = api.requests
    boundary = re.search("boundary=(.*)", sent["headers"].get("Content-Type", ""))
    assert (sent["method"], sent["target"]) == (row["http"].get("method", "GET"), row["target"])
    for name, value in row.get("headers", {}).items():
        found = sent["headers"].get(name)
        assert (f"{len(found)} digits" if "digits" in (value or "") else found) == value
    body = sent["body"].replace(boundary[1].encode(), b"B") if boundary else sent["body"]
    assert body == (bytes.fromhex(row["hex"]) if "hex" in row else row.get("body", "").encode())


@pytest.mark.sampled(5)
@pytest.mark.parametrize("row", [row for row in REQUESTS if "refused" not in row], ids=lambda row: row["name"])
def test_a_dry_run_prints_the_command_that_sends_the_request(server: Path, api: Api, row: dict[str, Any]) -> None:
    needs("curl")
    api.requests.clear()
    settings = settings_of(api)
    words = [server, "call", row["name"], "--json", json.dumps(row["arguments"]), "--dry-run"]
    printed = run_program(words, env={**os.environ, **settings}, text=False, status=0).stdout.decode()
    assert api.requests == [] and not any(value in printed for value in (SECRET, quote(SECRET, ""), settings["TOKEN"]))
    run_program(["sh", "-c", printed], env={**os.environ, **settings}, status=0)
    check_sent(api, row)


@pytest.mark.parametrize(
    ("words", "printed", "note", "status"),
    [
        (["security-missing"], """--header 'Authorization: Bearer '"$X_USER_TOKEN" """, "", 0),
        (["odd-header"], """--header 'Authorization: Bearer '"$X_ID_" """, "", 0),
        (["security-basic"], """--user p:"$TOKEN" """, "it would not be sent now: it needs TOKEN, which is not set", 0),
        (["guarded"], """--header 'Authorization: Bearer '"$ACCESS_TOKEN" """, "ACCESS_TOKEN is fetched from http", 0),
        (["secret-base"], '\n  "$KEY"/x\n', "", 0),
        (["path-dot", "v=."], "", "it would not be sent: a value of the path is", 5),
        (["listed", "v=a b"], """printf %s "$KEY" | \\\n  ls p 'a b'\n""", "", 0),
        (["steps", "v=[1]"], "pipeline: query-left-out, then query-empty for each item\n", "", 0),
        (["listed", "v=-x"], "", '/v: "-x" begins with `-`', 5),
    ],
)
def test_a_dry_run_says_what_would_happen(
    server: Path, api: Api, words: list[str], printed: str, note: str, status: int
) -> None:
    environment = {**os.environ, "API_URL": api.url, "KEY": SECRET, "PLAIN": "p"}
    done = run_program([server, "call", *words, "--dry-run"], env=environment, status=status)
    assert printed in done.stdout and bool(printed) == bool(done.stdout)
    assert note in done.stderr and bool(note) == bool(done.stderr)


def test_requests_are_lines_of_the_log_if_it_is_asked_for(server: Path, api: Api) -> None:
    words = [server, "call", "security-query"]
    environment = {**os.environ, **settings_of(api), "MCPC_LOG_REQUESTS": "1"}
    done = run_program(words, env=environment, status=0)
    assert re.fullmatch(r"  GET /v1/x\?api%20key=\[TOKEN\] → 200 OK, 11 bytes, \d+ ms\n", done.stderr)
    assert run_program(words, env={**environment, "MCPC_LOG_REQUESTS": "0"}, status=0).stderr == ""


FORMS = (
    SECRET,
    quote(SECRET),
    quote(SECRET, ""),
    json.dumps(SECRET)[1:-1],
    "czNjcmV0L8O8",
    "t0ken-1",
    "ay8xOnQwa2VuLTE",
)
"""The values of secret settings, and how requests and texts write them; the last is a user with a password."""


def test_no_form_of_a_secret_leaves_the_server(server: Path, api: Api, tmp_path: Path) -> None:
    names = [row["name"] for row in [*REQUESTS, *ANSWERS] if row["name"].startswith(("secret", "security"))]
    log = {"MCPC_LOG_REQUESTS": "1", "MCPC_CALL_LOG": str(tmp_path / "calls"), "MCPC_CALL_LOG_VALUES": "1"}
    with StdioClient(server, environment={**settings_of(api), **log}) as talking:
        talking.initialize()
        talking.ask("tools/list")
        for name in names:
            talking.call_tool(name)
        _, complained = talking.end()
    calls = (tmp_path / "calls").read_bytes()
    assert calls.count(b"\n") == len(names) and complained.count("→".encode()) > len(names) // 2
    answers = [json.dumps(talking.said).encode(), json.dumps(talking.said, ensure_ascii=False).encode()]
    with zipfile.ZipFile(server) as file:
        places = [*answers, complained, calls, server.read_bytes(), *map(file.read, file.namelist())]
    assert [form for form in FORMS if any(form.encode() in place for place in places)] == []


def matches(pattern: str, text: str, api: Api) -> bool:
    """Tell whether a text is as expected: `{any}` is any text, `{y*3}` a letter so often, `{host}` the API's."""
    pattern = re.sub(r"\{(.)\*(\d+)\}", lambda match: match[1] * int(match[2]), pattern)
    pattern = pattern.replace("{host}", api.url.removeprefix("http://")).replace("{base}", api.url)
    return re.fullmatch(re.escape(pattern).replace(r"\{any\}", ".*"), text, re.DOTALL) is not None


@pytest.mark.parametrize("row", ANSWERS, ids=lambda row: row["name"])
def test_an_answer_becomes_a_result(client: StdioClient, api: Api, row: dict[str, Any]) -> None:
    api.requests.clear()
    api.seen.clear()
    result = result_of(client, row["name"], row.get("arguments", {}))
    assert bool(result.get("isError")) == ("error" in row)
    if "content" in row:
        assert result["content"] == json.loads(json.dumps(row["content"]).replace("{base}", api.url))
    else:
        text = "\n".join(block.get("text", block["type"]) for block in result["content"])
        expected = row.get("error") or "\n".join(row["text"])
        assert matches(expected, text, api), text[:500]
    assert result.get("structuredContent") == row.get("structured")
    assert len(api.requests) == row.get("sent", len(api.requests))
    status = Path(f"/proc/{client.process.pid}/status").read_text("utf-8")
    assert int(re.search(r"VmHWM:\s+(\d+)", status)[1]) < LARGEST  # type: ignore[index]


def test_calls_run_at_once_over_kept_connections(client: StdioClient, api: Api) -> None:
    before = api.connections
    for _ in range(3):
        numbers = [client.begin("tools/call", {"name": "query-empty", "arguments": {"v": ""}}) for _ in range(20)]
        assert [client.reply(number)["result"]["structuredContent"] for number in numbers] == [{"ok": True}] * 20
    assert api.connections - before <= 20


def test_a_cancelled_call_closes_its_connection(server: Path, api: Api) -> None:
    api.asked.clear()
    api.gone.clear()
    with StdioClient(server, environment={"API_URL": api.url}) as talking:
        talking.initialize()
        number = talking.begin("tools/call", {"name": "waits", "arguments": {}})
        assert api.asked.wait(30)
        talking.send({"method": "notifications/cancelled", "params": {"requestId": number}})
        assert api.gone.wait(30)


def test_a_token_is_fetched_once_for_calls_at_once_and_again_after_it_was_refused(
    client: StdioClient, api: Api
) -> None:
    api.requests.clear()
    numbers = [client.begin("tools/call", {"name": "guarded", "arguments": {}}) for _ in range(32)]
    results = [client.reply(number)["result"] for number in numbers]
    assert [result.get("structuredContent") for result in results] == [{"ok": True}] * 32
    assert api.tokens == 2
    first = next(sent for sent in api.requests if sent["method"] == "POST")
    assert (first["target"], first["body"]) == ("/oauth/do/token?x=1", b"grant_type=client_credentials&scope=a%20b")
    assert first["headers"]["Authorization"] == "Basic ay8xOnQwa2VuLTE="
    assert client.call_tool("guarded")["structuredContent"] == {"ok": True} and api.tokens == 2


def test_a_refresh_token_is_exchanged(client: StdioClient, api: Api) -> None:
    api.requests.clear()
    assert client.call_tool("refreshed")["structuredContent"] == {"ok": True}
    fields = b"grant_type=refresh_token&refresh_token=s3cret%2F%C3%BC&scope=a%20b&client_id=k%2F1&client_secret=t0ken-1"
    assert api.requests[0]["body"] == fields and "Authorization" not in api.requests[0]["headers"]


def test_events_are_progress_while_they_come(client: StdioClient) -> None:
    params = {"name": "lines", "arguments": {}, "_meta": {"progressToken": "p"}}
    number = client.begin("tools/call", params)
    client.reply(number)
    said = [message["params"] for message in client.said if message.get("method") == "notifications/progress"]
    assert [(row["progress"], row["message"]) for row in said] == [(1, '{"a":1}'), (2, '{"a":2}')]


def test_over_http_a_user_has_a_token_in_a_header_of_the_request(server: Path, api: Api) -> None:
    params = {"name": "security-missing", "arguments": {}}
    with served(server, environment={"API_URL": api.url}) as serving:
        api.requests.clear()
        said = post_stateless(serving.url, "tools/call", params, authorization="Bearer mine", x_user_token="hers")
        assert said.message["result"]["structuredContent"] == {"ok": True}
        assert api.requests[0]["headers"]["Authorization"] == "Bearer hers"
        assert "X-User-Token" not in api.requests[0]["headers"]
        said = post_stateless(serving.url, "tools/call", params)
        assert said.message["result"]["isError"] and len(api.requests) == 1
        params["name"] = "own-denied"
        said = post_stateless(serving.url, "tools/call", params, x_user_token="entry")
        assert "no [token of the client] for" in said.message["result"]["content"][0]["text"]
