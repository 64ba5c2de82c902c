"""Files of a project that are independent of those beside them, such as a folder a tool or a module a tool.

A check of one of them leaves out all others but those that it mentions, or that have one of its names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from mcpc.workbench.language_server.reduction import definition_key, function_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

SINGLE = re.compile(r"(?:tools|prompts)\.d/.+")
"""A file with definitions of ours, which nothing refers to by its path."""
MODULES = (re.compile(r"(src/tools/([^/.]+))\.[^/]+"), re.compile(r"(tools/([^/.]+))\.py"))
"""A tool of ToolBox, and a file with tools of bx-mcp."""
DESCRIBED = re.compile(r"((?:tools|prompts|resources)/([^/.]+))[/.].+")
DESCRIPTION = ".meta.json"
"""What is with the script or the text of an mcp-bash definition, in its folder or beside it."""
WORD = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class FileGroup:
    """`path`: of its folder, or of its files without their endings; `name`: by which others mention it, if they can."""

    path: str
    name: str = ""
    keys: frozenset[str] = frozenset()


@lru_cache(maxsize=4)
def groups_in(paths: tuple[str, ...]) -> Mapping[str, FileGroup]:
    """Return the group of each file that belongs to one."""
    described = {match[1] for match in map(DESCRIBED.fullmatch, paths) if match and match[0].endswith(DESCRIPTION)}
    found: dict[str, FileGroup] = {}
    for path in paths:
        module = next(filter(None, (pattern.fullmatch(path) for pattern in MODULES)), None)
        match = module or DESCRIBED.fullmatch(path)
        if SINGLE.fullmatch(path):
            found[path] = FileGroup(path)
        elif match and (module or match[1] in described):
            found[path] = FileGroup(match[1], match[2], function_keys(definition_key(match[2])))
    return MappingProxyType(found)


def words_in(text: str) -> frozenset[str]:
    """Return the words of a text, by which it may mention groups."""
    return frozenset(WORD.findall(text))
