"""Copy of installed packages into a folder: the files that their RECORD names, each with the digest it has there.

Files that an installer adds (bytecode, scripts, notes) are not copied, so that the same wheels give the same files
wherever they were installed.
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
from mcpc.dependencies.pep508 import normalised_name

if TYPE_CHECKING:
    from importlib.metadata import Distribution as Installed
    from importlib.metadata import PackagePath

INSTALLER_FILES = frozenset({"INSTALLER", "RECORD", "REQUESTED", "direct_url.json"})
METADATA_FOLDER = re.compile(r"[^/]+\.dist-info")
EDITABLE = re.compile(r'"editable"\s*:\s*true')
TAG = re.compile(r"^Tag: *(\S+)$", re.MULTILINE)
LICENCES = ("License-Expression", "License")
LICENCE = "License :: OSI Approved :: "
MAX_LICENCE_LENGTH = 60
"""A longer text is a licence itself, not its name."""


class UnfitPackageError(Exception):
    """A package cannot be bundled; the message describes why."""


def copy_package(installed: Installed, folder: Path) -> Distribution:
    """Copy an installed package into `folder`; raise UnfitPackageError if it differs from its wheel."""
    name = normalised_name(installed.metadata["Name"])
    if installed.files is None or EDITABLE.search(installed.read_text("direct_url.json") or ""):
        raise UnfitPackageError(f"`{name}` was not installed from a wheel")
    _check_complete(installed, name)
    files: dict[str, str] = {}
    information = ""
    for path in sorted(installed.files, key=str):
        if _is_package_file(path):
            data = _verified(installed, path, name)
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            files[path.as_posix()] = hashlib.sha256(data).hexdigest()
        if METADATA_FOLDER.fullmatch(path.parts[0]):
            information = path.parts[0]
    licence, is_spdx = _licence(installed)
    tags = tuple(sorted(TAG.findall(installed.read_text("WHEEL") or "")))
    return Distribution(name, installed.version, licence, is_spdx, information, tags, files)


def _check_complete(installed: Installed, name: str) -> None:
    """Raise for a package that lacks a file of its wheel: since Python 3.12 `files` omits missing files."""
    present = {str(path) for path in installed.files or ()}
    for row in csv.reader((installed.read_text("RECORD") or "").splitlines()):
        if row and row[0] not in present and _is_package_file(PurePosixPath(row[0])):
            raise UnfitPackageError(f"`{row[0]}` of `{name}` cannot be read: the file does not exist")


def _is_package_file(path: PurePosixPath) -> bool:
    """Tell whether a file belongs to the package itself; scripts and data are outside (`../../bin/…`)."""
    if path.is_absolute() or ".." in path.parts:
        return False
    if "__pycache__" in path.parts or path.suffix == ".pyc":
        return False
    if path.suffix == ".pth" and len(path.parts) == 1:
        return False  # it is for `site`, without which a server starts
    return not (METADATA_FOLDER.fullmatch(path.parts[0]) and path.name in INSTALLER_FILES and len(path.parts) == 2)


def _verified(installed: Installed, path: PackagePath, name: str) -> bytes:
    place = Path(str(installed.locate_file(path)))
    try:
        if not stat.S_ISREG(place.lstat().st_mode):
            raise UnfitPackageError(f"`{path}` of `{name}` is not a file")
        data = place.read_bytes()
    except OSError as problem:
        raise UnfitPackageError(f"`{path}` of `{name}` cannot be read: {problem.strerror}") from None
    if path.hash is None or path.hash.mode not in hashlib.algorithms_guaranteed:
        raise UnfitPackageError(f"`{path}` of `{name}` has no digest in RECORD")
    found = base64.urlsafe_b64encode(hashlib.new(path.hash.mode, data).digest()).rstrip(b"=").decode()
    if found != path.hash.value.rstrip("="):
        raise UnfitPackageError(f"`{path}` of `{name}` differs from RECORD")
    return data


def _licence(installed: Installed) -> tuple[str, bool]:
    """Return the name of a package's licence, and whether it is an SPDX expression."""
    said = installed.metadata.get_all("Classifier") or ()
    classified = [text.removeprefix(LICENCE) for text in said if text.startswith(LICENCE)]
    given = (*(installed.metadata[name] for name in LICENCES if name in installed.metadata), *classified)
    name = next((text for text in given if text and len(text) <= MAX_LICENCE_LENGTH and "\n" not in text), "")
    try:
        return (canonicalize_license_expression(name), True) if name else ("", False)
    except InvalidLicenseExpression:
        return name, False
