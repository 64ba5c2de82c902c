"""HTTP routes of programs, and what their tools see of HTTP, in built files that serve it."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.artifact import build, built_fixture, mcpc
from support.needs import ROOT
from support.posts import fetch, post_stateless
from support.serving import Served, served
from support.stdio import StdioClient

PROGRAMS = ROOT / "tests/system/programs"
INFORM = {"name": "inform", "arguments": {}}


routes = built_fixture(PROGRAMS / "routes", "--http")


@pytest.fixture(scope="module")
def server(routes: Path) -> Iterator[Served]:
    with served(routes) as found:
        yield found


def test_a_route_answers_within_its_middleware(server: Served) -> None:
    answer = fetch(f"{server.root}/health")
    assert (answer.status, answer.body) == (200, b"fine")
    assert answer.headers["x-mark"] == "yes"


@pytest.mark.parametrize("kind", ["application/json", "application/x-www-form-urlencoded", "text/plain"])
def test_a_route_with_a_variable_gets_the_request(server: Served, kind: str) -> None:
    answer = fetch(f"{server.root}/items/a%20b?x=1", b"some text", {"content-type": kind})
    assert (answer.status, answer.headers["x-answer"]) == (201, "yes")
    assert answer.message == {"name": "a b", "query": {"x": "1"}, "body": "some text"}


def test_methods_are_decided_by_the_route(server: Served) -> None:
    request = urllib.request.Request(f"{server.root}/items/z", b"", method="DELETE")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    assert refused.value.code == 405
    refused.value.close()
    request = urllib.request.Request(f"{server.root}/health", method="HEAD")
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert (answer.status, answer.read()) == (200, b"")


def test_parts_are_collected_and_failures_are_answers(server: Served) -> None:
    assert fetch(f"{server.root}/stream").body == b"0\n1\n2\n"
    failed = fetch(f"{server.root}/fails")
    assert failed.status == 500
    assert b"a secret" not in failed.body
    assert fetch(f"{server.root}/large").status == 500
    assert fetch(f"{server.root}/health").status == 200


def test_other_paths_are_not_found(server: Served) -> None:
    for path in ("/nothing", "/items/a/b", "/items/", "/health/"):
        assert fetch(server.root + path).status == 404
    assert fetch(f"{server.root}/healthz").body == b"ok\n"


def test_hosts_and_origins_are_checked(server: Served) -> None:
    assert fetch(f"{server.root}/health", headers={"Host": "evil.example"}).status == 421
    assert fetch(f"{server.root}/health", headers={"Origin": "http://evil.example"}).status == 403


def test_bodies_have_the_limit_of_the_server(routes: Path) -> None:
    with served(routes, "--body-limit", "1000") as server:
        assert fetch(f"{server.root}/items/x", b"x" * 2000).status == 413
        assert fetch(f"{server.root}/items/x", b"x" * 100).status == 201


def test_a_tool_sees_the_head_of_its_request(server: Served) -> None:
    answer = post_stateless(server.url, "tools/call", INFORM, x_trace="abc", authorization="Bearer xyz")
    found = answer.message["result"]["structuredContent"]
    assert (found["path"], found["trace"], found["token"]) == ("/mcp", "abc", None)
    assert found["headers"]["x-trace"] == "abc"
    assert not {"authorization", "content-type", "host", "accept"} & found["headers"].keys()
    assert {"authorization", "content-type", "host", "accept"} <= {*found["every"]}


def test_there_is_no_request_over_standard_input_and_output(routes: Path) -> None:
    with StdioClient(routes) as client:
        client.initialize()
        found = client.ask("tools/call", INFORM)["result"]["structuredContent"]
        assert found["path"] == "No active HTTP request found."
        assert (found["headers"], found["trace"], found["token"]) == ({}, None, None)


def test_routes_need_no_token_and_tools_see_theirs(routes: Path, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.touch(0o600)
    tokens.write_text("reader the-token-of-the-reader\n")
    with served(routes, "--token-file", str(tokens)) as server:
        assert fetch(f"{server.root}/health").status == 200
        assert post_stateless(server.url, "tools/call", INFORM).status == 401
        answer = post_stateless(server.url, "tools/call", INFORM, authorization="Bearer the-token-of-the-reader")
        assert answer.message["result"]["structuredContent"]["token"] == ["the-token-of-the-reader", "token reader"]


def test_a_check_names_what_has_no_effect() -> None:
    found = mcpc("check", PROGRAMS / "routes")
    said = found.stdout + found.stderr
    assert "the middleware `Marking` runs around the program's own HTTP routes" in said
    assert (
        "`StaticTokenVerifier` has no effect in a built server, which is given its tokens with `--token-file`" in said
    )
    assert "the route `/healthz` of the program is not served" in said


def test_an_application_of_the_project_with_the_server_in_it(tmp_path: Path) -> None:
    with served(build(PROGRAMS / "mounted", tmp_path / "server.pyz", "--http")) as server:
        assert fetch(f"{server.root}/health").message == {"ok": True}
        assert fetch(f"{server.root}/custom").message == {"custom": True}
        assert fetch(f"{server.root}/files/a/b").message == {"path": "/files/a/b"}
        assert fetch(f"{server.root}/nothing").status == 404
        echo = {"name": "echo", "arguments": {"text": "x"}}
        answer = post_stateless(server.url, "tools/call", echo, x_trace="abc")
        assert answer.message["result"]["structuredContent"] == {"result": "x abc"}
