"""A store, some replicas of one built server, and nginx before them: real processes on free ports, all ended at the end."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

from support.ports import reserved_port

STORE = next((name for name in ("valkey-server", "redis-server") if shutil.which(name)), "")
START_SECONDS = 20


def wait_for(address: str, seconds: float = START_SECONDS) -> None:
    """Wait until a GET of `address` is answered with 200."""
    end = time.monotonic() + seconds
    while True:
        with suppress(OSError), urlopen(address, timeout=2) as reply:
            if reply.status == 200:
                return
        if time.monotonic() > end:
            raise TimeoutError(f"nothing answers at {address}")
        time.sleep(0.02)


class Fleet:
    """`archive` served `count` times.  `url`: of nginx; `kill(n)` ends one replica at once, `start(n)` starts it again."""

    def __init__(self, archive: Path, folder: Path, count: int = 3) -> None:
        self.archive = archive
        self.folder = folder
        self.ports = [reserved_port() for _ in range(count)]
        self.replicas: list[subprocess.Popen[bytes]] = []
        self.others: list[subprocess.Popen[bytes]] = []
        self.store_port, self.port = reserved_port(), reserved_port()
        self.keys = folder / "keys"
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    def __enter__(self) -> Fleet:
        self.keys.write_text("a-key-that-every-replica-of-this-test-has\n")
        self.keys.chmod(0o600)
        self._store()
        for number in range(len(self.ports)):
            self.replicas.append(self._spawn(number))
        for port in self.ports:
            wait_for(f"http://127.0.0.1:{port}/readyz")
        self._nginx()
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.replicas, *self.others):
            process.kill()
            process.wait()

    def _store(self) -> None:
        command = [STORE, "--port", str(self.store_port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        command += ["--dir", str(self.folder)]
        self.others.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.store_port), 1):
                return
            time.sleep(0.02)
        raise TimeoutError("the store does not answer")

    def _spawn(self, number: int) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "MCPC_STATE_KEYS_FILE": str(self.keys),
            "MCPC_TASKS": f"redis://127.0.0.1:{self.store_port}/0",
        }
        words = ["serve", "--http", f"127.0.0.1:{self.ports[number]}", "--allow-host", f"127.0.0.1:{self.port}"]
        with (self.folder / f"replica-{number}.log").open("ab") as log:
            command = [sys.executable, str(self.archive), *words]
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    def kill(self, number: int) -> None:
        """End a replica at once, as a lost machine would."""
        self.replicas[number].kill()
        self.replicas[number].wait()

    def start(self, number: int) -> None:
        """Start a replica again, on its port."""
        self.replicas[number] = self._spawn(number)

    def _nginx(self) -> None:
        servers = "".join(f"server 127.0.0.1:{port} max_fails=0;" for port in self.ports)
        config = self.folder / "nginx.conf"
        config.write_text(NGINX.format(folder=self.folder, port=self.port, servers=servers))
        self.others.append(subprocess.Popen(["nginx", "-c", str(config), "-p", str(self.folder)]))
        wait_for(f"http://127.0.0.1:{self.port}/readyz")


NGINX = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream replicas {{ {servers} }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://replicas;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_connect_timeout 1s;
      proxy_read_timeout 30s;
      proxy_next_upstream error;
    }}
  }}
}}
"""
