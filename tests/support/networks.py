"""Separate networks for a server and its clients, with a router between them that can stop forwarding.

A connection through a router that was cut hears nothing more, no FIN and no error: its client has vanished.  Needs root
and `ip` of iproute2; everything is gone when the block ends.
"""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

SERVER, CLIENT = "198.51.100.2", "203.0.113.2"
"""The addresses of either side, from those that are for examples only."""
SIDES = {"server": (SERVER, "198.51.100.1"), "client": (CLIENT, "203.0.113.1")}
CLONE_NEWNET = 0x40000000


@dataclass(frozen=True)
class Network:
    """Three network namespaces, known by their names."""

    name: str

    def prefix(self, side: str) -> list[str]:
        """Return the words that run a command on one side."""
        return [ip(), "netns", "exec", f"{self.name}-{side}"]

    def passes(self, whether: bool) -> None:
        """Have the router pass on what comes, or nothing."""
        words = [*self.prefix("router"), "sh", "-c", f"echo {int(whether)} > /proc/sys/net/ipv4/ip_forward"]
        subprocess.run(words, check=True, timeout=20)

    @contextmanager
    def inside(self, side: str) -> Iterator[None]:
        """Have this thread make its sockets on one side."""
        with Path("/proc/thread-self/ns/net").open() as before, Path(f"/run/netns/{self.name}-{side}").open() as there:
            enter(there.fileno())
            try:
                yield
            finally:
                enter(before.fileno())


def ip() -> str:
    """Return the program that makes networks, if there is one."""
    return shutil.which("ip", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") or ""


def enter(descriptor: int) -> None:
    """Move this thread into a network."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns failed")


@contextmanager
def network() -> Iterator[Network]:
    """Make a network; it passes everything on until it is told otherwise."""
    made = Network(f"mcpc-{os.getpid()}")
    with ExitStack() as stack:
        for side in ("router", *SIDES):
            run("netns", "add", f"{made.name}-{side}")
            stack.callback(run, "netns", "delete", f"{made.name}-{side}")
        for side, (address, gateway) in SIDES.items():
            link, router = ("-n", f"{made.name}-{side}"), ("-n", f"{made.name}-router")
            run(*link, "link", "add", "out", "type", "veth", "peer", "name", side, "netns", f"{made.name}-router")
            run(*link, "address", "add", f"{address}/24", "dev", "out")
            run(*router, "address", "add", f"{gateway}/24", "dev", side)
            run(*link, "link", "set", "lo", "up")
            run(*link, "link", "set", "out", "up")
            run(*router, "link", "set", side, "up")
            run(*link, "route", "add", "default", "via", gateway)
        made.passes(True)
        yield made


def run(*words: str) -> None:
    """Run `ip`."""
    subprocess.run([ip(), *words], check=True, timeout=20, capture_output=True)
