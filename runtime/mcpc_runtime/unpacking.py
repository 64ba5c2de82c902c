"""The author's files on disk, for handlers that need them there: programs, and libraries that ask where they are.

Written once a server process, when the first handler needs them, into a fresh folder that only we can enter; each file
is held against the digest it was built with.  The folder goes when the server has gone, however it goes.
"""

from __future__ import annotations

import marshal
import posix
from errno import EACCES

from mcpc_runtime import ways
from mcpc_runtime.supervision.folders import FOLDERS, remove_tree

try:
    from _sha2 import sha256  # type: ignore[import-not-found]
except ImportError:  # Python 3.11 calls it so; hashlib would load a whole library of ciphers
    from _sha256 import sha256  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc_runtime.image import Image

MANIFEST = "META-INF/manifest.sha256"
HANDLERS = "handlers/"
FOLDED, ARCHIVE = "folded", "handlers.zip"
"""What the index calls the table of the files that lie in one entry, and that entry."""
LOCAL, HEADER = b"PK\3\4", 30
SIZES = ((18, 22), (26, 28), (28, 30))
"""Of a file in an archive: how its header begins, how long that is, and where it says three lengths."""
PRIVATE = 0o700
OTHERS, STICKY = 0o022, 0o1000
FRESH = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_NOFOLLOW | posix.O_CLOEXEC

made: dict[str, str] = {}
"""The folder of each archive."""


class UnpackingError(Exception):
    """The files cannot be put on disk; the message says why."""


def folder(image: Image) -> str:
    """Return the folder in which the files lie as they lay below the project; raise UnpackingError if that cannot be.

    It is made anew if somebody, such as the end of a login session, has taken it away.
    """
    found = made.get(image.archive)
    if found is None or not posix.access(found, posix.R_OK | posix.X_OK):
        found = made[image.archive] = unpack(image)
    return found


def unpack(image: Image) -> str:
    """Write every file that the index names, below a folder in the first place that will do."""
    rows = image.index.get("unpack", ())
    if FOLDED in image.index:
        rows = marshal.loads(image.read(*image.index[FOLDED]))
    wanted = [(safe(path), is_executable) for path, is_executable in rows]
    digests = manifest(image)
    find = within(image, digests) if FOLDED in image.index else lambda path: entry(image, HANDLERS + path, digests)
    refusals = []
    for place in places():
        try:
            refuse_unfit(place)
            target = f"{place}/mcpc-{posix.urandom(12).hex()}"
            posix.mkdir(target, PRIVATE)
        except OSError as problem:
            refusals.append(f"{place}: {problem.strerror}")
            continue
        FOLDERS.append(target)
        try:
            posix.chmod(target, PRIVATE)  # the umask may have left less
            for path, is_executable in wanted:
                write(target, path, find(path), is_executable)
        except BaseException as problem:
            remove_tree(target)
            if not isinstance(problem, OSError):
                raise
            refusals.append(f"{target}: {problem.strerror}")
            continue
        return target
    raise UnpackingError(f"the handlers' files cannot be unpacked ({'; '.join(refusals)})")


def safe(path: str) -> str:
    """Return a path as it is, if it leads to nothing but what is below where it starts."""
    if not path or "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise UnpackingError(f"{path!r} is no path below a folder")
    return path


def manifest(image: Image) -> dict[str, str]:
    """Return the digest of each file of the author's whose name needs no escapes, and of others by what is written."""
    rows = (line.partition("  ") for line in image.entry(MANIFEST).decode().split("\n"))
    return {name: digest for digest, _, name in rows}


def within(image: Image, digests: dict[str, str]) -> Callable[[str], bytes]:
    """Return what finds the files that lie in one entry: an archive of its own, whose files are stored one by one."""
    data, found, place = entry(image, ARCHIVE, digests), {}, 0
    while data[place : place + 4] == LOCAL:
        size, name, more = (int.from_bytes(data[place + at : place + end], "little") for at, end in SIZES)
        begin = place + HEADER + name + more
        found[str(data[place + HEADER : place + HEADER + name], "utf-8")] = data[begin : begin + size]
        place = begin + size

    def find(path: str) -> bytes:
        if path not in found:
            raise UnpackingError(f"{path} is not in {ARCHIVE}")
        return found[path]

    return find


def entry(image: Image, name: str, digests: dict[str, str]) -> bytes:
    """Return an entry's content; raise UnpackingError if it is not what was built."""
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    data = image.entry(name)
    digest: str = sha256(data).hexdigest()
    if digests.get(escaped, "").removeprefix("\\") != digest:
        raise UnpackingError(f"{name} is not what was built")
    return data


def places() -> Iterator[str]:
    """Yield the folders to try: of this login session, for temporary files, for everybody's."""
    for variable in (b"XDG_RUNTIME_DIR", b"TMPDIR"):
        given = str(posix.environ.get(variable, b""), "utf-8", "surrogateescape")
        if given.startswith("/"):
            yield given.rstrip("/")
    yield "/tmp"


def refuse_unfit(place: str) -> None:
    """Raise OSError if others could put something else in our folder's place, or if nothing may be run from it."""
    path = true_path(place)
    while True:
        found = posix.stat(path)
        which = "it" if path == place else path
        if found.st_uid not in (0, posix.geteuid()):
            raise OSError(EACCES, f"{which} belongs to another user")
        if found.st_mode & OTHERS and not found.st_mode & STICKY:
            raise OSError(EACCES, f"{which} can be written to by others")
        if path == "/":
            break
        path = path.rpartition("/")[0] or "/"
    if posix.statvfs(place).f_flag & getattr(posix, "ST_NOEXEC", 0):
        raise OSError(EACCES, "nothing may be run from it")


def true_path(place: str) -> str:
    """Return a folder's path without symlinks, as the system has it; as it is where the system does not say."""
    folder = posix.open(place, posix.O_RDONLY | posix.O_DIRECTORY | posix.O_CLOEXEC)
    try:
        return posix.readlink(f"/proc/self/fd/{folder}") if ways.has("proc") else place
    finally:
        posix.close(folder)


def write(target: str, path: str, data: bytes, is_executable: bool) -> None:
    """Write a file below the folder, and the folders on the way to it."""
    parts = path.split("/")
    for depth in range(1, len(parts)):
        above = f"{target}/{'/'.join(parts[:depth])}"
        try:
            posix.mkdir(above, PRIVATE)
        except FileExistsError:
            continue
        posix.chmod(above, PRIVATE)
    file = posix.open(f"{target}/{path}", FRESH, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[posix.write(file, view) :]
        posix.fchmod(file, PRIVATE if is_executable else 0o600)
    finally:
        posix.close(file)
