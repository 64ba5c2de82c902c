"""Registries that a project names in uv's tables: `[[tool.uv.index]]`, and `index` in `[tool.uv.sources]`.

They are handed to uv as they are written, so that a package comes from the registry that uv takes it from.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.model.ir.layer import Origins, Registry
from mcpc.packages.toml_text import nested_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.model.ir.layer import RequestedPackage
    from mcpc.packages.toml_text import TomlText

IS_KNOWN = "is-known"
"""The key of a source that tells whether its registry is defined."""
ADDRESS = re.compile(r"(?:https?|file)://\S+")


def named_registries(text: TomlText) -> Iterator[Registry]:
    """Yield the registries that have an address, in their order."""
    rows = nested_table(text.table, "tool", "uv").get("index")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("url"), str) and ADDRESS.fullmatch(row["url"]):
            name = row.get("name")
            yield Registry(
                row["url"],
                name if isinstance(name, str) else "",
                is_default=row.get("default") is True,
                is_explicit=row.get("explicit") is True,
            )


def all_origins(wanted: Iterable[RequestedPackage]) -> Origins:
    """Return where the packages of all requirements come from."""
    origins = [item.origins for item in wanted]
    return Origins(
        tuple(dict.fromkeys(registry for each in origins for registry in each.registries)),
        tuple(dict.fromkeys(place for each in origins for place in each.find_links)),
        any(each.offline for each in origins),
    )
