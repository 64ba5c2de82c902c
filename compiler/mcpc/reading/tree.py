"""Read a project folder once: all later stages use these bytes and never the disk.

Only regular files inside the project are opened: a symlink is followed if its target is inside; a FIFO or a device is
never opened. Each refused entry is a diagnostic with its path; reading continues.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING
from unicodedata import normalize

from mcpc.diagnostics import Diagnostic, Diagnostics, Span, diagnose, in_order
from mcpc.reading.selection import (
    IGNORES,
    INSTALLED,
    NEVER_READ,
    PYPROJECT,
    Selection,
    file_reason,
    folder_reason,
    read_selection,
)
from mcpc.reading.source import ENDINGS, Source, SourceTree, begins_as_program, in_utf8
from mcpc.sandbox.platforms import READ_FLAGS, permissions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MIB = 1 << 20
MAX_FILE = 64 * MIB
MAX_PROJECT = 512 * MIB
# Symlinked folders that contain each other multiply: this limit bounds the work for a hostile project.
MAX_ENTRIES = 100_000

IGNORED_NAMES = frozenset({".DS_Store", IGNORES, "__pycache__"})
"""What systems, Git and Python keep in any folder: nobody misses it in a built file, and it is not reported."""
IGNORED_ENDINGS = (".pyc", ".pyz", ".swp", ".swo", "~")
ENVIRONMENT_MARKERS = "pyvenv.cfg"
"""A folder with such a file is a virtual environment of any name: installed packages and links to the outside."""
# An editor's lock file is a dangling symlink: it must be ignored before it is followed.
IGNORED_BEGINNING = ".#"

SPECIAL = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
ALWAYS_READ = frozenset({PYPROJECT, "pylock.toml", "uv.lock"})
"""Files that are read where `exclude` or a `.gitignore` keeps them out of the built file: they say what is in it."""


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to visit: `real` is its resolved path, `above` the folder it was found in (not always its parent).

    `reason`: why only files are read in it that `include` matches.
    """

    path: str
    real: Path
    above: _Folder | None = None
    linked: bool = False
    reason: str = ""

    def holds_itself(self) -> bool:
        """Tell whether the path to this folder passed through the same folder."""
        folder = self.above
        while folder is not None and folder.real != self.real:
            folder = folder.above
        return folder is not None


@dataclass(frozen=True, slots=True)
class _Entry:
    """One name in a folder: `real` is the path to open (a symlink's target)."""

    path: str
    real: Path
    folder: _Folder
    linked: bool = False


@dataclass(slots=True)
class _Walk:
    """State of reading a project: files so far, and folders still to visit."""

    base: Path
    selection: Selection
    folders: list[_Folder] = field(default_factory=list)
    files: dict[str, Source] = field(default_factory=dict)
    unpacked: dict[str, Source] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)
    entries: int = 0
    size: int = 0
    is_stopped: bool = False

    def refuse(self, code: str, path: str, message: str, hint: str = "") -> None:
        """Report one file, or the project itself if `path` is empty."""
        self.problems.append(diagnose(code, Span(path) if path else None, message, hint=hint))

    def stop(self, message: str) -> None:
        """Report that the project is too large, and stop reading it."""
        self.is_stopped = True
        self.refuse("MCP008", "", message, "build from a directory that holds only the server")


def read_tree(root: Path) -> tuple[SourceTree, Diagnostics]:
    """Read every file of the project at `root`, sorted by path; report those that cannot be part of it."""
    try:
        base = root.resolve(strict=True)
    except (OSError, RuntimeError):
        return _nothing(f"directory `{root}` does not exist")
    if not base.is_dir():
        return _nothing(f"`{root}` is not a directory")
    walk = _Walk(base, read_selection(base), [_Folder("", base)])
    while walk.folders and not walk.is_stopped:
        _look_into(walk, walk.folders.pop())
    files = dict(sorted(walk.files.items()))
    left_out = tuple(sorted(walk.left_out.items()))
    unpacked = MappingProxyType(walk.unpacked)
    tree = SourceTree(MappingProxyType(files), base.name, str(base), unpacked=unpacked, left_out=left_out)
    return tree, in_order((*walk.problems, *walk.selection.problems, *_collisions(files)))


def _nothing(message: str) -> tuple[SourceTree, Diagnostics]:
    return SourceTree(MappingProxyType({})), (diagnose("MCP004", None, message),)


def _look_into(walk: _Walk, folder: _Folder) -> None:
    try:
        # A system lists a folder in any order.
        names = sorted(folder.real.iterdir())
    except OSError as failure:
        walk.refuse("MCP006", folder.path, f"the directory cannot be read: {failure.strerror}")
        return
    walk.selection.read_ignores(folder.path, folder.real)
    for real in names:
        walk.entries += 1
        if walk.entries > MAX_ENTRIES:
            walk.stop(f"the project has more than {MAX_ENTRIES} files and directories")
        if walk.is_stopped:
            return
        if real.name not in IGNORED_NAMES and not real.name.startswith(IGNORED_BEGINNING):
            path = f"{folder.path}/{real.name}" if folder.path else real.name
            if _is_read(walk, path, real):
                _read_entry(walk, _Entry(path, real, folder, folder.linked))


def _is_read(walk: _Walk, path: str, real: Path) -> bool:
    """Tell whether an entry is read; note why it is left out of the built file if that is known by its name."""
    never = folder_reason(path)
    if never in NEVER_READ:  # a link of such a name is not followed
        walk.left_out[f"{path}/"] = never
        return False
    is_folder = real.is_dir() and not real.is_symlink()
    reason = walk.selection.reason(path, is_folder=is_folder)
    if reason:
        walk.left_out[f"{path}/" if is_folder else path] = reason
    return not reason or (path in ALWAYS_READ and not is_folder)


def _read_entry(walk: _Walk, entry: _Entry) -> None:
    if not _is_utf8(entry.path):
        shown = entry.path.encode("utf-8", "backslashreplace").decode()
        walk.refuse("MCP006", shown, "the name of the file is not valid UTF-8", "rename it")
        return
    try:
        status = entry.real.lstat()
        if stat.S_ISDIR(status.st_mode) or not entry.path.endswith(IGNORED_ENDINGS):
            ENTRY_ACTIONS.get(stat.S_IFMT(status.st_mode), _refuse_special)(walk, entry, status)
    except OSError as failure:
        walk.refuse("MCP006", entry.path, f"the file cannot be read: {failure.strerror}")


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _add_directory(walk: _Walk, entry: _Entry, _found: os.stat_result) -> None:
    # The name in the project counts: a symlink `.cache` to a folder is as hidden as a folder of that name.
    reason = INSTALLED if (entry.real / ENVIRONMENT_MARKERS).exists() else folder_reason(entry.path)
    if reason:
        walk.left_out[f"{entry.path}/"] = reason
        if reason in NEVER_READ or not walk.selection.may_name_below(entry.path):
            return
    folder = _Folder(entry.path, entry.real, entry.folder, entry.linked, reason or entry.folder.reason)
    if folder.holds_itself():
        walk.refuse("MCP006", entry.path, "a symlink leads back to a directory that contains it", "remove the symlink")
    else:
        walk.folders.append(folder)


def _add_file(walk: _Walk, entry: _Entry, status: os.stat_result) -> None:
    if status.st_size > MAX_FILE:
        walk.refuse("MCP008", entry.path, f"the file is larger than {MAX_FILE // MIB} MiB")
        return
    walk.size += status.st_size
    if walk.size > MAX_PROJECT:
        walk.stop(f"the files of the project are larger than {MAX_PROJECT // MIB} MiB together")
        return
    is_named = walk.selection.names(entry.path)
    if entry.folder.reason and not is_named:
        return
    data = _read(entry.real)
    mode = permissions(status, is_program=begins_as_program(data))
    # One of ALWAYS_READ may be left out and read.
    kept = walk.unpacked if entry.path in walk.left_out else walk.files
    if entry.path.endswith(ENDINGS):
        data = in_utf8(data)
    source = Source(entry.path, data, mode, entry.linked, is_named)
    reason = "" if is_named else file_reason(source)
    if reason:
        walk.left_out[entry.path] = reason
    else:
        kept[entry.path] = source


def _read(path: Path) -> bytes:
    """Return the file's bytes; the open flags refuse a file that was replaced by another kind after its check."""
    descriptor = os.open(path, READ_FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is no longer a file")
        return file.read()


def _follow_link(walk: _Walk, entry: _Entry, _found: os.stat_result) -> None:
    try:
        target = entry.real.resolve(strict=True)
    except FileNotFoundError:
        walk.refuse("MCP006", entry.path, f"a symlink leads to `{entry.real.readlink()}`, which does not exist")
        return
    except (OSError, RuntimeError) as problem:
        # A symlink to itself is a RuntimeError in Python 3.11 and 3.12, an OSError in later versions.
        if isinstance(problem, OSError) and problem.errno != errno.ELOOP:
            raise
        walk.refuse("MCP006", entry.path, "a symlink leads to itself")
        return
    status = target.stat()
    if target.is_relative_to(walk.base):
        ENTRY_ACTIONS.get(stat.S_IFMT(status.st_mode), _refuse_special)(
            walk, replace(entry, real=target, linked=True), status
        )
    else:
        message = f"a symlink leads to `{entry.real.readlink()}`, outside the project"
        walk.refuse("MCP005", entry.path, message, "put the file itself into the project")


def _refuse_special(walk: _Walk, entry: _Entry, status: os.stat_result) -> None:
    kind = SPECIAL.get(stat.S_IFMT(status.st_mode), "not a file")
    walk.refuse("MCP006", entry.path, f"it is {kind}, and only files and directories can be part of a project")


ENTRY_ACTIONS: dict[int, Callable[[_Walk, _Entry, os.stat_result], None]] = {
    stat.S_IFDIR: _add_directory,
    stat.S_IFREG: _add_file,
    stat.S_IFLNK: _follow_link,
}


def _collisions(paths: Iterable[str]) -> list[Diagnostic]:
    """Report names that are equal where case or Unicode composition is ignored (macOS, Windows).

    Two folders may share a name (their files are then merged); a file may not share its name with anything.
    """
    problems: list[Diagnostic] = []
    seen: dict[str, str] = {}
    files = set(paths)
    folders = {str(folder) for file in files for folder in PurePosixPath(file).parents}
    for path in sorted(files | folders):
        # Composed again, because folding the case may decompose a character.
        other = seen.setdefault(normalize("NFC", normalize("NFC", path).casefold()), path)
        if other != path and (other in files or path in files):
            message = f"`{path}` and `{other}` are the same file on case-insensitive disks"
            problems.append(diagnose("MCP502", Span(path), message, hint="rename one of them"))
    return problems


TEMPLATE_FOLDERS = (Path(__file__).parents[1] / "templates", Path(__file__).parents[3] / "templates")
"""In an installed package, and in a checkout."""


def template_folder() -> Path:
    """Return the folder of mcpc's own files: those that a built file gets, and programs that read projects."""
    return next(place for place in TEMPLATE_FOLDERS if place.is_dir())
