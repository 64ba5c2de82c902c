"""Cache of finished builds: the same sources, options, compiler and interpreter produce the same bytes.

An entry is found by the digest of all inputs of the build, and used only if its own digest is still correct. A cache
that cannot be read or written does not fail the build.

What a project depends on besides its files is known to its front ends, whose import takes longer than all the rest of a
build that is found. Where that is nothing but the folder's name, a second entry leads from the files to the build.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import zipfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import mcpc
import mcpc_runtime
from mcpc.diagnostics import Diagnostic, Severity, Span
from mcpc.pack.archive import MANIFEST, checksum_line, file_places, sha256_hex
from mcpc.reading.tree import template_folder
from mcpc.sandbox.cache_dir import code_digest, load_entry, load_parts, store_entry
from mcpc.sandbox.programs import find_bash

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostics
    from mcpc.options import Options
    from mcpc.reading import SourceTree

KIND, KEYS = "builds", "keys"


@dataclass(frozen=True, slots=True)
class CachedBuild:
    """A finished build: the artifact, its content digest, its counts, what it runs on, and its diagnostics."""

    data: bytes
    content_digest: str
    name: str
    version: str
    tools: int
    prompts: int
    resources: int
    runs_on: str
    diagnostics: Diagnostics


def installed_packages() -> list[str]:
    """Return the packages installed beside the compiler: the names of their metadata folders, with versions."""
    return sorted({path.name for entry in sys.path for path in Path(entry or ".").glob("*.dist-info")})


def cache_key(tree: SourceTree, problems: Diagnostics, options: Options) -> str:
    """Return the digest of all inputs of a build.  O(bytes of the sources)."""
    from mcpc.frontends import build_inputs  # noqa: PLC0415 - a build that is found by its files does without

    return sha256_hex(json.dumps([files_key(tree, problems, options), build_inputs(tree)]).encode())


def store_key(key: str, tree: SourceTree, problems: Diagnostics, options: Options) -> None:
    """Store the key of a build, to be found without front ends, unless they know more than the folder's name."""
    from mcpc.frontends import build_inputs  # noqa: PLC0415 - as above

    if {*build_inputs(tree)} <= {(), (tree.name,)}:
        store_entry(KEYS, folder_key(tree, problems, options), key.encode())


def folder_key(tree: SourceTree, problems: Diagnostics, options: Options) -> str:
    """Return the digest of what is known of a build without front ends."""
    return sha256_hex(f"{files_key(tree, problems, options)} {tree.name}".encode("utf-8", "surrogateescape"))


def load_known_build(tree: SourceTree, problems: Diagnostics, options: Options) -> CachedBuild | None:
    """Return the build of a project whose key was computed before, if that depends on no more than its folder."""
    name = load_entry(KEYS, folder_key(tree, problems, options))
    return None if name is None else load_build(name.decode())


def files_key(tree: SourceTree, problems: Diagnostics, options: Options) -> str:
    """Return the digest of a project's files, the options, the machine and the compiler with its packages."""
    summary = hashlib.sha256()
    machine = sys.version, find_bash() != ""  # without Bash, a build has other warnings
    # A changed compiler does not use earlier entries.
    compiler = code_digest(Path(mcpc.__file__).parent, Path(mcpc_runtime.__file__).parent, template_folder())
    known = compiler, machine, installed_packages()
    asked = [*known, asdict(options), [asdict(problem) for problem in problems], tree.left_out]
    summary.update(json.dumps(asked, sort_keys=True).encode())
    for path, source in (*tree.files.items(), *tree.unpacked.items()):
        summary.update(
            f"{path}\0{source.mode}\0{source.linked:d}\0{len(source.data)}\0".encode("utf-8", "surrogateescape")
        )
        # The length before it tells where the bytes end, so that no other files give the same digest.
        summary.update(source.data)
    return summary.hexdigest()


def load_build(name: str) -> CachedBuild | None:
    """Return the build stored under `name`, or None if it is missing or damaged."""
    head, data = load_parts(KIND, name, 2) or (b"", b"")
    # A damaged entry, or one with other fields, counts as missing.
    with suppress(ValueError, KeyError, TypeError):
        facts = json.loads(head)
        build = CachedBuild(data=data, diagnostics=tuple(map(diagnostic_from_row, facts.pop("diagnostics"))), **facts)
        return build if is_as_built(build) else None
    return None


def is_as_built(build: CachedBuild) -> bool:
    """Tell whether an archive matches its manifest.  O(its bytes)."""
    # Its slices are not copies.
    whole = memoryview(build.data)
    with suppress(zipfile.BadZipFile, KeyError, UnicodeDecodeError), zipfile.ZipFile(io.BytesIO(build.data)) as packed:
        places = {name: place for name, place in file_places(build.data).items() if name != MANIFEST}
        lines = sorted(
            checksum_line(name, sha256_hex(whole[start : start + length] if size < 0 else packed.read(name)))
            for name, (start, length, size) in places.items()
        )
        return lines == sorted(packed.read(MANIFEST).decode().splitlines())
    return False


def diagnostic_from_row(row: dict[str, str]) -> Diagnostic:
    """Return a diagnostic from its stored form."""
    span = Span(**row.pop("span")) if row["span"] else row.pop("span")  # type: ignore[arg-type]
    return Diagnostic(severity=Severity(row.pop("severity")), span=span, **row)  # type: ignore[arg-type]


def store_build(name: str, build: CachedBuild) -> None:
    """Store a build under `name`."""
    facts = asdict(build)
    data = facts.pop("data")
    # JSON on one line, so that the first line break ends it.
    store_entry(KIND, name, json.dumps(facts).encode() + b"\n", data)
