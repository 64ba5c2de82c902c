"""The standard library as one entry: a table, and the bytecode of each module.

What the first handler imports is stored, the rest is deflated: inflating it would cost that call more than reading it.
"""

from __future__ import annotations

import hashlib
import sys
import warnings
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.emit import bytecode
from mcpc.emit.bytecode import dump_code, dump_data, without_columns
from mcpc.sandbox.cache_dir import load_entry, store_entry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from types import CodeType

LEFT_OUT_FOLDERS = frozenset(
    {
        "__phello__",
        "__pycache__",
        "_pyrepl",
        "curses",
        "distutils",
        "ensurepip",
        "idlelib",
        "lib-dynload",
        "lib2to3",
        "msilib",
        "pydoc_data",
        "site-packages",
        "dist-packages",
        "test",
        "tests",
        "tkinter",
        "turtledemo",
        "venv",
    }
)
LEFT_OUT_MODULES = frozenset(
    {
        "__hello__",
        "_aix_support",
        "_android_support",
        "_ios_support",
        "_osx_support",
        "_pydecimal",
        "_pyio",
        "antigravity",
        "idlelib",
        "pydoc",
        "this",
        "turtle",
    }
)
"""Modules of other systems, second implementations of extension modules, and those that make no sense in a server."""
OF_WINDOWS = frozenset(
    {"asyncio.windows_events", "asyncio.windows_utils", "multiprocessing.popen_spawn_win32", "nturl2path"}
)
OF_POSIX = frozenset({"asyncio.unix_events", "multiprocessing.popen_fork", "multiprocessing.popen_forkserver"})
KIND = "libraries"
LEVEL = 9
RAW = -15
"""A window for zlib without a header and a checksum: the manifest has a better one."""


def library_modules(folder: Path, foreign: Collection[str] = OF_WINDOWS) -> dict[str, tuple[bool, Path]]:
    """Return the modules of the standard library: whether each is a package, and its file.

    `foreign`: the modules of another system, which are left out.
    """
    return {name: row for name, row in sorted(find_modules(folder, "")) if name not in foreign}


def find_modules(folder: Path, package: str) -> Iterator[tuple[str, tuple[bool, Path]]]:
    """Yield the modules in a folder of the library and below it."""
    for path in folder.iterdir():
        name = package + path.stem
        # A folder `config-…` has what programs that embed Python are linked with.
        if path.is_dir() and path.name not in LEFT_OUT_FOLDERS and not path.name.startswith("config-"):
            init = path / "__init__.py"
            if init.is_file():
                yield name, (True, init)
                yield from find_modules(path, f"{name}.")
        elif path.suffix == ".py" and path.name != "__init__.py" and name not in LEFT_OUT_MODULES:
            yield name, (False, path)


def library_code(label: str, path: Path) -> CodeType:
    """Compile a module of the library without docstrings, asserts and columns, as `python -OO` does."""
    with warnings.catch_warnings():
        # What Python warns of in its own library, no author can change.
        warnings.simplefilter("ignore")
        return without_columns(compile(path.read_bytes(), label, "exec", dont_inherit=True, optimize=2))


def module_label(name: str, is_package: bool) -> str:
    """Return the file name of a module in tracebacks."""
    return f"python/{name.replace('.', '/')}" + ("/__init__.py" if is_package else ".py")


def cached_library(modules: Mapping[str, tuple[bool, Path]], stored: Collection[str]) -> bytes:
    """Return the entry, from the cache if these files were compiled before."""
    summary = hashlib.sha256(repr((sys.version, LEVEL, sorted(stored))).encode())
    # The source of what writes bytecode, too: the same modules become other bytes if it changes.
    summary.update(Path(bytecode.__file__).read_bytes())
    for name, (is_package, path) in modules.items():
        summary.update(f"{name}\0{is_package:d}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    name = summary.hexdigest()
    entry = load_entry(KIND, name)
    if entry is None:
        entry = library_entry(modules, stored)
        store_entry(KIND, name, entry)
    return entry


def library_entry(modules: Mapping[str, tuple[bool, Path]], stored: Collection[str]) -> bytes:
    """Return the entry: the length of the table, the table, and the modules."""
    bodies = {}
    for name, (is_package, path) in modules.items():
        body = dump_code(library_code(module_label(name, is_package), path))
        bodies[name] = is_package, body if name in stored else deflate(body), name not in stored
    length = len(dump_data(rows_from(bodies, 0)))
    table = dump_data(rows_from(bodies, 4 + length))
    return b"".join((length.to_bytes(4, "little"), table, *(body for _, body, _ in bodies.values())))


def rows_from(bodies: Mapping[str, tuple[bool, bytes, bool]], start: int) -> dict[str, tuple[bool, int, int, bool]]:
    """Return the table of modules whose bytecode begins at `start`; its length does not depend on the offsets."""
    rows = {}
    for name, (is_package, body, is_deflated) in bodies.items():
        rows[name] = is_package, start, len(body), is_deflated
        start += len(body)
    return rows


def deflate(data: bytes) -> bytes:
    """Return deflated bytes."""
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, RAW)
    return packer.compress(data) + packer.flush()
