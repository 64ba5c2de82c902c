"""Two built files compared by entry, the likely cause of each difference, and the verdict.

A file is `identical`, or `equivalent` if only the compression differs: what it contains was compared. It has the
`same-sources` if all that differs is what another Python or another mcpc writes for the same definitions and files:
that part was not compared, so it may be anything. Otherwise it is `different`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from mcpc.pack.archive import PACKAGES, PLACES, without_tag
from mcpc.pack.manifest import FACTS, SBOM, is_bytecode
from mcpc.release.trust.contents import place_of_nested

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.release.trust.contents import ArtifactContents


PROGRAM, LAYOUT = "(program before the archive)", "(layout of the archive)"
"""What stands for the parts of a file that are no entries."""
ADDED, MISSING, CHANGED, COMPRESSED, HEADER = "added", "missing", "changed", "compressed", "header"
"""How an entry of the first file differs from that of the second one."""
EDITED = "edited"
"""An entry with the same content in other compressed bytes, so few that no other implementation of zlib wrote them."""
FEW = 8
"""Bytes in which the streams of two implementations differ at least, unless they are equal."""


@dataclass(frozen=True, slots=True, order=True)
class Difference:
    """An entry that differs, or a fact of the build (`META-INF/build.json#python`), with the likely cause if known."""

    entry: str
    kind: str
    cause: str = ""


def compare_contents(first: ArtifactContents, second: ArtifactContents) -> tuple[Difference, ...]:
    """Return how the first file differs from the second one, sorted by entry; nothing if their bytes are the same."""
    if first.data == second.data:
        return ()
    differences = {
        difference for name in first.entries.keys() | second.entries.keys() for difference in _of(name, first, second)
    }
    if first.program != second.program:
        differences.add(Difference(PROGRAM, CHANGED))
    # Bytes that differ while all entries are the same are between the entries.
    if not first.is_exact or not differences:
        differences.add(Difference(LAYOUT, CHANGED))
    if any(difference.kind == COMPRESSED for difference in differences):  # then small streams may differ that little
        differences = {replace(row, kind=COMPRESSED) if row.kind == EDITED else row for row in differences}
    return tuple(sorted(differences))


def _of(name: str, first: ArtifactContents, second: ArtifactContents) -> Iterator[Difference]:
    one, other = first.entries.get(name), second.entries.get(name)
    if one == other:
        return
    if one is None or other is None:
        yield Difference(name, MISSING if one is None else ADDED)
    elif one.header != other.header:
        yield Difference(name, HEADER)
    elif name == FACTS:
        keys = first.facts.keys() | second.facts.keys()
        differing = [key for key in keys if first.facts.get(key) != second.facts.get(key)]
        yield from (Difference(f"{FACTS}#{key}", CHANGED) for key in differing)
        # The same facts, in other words of JSON.
        if not differing:
            yield Difference(name, CHANGED)
    elif one.data != other.data:
        yield Difference(name, CHANGED)
    elif place_of_nested(name) is None or one.header[-1] != 0:  # it is deflated
        yield Difference(name, EDITED if is_edited(one.stored, other.stored) else COMPRESSED)


def is_edited(stream: bytes, other: bytes) -> bool:
    """Tell whether two compressed streams differ in a few bytes only."""
    # A generator, so that the comparison ends at the last difference that is counted.
    differing = (place for place, (one, two) in enumerate(zip(stream, other, strict=False)) if one != two)
    return len(stream) == len(other) and len([*islice(differing, FEW)]) < FEW


IDENTICAL, EQUIVALENT, SAME_SOURCES, DIFFERENT = "identical", "equivalent", "same-sources", "different"
CAUSES = {
    "altered": "the file was changed after it was built: it does not match its own manifest",
    "hidden": "the archive has bytes or fields that no build writes",
    "source": "the project's files or definitions are others",
    "packages": "packages are others, or have other versions",
    "platform": "packages are for another platform",
    "options": "the file was built with other options",
    "interpreter": "another Python is included",
    "unknown": "the cause is not known",
    "mcpc": "it was built with another mcpc; what that wrote was not compared",
    "python": "it was compiled by another Python; its bytecode was not compared",
    "zlib": "another implementation of zlib compressed it; the content is the same",
    "follows": "it follows from the other differences",
}
"""What each cause means, the most serious first."""
OF_FACTS = {
    "mcpc": "mcpc",
    "python": "python",
    "sourceDigest": "follows",
    "packages": "packages",
    "serving": "packages",
    "packagePaths": "packages",
    "lock": "packages",
    "resolvedDependencies": "packages",
    "platforms": "platform",
    "options": "options",
    "selfContained": "interpreter",
}
"""The cause of a difference in a fact of the build; any other fact is the project's."""
OF_COMPILER = frozenset({"revisions", "runsOn"})
"""Facts that another mcpc may write otherwise for the same project."""
LISTS = ("tools", "prompts", "resources", "resourceTemplates")
UNCOMPARED = frozenset({"follows", "mcpc", "python", "zlib"})
SOURCE_DIGEST = f"{FACTS}#sourceDigest"
UNCOVERED = frozenset({"follows", "python", "zlib"})
"""Causes of differences in what the digest of the sources does not cover: they do not change it."""


class CauseFinder:
    """Finds causes for the differences of a file (`file`) from what its project builds (`rebuilt`)."""

    def __init__(self, file: ArtifactContents, rebuilt: ArtifactContents) -> None:
        self._altered = frozenset(file.altered_entries())
        keys = file.facts.keys() | rebuilt.facts.keys()
        self._differing = {key for key in keys if file.facts.get(key) != rebuilt.facts.get(key)}

    def with_causes(self, differences: Sequence[Difference]) -> tuple[Difference, ...]:
        judged = tuple(replace(difference, cause=self._cause(difference)) for difference in differences)
        if any(difference.cause not in UNCOVERED for difference in judged):
            return judged
        # Nothing that the digest covers differs, so the digest is not that of this content.
        return tuple(replace(row, cause="source") if row.entry == SOURCE_DIGEST else row for row in judged)

    def _cause(self, difference: Difference) -> str:
        rules = (self._of_file, self._of_metadata, self._of_package, self._of_bytecode, self._of_part)
        return next(cause for rule in rules if (cause := rule(difference)))

    def _of_file(self, difference: Difference) -> str:
        """Return the cause if the bytes of the file do not fit together."""
        if difference.entry in self._altered:
            return "altered"
        if difference.entry == LAYOUT or difference.kind in (HEADER, EDITED):
            return "hidden"
        return "zlib" if difference.kind == COMPRESSED else ""

    def _of_metadata(self, difference: Difference) -> str:
        name = difference.entry
        if name == FACTS or name.startswith(f"{FACTS}#"):
            return self._of_fact(name.partition("#")[2])
        if without_tag(name) in PLACES:
            return "altered" if self._altered else "follows"
        if name == PROGRAM:
            return self._first_of("options", "interpreter", "mcpc", "python", otherwise="unknown")
        return self._first_of("packages", "interpreter", "mcpc", otherwise="source") if name == SBOM else ""

    def _of_fact(self, key: str) -> str:
        return self._first_of("mcpc", otherwise="source") if key in OF_COMPILER else OF_FACTS.get(key, "source")

    def _of_package(self, difference: Difference) -> str:
        if not difference.entry.startswith(PACKAGES):
            return ""
        if self._has("packages"):
            return "packages"
        return self._of_bytecode(difference) or ("platform" if self._has("platform") else "packages")

    def _of_bytecode(self, difference: Difference) -> str:
        return "python" if is_bytecode(difference.entry) and self._has("python") else ""

    def _of_part(self, difference: Difference) -> str:
        """Return the cause of a difference in the runtime, in generated code, or in the project's own files."""
        name = difference.entry
        if name.startswith("handlers/") and not name.startswith("handlers/.mcpc/"):
            return "source"
        if name.startswith("python/"):
            return "interpreter"
        return self._first_of("mcpc", "options", otherwise="source")

    def _has(self, cause: str) -> bool:
        return any(OF_FACTS.get(key) == cause for key in self._differing)

    def _first_of(self, *causes: str, otherwise: str) -> str:
        return next((cause for cause in causes if self._has(cause)), otherwise)


def verdict(differences: Sequence[Difference], *, same_lists: bool) -> str:
    """Return the verdict on a file; `same_lists`: it offers clients exactly what its project does."""
    causes = {difference.cause for difference in differences}
    if not differences:
        return IDENTICAL
    if causes <= {"zlib", "follows"} and "zlib" in causes:
        return EQUIVALENT
    return SAME_SOURCES if causes <= UNCOMPARED and same_lists else DIFFERENT


def changed_definitions(file: Mapping[str, Any], rebuilt: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the definitions that differ, each with its list, its name, and the members that differ."""
    changes = []
    for kind in LISTS:
        one, other = (by_name(each.get(kind)) for each in (file, rebuilt))
        for name in sorted(one.keys() | other.keys()):
            first, second = one.get(name), other.get(name)
            if first == second:
                continue
            is_there = first is not None and second is not None
            keys = (first or {}).keys() | (second or {}).keys()
            members = sorted(key for key in keys if (first or {}).get(key) != (second or {}).get(key))
            only = "" if is_there else "file" if first is not None else "project"
            changes.append({"kind": kind, "name": name, "only": only, "members": members if is_there else []})
    return changes


def by_name(items: Any) -> dict[str, dict[str, Any]]:
    """Return the items of a list by what identifies them; a number stands for a list that a file does not have."""
    if not isinstance(items, list):
        return {}
    return {str(item.get("uri") or item.get("uriTemplate") or item.get("name")): item for item in items}


def changed_packages(file: Mapping[str, Any], rebuilt: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the packages that differ: the version in the file, and the one in what the project builds."""
    one, other = (
        dict(row.rpartition(" ")[::2] for key in ("packages", "serving") for row in facts.get(key, ()))
        for facts in (file, rebuilt)
    )
    return [
        {"name": name, "file": one.get(name, ""), "project": other.get(name, "")}
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    ]
