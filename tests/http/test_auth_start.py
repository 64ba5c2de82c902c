"""The built file, served with tokens: from its command line to its answers."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from artifact import build
from images import MODERN, project, tool
from issuer import serving
from serving import served

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guarded")
    for name, text in project([tool("read_a"), tool("write_a")]).items():
        (folder / name).write_text(str(text))
    return build(folder, folder / "server.pyz", "--http")


def status(url: str, token: str = "") -> int:
    asked = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as problem:
        return problem.code


def test_a_token_file_and_metrics_from_the_command_line(artifact: Path, tmp_path: Path) -> None:
    secret = tmp_path / "tokens"
    secret.write_text("me the-token-of-mine\n")
    secret.chmod(0o600)
    with served(artifact, "--token-file", str(secret), "--metrics") as server:
        assert status(f"{server.root}/metrics") == 401
        assert status(f"{server.root}/metrics", "the-token-of-nobody") == 401
        assert status(f"{server.root}/metrics", "the-token-of-mine") == 200
        assert status(f"{server.root}/healthz") == 200
        assert b"the-token-of" not in server.errors.read_bytes()


def call(url: str, name: str, token: str) -> tuple[int, Any]:
    params = {"name": name, "arguments": {}, "_meta": MODERN}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
    }
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30) as answer:
            return int(answer.status), json.loads(answer.read())
    except urllib.error.HTTPError as problem:
        return problem.code, problem.headers["www-authenticate"]


def test_an_authorization_server_and_a_collector_of_spans(tmp_path: Path) -> None:
    """With the packages that the file carries itself: PyJWT, cryptography, OpenTelemetry."""
    for name, text in project([tool("read_a"), tool("write_a")]).items():
        (tmp_path / name).write_text(str(text))
    artifact = build(tmp_path, tmp_path / "server.pyz", "--oauth", "--otel")
    with serving() as issuer:
        issuer.answers["/v1/traces"] = (200, {}, b"")
        options = ["--issuer", issuer.url, "--jwks", f"{issuer.url}/jwks", "--url", "https://mcp.example.com/mcp"]
        options += ["--scope", "mcp", "--scope", "write_*=mcp:write", "--metrics", "--otel"]
        given = {"OTEL_EXPORTER_OTLP_ENDPOINT": issuer.url}
        with served(artifact, *options, environment=given) as server:
            for number in range(3):
                assert call(server.url, "read_a", issuer.token(number, scope="mcp"))[0] == 200
            refused, how = call(server.url, "write_a", issuer.token(scope="mcp"))
            assert refused == 403 and 'scope="mcp mcp:write"' in how
            assert call(server.url, "read_a", issuer.token(aud="https://other.example.com"))[0] == 401
            assert status(f"{server.root}/.well-known/oauth-protected-resource/mcp") == 200
            asked = urllib.request.Request(f"{server.root}/metrics")
            asked.add_header("Authorization", f"Bearer {issuer.token(scope='mcp')}")
            with urllib.request.urlopen(asked, timeout=20) as answer:
                shown = answer.read().decode()
        assert 'mcpc_requests_total{method="tools/call",status="200"} 3' in shown
        assert 'mcpc_requests_total{method="tools/call",status="403"} 1' in shown
        assert 'mcpc_calls_total{kind="tool",name="read_a",outcome="success"} 3' in shown
        (spans,) = [body for path, body, _ in issuer.asked if path == "/v1/traces"]
        assert spans.count(b"tools/call read_a") == 3
