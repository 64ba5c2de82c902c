"""Builds that were made before: the same sources, options, compiler and interpreter make the same bytes.

An entry is found by the digest of everything that decides a build, and is believed only if it still has the digest it
was stored with.  A cache that cannot be read or written is no problem of the build's.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import mcpc
import mcpc_runtime
from mcpc.diagnostics import Diagnostic, Severity, Span
from mcpc.emit.templates import folder

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostics
    from mcpc.options import Options
    from mcpc.sources import SourceTree

DECISIVE = frozenset({".py", ".j2", ".bash", ".json"})
KEPT = 64
"""How many builds are kept; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Build:
    """A finished build: the artifact, its content digest, what it holds, and what was said about it."""

    data: bytes
    content_digest: str
    name: str
    version: str
    tools: int
    prompts: int
    diagnostics: Diagnostics


def place() -> Path:
    """Return the folder of the cache."""
    root = os.environ.get("MCPC_CACHE_DIR") or os.path.join(  # noqa: PTH118 - an empty variable means unset
        os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser(), "mcpc"
    )
    return Path(root) / "builds"


@cache
def compiler_digest() -> str:
    """Return the digest of the compiler itself: a changed compiler has made none of these builds."""
    roots = (Path(mcpc.__file__).parent, Path(mcpc_runtime.__file__).parent, folder())
    files = sorted(path for root in roots for path in root.rglob("*") if path.suffix in DECISIVE)
    summary = hashlib.sha256()
    for path in files:
        summary.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return summary.hexdigest()


def key(tree: SourceTree, found: Diagnostics, options: Options) -> str:
    """Return the digest of everything that decides a build.  O(bytes of the sources)."""
    summary = hashlib.sha256()
    # Without a Bash to ask, a build has another warning.
    machine = sys.version, shutil.which("bash") is not None
    decisive = [compiler_digest(), machine, asdict(options), [asdict(problem) for problem in found]]
    summary.update(json.dumps(decisive, sort_keys=True).encode())
    for path, source in tree.files.items():
        summary.update(f"{path}\0{source.mode}\0{len(source.data)}\0".encode("utf-8", "surrogateescape"))
        summary.update(source.data)
    return summary.hexdigest()


def load(name: str) -> Build | None:
    """Return the build stored under `name`, if there is one and it is whole."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        digest, _, stored = (place() / name).read_bytes().partition(b"\n")
        if digest.decode("ascii") == hashlib.sha256(stored).hexdigest():
            head, _, data = stored.partition(b"\n")
            facts = json.loads(head)
            return Build(data=data, diagnostics=tuple(map(diagnostic, facts.pop("diagnostics"))), **facts)
    return None


def diagnostic(row: dict[str, str]) -> Diagnostic:
    """Return a diagnostic from what was stored of it."""
    span = Span(**row.pop("span")) if row["span"] else row.pop("span")  # type: ignore[arg-type]
    return Diagnostic(severity=Severity(row.pop("severity")), span=span, **row)  # type: ignore[arg-type]


def store(name: str, build: Build) -> None:
    """Keep a build under `name`, whole or not at all."""
    facts = asdict(build)
    data = facts.pop("data")
    stored = json.dumps(facts).encode() + b"\n" + data
    with suppress(OSError):
        place().mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=place(), prefix="new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(hashlib.sha256(stored).hexdigest().encode() + b"\n" + stored)
            Path(temporary).replace(place() / name)
        finally:
            Path(temporary).unlink(missing_ok=True)
        prune()


def prune() -> None:
    """Remove the oldest builds beyond the number that is kept."""
    found = sorted(place().iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in found[KEPT:]:
        path.unlink(missing_ok=True)
