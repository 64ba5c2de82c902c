"""Installed packages copied into a folder: the files that their RECORD names, each with the digest it has there.

What an installer left beside them (bytecode, scripts, notes of its own) stays behind, so that the same wheels make the
same files wherever they were installed.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import re
import stat
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from mcpc.dependencies.model import Distribution
from mcpc.dependencies.spelling import normalised

if TYPE_CHECKING:
    from importlib.metadata import Distribution as Installed
    from importlib.metadata import PackagePath

OF_THE_INSTALLER = frozenset({"INSTALLER", "RECORD", "REQUESTED", "direct_url.json"})
FOLDER_OF_METADATA = re.compile(r"[^/]+\.dist-info")
EDITABLE = re.compile(r'"editable"\s*:\s*true')
TAG = re.compile(r"^Tag: *(\S+)$", re.MULTILINE)
LICENCES = ("License-Expression", "License")
LICENCE = "License :: OSI Approved :: "
LONGEST_LICENCE = 60
"""A longer one is the text of a licence, not its name."""


class UnfitError(Exception):
    """A package cannot be carried; the message says why."""


def copy(installed: Installed, folder: Path) -> Distribution:
    """Copy an installed package into `folder`; raise UnfitError if it is not what its wheel had in it."""
    name = normalised(installed.metadata["Name"])
    if installed.files is None or EDITABLE.search(installed.read_text("direct_url.json") or ""):
        raise UnfitError(f"`{name}` was not installed from a wheel")
    _refuse_missing(installed, name)
    files: dict[str, str] = {}
    information = ""
    for path in sorted(installed.files, key=str):
        if _is_wanted(path):
            data = _verified(installed, path, name)
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            files[path.as_posix()] = hashlib.sha256(data).hexdigest()
        if FOLDER_OF_METADATA.fullmatch(path.parts[0]):
            information = path.parts[0]
    licence, is_spdx = _licence(installed)
    tags = tuple(sorted(TAG.findall(installed.read_text("WHEEL") or "")))
    return Distribution(name, installed.version, licence, is_spdx, information, tags, files)


def _refuse_missing(installed: Installed, name: str) -> None:
    """Refuse a package that lacks a file of its wheel: since Python 3.12 `files` passes over what is not there."""
    present = {str(path) for path in installed.files or ()}
    for row in csv.reader((installed.read_text("RECORD") or "").splitlines()):
        if row and row[0] not in present and _is_wanted(PurePosixPath(row[0])):
            raise UnfitError(f"`{row[0]}` of `{name}` cannot be read: there is no such file")


def _is_wanted(path: PurePosixPath) -> bool:
    """Tell whether a file belongs to the package itself; scripts and data lie outside (`../../bin/…`)."""
    if path.is_absolute() or ".." in path.parts:
        return False
    if "__pycache__" in path.parts or path.suffix == ".pyc":
        return False
    if path.suffix == ".pth" and len(path.parts) == 1:
        return False  # it is for `site`, without which a server starts
    return not (FOLDER_OF_METADATA.fullmatch(path.parts[0]) and path.name in OF_THE_INSTALLER and len(path.parts) == 2)


def _verified(installed: Installed, path: PackagePath, name: str) -> bytes:
    place = Path(str(installed.locate_file(path)))
    try:
        if not stat.S_ISREG(place.lstat().st_mode):
            raise UnfitError(f"`{path}` of `{name}` is not a file")
        data = place.read_bytes()
    except OSError as problem:
        raise UnfitError(f"`{path}` of `{name}` cannot be read: {problem.strerror}") from None
    if path.hash is None or path.hash.mode not in hashlib.algorithms_guaranteed:
        raise UnfitError(f"`{path}` of `{name}` has no digest in RECORD")
    found = base64.urlsafe_b64encode(hashlib.new(path.hash.mode, data).digest()).rstrip(b"=").decode()
    if found != path.hash.value.rstrip("="):
        raise UnfitError(f"`{path}` of `{name}` is not what RECORD says")
    return data


def _licence(installed: Installed) -> tuple[str, bool]:
    """Return the name of a package's licence, and whether it is an expression of SPDX."""
    said = installed.metadata.get_all("Classifier") or ()
    classified = [text.removeprefix(LICENCE) for text in said if text.startswith(LICENCE)]
    given = (*(installed.metadata[name] for name in LICENCES if name in installed.metadata), *classified)
    name = next((text for text in given if text and len(text) <= LONGEST_LICENCE and "\n" not in text), "")
    try:
        return (canonicalize_license_expression(name), True) if name else ("", False)
    except InvalidLicenseExpression:
        return name, False
