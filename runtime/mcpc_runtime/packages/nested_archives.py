"""Import of the server's own bundled packages from the two archives inside the artifact.

Both are stored without compression, so every file in them has a known offset in the artifact; their entries are added
to the directory of the interpreter's zip importer.
"""

from __future__ import annotations

import zipimport
from struct import unpack_from

from mcpc_runtime.packages import activate_packages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Entry = tuple[str, int, int, int, int, int, int, int]
    """An entry of the importer's directory: path, method, two sizes, offset, time, date and checksum."""

FOLDER = "serving"
ARCHIVES = ("sources.zip", "bytecode.zip")
END_LENGTH, ROW_LENGTH, LOCAL_HEADER_LENGTH = 22, 46, 30
"""The lengths of the end record, of a directory row before its name, and of a local header before its name."""
activated: set[str] = set()


def activate_nested(archive: str) -> bool:
    """Make the server's own bundled packages importable; return whether there are any."""
    if archive in activated:
        return True
    loader = zipimport.zipimporter(archive)
    directory: dict[str, Entry] = zipimport._zip_directory_cache[archive]  # type: ignore[attr-defined]
    for name in ARCHIVES:
        row = dict.get(directory, f"{FOLDER}/{name}")
        if row is None:
            return False
        data = loader.get_data(f"{archive}/{FOLDER}/{name}")
        root = row[0].removesuffix(f"/{FOLDER}/{name}")
        directory.update(archive_entries(data, data_start(archive, row), f"{root}/{FOLDER}/"))
    activate_packages(archive, FOLDER)
    activated.add(archive)
    return True


def data_start(archive: str, row: Entry) -> int:
    """Return the offset of an entry's data."""
    with open(archive, "rb") as file:
        file.seek(row[4])
        name, extra = unpack_from("<HH", file.read(LOCAL_HEADER_LENGTH), 26)
    return int(row[4] + LOCAL_HEADER_LENGTH + name + extra)


def archive_entries(data: bytes, start: int, root: str) -> Iterator[tuple[str, Entry]]:
    """Yield the importer's entry of each file of a nested archive that begins at offset `start` of the artifact."""
    count, _, offset = unpack_from("<HLL", data, len(data) - END_LENGTH + 10)
    for _ in range(count):
        method, time, date, checksum, packed, size, name, extra, comment = unpack_from("<HHHLLLHHH", data, offset + 10)
        local = unpack_from("<L", data, offset + 42)[0]
        path = data[offset + ROW_LENGTH : offset + ROW_LENGTH + name].decode()
        yield f"{FOLDER}/{path}", (root + path, method, packed, size, start + local, time, date, checksum)
        offset += ROW_LENGTH + name + extra + comment
