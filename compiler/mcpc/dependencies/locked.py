"""The versions that a lock beside the project chose: `pylock.toml`, else `uv.lock`.

A lock decides nothing that is asked for: it only gives a version to a requirement that names none, if the requirement
allows that version.  A package with several versions there (one a platform or a Python) is given none.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging import requirements as pep508
from packaging.pylock import Pylock, PylockValidationError
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from mcpc.dependencies.spelling import normalised, pinned_version
from mcpc.diagnostics import Span, diagnose

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from mcpc.dependencies.model import Requirement
    from mcpc.diagnostics import Diagnostics
    from mcpc.sources import Source, SourceTree

PYLOCK, UV_LOCK = LOCKS = ("pylock.toml", "uv.lock")
AGAIN = "write the lock again, or remove it"


def locked_versions(tree: SourceTree) -> tuple[Mapping[str, str], Diagnostics]:
    """Return the version of each package of the lock, by its normalised name."""
    source = next((found for path in LOCKS if (found := tree.get(path)) is not None), None)
    if source is None:
        return {}, ()
    try:
        named = [(normalised(name), str(Version(version))) for name, version in versions(source)]
    except (ValueError, PylockValidationError, AttributeError, TypeError, KeyError) as problem:
        words = str(problem) or type(problem).__name__
        return {}, (diagnose("MCP414", Span(source.path), f"`{source.path}` is no lock: {words}", "", AGAIN),)
    chosen: dict[str, set[str]] = {}
    for name, version in named:
        chosen.setdefault(name, set()).add(version)
    return {name: next(iter(found)) for name, found in chosen.items() if len(found) == 1}, ()


def versions(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the name and the version of every package of a lock; the project itself has none there."""
    table: dict[str, Any] = tomllib.loads(source.text)
    if source.path == PYLOCK:
        for package in Pylock.from_dict(table).packages:
            if package.version is not None:
                yield package.name, str(package.version)
    else:
        for row in table.get("package", []):
            if "registry" in row["source"] and isinstance(row.get("version"), str):
                yield row["name"], row["version"]


def with_locked(wanted: Iterable[Requirement], chosen: Mapping[str, str]) -> Iterator[Requirement]:
    """Yield the requirements, those without a version with that of the lock."""
    for one in wanted:
        parsed = pep508.Requirement(one.text)
        version = chosen.get(one.name, "")
        if version and not pinned_version(one.text) and parsed.specifier.contains(version, prereleases=True):
            parsed.specifier &= SpecifierSet(f"=={version}")
            yield replace(one, text=str(parsed))
        else:
            yield one
