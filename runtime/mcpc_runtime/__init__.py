"""The runtime of every built server: the protocol, its transports, and the runners of its handlers.

Standard library only, and of that only what the current request needs: the modules on the start path import only C
modules of the interpreter; all others are imported when they are first used.

In an archive the bytecode of all these modules is one entry, because the start time grows with the number of entries.
Their sources are another entry, a nested archive, for any other Python, which caches what it compiles
(`bytecode_compilation`), and for readers.

A file for several Pythons has each entry of bytecode once for each: under its own name for the first of them, and with
the Python's tag at its end (`mcpc_runtime/bytecode.cpython-312`) for the others.
"""

from __future__ import annotations

import marshal
import sys
import zipimport
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any

Table = dict[str, tuple[bool, int, int]]


BYTECODE, SOURCES = "mcpc_runtime/bytecode", "mcpc_runtime/sources.zip"
OTHER_PYTHONS = "mcpc_runtime/other_pythons"
"""The beginning of a start with a Python that the file has no bytecode for (`Facts` of `bytecode_compilation`)."""
HEAD = len(MAGIC_NUMBER) + 4
DEFLATED = b"x"
"""How a deflated module begins; bytecode begins otherwise. Files with a minimal library have such modules."""
SOURCE = b"#"
"""How a deflated module begins that is a source: files with a minimal library have no SOURCES."""


class RuntimeFinder:
    """Finds the runtime's modules in the entry BYTECODE of an archive, or for another Python in SOURCES.

    BYTECODE has the magic number of its Python, the length of a table, the table (module: whether it is a package,
    offset, length), and then the modules, each as bytecode or deflated. One of no length is in the bundle of the start
    (compact files), or is compiled from SOURCES (modules that only commands for people use).
    """

    def __init__(self, loader: zipimport.zipimporter) -> None:
        self._loader = loader
        self._data = b""
        self._table: Table | None = None
        self._is_source = False
        self._sources: Any = None
        self._bundle: dict[str, CodeType] | None = None

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module; None for modules of other packages."""
        if not name.startswith("mcpc_runtime."):
            return None
        if self._table is None:
            self._table = self._read()
        row = self._table.get(name)
        if row is None:
            return None
        spec = ModuleSpec(name, self, is_package=row[0])  # type: ignore[arg-type]
        path = f"{self._loader.archive}/{name.replace('.', '/')}"
        spec.origin = f"{path}/__init__.py" if row[0] else f"{path}.py"
        spec.has_location = True
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(path)
        return spec

    def _read(self) -> Table:
        try:
            self._data = self._loader.get_data(f"{self._loader.archive}/{BYTECODE}")
        except OSError:
            self._data = b""
        if not self._data.startswith(MAGIC_NUMBER):
            self._data = self._read_for_this_python()
        end = HEAD + int.from_bytes(self._data[HEAD - 4 : HEAD], "little")
        table: Table = marshal.loads(self._data[HEAD:end])
        return table

    def _read_for_this_python(self) -> bytes:
        """Return the same for a Python that the file has no bytecode for: from its cache, or compiled."""
        facts = marshal.loads(self._loader.get_data(f"{self._loader.archive}/{OTHER_PYTHONS}"))
        names: dict[str, Any] = {}
        exec(facts["cache"].get(sys.platform) or facts["cache"][""], names)  # noqa: S102 - code of the archive itself
        data: bytes = names["read_cached"](facts["digest"], "modules")
        if not data:
            exec(facts["compilation"], names)  # noqa: S102
            data, self._is_source = names["compile_modules"](self._loader, facts, names)
        return data

    def create_module(self, spec: ModuleSpec) -> None:
        """Use the default module of the importer."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a module."""
        _, offset, length = (self._table or {})[module.__name__]
        body = self._data[offset : offset + length]
        is_source = self._is_source
        code = None if length else self._read_bundled(module.__name__)
        if not length and code is None:
            body, is_source = self._read_source(module), True
        elif body[:1] == DEFLATED:
            body = __import__("zlib").decompress(body)
            is_source = is_source or body[:1] == SOURCE
        if code is None:
            label = f"server.pyz/{module.__name__.replace('.', '/')}"
            code = compile(body, label, "exec", dont_inherit=True) if is_source else marshal.loads(body)
        exec(code, module.__dict__)  # noqa: S102 - code of the archive itself

    def _read_bundled(self, name: str) -> CodeType | None:
        """Return the code of a module of the start path from the bytecode of `__main__`; None for other modules."""
        if self._bundle is None:
            try:
                # The header of a `.pyc` file has 16 bytes (PEP 552).
                start = marshal.loads(self._loader.get_data(f"{self._loader.archive}/__main__.pyc")[16:])
            except OSError:
                self._bundle = {}
            else:
                # The bundle is a constant of the start: rows of a name, whether it is a package, and its code.
                tuples = [constant for constant in start.co_consts if type(constant) is tuple]
                self._bundle = {row[0]: row[2] for rows in tuples for row in rows if type(row) is tuple}
        return self._bundle.get(name)

    def _read_source(self, module: ModuleType) -> bytes:
        """Return the source of a module that has no bytecode."""
        if self._sources is None:
            packed = self._loader.get_data(f"{self._loader.archive}/{SOURCES}")
            self._sources = __import__("zipfile").ZipFile(__import__("io").BytesIO(packed))
        source: bytes = self._sources.read((module.__file__ or "").removeprefix(f"{self._loader.archive}/"))
        return source


def select_bytecode(archive: str) -> None:
    """Put the entries of this Python's bytecode in the places of the first Python's, if the file has both."""
    files = zipimport._zip_directory_cache.get(archive, {})  # type: ignore[attr-defined]
    tag = f".{sys.implementation.cache_tag}"
    if BYTECODE.replace("/", zipimport.path_sep) + tag not in files:  # type: ignore[attr-defined]
        return
    # A list, because the loop changes the table.
    for name, (path, *rest) in [row for row in files.items() if row[0].endswith(tag)]:
        files[name[: -len(tag)]] = (path[: -len(tag)], *rest)


if hasattr(globals().get("__loader__"), "archive"):
    select_bytecode(globals()["__loader__"].archive)
    sys.meta_path.insert(0, RuntimeFinder(globals()["__loader__"]))
