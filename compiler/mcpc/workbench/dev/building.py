"""Builds of a project, one at a time, each in a separate process.

A build that is requested while another one runs starts after that one, because the sources may have changed.
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
from mcpc.sandbox import programs
from mcpc.workbench.dev.screen import terminal_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

BOOT = (
    "import json, sys; first, last = json.loads(sys.argv.pop(1)); sys.path[:0] = first;"
    "sys.path += [path for path in last if path not in sys.path]; from mcpc.cli import main; main()"
)
"""Code of the build process: the running compiler, with the packages it has here."""


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
        """The complete output of the build, as plain text."""
        return "\n\n".join(filter(None, [*(problem.plain for problem in self.problems), self.more.strip("\n")]))


def compiler_command(*words: str) -> list[str]:
    """Return the command line of this compiler, in another process."""
    mine = [str(Path(module.__file__ or "").parent.parent) for module in (mcpc, mcpc_runtime)]
    paths = json.dumps([mine, [folder for folder in sys.path if Path(folder).is_absolute()]])
    return programs.python_command("-c", BOOT, paths, *words)


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
        """Build now."""
        self._count += 1
        path = self._folder / f"server-{self._count}.pyz"
        own = ["build", "--quiet", "--blocks", str(terminal_columns()), "-o", str(path)]
        argv = compiler_command(*own, *self._arguments)
        began = time.monotonic()
        with programs.start_program("compiler", argv, stdin=subprocess.DEVNULL) as process:
            self._process = process
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
