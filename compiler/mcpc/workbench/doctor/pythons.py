"""The Pythons of this machine, and virtual environments that no longer work."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.workbench.doctor.model import fine, note, problem
from mcpc_runtime.tools.clients.request import NEWEST, OLDEST, version_of, why_temporary
from mcpc_runtime.transports.platforms.program_search import installed_pythons

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.workbench.doctor.model import Examination, Symptom

SUBJECT = "python"
VENV = "virtual environment"
INSTALL = "install Python 3.11 or newer, from your system's packages or python.org"
PROGRAMS = ("bin/python", "Scripts/python.exe")


def check_pythons(_: Examination) -> Iterator[Symptom]:
    """Yield one Python of each version, those that do not start, and which one starts a file that is built here."""
    working: dict[str, str] = {}
    for minor in (f"3.{number}" for number in range(NEWEST, OLDEST - 1, -1)):
        paths = [*dict.fromkeys(path for path in installed_pythons(minor) if os.path.lexists(path))]
        found = next((path for path in paths if version_of(path) == minor), "")
        working |= {minor: found} if found else {}
        for path in paths[: paths.index(found)] if found else paths:
            yield from _broken(path, has_other=bool(found))
    yield from (fine(SUBJECT, f"{minor} at {path}") for minor, path in working.items())
    yield _starting(working)


def _broken(path: str, *, has_other: bool) -> Iterator[Symptom]:
    if not Path(path).exists():
        yield problem(SUBJECT, f"{path} is a link to a Python that is gone", f"remove the link: rm {path}")
    elif not os.access(path, os.X_OK):
        yield problem(SUBJECT, f"{path} is not executable", f"chmod +x {path}, or reinstall that Python")
    elif not has_other:
        yield note(SUBJECT, f"{path} does not start", "select that version in your version manager, or reinstall it")


def _starting(working: dict[str, str]) -> Symptom:
    here = "{}.{}".format(*sys.version_info[:2])
    if not working:
        return problem(SUBJECT, "no Python 3.11 or newer was found where built files look for it", INSTALL)
    if here not in working:
        found = next(iter(working))
        text = f"files built with this Python {here} are started by Python {found}, which compiles them at first"
        return note(SUBJECT, text, f"install Python {here} for all users, or build with the Python {found}")
    return fine(SUBJECT, f"files that are built here start with {working[here]}")


def check_environments(examined: Examination) -> Iterator[Symptom]:
    """Yield the virtual environments of the shell and of the project, whose Python is not run."""
    active = os.environ.get("VIRTUAL_ENV", "")
    if active and not Path(active).is_dir():
        yield problem(VENV, f"VIRTUAL_ENV names {active}, which is gone", "deactivate, or open a new terminal")
    elif active:
        yield from _environment(Path(active), is_active=True)
    if active and os.path.realpath(active) != os.path.realpath(sys.prefix):
        yield note(
            VENV, f"{active} is active, and this mcpc is of {sys.prefix}", "install mcpc there if it is to see it"
        )
    for name in (".venv", "venv"):
        folder = examined.folder / name
        if folder.is_dir() and str(folder.resolve()) != os.path.realpath(active or os.sep):
            yield from _environment(folder, is_active=False)


def _environment(folder: Path, *, is_active: bool) -> Iterator[Symptom]:
    again = f"remove it, and make it again: rm -r {folder} && python3 -m venv {folder}"
    if not (folder / "pyvenv.cfg").is_file():
        yield problem(VENV, f"{folder} has no pyvenv.cfg, so it is no virtual environment", again)
        return
    found = [folder / name for name in PROGRAMS if os.path.lexists(folder / name)]
    if not found:
        yield problem(VENV, f"{folder} has no Python", again)
    elif not found[0].exists():
        yield problem(VENV, f"{folder}: the Python that it was made from is gone", again)
    elif is_active and not version_of(str(found[0])):
        yield problem(VENV, f"{folder}: its Python does not start", again)
    else:
        yield fine(VENV, f"{folder} has a Python")


def gone_environment(program: str) -> str:
    """Return the virtual environment that a missing Python belonged to, or an empty text."""
    folder = Path(program).parent
    is_python = Path(program).name.startswith("python")
    return str(folder.parent) if is_python and folder.name in ("bin", "Scripts") and "venv" in str(folder) else ""


def lasts(program: str) -> str:
    """Return why a Python may be gone tomorrow, or an empty text."""
    return why_temporary(program) if Path(program).name.startswith("python") else ""
