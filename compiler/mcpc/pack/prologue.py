"""The beginning of a built file: a shell script that finds a Python and starts the archive behind it with that.

A first line with `env -S` works with GNU coreutils and FreeBSD only: macOS splits the line at every space, and the
`env` of BusyBox has no `-S`.  A script for `/bin/sh` works everywhere and starts as fast.  It is read up to `exec`,
so what follows is never read as a script.

Searched are absolute folders only: those of PATH, then those that a graphical client's PATH lacks.  The minor version
that the bytecode is for comes first, in every folder, since any other one compiles the sources at each start.  It is
started without being asked for its version; anything else that is found is asked, and passed over if it is too old or
does not run (a version manager's shim for a version that is not selected).
"""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass

from mcpc.emit.templates import text

START = "import sys,zipimport;z=zipimport.zipimporter(sys.argv[1]);exec(z.get_code('__main__'))"
"""Starts the archive that is the first argument with neither `runpy` nor `site` on the way."""
OTHERS = ("python3", *(f"python3.{minor}" for minor in range(15, 10, -1)))
"""What is looked for where there is no Python of the minor version that the bytecode is for."""
FOLDERS = (
    "${PATH-}",
    "/opt/homebrew/bin",
    "/usr/local/bin",
    '"/Library/Frameworks/Python.framework/Versions/${mcpc_name#python}/bin"',
    "/opt/local/bin",
    "/usr/bin",
    "/bin",
    '"${HOME-}/.local/bin"',
    '"${HOME-}/.pyenv/shims"',
)
REQUIRED = "Python 3.11 or newer; none was found on PATH or in the usual folders"


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for, by name and then by folder; the first name is started unasked."""

    exact: str
    others: tuple[str, ...]
    folders: tuple[str, ...]
    required: str


def prologue(python: str = "") -> str:
    """Return the beginning of a file for any Python that is new enough, or for `python`, a command or absolute path."""
    search = search_of(python)
    values = {
        "EXACT": shlex.quote(search.exact),
        "NAMES": " ".join((shlex.quote(search.exact), *search.others)),
        "FOLDERS": " ".join(search.folders),
        "START": START,
        "REQUIRED": search.required,
    }
    script = text("prologue.sh").decode()
    return re.sub("|".join(values), lambda found: values[found[0]], script)


def search_of(python: str) -> Search:
    """Return where a file looks for the Python that starts it."""
    if not python:
        exact = f"python3.{sys.version_info.minor}"
        return Search(exact, tuple(name for name in OTHERS if name != exact), FOLDERS, REQUIRED)
    folder, slash, name = python.rpartition("/")
    if slash:
        return Search(name, (), (shlex.quote(folder or "/"),), f"{python}, which is not here")
    return Search(name, (), FOLDERS, f"{python}, which was not found on PATH or in the usual folders")
