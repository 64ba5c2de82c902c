"""What every built server carries: the protocol, its transports, and the runners of its handlers.

Standard library only, and of that only what the request at hand needs: the modules on the start path import nothing
but C modules of the interpreter, everything else is a dotted name that is resolved when it is first used.

In an archive the bytecode of all these modules is one entry, because a start takes as long as the archive has entries.
Their sources are another one, an archive by itself: for any other Python, and for people.
"""

from __future__ import annotations

import marshal
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import MAGIC_NUMBER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

    Table = dict[str, tuple[bool, int, int]]

BYTECODE, SOURCES = "mcpc_runtime/bytecode", "mcpc_runtime/sources.zip"
HEAD = len(MAGIC_NUMBER) + 4


class Kept:
    """Finds the runtime's modules in the entry BYTECODE of an archive, or for another Python in SOURCES.

    BYTECODE begins with the magic number of its Python and the length of a table, module: (whether it is a package,
    place, length); then come the modules.
    """

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._data = b""
        self._table: Table | None = None
        self._is_source = False

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module is; None for what is not here."""
        if not name.startswith("mcpc_runtime."):
            return None
        if self._table is None:
            self._table = self._read()
        row = self._table.get(name)
        if row is None:
            return None
        spec = ModuleSpec(name, self, is_package=row[0])  # type: ignore[arg-type]
        place = f"{self._loader.archive}/{name.replace('.', '/')}"
        spec.origin = f"{place}/__init__.py" if row[0] else f"{place}.py"
        spec.has_location = True
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(place)
        return spec

    def _read(self) -> Table:
        try:
            self._data = self._loader.get_data(f"{self._loader.archive}/{BYTECODE}")
        except OSError:
            self._data = b""
        if not self._data.startswith(MAGIC_NUMBER):
            return self._read_sources()
        end = HEAD + int.from_bytes(self._data[HEAD - 4 : HEAD], "little")
        found: Table = marshal.loads(self._data[HEAD:end])
        return found

    def _read_sources(self) -> Table:
        """Return the same for the sources: slower, and for any Python."""
        self._is_source = True
        packed = self._loader.get_data(f"{self._loader.archive}/{SOURCES}")
        parts: list[bytes] = []
        found: Table = {}
        with __import__("zipfile").ZipFile(__import__("io").BytesIO(packed)) as sources:
            for file in sources.namelist():
                name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                text = sources.read(file)
                found[name] = file.endswith("/__init__.py"), sum(map(len, parts)), len(text)
                parts.append(text)
        self._data = b"".join(parts)
        return found

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the importer."""

    def exec_module(self, module: ModuleType) -> None:
        """Run a module."""
        _, place, length = (self._table or {})[module.__name__]
        body = self._data[place : place + length]
        label = f"server.pyz/{module.__name__.replace('.', '/')}"
        code = compile(body, label, "exec", dont_inherit=True) if self._is_source else marshal.loads(body)
        exec(code, module.__dict__)  # noqa: S102 - the archive's own


if hasattr(globals().get("__loader__"), "archive"):
    sys.meta_path.insert(0, Kept(globals()["__loader__"]))
