"""Names of methods for tools: the tool's own wherever a language allows it, and never one name for two tools."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

OTHER_CHARACTERS = re.compile(r"[^0-9A-Za-z]+")


def method_names(tools: Iterable[str], is_free: Callable[[str], bool]) -> dict[str, str]:
    """Return the method of each tool; `is_free`: whether a language has room for a name."""
    tools = tuple(dict.fromkeys(tools))
    taken = {name for name in tools if is_free(name)}
    found: dict[str, str] = {name: name for name in taken}
    for tool in sorted(name for name in tools if name not in taken):
        found[tool] = _unused(_changed(tool, is_free), taken)
        taken.add(found[tool])
    return found


def _changed(tool: str, is_free: Callable[[str], bool]) -> str:
    plain = OTHER_CHARACTERS.sub("_", tool).strip("_")
    return next(name for name in (plain, f"{plain}_", f"tool_{plain}") if is_free(name))


def _unused(name: str, taken: set[str]) -> str:
    number, free = 2, name
    while free in taken:
        free = f"{name.rstrip('_')}_{number}"
        number += 1
    return free
