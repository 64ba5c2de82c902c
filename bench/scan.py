"""Measure that a scan is linear in the bytes of a text, also of texts that were made to be slow.

    python bench/scan.py [--bytes 40000] [PATTERN ...]

Each pattern is repeated to a text of so many bytes, and to one eight times as long.  Printed are the processor's
nanoseconds per byte of both, and their ratio: about 1 is linear, and about 8 would be quadratic.  Without patterns
those of `tests/compiler/test_scan.py` are taken, and the texts of its attacks one after the other.  Exit status 1 if a
ratio is above 2.
"""

from __future__ import annotations

import argparse
import sys
import time

import places

sys.path.append(str(places.ROOT / "tests"))

from compiler.test_scan import HONEST, ORDERS, PARAPHRASES, REPEATED
from mcpc.release.scan import ScannedServer, scan_servers

FACTOR, LIMIT, ROUNDS = 8, 2.0, 3


def nanoseconds(text: str) -> float:
    """Return the processor's nanoseconds per byte of a scan: the least of some rounds."""
    server = ScannedServer("bench", "bench", {"tools": [{"name": "a", "description": text}]})
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time_ns()
        scan_servers([server])
        taken.append(time.process_time_ns() - began)
    return min(taken) / len(text.encode())


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=40_000)
    parser.add_argument("patterns", nargs="*")
    given = parser.parse_args()
    attacks = " ".join(str(text) for row in ORDERS.values() for text in row["attacks"])
    paraphrases = " ".join(text for rows in PARAPHRASES.values() for text in rows)
    worst = 0.0
    for pattern in given.patterns or [*REPEATED, f"{attacks} ", f"{paraphrases} ", " ".join(HONEST)]:
        count = max(1, given.bytes // len(pattern.encode()))
        short, long = nanoseconds(pattern * count), nanoseconds(pattern * count * FACTOR)
        worst = max(worst, long / short)
        print(f"{long / short:6.2f}  {short:8.0f}  {long:8.0f}  {pattern[:40]!r}")
    print(f"worst ratio {worst:.2f}")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
