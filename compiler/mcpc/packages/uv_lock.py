"""`uv.lock`: its rows in the form of PEP 751, and the requirements that the project had when it was written."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from mcpc.packages.pep508 import normalised_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NO_DIGEST = "none"
"""What stands for the method of a digest that is not there: PEP 751 has no file without one."""
OWN = ("editable", "virtual", "directory")
"""The kinds of source that the project's row may have."""


def locked_requirements(table: Mapping[str, Any]) -> dict[str, SpecifierSet] | None:
    """Return the versions that the project allowed of each package, without extras; None if the lock does not say."""
    for row in table.get("package", []):
        if any(row.get("source", {}).get(kind) == "." for kind in OWN):
            listed = row.get("metadata", {}).get("requires-dist", [])
            return {
                normalised_name(item["name"]): SpecifierSet(item.get("specifier", ""))
                for item in listed
                if "extra ==" not in item.get("marker", "") and item.keys() <= {"name", "specifier", "extras", "marker"}
            }
    return None


def changed_requirement(locked: Mapping[str, SpecifierSet] | None, written: Iterable[str]) -> str:
    """Return a requirement of the project that is another one than when the lock was written; empty if none is.

    Requirements with an address, and those that a workspace or a source of uv replaces, are not compared.
    """
    if locked is None:
        return ""
    for text in written:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        known = locked.get(normalised_name(requirement.name))
        if not requirement.url and known is not None and known != requirement.specifier:
            return str(requirement)
    return ""


def pylock_of_uv(table: Mapping[str, Any]) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the table of a `uv.lock` in the form of PEP 751, and the packages of which it names no file.

        [[package]]                                       [[packages]]
        name = "cffi"                                     name = "cffi"
        source = { registry = "…" }                  →
        wheels = [{ url = "…", hash = "sha256:…" }]       wheels = [{ url = "…", hashes = { sha256 = "…" } }]

    Packages that are not from a registry are left out: a build takes them from the project, or from their addresses.
    """
    rows = [row for row in table.get("package", []) if "registry" in row.get("source", {}) and "version" in row]
    made = [_row_of_uv(row) for row in rows]
    found: dict[str, Any] = {"lock-version": "1.0", "created-by": "uv"}
    found["packages"] = [row for row in made if "wheels" in row or "sdist" in row]
    if isinstance(table.get("requires-python"), str):
        found["requires-python"] = table["requires-python"]
    if table.get("supported-markers"):
        found["environments"] = table["supported-markers"]
    named = {row["name"] for row in found["packages"]}
    return found, frozenset(row["name"] for row in made) - named


def _row_of_uv(row: Mapping[str, Any]) -> dict[str, Any]:
    registry = str(row["source"]["registry"])
    made: dict[str, Any] = {"name": normalised_name(row["name"]), "version": row["version"]}
    markers = row.get("resolution-markers")
    if markers:
        made["marker"] = " or ".join(f"({text})" for text in markers)
    wheels = [file for item in row.get("wheels", ()) if (file := _file_of_uv(item, registry))]
    sdist = _file_of_uv(row["sdist"], registry) if row.get("sdist") else None
    needs = sorted({normalised_name(item["name"]) for item in row.get("dependencies", ())})
    extra = {"wheels": wheels, "sdist": sdist, "dependencies": [{"name": name} for name in needs]}
    return {**made, **{key: value for key, value in extra.items() if value}}


def _file_of_uv(item: Mapping[str, Any], registry: str) -> dict[str, Any] | None:
    """Return a file of a `uv.lock`; None if it has no place, or a name that is not of a wheel."""
    method, _, digest = str(item.get("hash", "")).partition(":")
    place = str(item.get("url") or item.get("path") or "")
    if not place:
        return None
    if place.endswith(".whl"):
        try:
            parse_wheel_filename(posixpath.basename(place))
        except InvalidWheelFilename:
            return None
    size = {"size": item["size"]} if isinstance(item.get("size"), int) else {}
    where = {"url": place} if "url" in item else {"path": posixpath.join(registry, place)}
    return {**where, **size, "hashes": {method or NO_DIGEST: digest}}
