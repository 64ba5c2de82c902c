"""The Pythons that a project allows, of those that servers run on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from mcpc.dependencies.poetry import poetry_python, python_ranges
from mcpc.dependencies.setuptools_files import setuptools_python
from mcpc.dependencies.toml_tables import REQUIRES_PYTHON, pyproject_text
from mcpc.dependencies.toml_text import TomlText, nested_table

if TYPE_CHECKING:
    from mcpc.sources import SourceTree

MINORS = ("3.11", "3.12", "3.13", "3.14")
"""The Pythons that servers run on, and for which packages are released."""


@dataclass(frozen=True, slots=True)
class RequiredPython:
    """What a project says of its Python: the specifier (empty for one that is not of PEP 440) and minor versions."""

    specifier: str
    minors: tuple[str, ...]


def required_python(tree: SourceTree) -> RequiredPython | None:
    """Return the Pythons that a project allows; None if it does not say."""
    text = pyproject_text(tree)
    table = nested_table(text.table, "project") if isinstance(text, TomlText) else {}
    ours = setuptools_python(tree)
    written = table.get(REQUIRES_PYTHON) or (ours[0] if ours else None)
    try:
        if isinstance(written, str):
            return RequiredPython(written, _allowed((SpecifierSet(written),)))
        poetry = poetry_python(text) if isinstance(text, TomlText) else None
        return RequiredPython("", _allowed(python_ranges(poetry))) if isinstance(poetry, str) else None
    except (InvalidSpecifier, ValueError):
        return None  # reported where requirements are read


def _allowed(ranges: tuple[SpecifierSet, ...]) -> tuple[str, ...]:
    """Return the minor versions of which a range allows some patch version."""
    return tuple(
        minor
        for minor in MINORS
        if any(allowed.contains(f"{minor}.{patch}") for allowed in ranges for patch in (0, 999))
    )
