"""What exports start is served to holders of a token only, alone and behind the exported site."""

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from mcpc.release.exports import EXPORTS, Deployment
from support.needs import needs
from support.serving import served

TOKEN = "a-token-of-the-operator"
NGINX = """daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
{site}
}}
"""
LIST = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip


def words_of(kind: str, folder: Path, **where: str) -> list[str]:
    """Return the options with which an export starts `serve`; its files are in a folder."""
    text = EXPORTS[kind](Deployment("weather", "1", **where).checked())  # type: ignore[arg-type]
    if kind == "systemd":
        command = re.search(r"^ExecStart=((?:.*\\\n)*.*)$", text, re.M)
        line = command[1].replace("\\\n", " ").replace("%d", str(folder)).replace("%i", "8001") if command else ""
        words = shlex.split(line)
    elif kind == "nginx":
        command = re.search(r"^#   (server\.pyz serve (?:.*\\\n)*.*)$", text, re.M)
        words = shlex.split(command[1].replace("\\\n#", " ") if command else "")
        words = [
            str(folder / {"keys": "state-keys"}.get(word, word)) if word in ("tokens", "keys") else word
            for word in words
        ]
    elif kind == "compose":
        words = yaml.safe_load(text)["services"]["weather"]["command"]
    else:
        objects = [each for each in yaml.safe_load_all(text) if each]
        pod = next(each for each in objects if each["kind"] == "Deployment")["spec"]["template"]["spec"]
        words = pod["containers"][0]["args"]
    return words[words.index("serve") + 1 :]


def without(words: list[str], *options: str) -> list[str]:
    places = {
        place for option in options for place in (words.index(option), words.index(option) + 1) if option in words
    }
    return [word for place, word in enumerate(words) if place not in places]


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """The folder of credentials, as systemd makes it: those of root, which its group may read because of an ACL."""
    folder = tmp_path / "credentials"
    folder.mkdir(mode=0o700)
    for name, text in (("tokens", f"operator {TOKEN}\n"), ("state-keys", "0" * 64 + "\n")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o440 if os.geteuid() == 0 else 0o400)
    return folder


def variables(secrets: Path) -> dict[str, str]:
    """Return the variables of a service: its credentials, and the settings that the server requires."""
    return {"CREDENTIALS_DIRECTORY": str(secrets), "API_KEY": "k", "ROOT": str(secrets)}


@pytest.mark.parametrize("left_out", ["file", "option"])
@pytest.mark.parametrize("kind", ["systemd", "nginx", "compose", "kubernetes"])
def test_without_tokens_nothing_is_served(
    kind: str, left_out: str, artifact: Path, tmp_path: Path, secrets: Path
) -> None:
    words = words_of(kind, secrets)
    if "--token-file" in words and left_out == "option":
        words = without(words, "--token-file")
    (secrets / "tokens").unlink()
    environment = {**os.environ, **variables(secrets)}
    words[words.index("--http") + 1] = words[words.index("--http") + 1].rpartition(":")[0] + ":0"
    command = [sys.executable, str(artifact), "serve", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    reason = "tokens cannot be used: No such file" if "--token-file" in words else "anybody who can reach "
    assert (done.returncode, reason in done.stderr, "serving" in done.stderr) == (2, True, False), done.stderr


@pytest.mark.parametrize("kind", ["systemd", "nginx"])
def test_behind_the_exported_site_a_token_is_needed(kind: str, artifact: Path, tmp_path: Path, secrets: Path) -> None:
    needs("nginx")
    words = without(words_of(kind, secrets), "--http")
    with served(artifact, *words, environment=variables(secrets)) as server:
        address = server.root.removeprefix("http://")
        site = EXPORTS["nginx"](Deployment("weather", "1", upstreams=(address,)).checked())
        site = re.sub(r" +ssl_certificate.*\n", "", site).replace("listen 443 ssl;", f"listen unix:{tmp_path}/socket;")
        (tmp_path / "nginx.conf").write_text(NGINX.format(folder=tmp_path, site=site))
        proxy = subprocess.Popen(["nginx", "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path)])
        try:
            assert status(tmp_path / "socket", proxy) == 401
            assert status(tmp_path / "socket", proxy, TOKEN) == 200
            paths = ("/mcp/server-card", "/.well-known/ai-catalog.json", "/metrics", "/mcp/more")
            card = 200 if "--url" in words else 404
            found = [status(tmp_path / "socket", proxy, path=path) for path in paths]
            assert found == [card, card, 404, 404]
        finally:
            proxy.terminate()
            proxy.wait()


def status(place: Path, proxy: subprocess.Popen[bytes], token: str = "", path: str = "") -> int:
    """Return the status of an answer through the site: to a message, or to a GET of another path."""
    body = "" if path else json.dumps(LIST)
    head = [
        f"GET {path} HTTP/1.1" if path else "POST /mcp HTTP/1.1", "Host: mcp.example.com", "Connection: close", "Content-Type: application/json",
        "Accept: application/json, text/event-stream", f"Content-Length: {len(body)}",
        *([f"Authorization: Bearer {token}"] if token else []),
    ]  # fmt: skip
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        while connection.connect_ex(str(place)):  # the socket is there before nginx listens at it
            assert proxy.poll() is None
            time.sleep(0.01)
        connection.sendall("\r\n".join([*head, "", body]).encode())
        return int(connection.recv(64).split()[1])
