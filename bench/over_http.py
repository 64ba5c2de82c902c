"""Measure servers over HTTP: `python bench/over_http.py [--quick] [--seconds N] [NAME ...]`.

An empty tool, called over 32 persistent connections by `wrk`; and the time from the spawn to the first 200. mcpc serves
directly, with the tool inline, in a worker and on the loop, and under granian with uvloop and one process per
processor; the others are FastMCP and the SDKs. All are measured in alternation; ratios over FastMCP in the same run
count. Stateless requests of 2026-07-28, or of 2025-06-18 for servers without that revision.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import places
from run import PEERS, Row, node_modules

if TYPE_CHECKING:
    from collections.abc import Iterator

CONNECTIONS = 32
START_SECONDS = 30.0
POLL_SECONDS = 0.0005
FASTMCP, GRANIAN = "FastMCP", "mcpc under granian"
EMBEDDED = "mcpc"
RATE_GOALS = {EMBEDDED: 8, GRANIAN: 30}
"""Calls per second over FastMCP's."""
START_GOAL_SECONDS = 0.25
MODERN, LEGACY = "2026-07-28", "2025-06-18"
META = "io.modelcontextprotocol/"
RATE = re.compile(r"Requests/sec:\s+([\d.]+)")


@dataclass(slots=True)
class Contender:
    """A server: its command, the revision of its requests, and its measurements."""

    argv: list[str]
    version: str = MODERN
    variables: dict[str, str] = field(default_factory=dict)
    starts: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a call."""
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": self.version,
        }
        return {**headers, "Mcp-Method": "tools/call", "Mcp-Name": "echo"} if self.version == MODERN else headers

    @property
    def body(self) -> bytes:
        """The body of a call."""
        params: dict[str, object] = {"name": "echo", "arguments": {"text": "hi"}}
        if self.version == MODERN:
            client = {"name": "bench", "version": "1"}
            meta = {"protocolVersion": MODERN, "clientInfo": client, "clientCapabilities": {}}
            params["_meta"] = {META + name: value for name, value in meta.items()}
        return json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).encode()


def contenders() -> Iterator[tuple[str, Contender]]:
    """Yield the servers that can be measured here."""
    python = str(places.clean_python())
    inline, worker, loop = built(True), built(False), built("loop")
    serve = ["serve", "--http", "127.0.0.1:{port}"]
    yield EMBEDDED, Contender([python, str(inline), *serve])
    yield "mcpc, tool in a worker", Contender([python, str(worker), *serve])
    yield "mcpc, tool on the loop", Contender([python, str(loop), *serve])
    granian = Path(sys.executable).with_name("granian")
    if granian.exists():
        words = ["--interface", "asgi", "--host", "127.0.0.1", "--port", "{port}", "--no-ws", "--log-level", "error"]
        words += ["--runtime-mode", "mt", "--loop", "uvloop", "--workers", str(os.cpu_count() or 1)]
        words += ["mcpc_app.asgi:app"]
        yield GRANIAN, Contender([str(granian), *words], variables={"PYTHONPATH": str(loop)})
        aside = Contender([str(granian), *words], variables={"PYTHONPATH": str(inline)})
        yield "mcpc under granian, tool in a thread", aside
    for name, file in {FASTMCP: "fastmcp_server.py", "Python SDK": "python_sdk.py"}.items():
        yield name, Contender([sys.executable, str(PEERS / file), "{port}"])
    modules = node_modules()
    if modules is not None:
        for name, file, version in (
            ("TypeScript SDK 1", "typescript_v1_http.mjs", LEGACY),
            ("TypeScript SDK 2", "typescript_v2_http.mjs", MODERN),
        ):
            yield name, Contender(["node", str(shutil.copy(PEERS / file, modules)), "{port}"], version)


def built(inline: bool | str) -> Path:
    """Return a server with one tool, built now unless an up-to-date build exists."""
    name = f"http-{inline}".lower()
    target = places.CACHE / f"server-{name}.pyz"
    project = places.write_project(places.CACHE / f"projects/{name}", 1, inline=inline)
    places.build(project, target, places.CACHE / "builds", "--http")
    return target


@contextmanager
def started(one: Contender) -> Iterator[tuple[int, float]]:
    """Start a server; yield its port, and the seconds from its spawn to its first 200."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    argv = [word.replace("{port}", str(port)) for word in one.argv]
    nothing = subprocess.DEVNULL
    began = time.perf_counter()
    process = subprocess.Popen(
        argv, stdin=nothing, stdout=nothing, stderr=nothing, env={**places.environment(), **one.variables}
    )
    try:
        while not is_answered(one, port):
            if process.poll() is not None or time.perf_counter() - began > START_SECONDS:
                sys.exit(f"{argv} does not answer (status {process.poll()})")
            time.sleep(POLL_SECONDS)
        yield port, time.perf_counter() - began
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def is_answered(one: Contender, port: int) -> bool:
    """Tell whether a call is answered correctly; False if the port is not open yet."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=START_SECONDS) as connection:
            lines = ["POST /mcp HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Content-Length: {len(one.body)}"]
            lines += ["Connection: close", *(f"{name}: {value}" for name, value in one.headers.items())]
            connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + one.body)
            data = b""
            while part := connection.recv(1 << 16):
                data += part
    except OSError:
        return False
    return data.startswith(b"HTTP/1.1 200 ") and b'"hi"' in data


def rate(one: Contender, port: int, seconds: int) -> float:
    """Return the calls per second that a server answers."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write('wrk.method = "POST"\n')
        script.writelines(f'wrk.headers["{name}"] = "{value}"\n' for name, value in one.headers.items())
        script.write(f"wrk.body = [==[{one.body.decode()}]==]\n")
        script.flush()
        words = ["-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", script.name, f"http://127.0.0.1:{port}/mcp"]
        said = subprocess.run(["wrk", *words], capture_output=True, text=True, check=True).stdout
    found = RATE.search(said)
    if found is None or "Non-2xx" in said:
        sys.exit(f"{one.argv} does not answer as it should:\n{said}")
    return float(found[1])


def measure(field_of: dict[str, Contender], rounds: int, seconds: int) -> None:
    """Measure all servers once per round, every second round in reverse order."""
    for number in range(rounds):
        for one in list(field_of.values())[:: -1 if number % 2 else 1]:
            with started(one) as (port, took):
                one.starts.append(took)
                one.rates.append(rate(one, port, seconds))


def rows(field_of: dict[str, Contender]) -> Iterator[Row]:
    """Yield the results."""
    unit = statistics.median(field_of[FASTMCP].rates) if FASTMCP in field_of else None
    for name, one in field_of.items():
        middle, start = statistics.median(one.rates), min(one.starts)
        value = f"{middle:>9,.0f}/s, first 200 after {start * 1e3:.0f} ms"
        if unit is None:
            yield Row(name, value)
            continue
        wanted = RATE_GOALS.get(name)
        ratio = middle / unit
        yield Row(
            name, f"{ratio:6.1f}x  ({value})", f">= {wanted}x" if wanted else "", ratio >= wanted if wanted else None
        )
    if EMBEDDED in field_of:
        start = min(field_of[EMBEDDED].starts)
        yield Row("spawn to the first 200", f"{start:.3f} s", f"<= {START_GOAL_SECONDS} s", start <= START_GOAL_SECONDS)


def main() -> int:
    """Measure, print, and tell whether a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=int, default=3, help="of each run of wrk")
    parser.add_argument("names", nargs="*", metavar="NAME", help="contenders whose names begin so; all by default")
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("wrk is not installed (Debian: apt-get install wrk)")
    chosen = {name: one for name, one in contenders() if not options.names or name.startswith(tuple(options.names))}
    measure(chosen, 1 if options.quick else 3, 1 if options.quick else options.seconds)
    found = list(rows(chosen))
    print(f"{CONNECTIONS} connections, load {os.getloadavg()[0]:.1f} of {os.cpu_count()} processors")
    for row in found:
        print(row)
    return int(any(row.met is False for row in found))


if __name__ == "__main__":
    sys.exit(main())
