"""What `docs/production.md` says, done on a machine of its own: `python -m docs.production FOLDER REQUESTS`.

Namespaces give it a network, /etc and /opt; nothing of them is left.  `FOLDER/here` is where the page's reader works.
While the replicas are restarted as the page says, clients ask through nginx and never ask again.  Prints a tally as JSON.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from support.needs import ROOT

PAGE = ROOT / "docs/production.md"
HOST = "mcp.example.com"
CLIENTS = 8
NGINX = """
user root;
daemon off;
master_process off;
pid {folder}/nginx-master.pid;
error_log {folder}/nginx-error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  include /etc/nginx/conf.d/files.conf;
}}
"""
FILES = ("/etc/files/settings.env", "/etc/valkey/valkey.conf")
"""Where the blocks that are configurations belong, in the order of the page."""
MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}


def main(folder: Path, requests: int) -> None:
    """Follow the page; print what became of the requests, and what else was seen."""
    prepare(folder)
    install, nginx, start, whole, restart = blocks("sh")
    run(folder, install)
    for place, text in zip(FILES, blocks("ini"), strict=True):
        Path(place).parent.mkdir(parents=True, exist_ok=True)
        Path(place).write_text(text)
    certificate(folder)
    for each in (nginx, start):
        run(folder, each)
    opened = json.loads(run(folder, whole))
    token = Path("/etc/files/secrets/tokens").read_text().split()[1]
    pids = [(folder / f"files@{port}.pid").read_text() for port in (8001, 8002)]
    restarts = 0
    with load(token, folder, requests) as tally:
        tally.wait(requests // 8)
        before = tally.done
        while restarts == 0 or tally.done < requests:
            run(folder, restart)
            restarts += 1
        during = tally.done - before
    seen = {
        "opened": opened["result"]["serverInfo"]["name"],
        "done": tally.done,
        "during": during,
        "restarts": restarts,
        "lost": tally.lost,
        "same": sum((folder / f"files@{port}.pid").read_text() in pids for port in (8001, 8002)),
        "metrics": [status for target in targets() for status in scraped(target, token)],
        "logged": [b'"tool"' in (folder / f"files@{port}.log").read_bytes() for port in (8001, 8002)],
    }
    sys.stdout.write(json.dumps(seen))


def blocks(language: str) -> list[str]:
    """Return the page's blocks of a language."""
    parts = PAGE.read_text(encoding="utf-8").split("```")[1::2]
    return [part.partition("\n")[2] for part in parts if part.partition("\n")[0] == language]


def prepare(folder: Path) -> None:
    """Make the machine: its network, and folders that are its own."""
    upper = folder / "machine"
    for command in (
        "ip link set lo up",
        f"mkdir -p {upper} {folder}/bin {folder}/units",
        f"mount -t tmpfs machine {upper}",
        f"mkdir {upper}/etc {upper}/work",
        f"mount -t overlay machine -o lowerdir=/etc,upperdir={upper}/etc,workdir={upper}/work /etc",
        "mount -t tmpfs machine /opt",
        "mkdir -p /etc/nginx/conf.d /etc/systemd/system",
    ):
        subprocess.run(command.split(), check=True)
    Path("/etc/hosts").write_text(f"127.0.0.1 localhost {HOST}\n")
    Path("/etc/nginx/nginx.conf").write_text(NGINX.format(folder=folder))
    script = f'#!/bin/sh\nexec {sys.executable} {ROOT}/tests/support/systemctl.py {folder} "$@"\n'
    (folder / "bin/systemctl").write_text(script)
    (folder / "bin/systemctl").chmod(0o755)


def certificate(folder: Path) -> None:
    """Write the certificate that nginx shows, signed by itself, where the page's reader has it."""
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]
    command += ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    command += ["-keyout", f"{HOST}.key", "-out", f"{HOST}.crt"]
    subprocess.run(command, cwd=folder / "here", check=True, capture_output=True)


def run(folder: Path, block: str) -> str:
    """Run a block of the page as it is written; return what it prints."""
    path = f"{folder}/bin:{os.environ['PATH']}:/usr/sbin:/sbin"
    environment = {**os.environ, "PATH": path, "CURL_CA_BUNDLE": str(folder / "here" / f"{HOST}.crt")}
    done = subprocess.run(
        ["bash", "-euc", block], cwd=folder / "here", env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if done.returncode:
        logs = "".join(f"--- {log.name}\n{log.read_text()[-3000:]}" for log in sorted(folder.glob("*.log")))
        sys.exit(f"{block}\n{done.stdout}{done.stderr}\n{logs}")
    return done.stdout


def targets() -> list[str]:
    """Return what Prometheus is to ask, by the page."""
    return list(yaml.safe_load(blocks("yaml")[0])["scrape_configs"][0]["static_configs"][0]["targets"])


def scraped(target: str, token: str) -> Iterator[int]:
    """Yield the statuses of the metrics of a replica, without a token and with one."""
    for headers in ({}, {"Authorization": f"Bearer {token}"}):
        connection = http.client.HTTPConnection(target, timeout=30)
        connection.request("GET", "/metrics", headers=headers)
        yield connection.getresponse().status
        connection.close()


class Tally:
    """What became of the requests."""

    def __init__(self) -> None:
        self.done = 0
        self.lost: list[str] = []
        self.changed = threading.Condition()
        self.over = threading.Event()

    def add(self, problem: str = "") -> None:
        """Count a request that was answered, or note why one was lost."""
        with self.changed:
            self.done += 1
            self.lost += [problem] if problem else []
            self.changed.notify_all()

    def wait(self, count: int) -> None:
        """Wait until so many requests have ended."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.done >= count, 600), self.lost


@contextmanager
def load(token: str, folder: Path, requests: int) -> Iterator[Tally]:
    """Have clients ask within the block, and so many requests at least."""
    tally = Tally()
    threads = [threading.Thread(target=ask, args=(Client(token, folder), tally, seed)) for seed in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield tally
        tally.wait(requests)
    finally:
        tally.over.set()
        for thread in threads:
            thread.join()


def ask(client: Client, tally: Tally, seed: int) -> None:
    """Ask one thing after the other: sums mostly, some of which take a while, in both eras."""
    number = seed
    while not tally.over.is_set():
        number += CLIENTS
        try:
            sum_of = client.handshake if number % 5 == 0 else client.stateless
            found = sum_of(number, 0.3 if number % 7 == 0 else 0.0)
            tally.add("" if found == str(number + 1) else f"{found!r} in place of {number + 1}")
        except Exception as problem:  # noqa: BLE001 - whatever goes wrong, the request is lost
            client.connection.close()
            tally.add(f"{type(problem).__name__}: {problem}"[:300])


class Client:
    """A client that asks once for everything: one connection through nginx, and one session of the handshake era."""

    def __init__(self, token: str, folder: Path) -> None:
        trust = ssl.create_default_context(cafile=str(folder / "here" / f"{HOST}.crt"))
        self.connection = http.client.HTTPSConnection(HOST, context=trust, timeout=60)
        self.headers = {
            "Authorization": f"Bearer {token}", "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }  # fmt: skip
        start = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}
        self._post("initialize", start, {})
        self.session = {"Mcp-Session-Id": self.told["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}

    def _post(self, method: str, params: dict[str, Any], headers: dict[str, str]) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        self.connection.request("POST", "/mcp", body, {**self.headers, **headers})
        reply = self.connection.getresponse()
        self.told, data = reply.headers, reply.read().decode()
        if reply.status != 200:
            raise ValueError(f"{reply.status} {data[:200]}")
        if reply.headers["content-type"].startswith("text/event-stream"):
            data = [line.removeprefix("data:") for line in data.splitlines() if line.startswith("data:")][-1]
        return json.loads(data)["result"]

    def handshake(self, number: int, seconds: float) -> str:
        """Return a sum, asked for in a session."""
        params = {"name": "add", "arguments": {"a": number, "b": 1, "seconds": seconds}}
        return str(self._post("tools/call", params, self.session)["content"][0]["text"])

    def stateless(self, number: int, seconds: float) -> str:
        """Return a sum, asked for in the stateless era."""
        params = {"name": "add", "arguments": {"a": number, "b": 1, "seconds": seconds}, "_meta": MODERN}
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "add"}
        return str(self._post("tools/call", params, headers)["content"][0]["text"])


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
