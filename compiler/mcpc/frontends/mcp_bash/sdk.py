"""mcpc's SDK for scripts (`MCP_SDK`), included in a folder that no project can have.

It is left out only if no file of the project can use it: no file contains a text that refers to it, and no tool runs in
a shell that has read it.  jq's language in Python is left out if no file reads arguments.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.reading import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HOME = ".mcpc/mcp-bash"
"""Project folders that begin with a dot are never read, so that this folder is free."""
TEMPLATE_FOLDERS = (Path(__file__).parents[2] / "templates", Path(__file__).parents[4] / "templates")
"""In an installed package, and in a checkout."""
EXECUTABLE, PLAIN = 0o755, 0o644
SDK_REFERENCE = re.compile(rb"MCP_SDK|(?:tool|ui)-sdk|MCPBASH_HOME|mcp-bash/(?:sdk|lib|providers)\b")
FILTER_FILES = tuple(f"lib/python/{name}.py" for name in ("json_filter", "json_filters", "json_functions"))
"""jq's language in Python: for arguments where Bash is not sufficient and there is no jq."""
ARGUMENT_FILTER = re.compile(rb"args_(?!raw\b)|meta_(?!raw\b)|require_path|mcp_[^a-z]")
"""Texts of a script that reads arguments by a filter, or composes function names."""
ALWAYS_INCLUDED = ("lib/health.sh", "lib/tool-policy.sh", "providers/")
"""Files that the server itself runs."""


def sdk_files(project: Iterable[Source], *, forks: bool) -> tuple[Source, ...]:
    """Return the library's files that are included with a project, ordered by path."""
    files = tuple(project)
    is_meant = forks or any(SDK_REFERENCE.search(source.data) for source in files)
    asks = is_meant and any(ARGUMENT_FILTER.search(source.data) for source in files)
    always = tuple(f"{HOME}/{place}" for place in ALWAYS_INCLUDED)
    left_out = () if asks else tuple(f"{HOME}/{place}" for place in FILTER_FILES)
    found = [
        file for file in _library_files() if (is_meant and file.path not in left_out) or file.path.startswith(always)
    ]
    return tuple(sorted(found, key=lambda source: source.path))


def _library_files() -> Iterator[Source]:
    folder = next(place for place in TEMPLATE_FOLDERS if place.is_dir()) / "mcp_bash"
    for file in folder.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            data = file.read_bytes()
            path = f"{HOME}/{file.relative_to(folder).as_posix()}"
            yield Source(path, data, EXECUTABLE if data.startswith(b"#!") else PLAIN)
