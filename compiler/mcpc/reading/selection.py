"""Which files of a project are part of its server: the table of those left out, and the project's own selection.

The table is the same for projects of every kind: secrets, build output, hidden folders, and what tools keep.

    [tool.mcpc]                                 {"_meta": {"mcpc/files": {
    exclude = ["tests/", "*.md"]                   "exclude": ["tests/", "*.md"],
    include = [".env"]                             "include": [".env"]}}}

Patterns have the syntax of `.gitignore` and are relative to the project's folder. In order: `exclude` removes files;
`include` adds files, even if a `.gitignore` or the table of those left out removes them; a `.gitignore` of the project
removes files. Files above the project's folder are not read: the same folder produces the same artifact anywhere.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec

from mcpc.diagnostics import Span, diagnose
from mcpc.reading.toml import nested_table, parse_toml

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading.source import Source

SECRET, EXCLUDED, IGNORED, OUTPUT, HIDDEN = "secret", "`exclude`", "`.gitignore`", "build output", "hidden folder"
CASES, INSTALLED, CACHE, VERSIONS = "cases of `mcpc test`", "installed packages", "cache", "version control"
REASONS = (SECRET, EXCLUDED, IGNORED, HIDDEN, OUTPUT, CASES, INSTALLED, CACHE, VERSIONS)
"""Why a file or a folder is left out; what the author may not know comes first."""
EXPECTED = frozenset({CASES, INSTALLED, CACHE, VERSIONS})
"""Reasons that surprise no author."""
NEVER_READ = frozenset({INSTALLED, CACHE, VERSIONS})
"""Folders that are not read, whatever `include` matches, and links and files of their names."""

FOLDERS = {
    INSTALLED: re.compile(r"node_modules|\.venv"),
    CACHE: re.compile(r"__pycache__|\.[\w.-]*_cache|\.cache|\.tox|\.nox|\.eggs|\.hypothesis|htmlcov"),
    VERSIONS: re.compile(r"\.git|\.hg|\.svn|\.bzr|\.jj"),
    OUTPUT: re.compile(r"[^/]+\.egg-info|(?:.*/)?build/(?:lib|lib\.[^/]+|bdist\.[^/]+|scripts-[^/]+)"),
    HIDDEN: re.compile(r"\.[^/]+"),
}
"""The names of folders; those of `build` with the folder that they are in."""
FILE_REASONS = {
    CASES: re.compile(r"tests/[^/]+\.(?:json|ya?ml)"),
    OUTPUT: re.compile(r"(?:.*/)?dist/[^/]+\.(?:whl|tar\.gz|mcpb)|\.coverage(?:\..+)?"),
}
"""The paths of files."""

ENVIRONMENT = ".env"
# Files such as `.env.example` name variables and have no secrets.
HARMLESS = (".example", ".sample", ".template", ".dist", ".defaults")
KEYS = frozenset(
    {"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials"}
)
STORES = (".p12", ".pfx", ".jks", ".kdbx", ".ppk")
MAY_BE_KEYS = (".pem", ".key")
PRIVATE = b"PRIVATE KEY"
"""Text in a private key file that a certificate does not contain."""


def folder_reason(path: str) -> str:
    """Return why a folder is left out by its name; empty if it is not."""
    name = path.rpartition("/")[2]
    return next((why for why, names in FOLDERS.items() if names.fullmatch(name) or names.fullmatch(path)), "")


def file_reason(source: Source) -> str:
    """Return why a file is left out by its name or its content; empty if it is not."""
    if is_secret(source):
        return SECRET
    return next((why for why, paths in FILE_REASONS.items() if paths.fullmatch(source.path)), "")


def is_secret(source: Source) -> bool:
    """Tell whether a file has a name typical of secrets, or is a private key."""
    name = source.path.rpartition("/")[2]
    is_environment = name == ENVIRONMENT or name.startswith(f"{ENVIRONMENT}.")
    is_key = name.endswith(STORES) or (name.endswith(MAY_BE_KEYS) and PRIVATE in source.data)
    return name in KEYS or is_key or (is_environment and not name.endswith(HARMLESS))


IGNORES = ".gitignore"
PYPROJECT, SERVER = "pyproject.toml", "server.json"
SETTINGS = EXCLUDE, INCLUDE = ("exclude", "include")
FILES = "mcpc/files"
EXPECTED_SHAPE = 'an array of patterns as in `.gitignore`, `["tests/", "*.md"]`'
MAX_SETTINGS_BYTES = 1 << 20
"""A larger settings file is ignored here."""


@dataclass(slots=True)
class Selection:
    """The patterns of one project; `ignores`: the `.gitignore` patterns by folder path."""

    exclude: GitIgnoreSpec | None = None
    include: GitIgnoreSpec | None = None
    ignores: dict[str, GitIgnoreSpec] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)

    def read_ignores(self, folder: str, real: Path) -> None:
        """Read the `.gitignore` of a folder, if it has one."""
        text = read_settings_text(real / IGNORES)
        if text:
            path = f"{folder}/{IGNORES}" if folder else IGNORES
            spec = self._compiled(text.splitlines(), path, Span(path))
            if spec is not None:
                self.ignores[folder] = spec

    def reason(self, path: str, *, is_folder: bool) -> str:
        """Return why a file, or a folder with its content, is excluded from the project; empty if it is not."""
        name = f"{path}/" if is_folder else path
        if self.exclude is not None and self.exclude.check_file(name).include:
            return EXCLUDED
        if self.include is not None and (is_folder or self.names(path)):
            return ""  # `include` may match a file in this folder
        return IGNORED if self._is_ignored(path, name) else ""

    def names(self, path: str) -> bool:
        """Tell whether `include` matches a file."""
        return self.include is not None and bool(self.include.check_file(path).include)

    def may_name_below(self, folder: str) -> bool:
        """Tell whether `include` may match a file in a folder."""
        patterns = () if self.include is None else self.include.patterns
        texts = (str(getattr(pattern, "pattern", "")).lstrip("/") for pattern in patterns)
        # Any name stands for the files of the folder.
        return self.names(f"{folder}/x") or any(text.startswith(f"{folder}/") for text in texts)

    def _is_ignored(self, path: str, name: str) -> bool:
        """Apply the nearest `.gitignore` that matches the file: O(folders above it)."""
        if not self.ignores:
            return False
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            spec = self.ignores.get(folder)
            said = spec.check_file(name.removeprefix(f"{folder}/") if folder else name).include if spec else None
            if said is not None:
                return said
        return False

    def _compiled(self, patterns: Sequence[str], where: str, span: Span) -> GitIgnoreSpec | None:
        try:
            return GitIgnoreSpec.from_lines(patterns)
        except ValueError as problem:
            self.problems.append(diagnose("MCP413", span, f"invalid pattern in `{where}`: {problem}", EXPECTED_SHAPE))
            return None

    def set(self, name: str, value: object, path: str) -> None:
        """Set one setting; a value that is not a list of patterns is reported."""
        if not (isinstance(value, list) and all(isinstance(pattern, str) and pattern.strip() for pattern in value)):
            self.problems.append(diagnose("MCP413", Span(path), f"`{name}` is not a list of patterns", EXPECTED_SHAPE))
            return
        before: GitIgnoreSpec | None = getattr(self, name)
        spec = self._compiled(value, name, Span(path))
        if spec is not None:
            setattr(self, name, spec if before is None else before + spec)


def read_selection(base: Path) -> Selection:
    """Return the patterns of the project at `base`.  Malformed settings files are reported by their own readers."""
    selection = Selection()
    project = pyproject_settings(read_settings_text(base / PYPROJECT))
    for path, settings in ((PYPROJECT, project), (SERVER, server_json_settings(base))):
        for name in SETTINGS:
            if name in settings:
                selection.set(name, settings[name], path)
    return selection


def pyproject_settings(text: str) -> dict[str, Any]:
    """Return `[tool.mcpc]` of a `pyproject.toml`."""
    try:
        return nested_table(parse_toml(text), "tool", "mcpc")
    except tomllib.TOMLDecodeError:
        return {}


def server_json_settings(base: Path) -> dict[str, Any]:
    """Return `_meta["mcpc/files"]` of the project's `server.json`."""
    try:
        return nested_table(json.loads(read_settings_text(base / SERVER) or "{}"), "_meta", FILES)
    except (ValueError, RecursionError):
        return {}


def read_settings_text(path: Path) -> str:
    """Return the text of a small regular file; empty if it is missing."""
    try:
        # A link may lead out of the project, which decides alone what is packed.
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_SETTINGS_BYTES:
            return ""
        return path.read_text(encoding="utf-8", errors="replace").removeprefix("\ufeff")
    except OSError:
        return ""
