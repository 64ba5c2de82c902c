"""The keys of `[tool.mcpc]` in `pyproject.toml` and of the tables in it; a key that no row has is an error.

A key that is not read would have no effect: a misspelt `exclude` packs the files that it names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import nearest, quoted
from mcpc.reading.toml import TomlText, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import SourceTree

PYPROJECT = "pyproject.toml"
HOME = ("tool", "mcpc")
TABLES: dict[tuple[str, ...], tuple[str, ...]] = {
    (): (
        "exclude",
        "include",
        "extract",
        "extras",
        "groups",
        "allow-sdist",
        "exclude-newer",
        "entry",
        "framework",
        "build-environment",
        "lists",
        "concurrent",
        "max-result",
        "settings",
        "toolsets",
        "release",
        "registry",
        "scan",
        "diff",
    ),
    ("release",): ("files", "self-contained", "options"),
    ("registry",): ("name", "mcpb", "oci", "remotes"),
    ("scan",): ("ignore",),
    ("diff",): ("accept", "severity"),
    ("diff", "accept"): ("rule", "place", "reason"),
}
"""The keys of each table below `[tool.mcpc]`. `settings` are checked as those of `server.json`."""
BOOLEANS = frozenset({((), "concurrent")})
"""The keys whose value is not checked where it is read."""
LISTS = frozenset({("diff", "accept")})
"""The tables of which there is a list."""


def unknown_settings(tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield the keys that nothing reads, and what should be a table and is not; nothing of a file that is not TOML."""
    source = tree.get(PYPROJECT)
    text = None if source is None else read_toml(source)
    if isinstance(text, TomlText):
        for place in TABLES:
            yield from _problems_of(place, text)


def _problems_of(place: tuple[str, ...], text: TomlText) -> Iterator[Diagnostic]:
    where = (*HOME, *place)
    above: Any = text.table
    for name in where[:-1]:
        above = above.get(name) if isinstance(above, dict) else None
    written = above.get(where[-1], {}) if isinstance(above, dict) else {}
    for row in written if place in LISTS and isinstance(written, list) else (written,):
        if isinstance(row, dict):
            yield from (_unknown(key, place, text) for key in row if key not in TABLES[place])
            for key, value in row.items():
                if (place, key) in BOOLEANS and not isinstance(value, bool):
                    span = text.span_of(key, *HOME, *place)
                    yield diagnose("MCP443", span, f"`{key}` of `{_header(place)}` is not a boolean", "true or false")
        elif place not in LISTS:
            message = f"`{_header(place)}` is not a table"
            yield diagnose("MCP443", text.span_of(where[-1]), message, f"a table with {quoted(TABLES[place])}")


def _unknown(key: str, place: tuple[str, ...], text: TomlText) -> Diagnostic:
    span = text.span_of(key, *HOME, *place)
    message = f"`{_header(place)}` has an unknown key `{key}`"
    return diagnose("MCP443", span, message, f"one of {quoted(TABLES[place])}", _meant(key, place))


def _meant(key: str, place: tuple[str, ...]) -> str:
    """Return what a key may have been meant as: another key of the table, or the same of another table."""
    other_key = nearest(key, TABLES[place])
    elsewhere = [other for other, keys in TABLES.items() if key in keys]
    if other_key or not elsewhere:
        return f"did you mean `{other_key}`?" if other_key else ""
    return f"`{key}` is a key of {' and of '.join(f'`{_header(other)}`' for other in elsewhere)}: move it there"


def _header(place: tuple[str, ...]) -> str:
    return f"[{'.'.join((*HOME, *place))}]"
