"""Which files of a folder are part of a project: `.gitignore`, and the settings `exclude` and `include`.

    [tool.mcpc]                                 {"_meta": {"mcpc/files": {
    exclude = ["tests/", "*.md"]                   "exclude": ["tests/", "*.md"],
    include = [".env"]                             "include": [".env"]}}}

Patterns are those of `.gitignore`, from the project's folder.  In order: what `exclude` names is left out; what
`include` names is taken, although a `.gitignore` leaves it out or it looks like a secret; what a `.gitignore` of the
project names is left out.  Files above the project's folder are not read: the same folder makes the same file anywhere.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec

from mcpc.diagnostics import Span, diagnose

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from mcpc.diagnostics import Diagnostic

IGNORES = ".gitignore"
PYPROJECT, SERVER = "pyproject.toml", "server.json"
SETTINGS = ("exclude", "include")
FILES = "mcpc/files"
SHAPE = 'an array of patterns as in `.gitignore`, `["tests/", "*.md"]`'
LARGEST = 1 << 20
"""A file of settings that is larger is not one."""


@dataclass(slots=True)
class Selection:
    """The patterns of one project; `ignores`: those of each folder's `.gitignore`, by the folder's path."""

    exclude: GitIgnoreSpec | None = None
    include: GitIgnoreSpec | None = None
    ignores: dict[str, GitIgnoreSpec] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)

    def read_ignores(self, folder: str, real: Path) -> None:
        """Read the `.gitignore` of a folder, if it has one."""
        text = text_of(real / IGNORES)
        if text:
            path = f"{folder}/{IGNORES}" if folder else IGNORES
            spec = self._compiled(text.splitlines(), path, Span(path))
            if spec is not None:
                self.ignores[folder] = spec

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """Tell whether a file, or a folder with all that is in it, is no part of the project."""
        name = f"{path}/" if is_folder else path
        if self.exclude is not None and self.exclude.check_file(name).include:
            return True
        if self.include is not None and (is_folder or self.names(path)):
            return False  # a folder is looked into, for something in it may be named
        return self._is_ignored(path, name)

    def names(self, path: str) -> bool:
        """Tell whether `include` names a file."""
        return self.include is not None and bool(self.include.check_file(path).include)

    def _is_ignored(self, path: str, name: str) -> bool:
        """Ask the nearest `.gitignore` that says anything of it: O(folders above it)."""
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
            self.problems.append(diagnose("MCP413", span, f"a pattern in `{where}` means nothing: {problem}", SHAPE))
            return None

    def set(self, name: str, value: object, path: str) -> None:
        """Take one setting; what is not a list of patterns is reported."""
        if not (isinstance(value, list) and all(isinstance(pattern, str) and pattern.strip() for pattern in value)):
            self.problems.append(diagnose("MCP413", Span(path), f"`{name}` is not a list of patterns", SHAPE))
            return
        before: GitIgnoreSpec | None = getattr(self, name)
        spec = self._compiled(value, name, Span(path))
        if spec is not None:
            setattr(self, name, spec if before is None else before + spec)


def selection(base: Path) -> Selection:
    """Return the patterns of the project at `base`.  Files that are not whole are reported by who reads them."""
    found = Selection()
    for path, settings in ((PYPROJECT, pyproject(base)), (SERVER, server_json(base))):
        for name in SETTINGS:
            if name in settings:
                found.set(name, settings[name], path)
    return found


def pyproject(base: Path) -> dict[str, Any]:
    """Return `[tool.mcpc]` of the project's `pyproject.toml`."""
    try:
        return inner(tomllib.loads(text_of(base / PYPROJECT)), "tool", "mcpc")
    except tomllib.TOMLDecodeError:
        return {}


def server_json(base: Path) -> dict[str, Any]:
    """Return `_meta["mcpc/files"]` of the project's `server.json`."""
    try:
        return inner(json.loads(text_of(base / SERVER) or "{}"), "_meta", FILES)
    except (ValueError, RecursionError):
        return {}


def inner(value: object, *names: str) -> dict[str, Any]:
    """Return an object in an object, an empty one where there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def text_of(path: Path) -> str:
    """Return the text of a regular file that is not large; nothing where there is none."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
            return ""
        return path.read_text(encoding="utf-8", errors="replace").removeprefix("\ufeff")
    except OSError:
        return ""
