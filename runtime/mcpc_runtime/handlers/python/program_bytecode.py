"""Bytecode of a program's own files, read in place in the built file; the files are on disk for all that reads them.

ENTRY has the magic number of its Python, the length of a table, the table (path: offset, length), and then the code of
each file.  For any other Python, and for files that the entry does not have, the file on disk is compiled.
"""

from __future__ import annotations

import _imp
import marshal
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER
from types import CodeType
from typing import Any
from zipimport import zipimporter

ENTRY = "mcpc_app/program"
HEAD = len(MAGIC_NUMBER) + 4


class ProgramCode:
    """The code of the program's files.  `folder`: where they are on disk; `table`: rows by their paths in it."""

    def __init__(self, folder: str, data: bytes = b"") -> None:
        self.folder = folder
        self._data = data
        self._table: Mapping[str, tuple[int, int]] = {}
        if data.startswith(MAGIC_NUMBER):
            end = HEAD + int.from_bytes(data[HEAD - 4 : HEAD], "little")
            self._table = marshal.loads(data[HEAD:end])

    def __bool__(self) -> bool:
        """Tell whether there is code of any file."""
        return bool(self._table)

    def of(self, path: str) -> CodeType | None:
        """Return the code of a file, with its path on disk; None if there is none."""
        row = self._table.get(path[len(self.folder) + 1 :]) if path.startswith(f"{self.folder}/") else None
        if row is None:
            return None
        code: CodeType = marshal.loads(memoryview(self._data)[row[0] : row[0] + row[1]])
        # The code was compiled elsewhere: tracebacks need the path at which the file is here.
        _imp._fix_co_filename(code, path)  # type: ignore[attr-defined]
        return code


_program: list[ProgramCode] = []


class ProgramLoader(SourceFileLoader):
    """Loads a module of the program: its code is that of the built file, everything else is on disk."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of a module."""
        return program_code(self.get_filename(fullname))


def program_code(path: str) -> CodeType:
    """Return the code of a file of the program."""
    code = _program[0].of(path) if _program else None
    if code is not None:
        return code
    with open(path, "rb") as file:
        compiled: CodeType = compile(file.read(), path, "exec", dont_inherit=True)
    return compiled


def use_program_code(loader: object, folder: str) -> None:
    """Let the modules in a folder be loaded from the built file, if it has code of this Python for them."""
    if not isinstance(loader, zipimporter):
        return
    try:
        program = ProgramCode(folder, loader.get_data(f"{loader.archive}/{ENTRY}"))
    except OSError:
        return
    if program:
        _program[:] = [program]
        # Before Python's own hook, which takes any folder.
        sys.path_hooks.insert(0, program_finder(folder))


def program_finder(folder: str) -> Callable[[str], Any]:
    """Return the path hook for the folder of the program and those in it."""
    # In Python's own order: extension modules before sources.
    make = FileFinder.path_hook((ExtensionFileLoader, EXTENSION_SUFFIXES), (ProgramLoader, [".py"]))

    def find(path: str) -> Any:
        if path != folder and not path.startswith(f"{folder}/"):
            raise ImportError("not a folder of the program", path=path)
        return make(path)

    return find
