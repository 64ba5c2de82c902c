"""npm, run as a process of its own: exact versions, no scripts of packages, into a folder of the cache.

Such a folder is named by all that decides what is in it, and appears whole or not at all.  Registries and proxies are
npm's own business: no address of one stands here.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpc import programs
from mcpc.bundling.node import MODULES, NodeError, node, version
from mcpc.kept import folder_of, is_own, prune

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OURS = Path(__file__).parent / "npm"
"""The packages that bundling itself needs."""
KIND = "npm"
SECONDS = 600
QUIET = (
    "--ignore-scripts",
    "--omit=dev",
    "--no-audit",
    "--no-fund",
    "--no-progress",
    "--no-update-notifier",
    "--prefer-offline",
    "--fetch-retries=1",
)
MANIFEST, LOCK = "package.json", "package-lock.json"
ADDRESS = re.compile(r"\bhttps?://[^\s'\";]+")
CODE = re.compile(r"npm (?:error|ERR!) code (\w+)")
REASON = re.compile(
    r"^npm (?:error|ERR!) (?!code |syscall |errno |A complete log)(?:network |\d{3} )?(.*)$", re.MULTILINE
)
UNREACHABLE = frozenset({"EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ENETUNREACH", "ENOTFOUND", "ETIMEDOUT"})
"""How npm says that it reached nobody: asking for fewer packages would not help."""


class MissingError(Exception):
    """npm did not install what it was asked for: its code, and what it said."""

    def __init__(self, code: str, said: str) -> None:
        super().__init__(said)
        self.code = code


def esbuild() -> Path:
    """Return the module that bundles; raise NodeError if it cannot be had."""
    try:
        folder = installed((OURS / MANIFEST).read_bytes(), (OURS / LOCK).read_bytes())
    except MissingError as problem:
        raise NodeError(f"esbuild, which bundles tools, cannot be installed: {problem}") from None
    return folder / MODULES / "esbuild/lib/main.js"


def obtainable(wanted: Mapping[str, str], lock: bytes) -> tuple[Path | None, dict[str, str]]:
    """Return a folder with as many of these packages as can be had, and why the others cannot, by their names.

    `lock`: the project's own, whose versions and hashes hold; nothing if it has none.
    """
    try:
        return (installed(manifest(wanted), lock) if wanted else None), {}
    except MissingError as problem:
        if len(wanted) == 1 or problem.code in UNREACHABLE:
            return None, dict.fromkeys(wanted, str(problem))
    lacking: dict[str, str] = {}
    for name, spec in wanted.items():
        lacking.update(obtainable({name: spec}, lock)[1])
    if not lacking:
        return None, dict.fromkeys(wanted, "the packages cannot be installed together")
    folder, more = obtainable({name: spec for name, spec in wanted.items() if name not in lacking}, lock)
    return folder, {**lacking, **more}


def manifest(wanted: Mapping[str, str]) -> bytes:
    """Return a package that needs just these."""
    whole: dict[str, Any] = {"name": "tools", "version": "0.0.0", "private": True}
    return json.dumps({**whole, "dependencies": dict(sorted(wanted.items()))}, indent=1).encode()


def installed(wanted: bytes, lock: bytes) -> Path:
    """Return the folder in which these packages are installed; raise MissingError if they cannot be."""
    summary = hashlib.sha256(b"\0".join((wanted, lock, version(node()).encode())))
    folder = folder_of(KIND) / summary.hexdigest()
    if is_own(folder) and (folder / MANIFEST).is_file():
        with suppress(OSError):
            os.utime(folder)
        return folder
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix="new-"))
    try:
        (made / MANIFEST).write_bytes(wanted)
        if lock:
            (made / LOCK).write_bytes(lock)
        install(made)
        with suppress(OSError):  # somebody else may have made it meanwhile
            made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    prune(KIND)
    return folder


def install(folder: Path) -> None:
    """Install what a folder's package wants; raise MissingError with npm's reason if that cannot be done.

    A lock may name the registry of whoever wrote it: where that cannot be reached, the one that npm is set up for will
    do, since what comes from it has to have the hash that the lock says.
    """
    found = shutil.which("npm")
    if found is None:
        raise MissingError("", "npm is not on PATH")
    has_lock = (folder / LOCK).exists()
    words = [found, "install", *QUIET, *(() if has_lock else ("--no-package-lock",))]
    try:
        once(words, folder)
    except MissingError as problem:
        if not has_lock or problem.code not in UNREACHABLE:
            raise
        once([*words, "--replace-registry-host=always"], folder)


def once(words: Sequence[str], folder: Path) -> None:
    """Run npm; raise MissingError if it does not end well."""
    try:
        done = programs.run("npm", words, SECONDS, cwd=folder)
    except TimeoutError as problem:
        raise MissingError("ETIMEDOUT", str(problem)) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        code = CODE.search(said)
        raise MissingError(code[1] if code else "", essence(said) or f"npm ended with status {done.returncode}")


def essence(said: str) -> str:
    """Return what npm gave as its reason, without the addresses of registries."""
    told = [match[1].strip() for match in REASON.finditer(said)]
    return ADDRESS.sub("…", "; ".join(dict.fromkeys(line for line in told if line)))[:300]
