"""The runtime's bytecode in a file keeps no annotations and no docstrings."""

import dis
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

from mcpc.emit.bytecode import code_of

STORING = ("STORE_NAME", "STORE_GLOBAL", "IMPORT_NAME", "SETUP_ANNOTATIONS")
STRIPPED = {"__annotations__", "__doc__", "__future__"}


def check(root: Path) -> Iterator[str]:
    """Yield the modules of which something is kept."""
    for file in sorted((root / "runtime").rglob("*.py")):
        kept = STRIPPED & set(stored_names(code_of(file.read_bytes(), "label", strip=True)))
        if kept:
            yield f"{file.relative_to(root)}: bytecode keeps {', '.join(sorted(kept))}"


def stored_names(code: CodeType) -> Iterator[str]:
    """Yield the names that a code and those in it store or import."""
    yield from (item.argval for item in dis.get_instructions(code) if item.opname in STORING)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from stored_names(constant)
