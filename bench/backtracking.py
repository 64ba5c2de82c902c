"""Measure how `re` scales for patterns that were rejected as slow: one row per pattern, seconds by repetitions.

.venv/bin/python bench/backtracking.py [PATTERN...]
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "compiler"), str(ROOT / "runtime")]

from mcpc.schema.ecma.backtracking import backtracking  # noqa: E402
from mcpc.schema.ecma.translation import translate  # noqa: E402

PATTERNS = ["^(a+)+$", "(a|aa)+$", "((a?)*x)*y", r"^(\w+\s?)*$", "foo.*bar.*baz", r"\s*,?\s*,?\s*$", "^[a-z]+$"]
ENOUGH = 0.5


def main(patterns: list[str]) -> None:
    """Print the verdict and the times."""
    for pattern in patterns:
        verdict = backtracking(pattern)
        print(f"{pattern}   {verdict.cost if verdict else 'no verdict'}")
        times = verdict.times if verdict else 0
        while verdict:
            text = verdict.attack.text(times)
            begun = time.perf_counter()
            re.compile(translate(pattern), re.ASCII).search(text)
            taken = time.perf_counter() - begun
            print(f"    {len(text):7} characters {taken:9.4f} s")
            times = times + 2 if verdict.degree is None else times * 2
            if taken > ENOUGH:
                break


main(sys.argv[1:] or PATTERNS)
