"""Building a project for a test, as a user does: with the command, in a process of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

from needs import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

INNER = {"mcpc_runtime/sources.zip": "", "handlers.zip": "handlers/"}
"""Archives in an artifact, and the folder whose files they are."""
SOURCES = os.pathsep.join((str(ROOT / "compiler"), str(ROOT / "runtime")))


def mcpc(
    *words: str | Path, python: str | Path = sys.executable, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `mcpc` with these words and return what became of it."""
    return subprocess.run(
        [python, "-m", "mcpc", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": SOURCES, **(environment or {})},
    )


def build(project: Path, target: Path, *options: str, python: str | Path = sys.executable) -> Path:
    """Build a project that has no fault, nothing taken from a cache, and return the artifact's path."""
    cache = {"MCPC_CACHE_DIR": str(target.parent / "mcpc-cache")}
    done = mcpc("build", project, "-o", target, *options, python=python, environment=cache)
    assert done.returncode == 0, (
        f"mcpc build {project} ended with status {done.returncode}:\n{done.stdout}{done.stderr}"
    )
    return target


def carried(artifact: Path) -> list[str]:
    """Return the names of everything in an artifact, what lies in archives of its own among them."""
    with zipfile.ZipFile(artifact) as packed:
        names = packed.namelist()
        inner = {place: packed.read(name) for name, place in INNER.items() if name in names}
    for place, data in inner.items():
        with zipfile.ZipFile(io.BytesIO(data)) as files:
            names += [place + name for name in files.namelist()]
    return names


def converse(
    argv: Sequence[str | Path], lines: bytes, *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Start a server, give it these bytes, and return what it said until it ended."""
    words = list(map(str, argv))
    return subprocess.run(words, input=lines, capture_output=True, timeout=60, check=False, cwd=cwd, env=env)
