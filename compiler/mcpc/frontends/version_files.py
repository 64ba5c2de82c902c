"""Files with the version that a build backend writes when a project is installed, and that a clone does not have.

    [tool.setuptools_scm]                        [tool.hatch.build.hooks.vcs]
    version_file = "src/demo/_version.py"        version-file = "src/demo/_version.py"

The version is that of `SETUPTOOLS_SCM_PRETEND_VERSION`, else of the last tag (`git describe`, as setuptools-scm names
what follows it), else of the file that an earlier installation left, else the setting `fallback_version`.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from packaging.version import InvalidVersion, Version

from mcpc.diagnostics import Span, diagnose
from mcpc.reading import Source
from mcpc.reading.selection import PYPROJECT, nested_object, read_settings_text
from mcpc.reading.toml import parse_toml
from mcpc.sandbox import programs
from mcpc.schema.code import literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.reading import SourceTree

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
    tables = {} if source is None else _tables(source.text)
    missing = [file for file in _files(tables, source) if file.path not in tree.files] if source is not None else []
    if source is None or not missing:
        return tree, ()
    version = next(filter(None, _versions(tree, tables, missing)), None)
    message = f"`{missing[0].path}` is written when the project is installed, and its version is not known"
    unknown = diagnose("MCP209", missing[0].span, message, "a tag such as `v1.2.3`", HOW)
    added = {file.path: Source(file.path, _text(file, version or UNKNOWN).encode()) for file in missing}
    whole = replace(tree, files=MappingProxyType(dict(sorted({**tree.files, **added}.items()))))
    return whole, () if version is not None else (unknown,)


def _tables(text: str) -> dict[str, Any]:
    try:
        return parse_toml(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, UnicodeEncodeError):
        return {}


def _files(tables: Mapping[str, Any], source: Source) -> Iterator[_VersionFile]:
    """Yield the files that the settings name, inside the project."""
    for table, keys in FILE_KEYS:
        settings = nested_object(dict(tables), *table)
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
    name = re.sub(r"[-_.]+", "_", str(nested_object(dict(tables), "project").get("name", ""))).upper()
    settings = [nested_object(dict(tables), *table) for table in SETTINGS]
    for variable in (f"{PRETEND}_FOR_{name}", PRETEND):
        yield _parsed(os.environ.get(variable, ""))
    below = next((each["root"] for each in settings if isinstance(each.get("root"), str)), ".")
    yield _described(Path(tree.root, below)) if tree.root else None
    for file in files:
        found = WRITTEN.search(read_settings_text(Path(tree.root, file.path))) if tree.root else None
        yield _parsed(found[1]) if found is not None else None
    for each in settings:
        yield _parsed(each.get("fallback_version", each.get("fallback-version", "")))


def _parsed(text: object) -> Version | None:
    try:
        return Version(text) if isinstance(text, str) and text else None
    except InvalidVersion:
        return None


def _described(folder: Path) -> Version | None:
    """Return the version of a clone: that of the tag of its commit, else the next one's development version."""
    if not (folder / ".git").exists():
        return None
    try:
        done = programs.run_program("git", ["git", *SAFE, *DESCRIBE], SECONDS, cwd=folder, more=VARIABLES)
    except (OSError, TimeoutError):
        return None
    found = DESCRIBED.fullmatch(done.stdout.decode(errors="replace").strip()) if not done.returncode else None
    tag = TAG.fullmatch(found["tag"]) if found is not None else None
    last = _parsed(tag["version"]) if tag is not None else None
    if found is None or last is None or found["distance"] == "0":
        return last
    *numbers, patch = last.release
    upcoming = last.base_version if last.is_prerelease else ".".join(map(str, (*numbers, patch + 1)))
    return Version(f"{upcoming}.dev{found['distance']}+{found['node']}")


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
