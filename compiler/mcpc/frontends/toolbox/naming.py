"""Which files are tools, and their names: the names of the files, regardless of their schemas."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span

if TYPE_CHECKING:
    from mcpc.sources import Source, SourceTree

FOLDER = "src/tools/"
ENDINGS = (".ts", ".js", ".mts", ".mjs")
EXCLUDED_ENDINGS = (".d.ts", ".d.mts", "__init__.py")
"""Files in the tools folder that are not tools."""
SCHEMA = re.compile(r"\bschema\b")


def tool_files(tree: SourceTree) -> tuple[Source, ...]:
    """Return the files directly in the folder of tools that are modules, in the order of their names."""
    return tuple(source for path, source in tree.files.items() if is_tool_path(path))


def is_tool_path(path: str) -> bool:
    """Tell whether a path is the one of a tool's module."""
    name = path.removeprefix(FOLDER)
    return name != path and "/" not in name and name.endswith((*ENDINGS, ".py")) and not name.endswith(EXCLUDED_ENDINGS)


def tool_name(path: str) -> str:
    """Return the tool name of a file."""
    return path.rpartition("/")[2].rpartition(".")[0]


def schema_span(source: Source) -> Span:
    """Return the span of a module's schema, or its beginning."""
    found = SCHEMA.search(source.text)
    return Span(source.path, found.start(), found.end()) if found else Span(source.path, 0, 0)
