"""`SHA256SUMS`: the digests of files that are published together, in the format of `sha256sum`.

Names have no folders, so that the list fits wherever the files are downloaded to. A name that is listed twice is
refused, and so is one that leaves the folder.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.pack.manifest import checksum_line

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LINE = re.compile(r"(?P<escaped>\\?)(?P<digest>[0-9a-fA-F]{64})(?: [ *])(?P<name>.+)")
ESCAPES = {"\\\\": "\\", "\\n": "\n", "\\r": "\r"}
CHUNK = 1 << 20
RIGHT, WRONG, ABSENT = "ok", "differs", "missing"


class ChecksumError(ValueError):
    """A list of checksums cannot be written or read; the message says why."""


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A line of a list, and whether the file is the one that it names."""

    name: str
    status: str


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        summary = hashlib.sha256()
        while chunk := file.read(CHUNK):
            summary.update(chunk)
    return summary.hexdigest()


def write_checksums(paths: Iterable[Path]) -> bytes:
    """Return the list of some files, sorted by name; raise ChecksumError for two files with one name."""
    files: dict[str, Path] = {}
    for path in paths:
        if path.name in files:
            raise ChecksumError(f"two files have the name {path.name}")
        files[path.name] = path
    return "".join(f"{checksum_line(name, file_digest(files[name]))}\n" for name in sorted(files)).encode()


def check_checksums(sums: Path) -> tuple[CheckedFile, ...]:
    """Compare the files beside a list with it; raise ChecksumError if it is not such a list."""
    return tuple(
        CheckedFile(name, status_of(sums.parent / name, digest)) for name, digest in listed_digests(sums).items()
    )


def status_of(path: Path, digest: str) -> str:
    """Return whether a file is there and has this digest."""
    if not path.is_file():
        return ABSENT
    return RIGHT if file_digest(path) == digest else WRONG


def listed_digests(sums: Path) -> dict[str, str]:
    """Return the digests of a list, by name."""
    try:
        lines = sums.read_bytes().decode().splitlines()
    except UnicodeDecodeError:
        raise ChecksumError("it is not a text in UTF-8") from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        row = LINE.fullmatch(line)
        if row is None:
            raise ChecksumError(f"line {number} is not a SHA-256, two spaces and a name")
        name = re.sub(r"\\[\\nr]", lambda each: ESCAPES[each[0]], row["name"]) if row["escaped"] else row["name"]
        if "/" in name or "\\" in name or name in ("", ".", ".."):
            raise ChecksumError(f"line {number} names a file in another folder")
        if name in found:
            raise ChecksumError(f"line {number} names {name} again")
        found[name] = row["digest"].lower()
    if not found:
        raise ChecksumError("it lists no file")
    return found
