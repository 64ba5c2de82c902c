"""Measure the cost of large data, and how fast a server ends: `python bench/floods.py [FORM ...]`.

1 GiB written by a handler, a request line of 64 MiB, arguments of 4 and 16 MiB, the end of the input and SIGTERM, idle
and with 64 children that ignore signals.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import handlers
import places
import wire

if TYPE_CHECKING:
    from collections.abc import Iterator

MIB = 1 << 20
CHILDREN = 64


def started(form: str) -> wire.Server:
    """Return a server whose handlers have been started."""
    server = wire.Server([str(places.clean_python()), str(handlers.server(form))], places.environment())
    server.start()
    for _ in range(3):
        server.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}})
    return server


def row(form: str, what: str, value: str, goal: str, met: bool) -> None:
    """Print one figure."""
    print(f"  {form:8}{what:58}{value:22}{goal:14}{'met' if met else 'MISSED'}", flush=True)


@contextmanager
def growth(server: wire.Server) -> Iterator[list[float]]:
    """Measure the maximum growth in MiB of the memory of a server's own process."""
    over = threading.Event()
    found: list[float] = []

    def resident() -> int:
        try:
            return int(Path(f"/proc/{server.pid}/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            return 0

    base = most = resident()

    def watch() -> None:
        nonlocal most
        while not over.wait(0.003):
            most = max(most, resident())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()
        found.append((most - base) / MIB)


def output(form: str) -> None:
    """Have a handler write 1 GiB."""
    server = started(form)
    began = time.perf_counter()
    with growth(server) as grown:
        server.ask("tools/call", {"name": "flood", "arguments": {"mib": 1024}})
    took = time.perf_counter() - began
    row(form, "1 GiB written by a handler", f"+{grown[0]:.1f} MiB, {took:.1f} s", "<= 32 MiB", grown[0] <= 32)
    server.close()


def line(form: str) -> None:
    """Send a line of 64 MiB."""
    server = started(form)
    began = time.perf_counter()
    with growth(server) as grown:
        server.write(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"')
        for _ in range(64):
            server.write(b"x" * MIB)
        server.write(b'"}}\n')
        server.line()
    took = time.perf_counter() - began
    row(form, "64 MiB request line, refused", f"+{grown[0]:.1f} MiB, {took:.2f} s", "<= 20 MiB", grown[0] <= 20)
    server.close()


def arguments(form: str) -> None:
    """Send large arguments; a digest verifies that they arrived unchanged."""
    server = started(form)
    began = time.perf_counter()
    server.ask("tools/call", {"name": "size", "arguments": {"text": "x" * (4 * MIB)}})
    took = time.perf_counter() - began
    row(form, "4 MiB argument", f"{took:.2f} s", "<= 1 s", took <= 1)
    given = "0123456789abcdef" * MIB
    began = time.perf_counter()
    reply = server.ask("tools/call", {"name": "digest", "arguments": {"text": given}})
    took = time.perf_counter() - began
    row(form, "16 MiB argument", f"{took:.2f} s", "exact", hashlib.sha256(given.encode()).hexdigest().encode() in reply)
    server.close()


def ending(form: str, children: int, number: int) -> None:
    """End a server by a signal, or by the end of its input (0)."""
    server = started(form)
    if children:
        for _ in range(children):
            server.number += 1
            server.write(wire.request(server.number, "tools/call", {"name": "stubborn", "arguments": {}}))
        deadline = time.perf_counter() + 30
        while stubborn(server) < children and time.perf_counter() < deadline:
            time.sleep(0.05)
    began = time.perf_counter()
    if number:
        os.kill(server.pid, number)
    else:
        os.close(server.to)
    while os.waitpid(server.pid, os.WNOHANG)[0] == 0 and time.perf_counter() - began < 30:
        time.sleep(0.002)
    took = time.perf_counter() - began
    limit = 5 if children else 0.2
    what = f"exit after {signal.Signals(number).name if number else 'the end of the input'}"
    row(
        form,
        f"{what}, {f'{children} stubborn children' if children else 'idle'}",
        f"{took:.3f} s",
        f"<= {limit} s",
        took <= limit,
    )


def stubborn(server: wire.Server) -> int:
    """Return the number of children that ignore signals."""
    found = 0
    for pid in wire.family(server.pid):
        try:
            found += b"\0-c\0trap" in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
    return found


def main() -> int:
    """Run the selected measurements."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("forms", nargs="*", choices=[*handlers.FORMS, []], help="all of them if none is named")
    for form in parser.parse_args().forms or handlers.FORMS:
        if form != "inline":
            output(form)
        line(form)
        arguments(form)
        for children in (0, CHILDREN) if form != "inline" else (0,):
            for number in (0, signal.SIGTERM):
                ending(form, children, number)
    return 0


if __name__ == "__main__":
    sys.exit(main())
