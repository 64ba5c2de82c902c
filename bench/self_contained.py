"""Time the start of self-contained files, from spawn to the reply to `initialize`, over `python3 -I -c pass`.

    python bench/self_contained.py [--rounds N]

Rows: the archive that a Python starts, the self-contained file, and the same file by CPython's public API only, which a
version without a row in EARLY_START gets. All are started in turn, in the same rounds; the interpreter is a virtual
environment's, so that no version manager is measured. Beside the times: the memory of a server that has replied.
Exits with status 1 if the file takes more than its share.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from unittest import mock

from mcpc.cli.build import command
from mcpc.interpreters.selfcontained import executable

LIMITS = {"self-contained": 0.6, "public API": 0.75}
HELLO = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    b'"clientInfo":{"name":"bench","version":"1"}}}\n'
)
PROJECT = Path(__file__).parents[1] / "examples/files"


def build(target: Path, *options: str) -> str:
    """Build the example."""
    command([str(PROJECT), "-o", str(target), "-q", *options], standalone_mode=False)
    return str(target)


def reply_time(server: str, path: str) -> tuple[float, int]:
    """Return how long a server takes to its first reply, and its resident memory in KiB then."""
    started = time.perf_counter()
    with subprocess.Popen([server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"PATH": path}) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(HELLO)
        process.stdin.flush()
        line = process.stdout.readline()
        took = time.perf_counter() - started
        if b'"result"' not in line:
            raise SystemExit(f"{server} replied {line!r}")
        status = Path(f"/proc/{process.pid}/status").read_text()
        process.stdin.close()
    return took, int(status.partition("VmRSS:")[2].split()[0])


def pass_time(python: str) -> float:
    """Return how long a Python takes to do nothing."""
    started = time.perf_counter()
    subprocess.run([python, "-I", "-c", "pass"], check=True, env={})
    return time.perf_counter() - started


def measure(servers: dict[str, str], python: str, rounds: int) -> bool:
    """Print a row for each server; tell whether all are within their limits."""
    bare: list[float] = []
    times: dict[str, list[float]] = {name: [] for name in servers}
    memory: dict[str, int] = {}
    for _ in range(rounds):
        bare.append(pass_time(python))
        for name, server in servers.items():
            took, memory[name] = reply_time(server, f"{Path(python).parent}:/usr/bin:/bin")
            times[name].append(took)
    is_within = True
    for name, took_by_round in times.items():
        ratio = statistics.median(took / base for took, base in zip(took_by_round, bare, strict=True))
        least = min(took_by_round) / min(bare)
        size = Path(servers[name]).stat().st_size / 1e6
        sys.stdout.write(f"{name:20} {ratio:.3f} (min {least:.3f})  {memory[name] / 1024:.1f} MiB  {size:.1f} MB\n")
        is_within = is_within and least <= LIMITS.get(name, 1.0)
    return is_within


def main() -> int:
    """Build the servers and measure them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        venv.create(folder / "venv", with_pip=False)
        servers = {
            "server.pyz": build(folder / "server.pyz"),
            "self-contained": build(folder / "server", "--self-contained"),
            "minimal library": build(folder / "minimal", "--self-contained", "--minimal-library"),
        }
        with mock.patch.object(executable, "EARLY_START", frozenset()):
            servers["public API"] = build(folder / "public", "--self-contained")
        return 0 if measure(servers, str(folder / "venv/bin/python3"), rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
