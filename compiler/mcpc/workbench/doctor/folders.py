"""Folders that mcpc and built files write to: caches, and where packages with native modules are unpacked."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.sandbox.platforms.files import cache_home
from mcpc.workbench.doctor.model import fine, note, problem
from mcpc_runtime.transports.platforms import files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.workbench.doctor.model import Examination, Symptom

CACHE, TEMPORARY = "cache", "temporary files"
LEAST_FREE = 256 << 20
MAX_FILES = 20_000
"""Files of a cache whose sizes are added up."""


def check_cache(_: Examination) -> Iterator[Symptom]:
    """Yield the cache of the compiler: where it is, how large, and whether it is used."""
    path = Path(os.path.abspath(os.environ.get("MCPC_CACHE_DIR") or cache_home() / "mcpc"))  # noqa: PTH100
    elsewhere = "set MCPC_CACHE_DIR to a folder that only you can write to"
    if os.path.lexists(path) and not path.is_dir():
        yield problem(CACHE, f"{path} is not a folder", f"remove it, or {elsewhere}")
        return
    existing = next(folder for folder in (path, *path.parents) if folder.is_dir())
    if not os.access(existing, os.W_OK | os.X_OK):
        yield problem(CACHE, f"{existing} cannot be written to, so every build starts anew", elsewhere)
        return
    why = _distrust(path, existing)
    if why:
        yield problem(CACHE, f"{why}, so it is not used", f"chmod go-w that folder, or {elsewhere}")
        return
    yield from _space(CACHE, existing)
    yield fine(
        CACHE, f"{path}, {folder_size(path) / 1e6:.1f} MB" if existing == path else f"{path} is made when needed"
    )


def _distrust(path: Path, existing: Path) -> str:
    """Return why a folder is not private to this user, or an empty text."""
    try:
        files.check_unshared(os.path.realpath(existing.parent if existing == path else existing))
        if existing == path:
            files.check_private(str(path), path.lstat())
    except files.UnusableFolderError as refusal:
        return str(refusal)
    return ""


def _space(subject: str, folder: Path) -> Iterator[Symptom]:
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        yield problem(subject, f"only {free / 1e6:.0f} MB are free in {folder}", "free some space there")


def folder_size(folder: Path) -> int:
    """Return the bytes of the files in a folder, of the first MAX_FILES."""
    total = 0
    for count, (place, _, names) in enumerate(os.walk(folder)):
        for name in names:
            try:
                total += (Path(place) / name).lstat().st_size
            except OSError:
                continue
        if count > MAX_FILES:
            break
    return total


def check_temporary(_: Examination) -> Iterator[Symptom]:
    """Yield the folder for temporary files: it has to be writable, and programs have to run there."""
    named = os.environ.get("TMPDIR", "")
    if named and not Path(named).is_dir():
        yield problem(TEMPORARY, f"TMPDIR names {named}, which is not there", "unset TMPDIR, or make the folder")
        return
    folder = Path(named or tempfile.gettempdir())
    if not os.access(folder, os.W_OK | os.X_OK):
        yield problem(TEMPORARY, f"{folder} cannot be written to", "set TMPDIR to a folder that can")
        return
    yield from _space(TEMPORARY, folder)
    if is_noexec(folder):
        text = f"{folder} is mounted with noexec: packages with native modules cannot be loaded from there"
        yield note(TEMPORARY, text, "set TMPDIR to a folder from which programs run")
    else:
        yield fine(TEMPORARY, str(folder))


def is_noexec(folder: Path) -> bool:
    """Tell whether no program runs from a folder, where the system tells it."""
    flag, statvfs = getattr(os, "ST_NOEXEC", 0), getattr(os, "statvfs", None)
    return bool(flag and statvfs is not None and statvfs(folder).f_flag & flag)
