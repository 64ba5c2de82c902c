"""Registries that a project names in uv's tables: `[[tool.uv.index]]`, and `index` in `[tool.uv.sources]`.

A package with such a source is taken from that registry only, and what it needs from the usual ones, as by uv.  Of the
others the default takes the place of the usual registry.  uv takes a package from the first registry that has its name;
pip takes the highest version of any of them, whoever put it there: so pip is not asked where there are several.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mcpc.dependencies.pip_install import NO_INDEX
from mcpc.dependencies.toml_text import nested_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpc.dependencies.toml_text import TomlText

INDEX_ADDRESS = "index-url"
"""The key of a source with the address of its index."""
EXTRA = "--extra-index-url="
SEVERAL_HELP = (
    "`explicit = true` and `[tool.uv.sources]` say which packages it has, `default = true` takes it for all; or "
    "`mcpc lock` with uv on PATH, whose lock names the file of each package"
)
ADDRESS = re.compile(r"(?:https?|file)://\S+")


def uv_indexes(text: TomlText) -> Iterator[Mapping[str, Any]]:
    """Yield the registries with an address, in their order."""
    rows = nested_table(text.table, "tool", "uv").get("index")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("url"), str) and ADDRESS.fullmatch(row["url"]):
            yield row


def index_addresses(text: TomlText) -> dict[str, str]:
    """Return the addresses of the registries that have a name."""
    return {row["name"]: row["url"] for row in uv_indexes(text) if isinstance(row.get("name"), str)}


def with_address(source: Mapping[str, Any] | None, addresses: Mapping[str, str]) -> Mapping[str, Any] | None:
    """Return a source with the address of the registry that it names."""
    name = None if source is None else source.get("index")
    return source if name is None else {**(source or {}), INDEX_ADDRESS: addresses.get(str(name), "")}


def index_options(text: TomlText) -> tuple[str, ...]:
    """Return pip's options about registries of all packages."""
    rows = [row for row in uv_indexes(text) if row.get("explicit") is not True]
    default = [f"--index-url={row['url']}" for row in rows if row.get("default") is True]
    return (*default[:1], *(f"{EXTRA}{row['url']}" for row in rows if row.get("default") is not True))


def several_registries(options: Iterable[str]) -> str:
    """Return why pip may not choose packages with its options about registries; an empty text if it may."""
    options = [*options]
    more = next((option.removeprefix(EXTRA) for option in options if option.startswith(EXTRA)), "")
    if not more or NO_INDEX in options:
        return ""
    return f"packages could come from `{more}` or from another registry: a version there could take the place of yours"
