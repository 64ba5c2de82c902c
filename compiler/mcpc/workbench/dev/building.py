"""A project's files, watched for changes by polling, and builds of it, one at a time, each in a separate process.

Files that a build ignores are ignored here. A poll costs a `stat` per file, so the interval grows with the cost; a
change is reported when the files have been stable for a moment, or after a maximum time. A build that is requested
while another one runs starts after that one, because the sources may have changed.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import mcpc
import mcpc_runtime
from mcpc.reading.selection import folder_reason
from mcpc.reading.tree import IGNORED_BEGINNING, IGNORED_ENDINGS, IGNORED_NAMES, MAX_ENTRIES
from mcpc.sandbox import programs
from mcpc.sandbox.platforms import status_of_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


POLL_SECONDS = 0.4
SETTLE_SECONDS = 0.1
MAX_SETTLE_SECONDS = 2.0
"""After this time, files that keep changing are used as they are."""
MAX_POLLING_SHARE = 20
"""Polling takes at most this share of the time: one twentieth."""

Fingerprint = frozenset[tuple[str, int, int, int, int]]
"""For each file: path, modification time, size, mode and inode."""
BOOT = (
    "import json, sys; first, last = json.loads(sys.argv.pop(1)); sys.path[:0] = first;"
    "sys.path += [path for path in last if path not in sys.path]; from mcpc.cli import main; main()"
)
"""Code of the build process: the running compiler, with the packages it has here."""


def fingerprint(root: Path) -> Fingerprint:
    """Return the state of a project's files; empty if the project is missing.  O(files), no file is opened."""
    seen: set[tuple[int, int]] = set()
    statuses: list[tuple[str, int, int, int, int]] = []
    folders = [os.fspath(root)]
    while folders and len(statuses) < MAX_ENTRIES:
        for entry in project_entries(folders.pop()):
            status = entry_status(entry)
            if status is None:
                continue
            if stat.S_ISDIR(status.st_mode):
                folders += unseen_folder(entry, status, seen)
            elif not entry.name.endswith(IGNORED_ENDINGS):
                statuses.append((entry.path, status.st_mtime_ns, status.st_size, status.st_mode, status.st_ino))
    return frozenset(statuses)


def project_entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of a folder that a build would read; none if it was removed."""
    try:
        with os.scandir(folder) as entries:
            listed = list(entries)
    except OSError:
        return
    for entry in listed:
        if entry.name not in IGNORED_NAMES and not entry.name.startswith(IGNORED_BEGINNING):
            yield entry


def entry_status(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Return the status of an entry after following symlinks, else of the symlink; None if it was removed."""
    # A link to nothing has a status of its own, and may be given a target later.
    for follow in (True, False):
        try:
            return status_of_entry(entry, follow=follow)
        except OSError:
            continue
    return None


def unseen_folder(entry: os.DirEntry[str], status: os.stat_result, seen: set[tuple[int, int]]) -> list[str]:
    """Return a folder to visit: not left out by its name, and not visited before, since symlinks may form cycles."""
    known = (status.st_dev, status.st_ino)
    if folder_reason(entry.name) or known in seen:
        return []
    seen.add(known)
    return [entry.path]


class ProjectWatcher:
    """Polls a project until it is stopped; the first comparison is with the state at its creation."""

    def __init__(self, root: Path, changed: Callable[[], None]) -> None:
        self._root = root
        self._changed = changed
        self._over = threading.Event()
        self._known = fingerprint(root)

    def start(self) -> None:
        """Start to poll for changes, in a separate thread."""
        threading.Thread(target=self._watch, daemon=True).start()

    def stop(self) -> None:
        self._over.set()

    def _watch(self) -> None:
        pause = POLL_SECONDS
        while not self._over.wait(pause):
            began = time.monotonic()
            current = fingerprint(self._root)
            # A large project is looked at less often, so that looking takes a bounded share of the time.
            pause = max(POLL_SECONDS, MAX_POLLING_SHARE * (time.monotonic() - began))
            if current != self._known:
                self._known = self._settled(current)
                self._changed()

    def _settled(self, current: Fingerprint) -> Fingerprint:
        """Return the files' state when it is stable, or has been changing for too long."""
        until = time.monotonic() + MAX_SETTLE_SECONDS
        while time.monotonic() < until and not self._over.wait(SETTLE_SECONDS):
            earlier, current = current, fingerprint(self._root)
            if current == earlier:
                break
        return current


@dataclass(frozen=True, slots=True)
class BuildProblem:
    """One diagnostic of a build as text; `painted` is the version with terminal colours."""

    code: str
    severity: str
    path: str
    message: str
    plain: str
    painted: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity of the problem across builds, where line numbers may differ."""
        return self.code, self.path, self.message


@dataclass(frozen=True, slots=True)
class BuildFacts:
    """Facts about a built file.

    `format`: the project's format; `lists`: each list that clients see, as text; `names`: the tools; `code` and
    `content`: digests of the handlers' files and of everything that is served.
    """

    format: str = ""
    lists: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    code: str = ""
    content: str = ""


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The result of a build: the built file or None, exit status, and output as text.

    `problems`: those with a position in the report; `more`: other output of the build; `summary`: what it changed.
    """

    path: Path | None
    status: int = 0
    digest: str = ""
    facts: BuildFacts = field(default_factory=BuildFacts)
    problems: tuple[BuildProblem, ...] = ()
    more: str = ""
    seconds: float = 0.0
    summary: str = ""

    @property
    def output(self) -> str:
        return "\n\n".join(filter(None, [*(problem.plain for problem in self.problems), self.more.strip("\n")]))


def compiler_command(*words: str) -> list[str]:
    """Return the command line of this compiler, in another process."""
    mine = [str(Path(module.__file__ or "").parent.parent) for module in (mcpc, mcpc_runtime)]
    # A relative folder would be another one in the working folder of that process.
    paths = json.dumps([mine, [folder for folder in sys.path if Path(folder).is_absolute()]])
    return programs.python_command("-c", BOOT, paths, *words)


def terminal_columns() -> int:
    """Return the width of the terminal, 0 if standard error is not a terminal."""
    try:
        return os.get_terminal_size(2).columns if sys.stderr.isatty() else 0
    except OSError:
        return 0


class ProjectBuilder:
    """Builds into one folder; the caller removes builds that are no longer served.

    `arguments`: those of `mcpc build` beside the output file; `facts`: reads a built file.
    """

    def __init__(self, arguments: Sequence[str], folder: Path, facts: Callable[[Path], BuildFacts]) -> None:
        self._arguments = arguments
        self._folder = folder
        self._facts = facts
        self._count = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def begin(self, done: Callable[[BuildResult], None]) -> None:
        """Build in a separate thread, and pass the result to `done`."""
        threading.Thread(target=lambda: done(self.build()), daemon=True).start()

    def build(self) -> BuildResult:
        self._count += 1
        path = self._folder / f"server-{self._count}.pyz"
        own = ["build", "--quiet", "--blocks", str(terminal_columns()), "-o", str(path)]
        argv = compiler_command(*own, *self._arguments)
        began = time.monotonic()
        with programs.start_program("compiler", argv, stdin=subprocess.DEVNULL) as process:
            self._process = process
            # `close` may have been called before the process was known to it.
            if self._closed:
                process.kill()
            printed, errors = process.communicate()
        self._process = None
        seconds = time.monotonic() - began
        problems, more = parse_report(printed, errors)
        status = process.returncode
        if status:
            more = more if problems or more else f"the build ended with status {status}"
            return BuildResult(None, status, problems=problems, more=more, seconds=seconds)
        digest = sha256(path.read_bytes()).hexdigest()
        return BuildResult(path, 0, digest, self._facts(path), problems, more, seconds)

    def close(self) -> None:
        """Stop a running build and remove its files."""
        self._closed = True
        process = self._process
        if process is not None:
            process.terminate()


def parse_report(printed: bytes, errors: bytes) -> tuple[tuple[BuildProblem, ...], str]:
    """Return the reported problems and other output of a build; an incomplete report is returned as text."""
    more = errors.decode(errors="replace")
    try:
        rows = json.loads(printed or b"[]")
        return tuple(BuildProblem(**row) for row in rows), more
    except (ValueError, TypeError):
        return (), printed.decode(errors="replace") + more
