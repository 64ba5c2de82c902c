"""Files that a lock names, from wherever they are; each is checked by its digests, wherever it comes from.

They are looked for in the cache, in the project, in the folders of `--find-links`, and then, by pip's session in a
separate process, on the pages of `--find-links`, at the address in the lock, and in the registry that pip is configured
for (a mirror, if the address cannot be reached).  With `--offline` only what was named is asked.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from mcpc import programs
from mcpc.cache_dir import load_entry, store_entry
from mcpc.dependencies import locked_fetcher
from mcpc.dependencies.lock_files import SHA256, LockError
from mcpc.dependencies.pip_install import TIMEOUT_SECONDS, offline_variables, target_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpc.dependencies.lock_files import LockedFile
    from mcpc.dependencies.platforms import Target

KIND = "locked"
FIXED_LENGTH = {method for method in hashlib.algorithms_guaranteed if not method.startswith("shake_")}
PAGE = re.compile(r"https?://")
FILE_NAME = re.compile(r"[\w.+!-]+")


@dataclass(frozen=True, slots=True)
class FileSources:
    """Where files of a lock are looked for; `root` is the folder of the project, `indexes` its options for pip."""

    root: str = ""
    find_links: tuple[str, ...] = ()
    offline: bool = False
    indexes: tuple[str, ...] = ()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of wheels."""
        return tuple(Path(place) for place in self.find_links if not PAGE.match(place))

    @property
    def pages(self) -> tuple[str, ...]:
        """The pages with links to wheels."""
        return tuple(place for place in self.find_links if PAGE.match(place))


def fetch_files(wanted: Iterable[LockedFile], target: Target, sources: FileSources) -> dict[str, bytes]:
    """Return the bytes of files by their names; raise LockError for the first that is missing or another one.

    One without a SHA-256 is not checked: whoever writes a lock learns it that way.
    """
    found: dict[str, bytes] = {}
    missing: list[LockedFile] = []
    for item in sorted(set(wanted), key=lambda item: item.file):
        data = load_entry(KIND, item.sha256) if item.sha256 else None
        if data is None or hashlib.sha256(data).hexdigest() != item.sha256:
            data = _from_disk(item, sources)
            if data is not None:
                keep_file(data)
        if data is None:
            missing.append(item)
        else:
            found[item.file] = data
    if missing:
        found.update(_from_network(missing, target, sources))
    return found


def _from_disk(item: LockedFile, sources: FileSources) -> bytes | None:
    """Return a file of the project, or of a folder of wheels; None if there is none."""
    places = [Path(sources.root, item.path)] if item.path else []
    address = urlsplit(item.address)
    if address.scheme == "file":
        places.append(Path(unquote(address.path)))
    for place in (*places, *(folder / item.file for folder in sources.folders)):
        if place.is_file():
            return checked(item, place.read_bytes(), f"`{os.path.normpath(place.parent)}`")
    return None


def checked(item: LockedFile, data: bytes, where: str) -> bytes:
    """Return the bytes of a file; raise LockError if it is not the one that the lock names."""
    for method, expected in ((SHA256, item.sha256), *item.others):
        digest = hashlib.new(method, data).hexdigest() if expected and method in FIXED_LENGTH else expected
        if digest != expected:
            name = "SHA-256" if method == SHA256 else method
            message = f"`{item.file}` from {where} has {name} {digest}, and the lock says {expected}"
            raise LockError("mismatch", message, item.package)
    return data


def _from_network(missing: Sequence[LockedFile], target: Target, sources: FileSources) -> dict[str, bytes]:
    if sources.offline and not sources.pages:
        raise absent(missing, sources, {})
    rows = [(item.package, item.file, item.address if PAGE.match(item.address) else "") for item in missing]
    if not all(FILE_NAME.fullmatch(item.file) for item in missing):
        raise absent(missing, sources, {})
    asked = json.dumps({"files": rows, "links": sources.pages, "offline": sources.offline}).encode()
    options = [*target_options(target), *(("--no-index",) if sources.offline else sources.indexes), "--retries=2"]
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        words = programs.python_command(locked_fetcher.__file__, folder, *options, "--disable-pip-version-check")
        try:
            more = offline_variables(options)
            done = programs.run_program("pip", words, TIMEOUT_SECONDS, told=asked, cwd=folder, more=more)
            reasons = json.loads(done.stdout)
        except (TimeoutError, ValueError):
            reasons = {}
        there = {item: Path(folder, item.file) for item in missing}
        gone = [item for item, path in there.items() if not path.is_file()]
        if gone:
            raise absent(gone, sources, reasons)
        found = {item.file: checked(item, path.read_bytes(), "its registry") for item, path in there.items()}
    for data in found.values():
        keep_file(data)
    return found


def keep_file(data: bytes) -> None:
    """Keep a file of a package in the cache, by its SHA-256."""
    store_entry(KIND, hashlib.sha256(data).hexdigest(), data)


def absent(items: Sequence[LockedFile], sources: FileSources, reasons: dict[str, str]) -> LockError:
    """Return the error about files that were not found."""
    names = ", ".join(f"`{item.file}`" for item in items)
    if sources.offline:
        return LockError("absent", f"not in the cache or a folder of `--find-links`: {names}", items[0].package)
    reason = next((text for item in items if (text := reasons.get(item.file))), "")
    words = f"{names} cannot be downloaded" + (f" ({reason})" if reason else "")
    return LockError("absent", words, items[0].package)
