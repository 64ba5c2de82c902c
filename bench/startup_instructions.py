"""Count the instructions of a server's whole life: start, initialize, tools/list, end of input.

    python bench/startup_instructions.py [SERVER] [--limit RATIO]

Prints the count over that of `python3 -I -S -c pass`, and exits with status 1 if it exceeds the limit. A count does not
depend on the machine's load, so it can guard the start. SERVER is a built file; by default a small one is built. Needs
valgrind, and Linux.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import places
import wire

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LIMIT = 1.3
COLLECTED = re.compile(r"Collected\s*:\s*(\d+)")
CONVERSATION = (
    wire.request(wire.FIRST_ID, "initialize", wire.CLIENT)
    + wire.INITIALIZED
    + wire.request(wire.FIRST_ID + 1, "tools/list", {})
)
BARE = ("-I", "-S", "-c", "pass")
NOTHING: Mapping[str, str] = MappingProxyType({})


def instructions(argv: Sequence[str], variables: Mapping[str, str] = NOTHING) -> tuple[int, bytes]:
    """Return the instructions of a command and its children for the conversation, and its output.

    `variables` are added to the standard environment.
    """
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=/dev/null"]
        done = subprocess.run(
            [*valgrind, f"--log-file={folder}/%p", *argv],
            input=CONVERSATION,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**places.environment(), **variables},
            check=True,
        )
        logs = "".join(path.read_text() for path in sorted(Path(folder).iterdir()))
    return sum(map(int, COLLECTED.findall(logs))), done.stdout


def ratio(server: Path) -> tuple[float, int, int]:
    """Return the server's instructions over the bare interpreter's, and both counts."""
    bare, _ = instructions([str(places.clean_python()), *BARE])
    served, output = instructions([str(server)])
    if b'"tools"' not in output:
        raise RuntimeError(f"{server} did not list its tools: {output[:300]!r}")
    return served / bare, served, bare


def small_server() -> Path:
    """Build a server with one tool of each kind."""
    target = places.CACHE / "small.pyz"
    places.build(places.write_project(places.CACHE / "projects/small", 1), target, places.CACHE / "builds")
    return target


def main() -> int:
    """Print the ratio; return 1 if it is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server", nargs="?", type=Path)
    parser.add_argument("--limit", type=float, default=LIMIT)
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed (Debian package valgrind)")
    server = options.server or small_server()
    found, served, bare = ratio(server.resolve())
    print(f"{server.name}: {served / 1e6:.2f} M instructions; python3 {' '.join(BARE)}: {bare / 1e6:.2f} M")
    print(f"ratio {found:.3f}, limit {options.limit}")
    return int(found > options.limit)


if __name__ == "__main__":
    sys.exit(main())
