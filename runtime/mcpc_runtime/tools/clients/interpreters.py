"""The Python that an entry names: absolute, able to run the file, and still there tomorrow.

A client starts it for months, so one of a virtual environment, of a temporary folder, a version manager's shim or the
alias of a store is not taken, unless the user names it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

from mcpc_runtime.tools.clients import messages
from mcpc_runtime.tools.clients.entries import CannotWriteEntryError
from mcpc_runtime.transports.platforms.program_search import installed_pythons, lasting_path

OLDEST, NEWEST = 11, 15
TEMPORARY = (
    ("/shims/", "a version manager's script"),
    ("/WindowsApps/", "the alias of a store"),
    ("/.cache/", "a cache"),
    ("/uv/cache/", "a cache"),
    ("/Caches/", "a cache"),
    ("/__pypackages__/", "a project's folder"),
    ("/.tox/", "a test environment"),
    ("/.nox/", "a test environment"),
)
"""Parts of paths of Pythons that may be gone tomorrow, and what they are."""
VERSION = "import sys; sys.stdout.write('%d.%d' % sys.version_info[:2])"
START_SECONDS = 20


def why_temporary(path: str) -> str:
    """Return why a Python may be gone tomorrow, or an empty text."""
    folder = os.path.dirname(path)
    for place in (folder, os.path.dirname(folder)):
        if os.path.exists(os.path.join(place, "pyvenv.cfg")):
            return "it is of a virtual environment"
    slashed = path.replace("\\", "/")
    what = next((what for part, what in TEMPORARY if part in slashed), "")
    temporary = os.path.realpath(tempfile.gettempdir()).replace("\\", "/")
    if os.path.realpath(path).replace("\\", "/").startswith(f"{temporary}/"):
        what = "a temporary folder"
    return f"it is in {what}" if what else ""


def lasting_python(minors: Sequence[str]) -> str:
    """Return a Python for a file with bytecode for these minor versions; any other that is new enough is slower."""
    for minor, path in candidates(minors):
        place = lasting_path(path)
        if os.path.isfile(place) and not why_temporary(place) and version_of(place) == minor:
            return place
    raise CannotWriteEntryError(messages.NO_PYTHON)


def candidates(minors: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield Pythons with the minor version that each should be: of the right ones the system's first, and this one."""
    here = "{}.{}".format(*sys.version_info[:2])
    running = getattr(sys, "_base_executable", "") or sys.executable or ""
    others = [f"3.{minor}" for minor in range(NEWEST, OLDEST - 1, -1)]
    for minor in dict.fromkeys((*minors, here, *others)):
        yield from ((minor, path) for path in installed_pythons(minor))
        if minor == here and running:
            yield minor, os.path.abspath(running)


def version_of(path: str) -> str:
    """Return the minor version of a Python, or an empty text if it does not start."""
    try:
        done = subprocess.run(
            [path, "-ISc", VERSION], stdin=subprocess.DEVNULL, capture_output=True, timeout=START_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("ascii", "replace") if done.returncode == 0 else ""
