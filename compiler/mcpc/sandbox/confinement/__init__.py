"""Run project code during a build, confined: with limits on all resources, and with no processes left afterwards.

`model` has the limits of a program; an adapter, the folder of this system, starts it with those limits that the system
enforces.  From outside, `watching` reads its output, counts its processes, their memory and the files they create, and
all of its descendants are ended, including detached ones.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from mcpc.sandbox.confinement.model import REPLIES, UNREADABLE, ConfinedProgram, ProgramOutcome
from mcpc.sandbox.confinement.watching import WatchedProgram, base_environment, start_confined

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

__all__ = ["REPLIES", "ConfinedProgram", "ProgramOutcome", "confined_environment", "parse_object", "run_confined"]

THREAD_LIMITS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Numeric libraries reserve memory for each processor when they are imported."""


def confined_environment(root: Path) -> dict[str, str]:
    """Return the variables of every confined program: its home folder, and where programs are."""
    for name in ("home", "tmp"):
        (root / name).mkdir(exist_ok=True)
    folders = base_environment(str(root / "home"), str(root / "tmp"))
    # A locale and a time zone that are the same on every machine.
    return {"PATH": os.environ.get("PATH", os.defpath), **folders, "LANG": "C.UTF-8", "TZ": "UTC", **THREAD_LIMITS}


def run_confined(job: ConfinedProgram) -> ProgramOutcome:
    """Run a program, and leave only the files that it wrote below its folder."""
    outcome = _run(job, namespaces=True)
    # The superuser of a namespace may not read files of users outside of it.
    return _run(job, namespaces=False) if outcome.why == UNREADABLE else outcome


def parse_object(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object in a line, None if it contains anything else."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _run(job: ConfinedProgram, *, namespaces: bool) -> ProgramOutcome:
    """Run a program, in separate namespaces if that is allowed."""
    with start_confined(job, {**confined_environment(job.root), **job.variables}, namespaces=namespaces) as program:
        watched = WatchedProgram(job, program)
        watched.follow()
    return watched.outcome()
