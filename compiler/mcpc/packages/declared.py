"""Requirements that a project declares, merged from all places; none overrides another.

A package may be named in several places, as in `pyproject.toml` with a range and in `requirements.txt` with a version:
the merged requirement is all of them together.  A lock file (the first of `pylock.toml`, `uv.lock` and `poetry.lock`)
does not add requirements: it supplies the version of a requirement without one, if the requirement allows it.  Of a
package with several versions there (for platforms or Pythons), the one for this machine and Python counts; if several
are left, none does.  Where requirements are declared: `declarations.py`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from packaging import requirements as pep508
from packaging.markers import Marker
from packaging.pylock import Pylock, PylockValidationError
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from mcpc import DISTRIBUTION
from mcpc.diagnostics import diagnose
from mcpc.packages.declarations import read_declarations
from mcpc.packages.downloads import all_origins, earliest
from mcpc.packages.lock_files import changed_requirement, is_lock_name, locked_requirements, unreadable_lock
from mcpc.packages.pep508 import normalised_name, pinned_version
from mcpc.packages.platforms import HERE_AND_NOW, marker_values
from mcpc.packages.toml_tables import written_dependencies
from mcpc.reading.toml import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.model.ir.layer import RequestedPackage
    from mcpc.reading import Source, SourceTree

OTHER_PROJECT = "mcpc"
"""On PyPI this is another project."""
ALWAYS_INCLUDED = frozenset((OTHER_PROJECT, DISTRIBUTION))
"""Packages that every built file contains: `from mcpc import tool` needs no requirement."""


def declared_requirements(
    tree: SourceTree, scripts: Sequence[Source]
) -> tuple[tuple[RequestedPackage, ...], Diagnostics]:
    """Return the requirements of all places of a project, ordered by name, and their problems.

    The tree has the extras and groups that the build options choose.
    """
    read = read_declarations(tree, scripts)
    found = [item for item in read.packages if item.name not in ALWAYS_INCLUDED]
    problems = [*read.problems]
    merged: list[RequestedPackage] = []
    # Requirements with different markers stay apart, because each counts on other machines.
    for _, group in groupby(sorted(found, key=_key), key=_key):
        same = tuple(group)
        problems += _contradictions(same)
        merged.append(_merged(same))
    problems += _other_project(read.packages)
    chosen, amiss = locked_versions(tree) if merged else ({}, ())
    problems += amiss
    merged = [*with_locked(merged, chosen)]
    problems += _unpinned(merged)
    return tuple(merged), tuple(problems)


def _key(requirement: RequestedPackage) -> tuple[str, str]:
    """Return what identifies requirements of the same package: its name, and its marker."""
    return requirement.name, str(pep508.Requirement(requirement.text).marker or "")


def _contradictions(same: Sequence[RequestedPackage]) -> Iterator[Diagnostic]:
    """Yield the requirements that exclude a version that another one pins."""
    pins = {version: item for item in same if (version := pinned_version(item.text))}
    for version, pinning in pins.items():
        for requirement in same:
            if not pep508.Requirement(requirement.text).specifier.contains(version, prereleases=True):
                message = f"`{requirement.text}` contradicts `{pinning.text}`" + _elsewhere(requirement, pinning)
                yield diagnose("MCP403", requirement.span, message, "", "name one version everywhere")


def _elsewhere(requirement: RequestedPackage, other: RequestedPackage) -> str:
    if requirement.span is None or other.span is None or requirement.span.path == other.span.path:
        return ""
    return f" in `{other.span.path}`"


def _merged(same: Sequence[RequestedPackage]) -> RequestedPackage:
    """Return one requirement that means all of them."""
    parts = [pep508.Requirement(item.text) for item in same]
    whole = parts[0]
    for part in parts[1:]:
        whole.specifier &= part.specifier
        whole.extras |= part.extras
        whole.url = whole.url or part.url
    hashes = tuple(sorted({checksum for item in same for checksum in item.hashes}))
    pinned = next((item for item in same if pinned_version(item.text)), same[0])
    if pinned_version(pinned.text):  # uv wants nothing beside it where there are hashes
        whole.specifier = pep508.Requirement(pinned.text).specifier
    local = next((item.local for item in same if item.local is not None), None)
    repository = next((item.repository for item in same if item.repository is not None), None)
    if whole.url or local is not None or repository is not None:
        whole.specifier = SpecifierSet()  # there is one version at this place
    return replace(
        pinned,
        text=str(whole),
        hashes=hashes,
        extracted=any(item.extracted for item in same),
        constraints=tuple(sorted({text for item in same for text in item.constraints})),
        from_source=any(item.from_source for item in same),
        local=local,
        exclude_newer=earliest(item.exclude_newer for item in same),
        repository=repository,
        registry=next((item.registry for item in same if item.registry), ""),
        origins=all_origins(same),
    )


# A whole digest, of SHA-1 or SHA-256: a beginning of one may become ambiguous.
COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def _unpinned(requirements: Iterable[RequestedPackage]) -> Iterator[Diagnostic]:
    for requirement in requirements:
        url = pep508.Requirement(requirement.text).url
        if url and "#sha256=" not in url:
            message = f"`{requirement.name}` comes from an address without a digest, so two builds may differ"
            yield diagnose("MCP404", requirement.span, message, "", "end the address with `#sha256=` and its digest")
        elif requirement.repository is not None:
            if not COMMIT.fullmatch(requirement.repository.revision):
                message = f"`{requirement.name}` comes from a repository without a commit, so two builds may differ"
                yield diagnose("MCP404", requirement.span, message, "", "name a commit: `rev`, or `@` in the address")
        elif not url and not _is_dated(requirement) and not pinned_version(requirement.text):
            message = f"`{requirement.text}` has no exact version, so two builds may differ"
            yield diagnose("MCP404", requirement.span, message, "", unpinned_hint(requirement.name))


def _is_dated(requirement: RequestedPackage) -> bool:
    """Tell whether a package without a version is the same in each build: the project's own, or that of a date."""
    return requirement.local is not None or bool(requirement.exclude_newer)


def unpinned_hint(name: str, version: str = "…") -> str:
    """Return the hint for a requirement without a version; `version`: the found one."""
    return f"name one: `{name}=={version}`"


def _other_project(requirements: Iterable[RequestedPackage]) -> Iterator[Diagnostic]:
    for requirement in requirements:
        if requirement.name == OTHER_PROJECT:
            message = f"`{requirement.text}` is another project on PyPI; this one is `{DISTRIBUTION}`"
            yield diagnose("MCP415", requirement.span, message, "", f"remove it, or name `{DISTRIBUTION}`")


PYLOCK, UV_LOCK, POETRY_LOCK = LOCK_FILES = ("pylock.toml", "uv.lock", "poetry.lock")


def locked_versions(tree: SourceTree) -> tuple[Mapping[str, str], Diagnostics]:
    """Return the version of each package of the lock, by normalised name."""
    paths = (tree.options.lock,) if tree.options.lock else LOCK_FILES
    source = next((found for path in paths if (found := tree.get(path)) is not None), None)
    if source is None or _is_stale(source, tree):
        return {}, ()
    try:
        named = [(normalised_name(name), str(Version(version))) for name, version in package_versions(source)]
    except (ValueError, PylockValidationError, AttributeError, TypeError, KeyError) as problem:
        words = str(problem) or type(problem).__name__
        return {}, (unreadable_lock(source.path, f"`{source.path}` is not a valid lock file: {words}"),)
    chosen: dict[str, set[str]] = {}
    for name, version in named:
        chosen.setdefault(name, set()).add(version)
    return {name: next(iter(found)) for name, found in chosen.items() if len(found) == 1}, ()


def _is_stale(source: Source, tree: SourceTree) -> bool:
    """Tell whether a `uv.lock` was written for other requirements, so that its versions do not fit these."""
    if not source.path.endswith(UV_LOCK):
        return False
    try:
        return bool(changed_requirement(locked_requirements(parse_toml(source.text)), written_dependencies(tree)))
    except (ValueError, AttributeError, TypeError, KeyError):
        return False  # reported where versions are read


def package_versions(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the name and the version of every package of a lock, except the project itself."""
    table: dict[str, Any] = parse_toml(source.text)
    if is_lock_name(source.path) and not source.path.endswith(UV_LOCK):
        for package in Pylock.from_dict(table).packages:
            if package.version is not None and (
                package.marker is None
                or package.marker.evaluate(
                    {**marker_values(HERE_AND_NOW), "extras": frozenset(), "dependency_groups": frozenset()},
                    context="lock_file",
                )
            ):
                yield package.name, str(package.version)
        return
    for row in table.get("package", []):
        # Poetry names no source for what comes from PyPI.
        is_registered = "source" not in row if source.path == POETRY_LOCK else "registry" in row["source"]
        if is_registered and isinstance(row.get("version"), str) and is_for_this_python(row):
            yield row["name"], row["version"]


def is_for_this_python(row: Mapping[str, Any]) -> bool:
    """Tell whether a row of `uv.lock` is for this machine and Python; one without markers is for all."""
    markers = row.get("resolution-markers")
    if not isinstance(markers, list) or not markers:
        return True
    values = marker_values(HERE_AND_NOW)
    return any(Marker(text).evaluate(values) for text in markers)


def locked_sources(tree: SourceTree) -> frozenset[str]:
    """Return the packages of which `uv.lock` has no wheel, by normalised name; none if it cannot be read."""
    source = tree.get(UV_LOCK)
    try:
        rows = [] if source is None else parse_toml(source.text).get("package", [])
        return frozenset(normalised_name(row["name"]) for row in rows if not row.get("wheels"))
    except (ValueError, AttributeError, TypeError, KeyError):
        return frozenset()


def with_locked(wanted: Iterable[RequestedPackage], chosen: Mapping[str, str]) -> Iterator[RequestedPackage]:
    """Yield the requirements, those without a version with the one of the lock."""
    for item in wanted:
        parsed = pep508.Requirement(item.text)
        version = chosen.get(item.name, "")
        is_elsewhere = parsed.url or item.local is not None or item.repository is not None
        if (
            version
            and not is_elsewhere
            and not pinned_version(item.text)
            # A pre-release in a lock was chosen, whatever the requirement says of those.
            and parsed.specifier.contains(version, prereleases=True)
        ):
            parsed.specifier &= SpecifierSet(f"=={version}")
            yield replace(item, text=str(parsed))
        else:
            yield item
