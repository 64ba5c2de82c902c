"""Small projects in one text file each: `--- PATH` begins a file, `+++ PATH` one of the corrected project.

After the path may stand a mode (`755`), `-> TARGET` for a link, `removed`, `escaped`: a content with Python's escapes,
for bytes that are no text, or `copies N`: a file for each number below N, which stands in its path for `#`.
`options: {…}` before the first file are the options of the build, as JSON.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcpc.options import Options
from mcpc.reading import Source, SourceTree

HEADER = re.compile(r"^(---|\+\+\+) (\S+)(?: (.+))?\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ProjectFile:
    data: bytes
    mode: int = 0o644
    target: str = ""


@dataclass(frozen=True, slots=True)
class ProjectText:
    """A project, the same corrected, and the options of the build."""

    faulty: Mapping[str, ProjectFile]
    corrected: Mapping[str, ProjectFile]
    options: Options


def parse_project_text(written: str) -> ProjectText:
    head, *parts = HEADER.split(written)
    rows = [parts[number : number + 4] for number in range(0, len(parts), 4)]
    faulty = {path: file for mark, *row in rows if mark == "---" for path, file in _files(*row)}
    changed = {
        name: None if how == "removed" else _file(how or "", text) for mark, name, how, text in rows if mark == "+++"
    }
    corrected = {name: file for name, file in {**faulty, **changed}.items() if file is not None}
    options: dict[str, Any] = json.loads(head.removeprefix("options:")) if head.strip() else {}
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
    return ProjectText(faulty, corrected, replace(Options(), **given))


def _files(name: str, how: str | None, text: str) -> list[tuple[str, ProjectFile]]:
    if how and how.startswith("copies "):
        return [(name.replace("#", str(number)), _file("", text)) for number in range(int(how.split()[1]))]
    return [(name, _file(how or "", text))]


def _file(how: str, text: str) -> ProjectFile:
    if how.startswith("-> "):
        return ProjectFile(b"", target=how.removeprefix("-> "))
    if how == "escaped":
        escaped = text.removesuffix("\n").encode("latin-1", "backslashreplace")
        return ProjectFile(escaped.decode("unicode_escape").encode("latin-1"))
    return ProjectFile(text.encode(), int(how or "644", 8))


def tree_of(files: Mapping[str, ProjectFile]) -> SourceTree:
    return SourceTree({path: Source(path, file.data, file.mode) for path, file in sorted(files.items())})


def write_project(folder: Path, files: Mapping[str, ProjectFile]) -> Path:
    folder.mkdir()
    for name, file in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if file.target:
            path.symlink_to(file.target)
        else:
            path.write_bytes(file.data)
            path.chmod(file.mode)
    return folder
