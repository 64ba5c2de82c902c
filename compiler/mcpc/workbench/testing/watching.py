"""`mcpc test --watch`: the tests run again whenever a file of the project changes.

What changes while they run makes them run once more, and not again: tests that write into the project would never end.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NoReturn

from mcpc.sandbox import programs
from mcpc.workbench.dev.building import compiler_command
from mcpc.workbench.dev.watching import POLL_SECONDS, SETTLE_SECONDS, Fingerprint, fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def watch(root: Path, words: Sequence[str], ended: Callable[[], None]) -> NoReturn:
    """Run the tests with the options `words` until the user interrupts; `ended` is called after each run."""
    is_again = False
    while True:
        before = fingerprint(root)
        programs.run_in_foreground("compiler", compiler_command("test", *words))
        ended()
        after = fingerprint(root)
        is_again = after != before and not is_again
        if not is_again:
            wait_for_change(root, after)


def wait_for_change(root: Path, known: Fingerprint) -> None:
    """Return when the files differ from a known state, and are stable."""
    while (found := fingerprint(root)) == known:
        time.sleep(POLL_SECONDS)
    while True:
        time.sleep(SETTLE_SECONDS)
        earlier, found = found, fingerprint(root)
        if found == earlier:
            return
