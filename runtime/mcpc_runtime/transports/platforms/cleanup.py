"""Context managers that undo what a block opened or began if it raises; the exception propagates.

Temporary folders of the server: the supervisor removes them, even if the server is killed.
"""

from __future__ import annotations

from collections.abc import Callable
from os import DirEntry
from types import TracebackType
from typing import AnyStr

from mcpc_runtime.transports.platforms import system


class Rollback:
    """Calls `undo` if the block raises an exception."""

    __slots__ = ("_undo",)

    def __init__(self, undo: Callable[[], object]) -> None:
        self._undo = undo

    def __enter__(self) -> None:
        """Enter the block."""

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the block."""
        if kind is not None:
            self._undo()


class OpenDescriptors(list[int]):
    """The descriptors that a block opens; closed if it raises, with `always` in any case."""

    __slots__ = ("_always",)

    def __init__(self, *, always: bool = False) -> None:
        super().__init__()
        self._always = always

    def __enter__(self) -> OpenDescriptors:
        """Enter the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the block."""
        if self._always or kind is not None:
            for descriptor in self:
                try:
                    system.close(descriptor)
                except OSError:
                    continue


TEMPORARY_FOLDERS: list[str] = []
"""The paths of all of them."""


def remove_tree(folder: str) -> None:
    """Remove a folder and its contents, as far as possible; links of any kind are not followed."""
    folders = [folder]
    for path in folders:  # grows while it is walked: folders come before their contents
        try:
            entries = list(system.scandir(path))
        except OSError:
            continue
        for entry in entries:
            if is_folder(entry):
                folders.append(entry.path)
            else:
                remove_quietly(system.unlink, entry.path)
    # Folders within others first: only an empty one can be removed.
    for path in reversed(folders):
        remove_quietly(system.rmdir, path)


def is_folder(entry: DirEntry[str]) -> bool:
    """Tell whether an entry is a folder itself: Windows has links that are folders, too (junctions)."""
    try:
        status = entry.stat(follow_symlinks=False)
        return entry.is_dir(follow_symlinks=False) and not getattr(status, "st_reparse_tag", 0)
    except OSError:
        return False


def remove_quietly(remove: Callable[[AnyStr], None], path: AnyStr) -> None:
    """Remove a path; an error is ignored."""
    try:
        remove(path)
    except OSError:
        return
