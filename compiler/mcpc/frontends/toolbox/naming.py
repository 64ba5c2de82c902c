"""Which files are tools, and what they are called: as their file, whatever their schema says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span

if TYPE_CHECKING:
    from mcpc.sources import Source, SourceTree

FOLDER = "src/tools/"
ENDINGS = (".ts", ".js", ".mts", ".mjs")
NO_TOOLS = (".d.ts", ".d.mts", "__init__.py")
"""What lies among the tools and is none."""
SCHEMA = re.compile(r"\bschema\b")


def tool_files(tree: SourceTree) -> tuple[Source, ...]:
    """Return the files directly in the folder of tools that are modules, in the order of their names."""
    return tuple(source for path, source in tree.files.items() if is_module(path))


def is_module(path: str) -> bool:
    """Tell whether a path is that of a tool's module."""
    name = path.removeprefix(FOLDER)
    return name != path and "/" not in name and name.endswith((*ENDINGS, ".py")) and not name.endswith(NO_TOOLS)


def stem(path: str) -> str:
    """Return what the tool of a file is called."""
    return path.rpartition("/")[2].rpartition(".")[0]


def schema_of(source: Source) -> Span:
    """Return the place of a module's schema, or of its beginning."""
    found = SCHEMA.search(source.text)
    return Span(source.path, found.start(), found.end()) if found else Span(source.path, 0, 0)
