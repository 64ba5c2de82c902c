"""What the server itself carries, found as if it lay in the archive: in it are two archives, which have it.

Both are stored, so every file in them is at a place of the outer archive that can be told, and the interpreter's own
importer of archives finds it once the directory says where.
"""

from __future__ import annotations

import zipimport
from struct import unpack_from

from mcpc_runtime.layer import activate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Entry = tuple[str, int, int, int, int, int, int, int]
    """What the importer keeps of a file: its path, method, two sizes, place, time, date and checksum."""

FOLDER = "serving"
ARCHIVES = ("sources.zip", "bytecode.zip")
END, ROW, LOCAL = 22, 46, 30
"""The lengths of a directory's end, of one of its rows before the name, and of what is before a file's name."""
ready: set[str] = set()


def bring(archive: str) -> bool:
    """Have imports find what the server carries for itself; tell whether it carries anything."""
    if archive in ready:
        return True
    loader = zipimport.zipimporter(archive)
    directory: dict[str, Entry] = zipimport._zip_directory_cache[archive]  # type: ignore[attr-defined]
    for name in ARCHIVES:
        row = dict.get(directory, f"{FOLDER}/{name}")
        if row is None:
            return False
        data = loader.get_data(f"{archive}/{FOLDER}/{name}")
        root = row[0].removesuffix(f"/{FOLDER}/{name}")
        directory.update(entries(data, start_of(archive, row), f"{root}/{FOLDER}/"))
    activate(archive, FOLDER)
    ready.add(archive)
    return True


def start_of(archive: str, row: Entry) -> int:
    """Return where the data of an entry begins."""
    with open(archive, "rb") as file:
        file.seek(row[4])
        name, extra = unpack_from("<HH", file.read(LOCAL), 26)
    return int(row[4] + LOCAL + name + extra)


def entries(data: bytes, start: int, root: str) -> Iterator[tuple[str, Entry]]:
    """Yield each file of a nested archive that begins at `start` of the outer one, as the importer keeps it."""
    number, _, place = unpack_from("<HLL", data, len(data) - END + 10)
    for _ in range(number):
        method, time, date, checksum, packed, size, name, extra, comment = unpack_from("<HHHLLLHHH", data, place + 10)
        local = unpack_from("<L", data, place + 42)[0]
        path = data[place + ROW : place + ROW + name].decode()
        yield f"{FOLDER}/{path}", (root + path, method, packed, size, start + local, time, date, checksum)
        place += ROW + name + extra + comment
