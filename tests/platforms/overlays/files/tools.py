"""The tools of examples/files in Python, with the answers of the Bash functions that they replace."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from mcpc import ToolError


def contents(path: str) -> bytes:
    """Return the bytes of a file."""
    if not Path(path).is_file():
        raise ToolError(f"there is no readable file at {path}")
    return Path(path).read_bytes()


def file_size(path: str) -> dict[str, Any]:
    """Return the size of a file."""
    return {"path": path, "size": len(contents(path))}


def file_hash(path: str, algorithm: str = "sha256") -> dict[str, Any]:
    """Return the checksum of a file."""
    return {"path": path, "hash": hashlib.new(algorithm, contents(path)).hexdigest(), "algorithm": algorithm}
