"""Builds of a project, one at a time, each in a process of its own: what a build leaves behind goes with it.

A build that is asked for while another runs begins when that one ends, because the sources may be others by then.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcpc
import mcpc_runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

BOOT = "import sys; sys.path[:0] = sys.argv[1:3]; del sys.argv[1:3]; from mcpc.cli import main; main()"
"""What the process runs: the compiler that runs here, wherever it lies."""


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a build: the built file, or None; what was said of it; how it ended.

    `format`: what the project is written in; `lists`: each list that clients are shown, as a text; `names`: the tools.
    """

    path: Path | None
    said: str = ""
    status: int = 0
    digest: str = ""
    format: str = ""
    lists: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()


Facts = tuple[str, "Mapping[str, str]", tuple[str, ...]]
"""Of a built file: the format, the lists, the names of its tools."""


class Builder:
    """Builds into one folder; who no longer serves a build removes it.

    `words`: what `mcpc build` is told beside the file to write; `facts`: how a built file is read.
    """

    def __init__(self, words: Sequence[str], folder: Path, facts: Callable[[Path], Facts]) -> None:
        self._words = words
        self._folder = folder
        self._facts = facts
        self._made = 0
        self._process: subprocess.Popen[str] | None = None
        self._closed = False

    def begin(self, done: Callable[[Made], None]) -> None:
        """Build in a thread of its own, and hand over what became of it."""
        threading.Thread(target=lambda: done(self.build()), daemon=True).start()

    def build(self) -> Made:
        """Build now."""
        self._made += 1
        path = self._folder / f"server-{self._made}.pyz"
        mine = [str(Path(module.__file__ or "").parent.parent) for module in (mcpc, mcpc_runtime)]
        argv = [sys.executable, "-P", "-c", BOOT, *mine, "build", "--quiet", "-o", str(path), *self._words]
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with subprocess.Popen(argv, text=True, errors="replace", **streams) as process:
            self._process = process
            if self._closed:
                process.kill()
            said, _ = process.communicate()
        self._process = None
        if process.returncode:
            return Made(None, said or f"the build ended with status {process.returncode}", process.returncode)
        form, lists, names = self._facts(path)
        return Made(path, said, 0, sha256(path.read_bytes()).hexdigest(), form, lists, names)

    def close(self) -> None:
        """End a build that runs; it leaves nothing behind."""
        self._closed = True
        process = self._process
        if process is not None:
            process.terminate()
