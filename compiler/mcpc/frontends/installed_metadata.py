"""The `.dist-info` that a project would have after its installation, and those of packages that have stand-ins.

`importlib.metadata` finds them at build and at run: name, version, entry points of every group, and files.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mcpc.packages.setuptools_files import setuptools_entry_points
from mcpc.reading import Source
from mcpc.reading.toml import parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpc.reading import SourceTree

PYPROJECT = "pyproject.toml"
ASKS_METADATA = re.compile(
    rb"\bimportlib[._]metadata\b|\bfrom[ \t]+importlib[ \t]+import\b[^\n]*\bmetadata\b|\bpkg_resources\b"
)
"""Code that asks for the metadata of installed packages."""
UNKNOWN_VERSION = "0.0.0"
"""The version of a project whose version only its build system knows."""
SCRIPTS = {"scripts": "console_scripts", "gui-scripts": "gui_scripts"}
"""The tables of `[project]` that stand for a group."""

EntryPoints = dict[str, dict[str, str]]
"""The objects of entry points by group and name."""


@dataclass(frozen=True, slots=True)
class InstalledPackage:
    """What `importlib.metadata` says of a package.  `files`: its files beside the folder of its metadata."""

    name: str
    version: str
    summary: str = ""
    entry_points: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    files: tuple[str, ...] = ()


def metadata_files(package: InstalledPackage, folder: str = "") -> Iterator[Source]:
    """Yield the files of a package's `.dist-info` below a folder, which is empty or ends with a slash."""
    name = re.sub(r"[^\w.]+|[.]+", "_", package.name)
    version = re.sub(r"[^\w.+!]+", "_", package.version or UNKNOWN_VERSION)
    base = f"{name}-{version}.dist-info"
    about = f"Summary: {package.summary.splitlines()[0]}\n" if package.summary else ""
    texts = {"METADATA": f"Metadata-Version: 2.1\nName: {package.name}\nVersion: {version}\n{about}"}
    groups = [_group_text(name, package.entry_points[name]) for name in sorted(package.entry_points)]
    if any(groups):
        texts["entry_points.txt"] = "\n".join(filter(None, groups))
    if package.files:
        names = sorted((*package.files, *(f"{base}/{name}" for name in texts), f"{base}/RECORD"))
        texts["RECORD"] = "".join(f"{_field(path)},,\n" for path in names)
    for file, text in texts.items():
        yield Source(f"{folder}{base}/{file}", text.encode("utf-8", "backslashreplace"))


def _group_text(group: str, rows: Mapping[str, str]) -> str:
    lines = "".join(f"{_line(name)} = {_line(rows[name])}\n" for name in sorted(rows))
    return f"[{_line(group)}]\n{lines}" if lines else ""


def _line(text: str) -> str:
    return " ".join(text.split())


def _field(path: str) -> str:
    """Return a path as a field of a row of comma-separated values."""
    return '"' + path.replace('"', '""') + '"' if re.search(r'[",\n]', path) else path


def project_entry_points(tree: SourceTree) -> EntryPoints:
    """Return the entry points of a project by group: of `[project]`, of Poetry, else of setuptools."""
    source = tree.get(PYPROJECT)
    try:
        tables = {} if source is None else parse_toml(source.text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, UnicodeEncodeError):
        tables = {}
    project, poetry = _table(tables, "project"), _table(tables, "tool", "poetry")
    found: EntryPoints = {}
    for table in (poetry, project):
        for key, group in SCRIPTS.items():
            found.setdefault(group, {}).update(_texts(_table(table, key)))
    groups = (*_table(poetry, "plugins").items(), *_table(project, "entry-points").items())
    for group, rows in (*(setuptools_entry_points(tree).items() if not project else ()), *groups):
        found.setdefault(group, {}).update(_texts(rows if isinstance(rows, dict) else {}))
    return {group: rows for group, rows in found.items() if rows}


def _table(table: Mapping[str, Any], *names: str) -> dict[str, Any]:
    found: Any = table
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _texts(table: Mapping[str, Any]) -> dict[str, str]:
    """Return the members that are texts; a command of Poetry may be a table with `reference`."""
    named = {key: value.get("reference") if isinstance(value, dict) else value for key, value in table.items()}
    return {key: value for key, value in named.items() if isinstance(value, str)}


def with_own_metadata(tree: SourceTree, name: str, version: str) -> SourceTree:
    """Return a project with the metadata that its own code asks for."""
    asks = any(path.endswith(".py") and ASKS_METADATA.search(file.data) for path, file in tree.files.items())
    if not name or not asks:
        return tree
    files = installed_files(tree.files, "")
    package = InstalledPackage(name, version, "", project_entry_points(tree), files)
    added = {source.path: source for source in metadata_files(package)}
    return replace(tree, files=MappingProxyType(dict(sorted({**tree.files, **added}.items()))))


def installed_files(paths: Iterable[str], folder: str) -> tuple[str, ...]:
    """Return the files that an installation copies of a folder: those of packages, and modules."""
    below = sorted(path.removeprefix(folder) for path in paths if path.startswith(folder))
    packages = {path.partition("/")[0] for path in below if path.endswith("/__init__.py")}
    return tuple(
        path for path in below if path.partition("/")[0] in packages or ("/" not in path and path.endswith(".py"))
    )
