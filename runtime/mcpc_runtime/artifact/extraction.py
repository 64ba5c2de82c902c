"""Extraction of the author's files to disk, for handlers that need them there: programs, and libraries.

Files are extracted once per server process, when the first handler needs them, into a new folder that only the server's
user can enter; each file is verified by the digest of the build. The folder is removed when the server ends, however it
ends.
"""

from __future__ import annotations

import marshal
from _thread import allocate_lock
from collections.abc import Callable

from mcpc_runtime.protocol.image import Image
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.cleanup import Rollback
from mcpc_runtime.transports.platforms.files import candidate_folders, check_folder, make_folder
from mcpc_runtime.transports.platforms.processes import TEMPORARY_FOLDERS, remove_tree

try:
    from _sha2 import sha256
except ImportError:  # its name in Python 3.11; hashlib would load a whole library of ciphers
    from _sha256 import sha256


MANIFEST = "META-INF/manifest.sha256"
HANDLERS = "handlers/"
FOLDED, ARCHIVE = "folded", "handlers.zip"
"""The index key of the table of files that are stored in one entry, and the name of that entry."""
LOCAL_HEADER, HEADER_SIZE = b"PK\3\4", 30
LENGTH_FIELDS = ((18, 22), (26, 28), (28, 30))
"""A file in an archive: the signature of its header, the header's length, and the positions of three lengths."""
PRIVATE_MODE = 0o700
CREATE_FLAGS = system.O_WRONLY | system.O_CREAT | system.O_EXCL | system.O_NOFOLLOW | system.O_CLOEXEC

extracted: dict[str, str] = {}
"""The folder of each archive."""
_extracting = allocate_lock()
"""Inline handlers begin on several threads."""


class ExtractionError(Exception):
    """The files cannot be extracted; the message contains the reason."""


def extracted_folder(image: Image) -> str:
    """Return the folder with the files, laid out as below the project; raise ExtractionError on failure.

    It is created again if it was removed, for example at the end of a login session.
    """
    with _extracting:
        folder = extracted.get(image.archive)
        if folder is None or not system.access(folder, system.R_OK | system.X_OK):
            folder = extracted[image.archive] = extract_files(image)
        return folder


def extract_files(image: Image) -> str:
    """Write every file that the index names, below a folder in the first suitable location."""
    rows = image.index.get("unpack", ())
    if FOLDED in image.index:
        rows = marshal.loads(image.read(*image.index[FOLDED]))
    files = [(safe_path(path), is_executable) for path, is_executable in rows]
    read_file = file_reader(image)
    refusals = []
    for folder in candidate_folders():
        try:
            check_folder(folder)
            target = make_folder(folder)
        except OSError as problem:
            refusals.append(f"{folder}: {problem.strerror}")
            continue
        # Noted before anything is written, so that it is removed however the server ends.
        TEMPORARY_FOLDERS.append(target)
        try:
            write_files(target, files, read_file)
        except OSError as problem:
            refusals.append(f"{target}: {problem.strerror}")
            continue
        return target
    raise ExtractionError(f"the handlers' files cannot be unpacked ({'; '.join(refusals)})")


def write_files(target: str, files: list[tuple[str, bool]], read_file: Callable[[str], bytes]) -> None:
    """Write files below a folder, which is removed on failure."""
    with Rollback(lambda: remove_tree(target)):
        system.chmod(target, PRIVATE_MODE)  # the umask may have left less
        for path, is_executable in files:
            write_file(target, path, read_file(path), is_executable)


def safe_path(path: str) -> str:
    """Return the path, if it stays below its folder."""
    if not path or "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise ExtractionError(f"{path!r} is not a path below a folder")
    return path


def read_digests(image: Image) -> dict[str, str]:
    """Return the digest of each file of the author by its name as the manifest spells it."""
    rows = (line.partition("  ") for line in image.entry(MANIFEST).decode().split("\n"))
    return {name: digest for digest, _, name in rows}


def file_reader(image: Image) -> Callable[[str], bytes]:
    """Return a function that returns a file of the author by its path; it raises ExtractionError."""
    digests = read_digests(image)
    if FOLDED in image.index:
        return folded_files(image, digests)
    return lambda path: verified_entry(image, HANDLERS + path, digests)


def folded_files(image: Image, digests: dict[str, str]) -> Callable[[str], bytes]:
    """Return a function that finds files in the single entry: a nested archive of uncompressed files."""
    data, contents, position = verified_entry(image, ARCHIVE, digests), {}, 0
    while data[position : position + 4] == LOCAL_HEADER:
        size, name, extra = (
            int.from_bytes(data[position + at : position + end], "little") for at, end in LENGTH_FIELDS
        )
        begin = position + HEADER_SIZE + name + extra
        contents[str(data[position + HEADER_SIZE : position + HEADER_SIZE + name], "utf-8")] = data[
            begin : begin + size
        ]
        position = begin + size

    def read_file(path: str) -> bytes:
        if path not in contents:
            raise ExtractionError(f"{path} is not in {ARCHIVE}")
        return contents[path]

    return read_file


def verified_entry(image: Image, name: str, digests: dict[str, str]) -> bytes:
    """Return an entry's content; raise ExtractionError if it differs from the build."""
    # As `sha256sum` writes such names: escaped, and with a backslash in front of the digest.
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    data = image.entry(name)
    digest: str = sha256(data).hexdigest()
    if digests.get(escaped, "").removeprefix("\\") != digest:
        raise ExtractionError(f"{name} has a wrong checksum")
    return data


def write_file(target: str, path: str, data: bytes, is_executable: bool) -> None:
    """Write a file below the folder, and its parent folders."""
    parts = path.split("/")
    for depth in range(1, len(parts)):
        parent = f"{target}/{'/'.join(parts[:depth])}"
        try:
            system.mkdir(parent, PRIVATE_MODE)
        except FileExistsError:
            continue
        system.chmod(parent, PRIVATE_MODE)
    file = system.open(f"{target}/{path}", CREATE_FLAGS, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[system.write(file, view) :]
        system.fchmod(file, PRIVATE_MODE if is_executable else 0o600)
    finally:
        system.close(file)
