"""Templates that were generated before, by the digest of the structures they were generated from.

They lie in the folder of everything that was made before (see `mcpc.kept`).
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc import kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.models.structures import Structure
    from mcpc.models.vetting import Template
    from mcpc.models.view import View

KIND = "models"
DECIDE = ("datamodel-code-generator", "pydantic")


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
    stored = kept.load(KIND, name)
    if stored is None:
        return None
    with suppress(ValueError, TypeError):
        return [one if isinstance(one, str) else _template(*one) for one in json.loads(stored)]
    return None


def _template(source: object, default: object) -> Template:
    if isinstance(source, str) and (default is None or isinstance(default, str)):
        return source, default
    raise TypeError("this is not what is kept of a template")


def keep(name: str, made: Sequence[Template | str]) -> None:
    """Keep templates under a name."""
    kept.keep(KIND, name, json.dumps(made).encode())
