"""Which folders of a project its code names: by an import, in a path, or in a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc.reading.source import Source

CODE = (".py", ".pyi", ".sh", ".bash", ".js", ".mjs", ".ts", ".json", ".toml", ".yaml", ".yml")
"""Endings of files that may name others; a `.json` says which command a tool starts."""


def is_named(folder: str, sources: Iterable[Source]) -> bool:
    """Tell whether code outside of a folder has the folder's name as a word."""
    word = re.compile(
        rb"(?<![\w-])%s(?![\w-])" % re.escape(folder.rpartition("/")[2].encode("utf-8", "surrogateescape"))
    )
    return any(
        word.search(source.data)
        for source in sources
        if source.path.endswith(CODE) and not source.path.startswith(f"{folder}/")
    )
