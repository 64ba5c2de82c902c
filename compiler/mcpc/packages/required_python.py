"""The Pythons that a project allows, of those that servers run on, and whether that of the build is one."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from mcpc import DISTRIBUTION
from mcpc.diagnostics import diagnose
from mcpc.packages.pep508 import find_closure, installed_package, normalised_name
from mcpc.packages.platforms import HERE_AND_NOW, marker_values
from mcpc.packages.poetry import TABLE, poetry_python, python_ranges
from mcpc.packages.setuptools_files import setuptools_python
from mcpc.packages.toml_tables import DEPENDENCIES, REQUIRES_PYTHON, pyproject_text
from mcpc.reading.toml import TomlText, nested_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.reading import SourceTree

ANOTHER_MCPC = "build it with `mcpc` of a Python that it allows"
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
        # The first patch release, and one after all that there will be: `<3.12.1` allows one, `>=3.12.1` the other.
        if any(allowed.contains(f"{minor}.{patch}") for allowed in ranges for patch in (0, 999))
    )


def wrong_python(text: TomlText, *, is_script: bool) -> Iterator[Diagnostic]:
    """Yield that the Python of the build is not one of those that the project allows."""
    holder = text.table if is_script else nested_table(text.table, "project")
    written, word = holder.get(REQUIRES_PYTHON), REQUIRES_PYTHON
    if written is None and not is_script:
        written, word = poetry_python(text), "python"
    if written is not None:
        section = () if word == REQUIRES_PYTHON else (*TABLE, DEPENDENCIES)
        yield from judge_python(written, text.span_of(word, *section), word)


def judge_python(written: object, span: Span, word: str) -> Iterator[Diagnostic]:
    """Yield that the Python of the build is not in a range; `word`: the key of the range."""
    try:
        text = written if isinstance(written, str) else "not a text"
        ranges = python_ranges(text) if word == "python" else (SpecifierSet(text),)
    except (InvalidSpecifier, ValueError):
        yield diagnose("MCP401", span, f"`{word}` is not a version specifier", 'a text such as `">=3.11"`')
        return
    running = platform.python_version()
    if not any(allowed.contains(running, prereleases=True) for allowed in ranges):
        allowed = " or ".join(map(str, ranges))
        message = f"the project requires Python {allowed}, and this is Python {running}"
        minor = next((minor for minor in reversed(MINORS) if any(each.contains(minor) for each in ranges)), "")
        hint = f"`uvx --python {minor} --from '{origin()[0]}' mcpc …` runs mcpc with one" if minor else ANOTHER_MCPC
        yield diagnose("MCP416", span, message, "", hint)


def origin() -> tuple[str, bool]:
    """Return the requirement by which this mcpc is installed, and whether that is a checkout.

    It is the name and the version, or the address or folder that it came from.
    """
    # pip and uv write where a package came from, if that is not a registry (PEP 610).
    place = json.loads(metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    address = str(place.get("url", "")).removeprefix("file://")
    is_editable = place.get("dir_info", {}).get("editable") is True
    return address or f"{DISTRIBUTION}=={metadata.version(DISTRIBUTION)}", is_editable


def pins() -> Iterator[str]:
    """Yield the packages that mcpc needs, each at its version here."""
    packages = find_closure((DISTRIBUTION,), installed_package, marker_values(HERE_AND_NOW)).found
    own = normalised_name(DISTRIBUTION)
    yield from (f"{name}=={packages[name].version}" for name in sorted(packages) if name != own)
