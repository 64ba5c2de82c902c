"""A built server over HTTP, in a separate process: on a free port, until a test is done with it."""

import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

LISTENS = re.compile(rb"serving (http://\S+)")
PATIENCE = 30.0
"""Seconds; the machine may be busy with other tests."""


@dataclass(frozen=True, slots=True)
class Served:
    """A server that listens.  `errors`: the file that its standard error goes to."""

    url: str
    process: subprocess.Popen[bytes]
    errors: Path

    @property
    def root(self) -> str:
        """The address without the endpoint's path."""
        return "{0.scheme}://{0.netloc}".format(urlsplit(self.url))

    @property
    def localhost(self) -> str:
        """The endpoint by the name of the loopback, for clients that want one."""
        return self.url.replace("127.0.0.1", "localhost")


@contextmanager
def served(
    artifact: Path, *options: str, environment: Mapping[str, str] | None = None, python: str = sys.executable
) -> Iterator[Served]:
    """Serve an artifact until the block ends; it is ready when the block begins, and gone after it."""
    with tempfile.TemporaryDirectory(prefix="mcpc-served-") as folder:
        errors = Path(folder) / "errors"
        variables = {**os.environ, "MCPC_TASKS": f"sqlite:{folder}/tasks.db", **(environment or {})}
        argv = [python, str(artifact), "serve", "--http", "127.0.0.1:0", *options]
        with errors.open("wb") as stream:
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, env=variables)
        try:
            server = Served(address(process, errors), process, errors)
            wait_until_ready(server)
            yield server
        finally:
            stop(process)


def address(process: subprocess.Popen[bytes], errors: Path) -> str:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        said = errors.read_bytes()
        found = LISTENS.search(said)
        if found and said.find(b"\n", found.end()) >= 0:
            return found[1].decode()
        if process.poll() is not None:
            break
        time.sleep(0.01)
    raise RuntimeError(f"the server does not listen (status {process.poll()}):\n{errors.read_text(errors='replace')}")


def wait_until_ready(server: Served) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(f"{server.root}/readyz", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.02)
    raise RuntimeError(f"the server does not become ready:\n{server.errors.read_text(errors='replace')}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a server as an operator does; kill it if it does not end."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
