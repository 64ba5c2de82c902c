"""Cache of the runtime's bytecode: its modules are the same in every build, and compiling them takes most of a build.

One entry of the cache folder (`mcpc.sandbox.cache_dir`) has the marshalled code of the modules that builds needed, for
one interpreter and one `bytecode.py`. A module is found by its name and the digest of its source, so the entry of a
changed module is replaced; the bytes are those that compiling gives.
"""

from __future__ import annotations

import hashlib
import marshal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.emit import bytecode
from mcpc.sandbox import cache_dir

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcpc.emit.bytecode import Module

    Stored = dict[tuple[str, bool], tuple[bytes, bytes]]
    """By the file name of a module and whether it is stripped: the digest of its source, and its code."""

KIND = "runtime"


class BytecodeCache:
    """What is stored for one interpreter, which `interpreter` names with all that decides its bytecode."""

    def __init__(self, interpreter: str) -> None:
        source = Path(bytecode.__file__).read_bytes()
        # Not the name of the bytecode of packages (`mcpc.emit.packages`), which begins with the interpreter.
        self._name = hashlib.sha256(b"runtime\0" + interpreter.encode() + b"\0" + source).hexdigest()
        self._stored = load(self._name)

    def stored_code(self, modules: Iterable[Module]) -> dict[Module, bytes]:
        """Return the code of those of some modules that are stored."""
        stored = ((module, *self._stored.get(module[1:], (b"", b""))) for module in modules)
        return {module: code for module, digest, code in stored if digest == hashlib.sha256(module[0]).digest()}

    def add(self, compiled: Mapping[Module, bytes]) -> None:
        """Store more modules."""
        if compiled:
            more = {module[1:]: (hashlib.sha256(module[0]).digest(), code) for module, code in compiled.items()}
            self._stored |= load(self._name) | more
            cache_dir.store_entry(KIND, self._name, marshal.dumps(self._stored, 2))


def load(name: str) -> Stored:
    """Return what is stored under a name, nothing if it is missing or damaged."""
    data = cache_dir.load_entry(KIND, name)
    with suppress(ValueError, EOFError, TypeError):
        stored: Stored = marshal.loads(data or b"")
        return stored
    return {}
