"""Builds that were made before: the same sources, options, compiler and interpreter make the same bytes.

An entry is found by the digest of everything that decides a build, and is believed only if it still has the digest it
was stored with.  A cache that cannot be read or written is no problem of the build's.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import sys
import zipfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import mcpc
import mcpc_runtime
from mcpc import introspection
from mcpc.diagnostics import Diagnostic, Severity, Span
from mcpc.emit.templates import folder
from mcpc.frontends import decisive
from mcpc.kept import keep
from mcpc.kept import load as kept
from mcpc.pack.archive import Entry, content_digest, digest
from mcpc.pack.manifest import line

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostics
    from mcpc.options import Options
    from mcpc.sources import SourceTree

DECISIVE = frozenset({".py", ".j2", ".bash", ".sh", ".html", ".js", ".mjs", ".css", ".json"})
KIND = "builds"
MANIFEST = "META-INF/manifest.sha256"


@dataclass(frozen=True, slots=True)
class Build:
    """A finished build: the artifact, its content digest, what it holds, and what was said about it."""

    data: bytes
    content_digest: str
    name: str
    version: str
    tools: int
    prompts: int
    resources: int
    diagnostics: Diagnostics


@cache
def compiler_digest() -> str:
    """Return the digest of the compiler itself: a changed compiler has made none of these builds."""
    roots = (Path(mcpc.__file__).parent, Path(mcpc_runtime.__file__).parent, folder())
    files = sorted(path for root in roots for path in root.rglob("*") if path.suffix in DECISIVE)
    summary = hashlib.sha256()
    for path in files:
        summary.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return summary.hexdigest()


def installed_here() -> list[str]:
    """Return the packages beside the compiler, each as its folder of metadata is called: with its version."""
    return sorted({path.name for entry in sys.path for path in Path(entry or ".").glob("*.dist-info")})


def key(tree: SourceTree, found: Diagnostics, options: Options) -> str:
    """Return the digest of everything that decides a build.  O(bytes of the sources)."""
    summary = hashlib.sha256()
    # Without a Bash to ask, a build has another warning.
    machine = sys.version, shutil.which("bash") is not None, introspection.decisive(tree)
    known = compiler_digest(), machine, installed_here()
    asked = [*known, decisive(tree), asdict(options), [asdict(problem) for problem in found]]
    summary.update(json.dumps(asked, sort_keys=True).encode())
    for path, source in tree.files.items():
        summary.update(
            f"{path}\0{source.mode}\0{source.linked:d}\0{len(source.data)}\0".encode("utf-8", "surrogateescape")
        )
        summary.update(source.data)
    return summary.hexdigest()


def load(name: str) -> Build | None:
    """Return the build stored under `name`, if there is one and it is whole."""
    stored = kept(KIND, name)
    with suppress(ValueError, KeyError, TypeError):
        head, _, data = (stored or b"").partition(b"\n")
        facts = json.loads(head)
        build = Build(data=data, diagnostics=tuple(map(diagnostic, facts.pop("diagnostics"))), **facts)
        return build if is_as_built(build) else None
    return None


def is_as_built(build: Build) -> bool:
    """Tell whether an archive holds what its manifest and its digest say.  O(its bytes)."""
    with suppress(zipfile.BadZipFile, KeyError, UnicodeDecodeError), zipfile.ZipFile(io.BytesIO(build.data)) as packed:
        entries = [Entry(name, packed.read(name)) for name in packed.namelist()]
        lines = sorted(line(entry.name, digest(entry.data)) for entry in entries if entry.name != MANIFEST)
        told = sorted(packed.read(MANIFEST).decode().splitlines())
        return lines == told and content_digest(entries) == build.content_digest
    return False


def diagnostic(row: dict[str, str]) -> Diagnostic:
    """Return a diagnostic from what was stored of it."""
    span = Span(**row.pop("span")) if row["span"] else row.pop("span")  # type: ignore[arg-type]
    return Diagnostic(severity=Severity(row.pop("severity")), span=span, **row)  # type: ignore[arg-type]


def store(name: str, build: Build) -> None:
    """Keep a build under `name`."""
    facts = asdict(build)
    data = facts.pop("data")
    keep(KIND, name, json.dumps(facts).encode() + b"\n" + data)
