"""The table of faults: one row a case, in the order of their ids."""

import time
from pathlib import Path
from threading import Barrier

from faults import conversation, endings, framing, handlers, injection, killing, posting, pressing, resources, tokens
from faults.client import Fault
from faults.trial import Lacking, close_shared, perform

OVER_PIPES = (conversation, handlers, endings, injection, killing, resources)
OVER_HTTP = (posting, framing, pressing, tokens)
CASES = tuple(
    sorted((case for section in (*OVER_PIPES, *OVER_HTTP) for case in section.CASES), key=lambda case: case.id)
)
TOGETHER: list[Barrier] = []


def begin(barrier: Barrier) -> None:
    """Begin a process that runs cases beside others."""
    TOGETHER.append(barrier)


def rest(_: int) -> str:
    """End what cases of this process have shared, as each of the others does now; return what is wrong with it."""
    TOGETHER[0].wait()
    try:
        close_shared()
    except Fault as fault:
        return str(fault)
    return ""


def judge(task: tuple[int, str, str, str]) -> tuple[int, str, str, str, float]:
    """Run one case in a process that may adopt orphans; return what came of it: nothing, or why it failed; its note."""
    number, form, era, builds = task
    began = time.monotonic()
    try:
        note, problem = perform(CASES[number], form, era, Path(builds)), ""
    except Lacking as lacking:
        note, problem = f"skipped: {lacking}", ""
    except Fault as fault:
        note, problem = "", str(fault) or "failed"
    except Exception as broken:  # noqa: BLE001 - the suite's own failure is a failure, and the others go on
        note, problem = "", f"the test broke: {type(broken).__name__}: {broken}"
    return number, form, era, problem or note, (-1 if problem else 1) * (time.monotonic() - began)
