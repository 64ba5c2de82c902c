"""Templates that were generated before, by the digest of the structures they were generated from.

As with builds, a store that cannot be read or written is no problem of anybody's.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.models.structures import Structure
    from mcpc.models.vetting import Template
    from mcpc.models.view import View

KEPT = 64
"""How many sets of templates are kept; the oldest go first."""
DECIDE = ("datamodel-code-generator", "pydantic")


def place() -> Path:
    """Return the folder of the store, beside the builds (see `mcpc.cache`)."""
    root = os.environ.get("MCPC_CACHE_DIR") or os.path.join(  # noqa: PTH118 - an empty variable means unset
        os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser(), "mcpc"
    )
    return Path(root) / "models"


@cache
def generator() -> str:
    """Return the digest of what generates: this package, and the packages it uses."""
    summary = hashlib.sha256(" ".join(map(version, DECIDE)).encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        summary.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return summary.hexdigest()


def digest(views: Sequence[View | None]) -> str:
    """Return the digest of some views."""
    return hashlib.sha256(json.dumps([view and (view.definitions, view.fields) for view in views]).encode()).hexdigest()


def name_of(structures: Sequence[Structure]) -> str:
    """Return the name under which the templates of these structures are kept."""
    return hashlib.sha256(f"{generator()} {json.dumps(structures)}".encode()).hexdigest()


def load(name: str) -> list[Template | str] | None:
    """Return what is kept under a name, if it is there and whole."""
    with suppress(OSError, ValueError, TypeError):
        summary, _, stored = (place() / name).read_bytes().partition(b"\n")
        if summary.decode("ascii") == hashlib.sha256(stored).hexdigest():
            return [one if isinstance(one, str) else _template(*one) for one in json.loads(stored)]
    return None


def _template(source: object, default: object) -> Template:
    if isinstance(source, str) and (default is None or isinstance(default, str)):
        return source, default
    raise TypeError("this is not what is kept of a template")


def keep(name: str, made: Sequence[Template | str]) -> None:
    """Keep templates under a name, whole or not at all."""
    stored = json.dumps(made).encode()
    with suppress(OSError):
        place().mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=place(), prefix="new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(hashlib.sha256(stored).hexdigest().encode() + b"\n" + stored)
            Path(temporary).replace(place() / name)
        finally:
            Path(temporary).unlink(missing_ok=True)
        prune()


def prune() -> None:
    """Remove the oldest templates beyond the number that is kept."""
    found = sorted(place().iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in found[KEPT:]:
        path.unlink(missing_ok=True)
