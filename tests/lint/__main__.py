"""Print what offends against each rule, a line each, and fail if anything does.

A check is a module with `check(root)`, which returns or yields lines that name a file and what is wrong with it.
"""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from lint import locks, pages, stripped_code, system_names, vocabulary
from support.needs import ROOT

CHECKS: tuple[Callable[[Path], Iterable[str]], ...] = (
    vocabulary.check,
    system_names.check,
    stripped_code.check,
    pages.check,
    locks.check,
)


def main() -> int:
    offences = [offence for check in CHECKS for offence in check(ROOT)]
    sys.stdout.writelines(f"{offence}\n" for offence in offences)
    return bool(offences)


if __name__ == "__main__":
    sys.exit(main())
