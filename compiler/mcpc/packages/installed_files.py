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
from types import MappingProxyType
from typing import TYPE_CHECKING

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from mcpc.packages.model import Distribution
from mcpc.packages.pep508 import Installed, normalised_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib import metadata
    from importlib.metadata import PackagePath

    from mcpc.packages.pep508 import Closure

INSTALLER_FILES = frozenset({"INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json"})
LIBRARIES = tuple(f"{above}/*-packages" for above in ("lib/python*", "lib64/python*", "local/lib/python*", "Lib"))
"""Where packages are below a prefix, on every system."""
METADATA_FOLDER = re.compile(r"[^/]+\.dist-info")
# In `direct_url.json` (PEP 610).
EDITABLE = re.compile(r'"editable"\s*:\s*true')
TAG = re.compile(r"^Tag: *(\S+)$", re.MULTILINE)
LICENCES = ("License-Expression", "License")
LICENCE = "License :: OSI Approved :: "
MAX_LICENCE_LENGTH = 60
"""A longer text is a licence itself, not its name."""


class UnfitPackageError(Exception):
    """A package cannot be bundled; the message describes why."""


class ChangedFileError(UnfitPackageError):
    """A file is not the one that its package has: uv's cache has links to files that other programs may change."""


def installed_packages(folder: Path) -> dict[str, Installed]:
    """Return the packages that are installed below a prefix by name."""
    return packages_in(*sorted(path for pattern in LIBRARIES for path in folder.glob(pattern)))


def packages_in(*folders: Path) -> dict[str, Installed]:
    """Return the packages in some folders by name."""
    packages = [Installed(path) for folder in folders for path in sorted(folder.glob("*.dist-info"))]
    return {normalised_name(item.metadata["Name"]): item for item in packages}


def copy_packages(
    closure: Closure[Installed], folder: Path, again: Callable[[str, bool], None]
) -> tuple[Distribution, ...]:
    """Copy installed packages into `folder`, by name; raise UnfitPackageError.

    Where two have different files at one path, that of the package that is installed last counts: `again` installs one
    of them again, over the others.  So it does, without uv's cache, with a package whose files were changed there.
    """
    owners: dict[str, dict[str, str]] = {}
    for name, item in closure.found.items():
        for path in item.files or ():
            if path.hash is not None and _is_package_file(path):
                owners.setdefault(path.as_posix(), {})[name] = path.hash.value
    shared = {path: [*by] for path, by in owners.items() if len(set(by.values())) > 1}
    order = installation_order(closure)
    for name in sorted({name for names in shared.values() for name in names}, key=order.index):
        again(name, False)
    last = {path: max(names, key=order.index) for path, names in shared.items()}
    copied: list[Distribution] = []
    for name in sorted(closure.found):
        others = {path: owner for path, owner in last.items() if name in shared[path]}
        try:
            copied.append(copy_package(closure.found[name], folder, others))
        except ChangedFileError:
            again(name, True)
            del closure.found[name].files  # its RECORD may have been changed, too
            copied.append(copy_package(closure.found[name], folder, others))
    return tuple(copied)


def installation_order(closure: Closure[Installed]) -> list[str]:
    """Return the packages in the order in which pip installs them: first those that need none, and those far down."""
    depth: dict[str, int] = {}
    waiting = [("", frozenset[str]())]
    while waiting:
        name, above = waiting.pop()
        if depth.get(name, -1) >= len(above):
            continue
        depth[name] = len(above)
        waiting += [(need, above | {name}) for need in closure.needs.get(name, ()) if need not in above | {name}]
    lowest = len(closure.found) + 1
    return sorted(
        closure.found, key=lambda name: (depth.get(name, 0) if closure.needs.get(name) else lowest, name), reverse=True
    )


def copy_package(
    installed: metadata.Distribution, folder: Path, shared: Mapping[str, str] = MappingProxyType({})
) -> Distribution:
    """Copy an installed package into `folder`; raise UnfitPackageError if it differs from its wheel.

    `shared`: the package whose file is at a path that several have.
    """
    name = normalised_name(installed.metadata["Name"])
    if installed.files is None or EDITABLE.search(installed.read_text("direct_url.json") or ""):
        raise UnfitPackageError(f"`{name}` was not installed from a wheel")
    _check_complete(installed, name)
    files: dict[str, str] = {}
    folders: set[Path] = set()
    information = ""
    for path in sorted(installed.files, key=str):
        if _is_package_file(path) and shared.get(path.as_posix(), name) == name:
            data, files[path.as_posix()] = _verified(installed, path, name)
            place = folder / path
            if place.parent not in folders:
                place.parent.mkdir(parents=True, exist_ok=True)
                folders.add(place.parent)
            place.write_bytes(data)
        if METADATA_FOLDER.fullmatch(path.parts[0]):
            information = path.parts[0]
    licence, is_spdx = _licence(installed)
    tags = tuple(sorted(TAG.findall(installed.read_text("WHEEL") or "")))
    replaced = {path: owner for path, owner in sorted(shared.items()) if owner != name}
    return Distribution(name, installed.version, licence, is_spdx, information, tags, files, replaced)


def _check_complete(installed: metadata.Distribution, name: str) -> None:
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


def _verified(installed: metadata.Distribution, path: PackagePath, name: str) -> tuple[bytes, str]:
    """Return the bytes of a file, and their SHA-256; raise if RECORD has another digest."""
    place = Path(str(installed.locate_file(path)))
    try:
        # `lstat`, because a link may lead out of the package.
        if not stat.S_ISREG(place.lstat().st_mode):
            raise UnfitPackageError(f"`{path}` of `{name}` is not a file")
        data = place.read_bytes()
    except OSError as problem:
        raise UnfitPackageError(f"`{path}` of `{name}` cannot be read: {problem.strerror}") from None
    if path.hash is None or path.hash.mode not in hashlib.algorithms_guaranteed:
        raise UnfitPackageError(f"`{path}` of `{name}` has no digest in RECORD")
    sha256 = hashlib.sha256(data)
    digest = (sha256 if path.hash.mode == "sha256" else hashlib.new(path.hash.mode, data)).digest()
    # RECORD has digests in URL-safe base64 without padding (PEP 427).
    if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != path.hash.value.rstrip("="):
        raise ChangedFileError(f"`{path}` of `{name}` differs from RECORD")
    return data, sha256.hexdigest()


def _licence(installed: metadata.Distribution) -> tuple[str, bool]:
    """Return the name of a package's licence, and whether it is an SPDX expression."""
    said = installed.metadata.get_all("Classifier") or ()
    classified = [text.removeprefix(LICENCE) for text in said if text.startswith(LICENCE)]
    given = (*(installed.metadata[name] for name in LICENCES if name in installed.metadata), *classified)
    name = next((text for text in given if text and len(text) <= MAX_LICENCE_LENGTH and "\n" not in text), "")
    try:
        return (canonicalize_license_expression(name), True) if name else ("", False)
    except InvalidLicenseExpression:
        return name, False
