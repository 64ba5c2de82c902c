"""A built file, by its own command `check`: whether it is whole, and whether this machine has what it needs."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

from mcpc.pack.prologue import START
from mcpc.sandbox import programs
from mcpc.workbench.doctor.model import fine, note, problem
from mcpc_runtime.tools.clients.request import needs_python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mcpc.workbench.doctor.model import Examination, Symptom

FACTS = "META-INF/build.json"
SUBJECT = "built file"
SECONDS = 120.0
MAX_FACTS = 32 << 20
REBUILD = "build it again, or copy it again"


def check_file(examined: Examination) -> Iterator[Symptom]:
    """Yield what a built file says about itself; nothing for a project."""
    if examined.target.is_dir():
        return
    path = examined.target
    why = damage(path)
    if why:
        yield problem(SUBJECT, f"{path} {why}", REBUILD)
        return
    start = programs.python_command("-S", "-c", START) if needs_python(str(path)) else []
    try:
        done = programs.run_program("server", [*start, str(path.resolve()), "check", "--json"], SECONDS)
        found = json.loads(done.stdout)
        checks, notes = found["checks"], found["notes"]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        yield problem(SUBJECT, f"{path} does not start: {fault}", REBUILD)
        return
    for row in checks:
        for text in row["problems"]:
            yield problem(SUBJECT, f"{row['name']}: {text}", f"see `{path} check`")
    yield from (note(SUBJECT, text) for text in notes)
    if not any(row["problems"] for row in checks):
        yield fine(SUBJECT, f"{path} passes its own check")


def build_facts(path: Path) -> dict[str, Any]:
    """Return the facts of a built file, without running it; empty if it has none."""
    try:
        with zipfile.ZipFile(path) as archive:
            entry = archive.getinfo(FACTS)
            found = json.loads(archive.read(entry)) if entry.file_size <= MAX_FACTS else {}
    except (KeyError, OSError, RecursionError, ValueError, zipfile.BadZipFile):
        return {}
    return found if isinstance(found, dict) else {}


def damage(path: Path) -> str:
    """Return why a file is not a whole built file, or an empty text."""
    try:
        with zipfile.ZipFile(path) as archive:
            archive.getinfo(FACTS)
    except KeyError:
        return "was not built by mcpc"
    except (OSError, ValueError, zipfile.BadZipFile):
        return "is damaged, or was not built by mcpc"
    return ""
