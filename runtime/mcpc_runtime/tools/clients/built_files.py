"""Files that entries start: the name of the server in a built one, by which another build of it is known."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from zipfile import ZipFile

FACTS = "META-INF/build.json"
MAX_FACTS = 1 << 20


def file_of_server(name: str, texts: Iterable[str]) -> str:
    """Return which of an entry's texts is the path of a built file whose server has this name."""
    found = (text for text in sorted(texts) if os.path.isabs(text) and os.path.isfile(text))
    return next((path for path in found if built_name(path) == name), "")


def built_name(path: str) -> str:
    """Return the name of the server in a built file; nothing for any other file."""
    try:
        with ZipFile(path) as archive:
            if archive.getinfo(FACTS).file_size > MAX_FACTS:
                return ""
            facts = json.loads(archive.read(FACTS))
    except Exception:  # noqa: BLE001 - a file of anybody: zipfile and zlib raise many kinds
        return ""
    name = facts.get("name") if isinstance(facts, dict) else None
    return name if isinstance(name, str) else ""
