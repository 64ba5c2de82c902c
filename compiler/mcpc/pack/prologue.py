"""The prologue of a built file, which finds a Python and starts the archive behind it, and the smoke test of it.

A first line with `env -S` works with GNU coreutils and FreeBSD only: macOS splits the line at every space, and the
`env` of BusyBox has no `-S`. A script for `/bin/sh` works everywhere and starts as fast. It is read up to `exec`, so
what follows is never read as a script.

Only absolute folders are searched: those of PATH, then those that a graphical client's PATH lacks. The minor version of
the bytecode is searched first, in every folder, since any other one compiles the sources at each start. It is started
without a version check; any other Python is checked, and skipped if it is too old or does not run (a version manager's
shim for a version that is not selected).

A version manager's shim is a script that costs some 50 ms at each start. So shims are remembered, and a Python in
another folder or in the manager's own folder is preferred: handlers are isolated, so that any Python of a minor version
does. Where a build names the command, its shim is started, which is what its author selected.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.options import minor_versions
from mcpc.sandbox import programs

if TYPE_CHECKING:
    from pathlib import Path

# The code in a `.pyc` follows a header of 16 bytes (PEP 552).
START = (
    "import _frozen_importlib_external as e,marshal as m,sys,zipimport;z=zipimport.zipimporter(sys.argv[1]);"
    "b=z.get_data('__main__.pyc');exec(m.loads(b[16:])if b[:4]==e.MAGIC_NUMBER else z.get_data('__main__.py'))"
)
"""Starts the archive given as first argument without importing `runpy` and `site`.

For another Python it does not call `compile`, as `get_code` would: its first call makes all classes of syntax trees, a
third of what a bare interpreter takes to start.
"""
DAMAGED = "is damaged, or was not downloaded completely: get it again"
CHECKED_START = f"""import _frozen_importlib_external as e,marshal as m,sys,zipimport
try:
 z=zipimport.zipimporter(sys.argv[1]);b=z.get_data('__main__.pyc')
 b=m.loads(b[16:])if b[:4]==e.MAGIC_NUMBER else z.get_data('__main__.py')
except Exception:sys.exit(sys.argv[1]+' {DAMAGED}')
exec(b)"""
"""The same for a file that may be cut off or changed, which is said in a line, not with Python's traceback."""
OTHER_NAMES = ("python3", *(f"python3.{minor}" for minor in range(15, 10, -1)))
"""Names to search for if the minor version of the bytecode is missing."""
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
SHIMS = "/*/shims/*"
"""Shims of pyenv, whose Pythons are in `versions` beside them, and of asdf and mise, in `installs/python`."""
NO_SHIMS = '""'
REQUIRED = "Python 3.11 or newer; none was found on PATH or in the usual folders"


@dataclass(frozen=True, slots=True)
class InterpreterSearch:
    """The names and folders to search; the exact names come first, without a version check; shims last."""

    exact: tuple[str, ...]
    others: tuple[str, ...]
    folders: tuple[str, ...]
    required: str
    shims: str = NO_SHIMS


def shell_prologue(python: str = "") -> str:
    """Return the prologue for any Python that is new enough, or for `python`, a command or absolute path."""
    from mcpc.emit.templates import template_text  # noqa: PLC0415 - a file that was built before has its prologue

    search = interpreter_search(python)
    values = {
        "EXACT": " | */".join(map(shlex.quote, search.exact)),
        "NAMES": " ".join((*map(shlex.quote, search.exact), *search.others)),
        "FOLDERS": " ".join(search.folders),
        "SHIMS": search.shims,
        "START": CHECKED_START,
        "REQUIRED": search.required,
    }
    script = template_text("prologue.sh").decode()
    # In one pass, so that nothing is replaced in a value.
    return re.sub("|".join(values), lambda match: values[match[0]], script)


def interpreter_search(python: str) -> InterpreterSearch:
    """Return how a file searches for the Python that starts it."""
    minors = minor_versions(python)
    if minors or not python:
        exact = tuple(f"python{minor}" for minor in minors) or (f"python3.{sys.version_info.minor}",)
        others = tuple(name for name in OTHER_NAMES if name not in exact)
        return InterpreterSearch(exact, others, FOLDERS, REQUIRED, SHIMS)
    folder, slash, name = python.rpartition("/")
    if slash:
        return InterpreterSearch((name,), (), (shlex.quote(folder or "/"),), f"{python}, which is not here")
    return InterpreterSearch((name,), (), FOLDERS, f"{python}, which was not found on PATH or in the usual folders")


SECONDS = 30
# Isolated and without `site`, as the prologue starts it.
START_BY_PYTHON = (sys.executable, "-ISc", START)
START_ALONE: tuple[str, ...] = ()
"""How a self-contained file starts."""
BYTECODE = "__main__.pyc"
"""What another Python starts; self-contained files with a minimal library do without."""
CLIENT = {"name": "mcpc build", "version": "1"}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
REQUESTS: tuple[tuple[str, dict[str, object]], ...] = (
    ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}),
    ("server/discover", {"_meta": META}),
    ("ping", {}),
)


def start_of(path: Path) -> tuple[str, ...]:
    """Return how a built file starts: with this Python as its own prologue would; alone if no other can start it."""
    with zipfile.ZipFile(path) as archive:
        return START_BY_PYTHON if BYTECODE in archive.NameToInfo else START_ALONE


class SmokeError(Exception):
    """The built file does not serve; the message describes what it did instead."""


def smoke(path: Path, start: tuple[str, ...] = START_BY_PYTHON) -> None:
    """Start the file in an empty folder, with an empty environment; raise SmokeError unless it answers correctly.

    `start`: the words before the file's name.
    """
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate(REQUESTS)
    ]
    argv = [*start, str(path.resolve())]
    # A file that unpacks its interpreter does so below the empty folder, which is removed.
    cache = {} if start or sys.platform == "win32" else {"MCPC_RUNTIME_CACHE": "unpacked"}
    try:
        done = programs.run_program(
            "built file", argv, SECONDS, more={"PATH": "/usr/bin:/bin", **cache}, told="\n".join(lines).encode()
        )
    except TimeoutError:
        raise SmokeError(f"no answer in {SECONDS} seconds") from None
    replies = done.stdout.splitlines()
    if done.returncode or len(replies) != len(REQUESTS):
        said = done.stderr.decode(errors="replace").strip() or "nothing"
        raise SmokeError(f"exit status {done.returncode} after {len(replies)} answers; output: {said}")
    for (method, _), reply in zip(REQUESTS, replies, strict=True):
        if not is_result(reply):
            raise SmokeError(f"unexpected answer to {method}: {reply.decode(errors='replace')}")


def is_result(line: bytes) -> bool:
    """Tell whether a line is a response with a result."""
    try:
        message = json.loads(line)
    except ValueError:
        return False
    return isinstance(message, dict) and "result" in message
