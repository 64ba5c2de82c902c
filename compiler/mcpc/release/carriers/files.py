"""Files of a carrier, and the archives that some carriers are: sorted, stored, at one time, with fixed modes.

Nothing is compressed: other implementations of zlib give other bytes.
"""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpc.pack.archive import EPOCH, UNIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PLAIN, EXECUTABLE = 0o644, 0o755


@dataclass(frozen=True, slots=True, order=True)
class CarrierFile:
    """One file: its path with `/`, its mode, and its bytes."""

    path: str
    mode: int
    data: bytes


def text_file(path: str, text: str) -> CarrierFile:
    """Return a file with a text; a lone surrogate is written as an escape."""
    return CarrierFile(path, PLAIN, text.encode("utf-8", "backslashreplace"))


def json_file(path: str, value: Mapping[str, Any]) -> CarrierFile:
    return text_file(path, json_text(value))


def json_text(value: Mapping[str, Any]) -> str:
    """Return indented JSON that ends with a new line."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def archive_bytes(files: Iterable[CarrierFile]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted(files):
            info = zipfile.ZipInfo(file.path, EPOCH)
            info.create_system = UNIX
            info.external_attr = (0o100000 | file.mode) << 16
            archive.writestr(info, file.data)
    return buffer.getvalue()


def tar_bytes(files: Iterable[CarrierFile], folders: Iterable[tuple[str, int]] = ()) -> bytes:
    """Return an uncompressed archive (USTAR) of files and folders: sorted, of root, at the beginning of time."""
    entries = [(folder, mode, None) for folder, mode in folders] + [(file.path, file.mode, file.data) for file in files]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, mode, data in sorted(entries, key=lambda entry: entry[0]):
            info = tarfile.TarInfo(name)
            info.type, info.mode = tarfile.DIRTYPE if data is None else tarfile.REGTYPE, mode
            info.size = len(data or b"")
            archive.addfile(info, io.BytesIO(data or b""))
    return buffer.getvalue()
