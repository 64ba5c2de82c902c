"""Builds of a project, one at a time, each in a process of its own: what a build leaves behind goes with it.

A build that is asked for while another runs begins when that one ends, because the sources may be others by then.
"""

from __future__ import annotations

import json
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
from mcpc import programs
from mcpc.dev.screen import columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

BOOT = (
    "import json, sys; first, last = json.loads(sys.argv.pop(1)); sys.path[:0] = first;"
    "sys.path += [path for path in last if path not in sys.path]; from mcpc.cli import main; main()"
)
"""What the process runs: the compiler that runs here, with the packages it has here, wherever they lie."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a build, with its text; `painted` is that for a terminal with colours."""

    code: str
    severity: str
    path: str
    message: str
    plain: str
    painted: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is known by in the next build, where its lines may be others."""
        return self.code, self.path, self.message


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a built file.

    `format`: what the project is written in; `lists`: each list that clients are shown, as a text; `names`: the tools;
    `code` and `content`: digests of the handlers' files and of everything that is served.
    """

    format: str = ""
    lists: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    code: str = ""
    content: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a build: the built file, or None; how it ended; what was said of it, in text for others.

    `problems`: those that have a place in the report; `more`: other words of the build; `summary`: what it changed.
    """

    path: Path | None
    status: int = 0
    digest: str = ""
    facts: Facts = field(default_factory=Facts)
    problems: tuple[Problem, ...] = ()
    more: str = ""
    seconds: float = 0.0
    summary: str = ""

    @property
    def said(self) -> str:
        """All that the build said, as plain text."""
        return "\n\n".join(filter(None, [*(problem.plain for problem in self.problems), self.more.strip("\n")]))


class Builder:
    """Builds into one folder; who no longer serves a build removes it.

    `words`: what `mcpc build` is told beside the file to write; `facts`: how a built file is read.
    """

    def __init__(self, words: Sequence[str], folder: Path, facts: Callable[[Path], Facts]) -> None:
        self._words = words
        self._folder = folder
        self._facts = facts
        self._made = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def begin(self, done: Callable[[Made], None]) -> None:
        """Build in a thread of its own, and hand over what became of it."""
        threading.Thread(target=lambda: done(self.build()), daemon=True).start()

    def build(self) -> Made:
        """Build now."""
        self._made += 1
        path = self._folder / f"server-{self._made}.pyz"
        mine = [str(Path(module.__file__ or "").parent.parent) for module in (mcpc, mcpc_runtime)]
        paths = json.dumps([mine, [folder for folder in sys.path if Path(folder).is_absolute()]])
        own = ["build", "--quiet", "--blocks", str(columns()), "-o", str(path)]
        argv = programs.python("-c", BOOT, paths, *own, *self._words)
        began = time.monotonic()
        with programs.start("compiler", argv, stdin=subprocess.DEVNULL) as process:
            self._process = process
            if self._closed:
                process.kill()
            printed, errors = process.communicate()
        self._process = None
        seconds = time.monotonic() - began
        problems, more = report_of(printed, errors)
        status = process.returncode
        if status:
            more = more if problems or more else f"the build ended with status {status}"
            return Made(None, status, problems=problems, more=more, seconds=seconds)
        digest = sha256(path.read_bytes()).hexdigest()
        return Made(path, 0, digest, self._facts(path), problems, more, seconds)

    def close(self) -> None:
        """End a build that runs; it leaves nothing behind."""
        self._closed = True
        process = self._process
        if process is not None:
            process.terminate()


def report_of(printed: bytes, errors: bytes) -> tuple[tuple[Problem, ...], str]:
    """Return the problems that a build reported, and what else it said; a report that was cut short is text."""
    more = errors.decode(errors="replace")
    try:
        rows = json.loads(printed or b"[]")
        return tuple(Problem(**row) for row in rows), more
    except (ValueError, TypeError):
        return (), printed.decode(errors="replace") + more
