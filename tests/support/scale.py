"""How much of what is many, or large, tests try: all of it with TESTS_FULL=1, else as much as shows what they are for."""

from __future__ import annotations

import os

FULL = os.environ.get("TESTS_FULL") == "1"


def scaled(full: int, otherwise: int) -> int:
    """Return the first number with TESTS_FULL=1, else the second."""
    return full if FULL else otherwise
