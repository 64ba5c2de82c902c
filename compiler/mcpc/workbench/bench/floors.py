"""The least that is possible on this machine now: what a server is compared with.

A bare Python (`python3 -I -c pass`) is what any start costs; a Python that returns the bytes it is sent is what any
exchange costs, whatever is done in between.
"""

from __future__ import annotations

from contextlib import contextmanager
from subprocess import DEVNULL
from time import perf_counter
from typing import TYPE_CHECKING

from mcpc.sandbox import programs
from mcpc.sandbox.platforms.program_groups import GROUP_OPTIONS
from mcpc.workbench.bench.pipes import started

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from mcpc.workbench.bench.pipes import Lines

ECHO = "import os\nwhile data := os.read(0, 65536):\n    os.write(1, data)\n"
SOCKET_ECHO = """\
import socket, threading
def serve(connection):
    while data := connection.recv(65536):
        connection.sendall(data)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""


def bare_start() -> float:
    """Return the seconds of a Python that does nothing."""
    began = perf_counter()
    with started(_python("pass")) as lines:
        lines.process.wait()
        return perf_counter() - began


@contextmanager
def echoing() -> Iterator[Lines]:
    """Yield a Python that returns every line."""
    with started(_python(ECHO)) as lines:
        yield lines


@contextmanager
def echoing_port() -> Iterator[int]:
    """Yield a port of this machine at which all bytes are returned."""
    with started(_python(SOCKET_ECHO)) as lines:
        port = int(lines.receive())
        try:
            yield port
        finally:
            lines.process.kill()


def _python(code: str) -> subprocess.Popen[bytes]:
    command = programs.python_command("-c", code)
    return programs.start_program("bare Python", command, stderr=DEVNULL, **GROUP_OPTIONS)
