"""What an installation of a project would write: its `.dist-info`, and files with its version.

`importlib.metadata` finds them at build and at run: name, version, entry points of every group, and files.

    [tool.setuptools_scm]                        [tool.hatch.build.hooks.vcs]
    version_file = "src/demo/_version.py"        version-file = "src/demo/_version.py"

The version is that of `SETUPTOOLS_SCM_PRETEND_VERSION`, else of the last tag (`git describe`, as setuptools-scm names
what follows it), else of the file that an earlier installation left, else the setting `fallback_version`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

from mcpc.diagnostics import Span, diagnose
from mcpc.packages.setuptools_files import setuptools_entry_points
from mcpc.reading import Source
from mcpc.reading.selection import PYPROJECT, read_settings_text
from mcpc.reading.toml import nested_table, toml_table
from mcpc.sandbox import programs
from mcpc.schema.code import literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.reading import SourceTree

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
        # Path, digest and size; nobody verifies these files, so that the last two are empty.
        texts["RECORD"] = "".join(f"{_field(path)},,\n" for path in names)
    for file, text in texts.items():
        yield Source(f"{folder}{base}/{file}", text.encode("utf-8", "backslashreplace"))


def _group_text(group: str, rows: Mapping[str, str]) -> str:
    lines = "".join(f"{_line(name)} = {_line(rows[name])}\n" for name in sorted(rows))
    return f"[{_line(group)}]\n{lines}" if lines else ""


def _line(text: str) -> str:
    # A line break would begin another row.
    return " ".join(text.split())


def _field(path: str) -> str:
    """Return a path as a field of a row of comma-separated values."""
    return '"' + path.replace('"', '""') + '"' if re.search(r'[",\n]', path) else path


def project_entry_points(tree: SourceTree) -> EntryPoints:
    """Return the entry points of a project by group: of `[project]`, of Poetry, else of setuptools."""
    tables = toml_table(tree.get(PYPROJECT))
    project, poetry = nested_table(tables, "project"), nested_table(tables, "tool", "poetry")
    entry_points: EntryPoints = {}
    for table in (poetry, project):
        for key, group in SCRIPTS.items():
            entry_points.setdefault(group, {}).update(scripts_of(nested_table(table, key)))
    groups = (*nested_table(poetry, "plugins").items(), *nested_table(project, "entry-points").items())
    for group, rows in (*(setuptools_entry_points(tree).items() if not project else ()), *groups):
        entry_points.setdefault(group, {}).update(scripts_of(rows if isinstance(rows, dict) else {}))
    return {group: rows for group, rows in entry_points.items() if rows}


def scripts_of(table: Mapping[str, Any]) -> dict[str, str]:
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


PRETEND = "SETUPTOOLS_SCM_PRETEND_VERSION"
FILE_KEYS = (
    (("tool", "setuptools_scm"), ("version_file", "write_to")),
    (("tool", "hatch", "build", "hooks", "vcs"), ("version-file",)),
)
"""The tables whose keys name such a file."""
SETTINGS = (("tool", "setuptools_scm"), ("tool", "hatch", "version", "raw-options"), ("tool", "hatch", "version"))
"""The tables with `root` and `fallback_version`."""
DESCRIBE = ("describe", "--tags", "--long", "--match", "*[0-9]*")
SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never")
VARIABLES = {"GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
"""Of the repository only objects are read: no hook, no program of its configuration, no network."""
SECONDS = 20
DESCRIBED = re.compile(r"(?P<tag>.+)-(?P<distance>\d+)-(?P<node>g[0-9a-f]+)")
TAG = re.compile(r"(?:[\w-]+-)?v?(?P<version>\d+(?:\.\d+)*[^+]*)(?:\+.*)?", re.IGNORECASE)
WRITTEN = re.compile(r"^_*version_*\b[^\"'\n]*[\"']([^\"'\n]+)[\"']", re.MULTILINE)
UNKNOWN = Version("0.0.0")
HOW = f"clone it with its tags, set `{PRETEND}=1.2.3`, or set `fallback_version`"


@dataclass(frozen=True, slots=True)
class _VersionFile:
    """A file that a build backend writes, and its place in `pyproject.toml`."""

    path: str
    span: Span
    template: str


def with_version_files(tree: SourceTree) -> tuple[SourceTree, Diagnostics]:
    """Return a project with the version files that it lacks; one whose version is not known is an error."""
    source = tree.get(PYPROJECT)
    tables = toml_table(source)
    missing = [file for file in _files(tables, source) if file.path not in tree.files] if source is not None else []
    if source is None or not missing:
        return tree, ()
    # Lazily: git is asked only if no variable says the version.
    version = next(filter(None, _versions(tree, tables, missing)), None)
    message = f"`{missing[0].path}` is written when the project is installed, and its version is not known"
    unknown = diagnose("MCP209", missing[0].span, message, "a tag such as `v1.2.3`", HOW)
    added = {file.path: Source(file.path, _text(file, version or UNKNOWN).encode()) for file in missing}
    whole = replace(tree, files=MappingProxyType(dict(sorted({**tree.files, **added}.items()))))
    return whole, () if version is not None else (unknown,)


def _files(tables: Mapping[str, Any], source: Source) -> Iterator[_VersionFile]:
    """Yield the files that the settings name, inside the project."""
    for table, keys in FILE_KEYS:
        settings = nested_table(tables, *table)
        for key in keys:
            path = settings.get(key)
            if isinstance(path, str) and path.strip("./") and ".." not in path.split("/") and not path.startswith("/"):
                start = max(source.text.find(path), 0)
                template = settings.get("version_file_template", settings.get("template"))
                clean = "/".join(part for part in path.split("/") if part not in ("", "."))
                yield _VersionFile(
                    clean, Span(PYPROJECT, start, start + len(path)), template if isinstance(template, str) else ""
                )


def _versions(tree: SourceTree, tables: Mapping[str, Any], files: list[_VersionFile]) -> Iterator[Version | None]:
    """Yield what each source says, in the order in which they count."""
    name = re.sub(r"[-_.]+", "_", str(nested_table(tables, "project").get("name", ""))).upper()
    settings = [nested_table(tables, *table) for table in SETTINGS]
    for variable in (f"{PRETEND}_FOR_{name}", PRETEND):
        yield _parsed(os.environ.get(variable, ""))
    below = next((each["root"] for each in settings if isinstance(each.get("root"), str)), ".")
    yield _described(Path(tree.root, below)) if tree.root else None
    for file in files:
        match = WRITTEN.search(read_settings_text(Path(tree.root, file.path))) if tree.root else None
        yield _parsed(match[1]) if match is not None else None
    for each in settings:
        yield _parsed(each.get("fallback_version", each.get("fallback-version", "")))


def _parsed(text: object) -> Version | None:
    try:
        return Version(text) if isinstance(text, str) and text else None
    except InvalidVersion:
        return None


def _described(folder: Path) -> Version | None:
    """Return the version of a clone: that of the tag of its commit, else the next one's development version."""
    # In a worktree and a submodule it is a file.
    if not (folder / ".git").exists():
        return None
    try:
        done = programs.run_program("git", ["git", *SAFE, *DESCRIBE], SECONDS, cwd=folder, more=VARIABLES)
    except (OSError, TimeoutError):
        return None
    match = DESCRIBED.fullmatch(done.stdout.decode(errors="replace").strip()) if not done.returncode else None
    tag = TAG.fullmatch(match["tag"]) if match is not None else None
    last = _parsed(tag["version"]) if tag is not None else None
    if match is None or last is None or match["distance"] == "0":
        return last
    *numbers, patch = last.release
    upcoming = last.base_version if last.is_prerelease else ".".join(map(str, (*numbers, patch + 1)))
    return Version(f"{upcoming}.dev{match['distance']}+{match['node']}")


def _text(file: _VersionFile, version: Version) -> str:
    """Return the content of a version file, as setuptools-scm and hatch-vcs write it."""
    parts = (*version.release, *((f"dev{version.dev}",) if version.is_devrelease else ()))
    if file.template:
        return file.template.replace("{version}", str(version)).replace("{version_tuple}", literal(parts))
    if not file.path.endswith((".py", ".pyi")):
        return f"{version}\n"
    names = (("__version__", "version", str(version)), ("__version_tuple__", "version_tuple", parts))
    lines = (f"{name} = {literal(value)}\n{plain} = {name}\n" for name, plain, value in names)
    return "".join(("# Written by `mcpc build`, as the build backend of the project does.\n", *lines))
