"""A new project of an API document: the document, and a file in `apis/` with what can be chosen of it."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from mcpc.diagnostics.model import counted
from mcpc.frontends.openapi.documents import DocumentFiles, DocumentValue
from mcpc.frontends.openapi.operations import Operation, operations_of
from mcpc.frontends.openapi.selection import SEARCH, TOOLS
from mcpc.frontends.openapi.texts import clean_text
from mcpc.reading import SourceTree

if TYPE_CHECKING:
    from mcpc.reading import Source

MAX_TAGS, FEW_TOOLS = 20, 40
CHOSEN = """\
# What of the document is offered, and how: `mcpc help MCP173` lists all keys. `expose` is "tools" (all are listed),
# "toolsets" (one a tag, of which `--toolsets` chooses), or "search" (tools that find and call the operations).
document = {document}
expose = {expose}
# include = ["tag:NAME", "GET /search/*"]
# exclude = ["deprecated"]
{tags}
# [tools.{operation}]
# name = "another_name"
# description = "When a model should use it."
"""


def new_project(source: Source, name: str) -> dict[str, bytes] | None:
    """Return the files of a new project by path, or None if the source is not an API document."""
    files = DocumentFiles(SourceTree({source.path: source}))
    document = files.read(source.path)
    if document is None or not isinstance(document.value, dict) or not {"openapi", "swagger"} & document.value.keys():
        return None
    operations = [
        each
        for each in operations_of(DocumentValue(document, (), document.value), files)
        if isinstance(each, Operation)
    ]
    tags = Counter(clean_text(tag, 64).replace("\n", " ") for each in operations for tag in each.tags)
    lines = [f"#   tag:{tag}  {counted(times, 'operation')}" for tag, times in tags.most_common(MAX_TAGS)]
    operation = next(
        (each.identifier for each in operations if each.identifier.isprintable() and each.identifier), "getPet"
    )
    chosen = CHOSEN.format(
        document=json.dumps(source.path),
        expose=json.dumps(TOOLS if len(operations) <= FEW_TOOLS else SEARCH),
        tags="\n".join(lines),
        operation=json.dumps(operation, ensure_ascii=False),
    )
    return {f"apis/{name}.toml": chosen.encode(), source.path: source.data}
