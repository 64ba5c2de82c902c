"""The licences of what a self-contained file has inside besides the server: CPython, the C library, and libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.selfcontained.interpreter import StaticInterpreter
    from mcpc.selfcontained.shared_objects import SharedObjects

FOLDER = "META-INF/licenses/"


def licence_entries(interpreter: StaticInterpreter, objects: SharedObjects) -> dict[str, bytes]:
    """Return the texts as entries."""
    found = {}
    for path in (interpreter.standard_library / "LICENSE.txt",):
        if path.is_file():
            found[f"{FOLDER}cpython.txt"] = path.read_bytes()
    return found
