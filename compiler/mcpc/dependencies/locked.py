"""Versions from a lock file of the project: `pylock.toml`, else `uv.lock`.

A lock does not add requirements: it only supplies the version of a requirement without one, if the requirement allows
it.  A package with several versions (for platforms or Pythons) is ignored.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging import requirements as pep508
from packaging.pylock import Pylock, PylockValidationError
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from mcpc.dependencies.pep508 import normalised_name, pinned_version
from mcpc.diagnostics import Span, diagnose

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from mcpc.dependencies.model import RequestedPackage
    from mcpc.diagnostics import Diagnostics
    from mcpc.sources import Source, SourceTree

PYLOCK, UV_LOCK = LOCK_FILES = ("pylock.toml", "uv.lock")
WRITE_AGAIN = "write the lock again, or remove it"


def locked_versions(tree: SourceTree) -> tuple[Mapping[str, str], Diagnostics]:
    """Return the version of each package of the lock, by normalised name."""
    source = next((found for path in LOCK_FILES if (found := tree.get(path)) is not None), None)
    if source is None:
        return {}, ()
    try:
        named = [(normalised_name(name), str(Version(version))) for name, version in package_versions(source)]
    except (ValueError, PylockValidationError, AttributeError, TypeError, KeyError) as problem:
        words = str(problem) or type(problem).__name__
        return {}, (
            diagnose(
                "MCP414", Span(source.path), f"`{source.path}` is not a valid lock file: {words}", "", WRITE_AGAIN
            ),
        )
    chosen: dict[str, set[str]] = {}
    for name, version in named:
        chosen.setdefault(name, set()).add(version)
    return {name: next(iter(found)) for name, found in chosen.items() if len(found) == 1}, ()


def package_versions(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the name and the version of every package of a lock, except the project itself."""
    table: dict[str, Any] = tomllib.loads(source.text)
    if source.path == PYLOCK:
        for package in Pylock.from_dict(table).packages:
            if package.version is not None:
                yield package.name, str(package.version)
    else:
        for row in table.get("package", []):
            if "registry" in row["source"] and isinstance(row.get("version"), str):
                yield row["name"], row["version"]


def with_locked(wanted: Iterable[RequestedPackage], chosen: Mapping[str, str]) -> Iterator[RequestedPackage]:
    """Yield the requirements, those without a version with the one of the lock."""
    for item in wanted:
        parsed = pep508.Requirement(item.text)
        version = chosen.get(item.name, "")
        if version and not pinned_version(item.text) and parsed.specifier.contains(version, prereleases=True):
            parsed.specifier &= SpecifierSet(f"=={version}")
            yield replace(item, text=str(parsed))
        else:
            yield item
