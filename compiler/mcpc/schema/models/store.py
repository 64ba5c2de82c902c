"""Cache of generated templates, by the digest of the structures they were generated from.

They are stored in the cache folder (see `mcpc.sandbox.cache_dir`).
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.sandbox import cache_dir

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.schema.models.ast_allowlist import Template
    from mcpc.schema.models.view import ModelSchema
    from mcpc.schema.models.view_schemas import Structure

KIND = "models"
DECIDE = ("datamodel-code-generator", "pydantic")


@cache
def generator_digest() -> str:
    """Return the digest of the generator: this package, and the packages it uses."""
    summary = hashlib.sha256(" ".join(map(version, DECIDE)).encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        summary.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return summary.hexdigest()


def views_digest(views: Sequence[ModelSchema | None]) -> str:
    """Return the digest of some views."""
    return hashlib.sha256(json.dumps([view and (view.definitions, view.fields) for view in views]).encode()).hexdigest()


def cache_name(structures: Sequence[Structure]) -> str:
    """Return the cache name of the templates of these structures."""
    return hashlib.sha256(f"{generator_digest()} {json.dumps(structures)}".encode()).hexdigest()


def load_templates(name: str) -> list[Template | str] | None:
    """Return the templates stored under a name, if they are complete."""
    stored = cache_dir.load_entry(KIND, name)
    if stored is None:
        return None
    with suppress(ValueError, TypeError):
        return [item if isinstance(item, str) else _template(*item) for item in json.loads(stored)]
    return None


def _template(source: object, default: object) -> Template:
    if isinstance(source, str) and (default is None or isinstance(default, str)):
        return source, default
    raise TypeError("this is not what is kept of a template")


def store_templates(name: str, made: Sequence[Template | str]) -> None:
    """Store templates under a name."""
    cache_dir.store_entry(KIND, name, json.dumps(made).encode())
