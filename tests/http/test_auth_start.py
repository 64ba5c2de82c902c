"""The built file, served with tokens: from its command line to its answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.artifact import build
from support.files import write_files
from support.images import project, tool
from support.issuer import serving
from support.posts import Answer, fetch, post_stateless
from support.serving import served


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guarded")
    write_files(folder, project([tool("read_a"), tool("write_a")]))
    return build(folder, folder / "server.pyz", "--http")


def status(url: str, token: str = "") -> int:
    return fetch(url, headers={"Authorization": f"Bearer {token}"} if token else {}).status


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


def call(url: str, name: str, token: str) -> Answer:
    return post_stateless(url, "tools/call", {"name": name, "arguments": {}}, authorization=f"Bearer {token}")


@pytest.mark.slow
def test_an_authorization_server_and_a_collector_of_spans(tmp_path: Path) -> None:
    """With the packages that the file carries itself: PyJWT, cryptography, OpenTelemetry."""
    write_files(tmp_path, project([tool("read_a"), tool("write_a")]))
    artifact = build(tmp_path, tmp_path / "server.pyz", "--oauth", "--otel")
    with serving() as issuer:
        issuer.answers["/v1/traces"] = (200, {}, b"")
        options = ["--issuer", issuer.url, "--jwks", f"{issuer.url}/jwks", "--url", "https://mcp.example.com/mcp"]
        options += ["--scope", "mcp", "--scope", "write_*=mcp:write", "--metrics", "--otel"]
        given = {"OTEL_EXPORTER_OTLP_ENDPOINT": issuer.url}
        with served(artifact, *options, environment=given) as server:
            for number in range(3):
                assert call(server.url, "read_a", issuer.token(number, scope="mcp")).status == 200
            refused = call(server.url, "write_a", issuer.token(scope="mcp"))
            assert refused.status == 403 and 'scope="mcp mcp:write"' in refused.headers["www-authenticate"]
            assert call(server.url, "read_a", issuer.token(aud="https://other.example.com")).status == 401
            assert status(f"{server.root}/.well-known/oauth-protected-resource/mcp") == 200
            bearer = {"authorization": f"Bearer {issuer.token(scope='mcp')}"}
            shown = fetch(f"{server.root}/metrics", headers=bearer).body.decode()
        assert 'mcpc_requests_total{method="tools/call",status="200"} 3' in shown
        assert 'mcpc_requests_total{method="tools/call",status="403"} 1' in shown
        assert 'mcpc_calls_total{kind="tool",name="read_a",outcome="success"} 3' in shown
        (spans,) = [body for path, body, _ in issuer.asked if path == "/v1/traces"]
        assert spans.count(b"tools/call read_a") == 3
