"""Measure the cost of chunked bodies for a server: `python bench/chunked.py`.

The CPU time of the server's process for a body of one-byte chunks, over that of the same number of bytes with a
Content-Length: without a token, with a token, and where none is required; and the waiting time of another client
meanwhile.
"""

from __future__ import annotations

import socket
import statistics
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.artifact import build
from support.serving import Served, served
from support.talking import connect, write_project

TOKEN = "0123456789abcdef0123456789abcdef0123"
HEAD = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
TIMES = 20
GOAL = 3.0
BODIES = {"258 KB": b"1\r\nx\r\n" * 43_000 + b"0\r\n\r\n", "3.6 MB": b"1\r\nx\r\n" * 600_000 + b"0\r\n\r\n"}


def cpu_ms(server: Served) -> float:
    """Return the CPU time of the server's thread, in milliseconds."""
    return int(Path(f"/proc/{server.process.pid}/schedstat").read_text().split()[0]) / 1e6


def send(server: Served, data: bytes) -> None:
    """Send a request, and read until the server closes the connection."""
    with connect(server, 30) as connection, suppress(OSError):
        with suppress(OSError):
            connection.sendall(data)
        connection.recv(1 << 16)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 16):
            pass


def cost(server: Served, data: bytes) -> float:
    """Return the CPU time of a request."""
    send(server, data)
    before = cpu_ms(server)
    for _ in range(TIMES):
        send(server, data)
    return (cpu_ms(server) - before) / TIMES


def waits(server: Served, data: bytes) -> float:
    """Return the longest waiting time in milliseconds of another client while four send this continuously."""
    ends = threading.Event()

    def flood() -> None:
        while not ends.is_set():
            send(server, data)

    threads = [threading.Thread(target=flood) for _ in range(4)]
    for thread in threads:
        thread.start()
    times = []
    with connect(server, 30) as connection:
        for _ in range(100):
            began = time.perf_counter()
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            connection.recv(1 << 16)
            times.append((time.perf_counter() - began) * 1000)
            time.sleep(0.01)
    ends.set()
    for thread in threads:
        thread.join()
    return statistics.quantiles(times, n=100)[-1]


def measure(server: Served, who: str, token: str) -> None:
    """Print the rows of one kind of client."""
    for size, body in BODIES.items():
        chunked = (HEAD + token + "Transfer-Encoding: chunked\r\n\r\n").encode() + body
        plain = (HEAD + token + f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        costs = cost(server, chunked), cost(server, plain)
        ratio = costs[0] / costs[1]
        verdict = "" if ratio <= GOAL else f"  MISSED: {GOAL}x"
        latency = f"/healthz p99 {waits(server, chunked):6.1f} ms, plain {waits(server, plain):6.1f} ms"
        print(f"{who:<16}{size:>8}  {costs[0]:6.2f} ms  {costs[1]:6.2f} ms  {ratio:5.2f}x  {latency}{verdict}")


def main() -> int:
    """Measure, and print."""
    with tempfile.TemporaryDirectory(prefix="mcpc-bench-") as name:
        folder = Path(name)
        artifact = build(write_project(folder / "project"), folder / "server.pyz", "--http")
        tokens = folder / "tokens"
        tokens.write_text(f"tenant {TOKEN}\n")
        tokens.chmod(0o600)
        print(f"{'who':<16}{'body':>8}  chunked    plain      ratio")
        with served(artifact) as server:
            measure(server, "anybody", "")
        with served(artifact, "--token-file", str(tokens)) as server:
            measure(server, "without a token", "")
            measure(server, "with a token", f"Authorization: Bearer {TOKEN}\r\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
