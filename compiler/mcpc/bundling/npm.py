"""npm, run in a separate process: exact versions, no scripts of packages, into a cache folder.

Such a folder is named by all its inputs, and appears complete or not at all.  Registries and proxies are configured in
npm: mcpc contains no address of one.
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
from mcpc.bundling.node import MODULES, NodeError, node_path, program_version
from mcpc.cache_dir import is_private, kind_folder, prune_entries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BUNDLER_FOLDER = Path(__file__).parent / "npm"
"""The packages that bundling itself needs."""
KIND = "npm"
TIMEOUT_SECONDS = 600
OPTIONS = (
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
"""npm's codes of an unreachable registry: requesting fewer packages would not help."""


class NpmInstallError(Exception):
    """npm did not install the packages: its code, and its message."""

    def __init__(self, code: str, said: str) -> None:
        super().__init__(said)
        self.code = code


def esbuild_module() -> Path:
    """Return the bundler's module; raise NodeError if it is not available."""
    try:
        folder = installed_folder((BUNDLER_FOLDER / MANIFEST).read_bytes(), (BUNDLER_FOLDER / LOCK).read_bytes())
    except NpmInstallError as problem:
        raise NodeError(f"esbuild, which bundles tools, cannot be installed: {problem}") from None
    return folder / MODULES / "esbuild/lib/main.js"


def install_possible(wanted: Mapping[str, str], lock: bytes) -> tuple[Path | None, dict[str, str]]:
    """Return a folder with as many of these packages as possible, and why the others failed, by name.

    `lock`: the project's lock file, whose versions and hashes are used; empty if it has none.
    """
    try:
        return (installed_folder(package_json(wanted), lock) if wanted else None), {}
    except NpmInstallError as problem:
        if len(wanted) == 1 or problem.code in UNREACHABLE:
            return None, dict.fromkeys(wanted, str(problem))
    lacking: dict[str, str] = {}
    for name, spec in wanted.items():
        lacking.update(install_possible({name: spec}, lock)[1])
    if not lacking:
        return None, dict.fromkeys(wanted, "the packages cannot be installed together")
    folder, more = install_possible({name: spec for name, spec in wanted.items() if name not in lacking}, lock)
    return folder, {**lacking, **more}


def package_json(wanted: Mapping[str, str]) -> bytes:
    """Return a `package.json` with just these dependencies."""
    whole: dict[str, Any] = {"name": "tools", "version": "0.0.0", "private": True}
    return json.dumps({**whole, "dependencies": dict(sorted(wanted.items()))}, indent=1).encode()


def installed_folder(wanted: bytes, lock: bytes) -> Path:
    """Return the folder in which these packages are installed; raise NpmInstallError if that fails."""
    summary = hashlib.sha256(b"\0".join((wanted, lock, program_version(node_path()).encode())))
    folder = kind_folder(KIND) / summary.hexdigest()
    if is_private(folder) and (folder / MANIFEST).is_file():
        with suppress(OSError):
            os.utime(folder)
        return folder
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix="new-"))
    try:
        (made / MANIFEST).write_bytes(wanted)
        if lock:
            (made / LOCK).write_bytes(lock)
        install_folder(made)
        with suppress(OSError):  # somebody else may have made it meanwhile
            made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    prune_entries(KIND)
    return folder


def install_folder(folder: Path) -> None:
    """Install the dependencies of a folder's package; raise NpmInstallError with npm's reason if that fails.

    A lock may name its author's registry: if that is unreachable, the configured one is used instead; its packages must
    have the hashes in the lock.
    """
    found = shutil.which("npm")
    if found is None:
        raise NpmInstallError("", "npm is not on PATH")
    has_lock = (folder / LOCK).exists()
    words = [found, "install", *OPTIONS, *(() if has_lock else ("--no-package-lock",))]
    try:
        run_npm(words, folder)
    except NpmInstallError as problem:
        if not has_lock or problem.code not in UNREACHABLE:
            raise
        run_npm([*words, "--replace-registry-host=always"], folder)


def run_npm(words: Sequence[str], folder: Path) -> None:
    """Run npm; raise NpmInstallError if it fails."""
    try:
        done = programs.run_program("npm", words, TIMEOUT_SECONDS, cwd=folder)
    except TimeoutError as problem:
        raise NpmInstallError("ETIMEDOUT", str(problem)) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        code = CODE.search(said)
        raise NpmInstallError(
            code[1] if code else "", shorten_errors(said) or f"npm ended with status {done.returncode}"
        )


def shorten_errors(said: str) -> str:
    """Return npm's reason, without the addresses of registries."""
    told = [match[1].strip() for match in REASON.finditer(said)]
    return ADDRESS.sub("…", "; ".join(dict.fromkeys(line for line in told if line)))[:300]
