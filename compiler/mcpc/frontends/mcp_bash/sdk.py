"""The library that scripts find at `MCP_SDK`: our own, carried beside the project's files in a folder none can have.

Its law: it is left out only if no file of the project can mean it, because none has a word by which it is found, and
no tool runs in a shell that has read it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mcpc.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HOME = ".mcpc/mcp-bash"
"""Folders of a project that begin with a dot are never read, so nothing of it lies here."""
PLACES = (Path(__file__).parents[2] / "templates", Path(__file__).parents[4] / "templates")
"""In an installed package, and in a checkout."""
EXECUTABLE, PLAIN = 0o755, 0o644
MEANT = re.compile(rb"MCP_SDK|(?:tool|ui)-sdk|MCPBASH_HOME|mcp-bash/(?:sdk|lib|providers)\b")
ALWAYS = ("lib/health.sh", "lib/tool-policy.sh", "providers/")
"""What the server itself runs, and none of the project's scripts."""


def carried(project: Iterable[Source], *, forks: bool) -> tuple[Source, ...]:
    """Return the files of the library that go along with a project, in the order of their paths."""
    is_meant = forks or any(MEANT.search(source.data) for source in project)
    always = tuple(f"{HOME}/{place}" for place in ALWAYS)
    found = [source for source in _files() if is_meant or source.path.startswith(always)]
    return tuple(sorted(found, key=lambda source: source.path))


def _files() -> Iterator[Source]:
    folder = next(place for place in PLACES if place.is_dir()) / "mcp_bash"
    for file in folder.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            data = file.read_bytes()
            path = f"{HOME}/{file.relative_to(folder).as_posix()}"
            yield Source(path, data, EXECUTABLE if data.startswith(b"#!") else PLAIN)
