"""The table of faults: one row a case, in the order of their ids."""

from __future__ import annotations

import time
from pathlib import Path

from faults import conversation, endings, handlers, injection, killing
from faults.client import Fault
from faults.trial import perform

CASES = (*conversation.CASES, *handlers.CASES, *endings.CASES, *injection.CASES, *killing.CASES)


def judge(task: tuple[int, str, str, str]) -> tuple[int, str, str, str, float]:
    """Run one case in a process that may adopt orphans; return what came of it: nothing, or why it failed; its note."""
    number, form, era, builds = task
    began = time.monotonic()
    try:
        note, problem = perform(CASES[number], form, era, Path(builds)), ""
    except Fault as fault:
        note, problem = "", str(fault) or "failed"
    except Exception as broken:  # noqa: BLE001 - the suite's own failure is a failure, and the others go on
        note, problem = "", f"the test broke: {type(broken).__name__}: {broken}"
    return number, form, era, problem or note, (-1 if problem else 1) * (time.monotonic() - began)
