"""A separate Redis or Valkey for a test: a real server on a free port, which can be stopped and started again."""

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from support.needs import lacking
from support.ports import reserved_port

PROGRAM = next((name for name in ("valkey-server", "redis-server") if shutil.which(name)), "")
PASSWORD = "s3cret%21-of-redis"
"""As it stands in an address: the last but one sign is an exclamation mark."""
START_SECONDS = 20


class RedisServer:
    """One server; it keeps its data over `stop` and `start`, as an `appendonly` one does."""

    def __init__(self, folder: Path) -> None:
        if not PROGRAM:
            lacking("neither valkey-server nor redis-server is installed (`make deps` says how to get one)")
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.port = reserved_port()
        self.url = f"redis://:{PASSWORD}@127.0.0.1:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        words = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder), "--save", ""]
        words += ["--appendonly", "yes", "--appendfsync", "always", "--requirepass", PASSWORD.replace("%21", "!")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1) as wire:
                wire.sendall(f"AUTH {PASSWORD.replace('%21', '!')}\r\nPING\r\n".encode())
                answers = wire.recv(100)
                while answers.count(b"\n") < 2:
                    answers += wire.recv(100)
                if answers.endswith(b"+PONG\r\n"):  # not as long as it loads what it kept
                    return
            time.sleep(0.02)
        raise TimeoutError((self.folder / "log").read_text())

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """Let it answer nothing for a while, as on a busy machine."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """End it immediately, as a power failure would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
