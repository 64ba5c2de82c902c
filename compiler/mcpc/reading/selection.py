"""Selection of the files of a folder that are part of a project: `.gitignore`, `exclude` and `include`.

    [tool.mcpc]                                 {"_meta": {"mcpc/files": {
    exclude = ["tests/", "*.md"]                   "exclude": ["tests/", "*.md"],
    include = [".env"]                             "include": [".env"]}}}

Patterns have the syntax of `.gitignore` and are relative to the project's folder. In order: `exclude` removes files;
`include` adds files, even if a `.gitignore` or the list of `left_out.py` removes them; a `.gitignore` of the project
removes files. Files above the project's folder are not read: the same folder produces the same artifact anywhere.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec

from mcpc.diagnostics import Span, diagnose
from mcpc.reading.left_out import EXCLUDED, IGNORED
from mcpc.reading.toml import parse_toml

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from mcpc.diagnostics import Diagnostic

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
    found = Selection()
    project = pyproject_settings(read_settings_text(base / PYPROJECT))
    for path, settings in ((PYPROJECT, project), (SERVER, server_json_settings(base))):
        for name in SETTINGS:
            if name in settings:
                found.set(name, settings[name], path)
    return found


def pyproject_settings(text: str) -> dict[str, Any]:
    """Return `[tool.mcpc]` of a `pyproject.toml`."""
    try:
        return nested_object(parse_toml(text), "tool", "mcpc")
    except tomllib.TOMLDecodeError:
        return {}


def server_json_settings(base: Path) -> dict[str, Any]:
    """Return `_meta["mcpc/files"]` of the project's `server.json`."""
    try:
        return nested_object(json.loads(read_settings_text(base / SERVER) or "{}"), "_meta", FILES)
    except (ValueError, RecursionError):
        return {}


def nested_object(value: object, *names: str) -> dict[str, Any]:
    """Return a member that is an object, or an empty object."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def read_settings_text(path: Path) -> str:
    """Return the text of a small regular file; empty if it is missing."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_SETTINGS_BYTES:
            return ""
        return path.read_text(encoding="utf-8", errors="replace").removeprefix("\ufeff")
    except OSError:
        return ""
