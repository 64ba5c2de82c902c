"""Custom features: functions marked in `custom/*.py`, each served by the servers whose feature files list its id.

    custom_tools: ["status"]        @tool(name="status")
                                    def anything() -> str: …

The folder lies in the knowledge base, beside it, or at the top of the project.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from mcpc.definitions import Library
from mcpc.diagnostics import has_errors
from mcpc.frontends.decorated import HOMES, Family, decorated
from mcpc.introspection import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.definitions import PromptDefinition, ResourceDefinition, TemplateDefinition, ToolDefinition
    from mcpc.diagnostics import Diagnostics
    from mcpc.frontends.blueprints.base import Base
    from mcpc.frontends.blueprints.reading import Reading
    from mcpc.frontends.decorated import Decorated
    from mcpc.sources import Node

    Marked = ToolDefinition | PromptDefinition | ResourceDefinition | TemplateDefinition

M = TypeVar("M")
FOLDER = "custom"
ELSEWHERE = "define it in a file of the folder `custom`"
MARKS = {
    "tool": '@tool(name="{name}")',
    "prompt": '@prompt(name="{name}")',
    "resource": '@resource("docs://…", name="{name}")',
}


@dataclass(frozen=True, slots=True)
class Custom:
    """The marked functions that feature files list, by kind and id, and the files they are in."""

    marked: dict[tuple[str, str], list[Marked]] = field(default_factory=dict)
    libraries: tuple[Library, ...] = ()
    complete: bool = True

    def of(self, kind: type[M]) -> tuple[M, ...]:
        """Return the definitions of a kind."""
        return tuple(one for those in self.marked.values() for one in those if isinstance(one, kind))


def custom(reading: Reading, wanted: Iterable[tuple[str, Node]]) -> Custom:
    """Return the functions that implement what is wanted; report ids that none has, and functions that none wants."""
    listed = tuple(wanted)
    files = tuple(_files(reading.base))
    found, problems = _decorated(reading.base, files)
    reading.problems.extend(problems)
    marked: dict[tuple[str, str], list[Marked]] = {}
    for key, one in _named(found):
        marked.setdefault(key, []).append(one)
    ids = dict.fromkeys((kind, str(node.value)) for kind, node in listed)
    for kind, node in listed if not has_errors(problems) else ():
        if (kind, str(node.value)) not in marked:
            _report_missing(reading, kind, node, [name for other, name in marked if other == kind])
    for (kind, name), those in marked.items():
        if (kind, name) not in ids and those[0].bound is not None:
            message = f"no feature file lists the {kind} `{name}`, which is not served"
            reading.report("MCP202", those[0].bound.span, message, "", f"list its id in `custom_{kind}s`")
    used = {key: marked[key] for key in ids if key in marked}
    homes = {one.bound.file for those in used.values() for one in those if one.bound is not None}
    libraries = tuple(Library(reading.base.tree.files[path], "python", ()) for path in files if path in homes)
    return Custom(used, libraries, not has_errors(problems))


def _files(base: Base) -> Iterator[str]:
    """Yield the files of the folder `custom`, wherever it may lie."""
    beside = base.folder.rpartition("/")[0]
    homes = dict.fromkeys(f"{place}/{FOLDER}" if place else FOLDER for place in (base.folder, beside, ""))
    for path in base.tree.files:
        folder, _, name = path.rpartition("/")
        if folder in homes and name.endswith(".py"):
            yield path


def _decorated(base: Base, files: tuple[str, ...]) -> tuple[Decorated | None, Diagnostics]:
    """Return what is marked in these files; marks at the places of our own format are not spoken of here."""
    if not files:
        return None, ()
    found, problems = decorated(base.tree, described=True, family=Family(KINDS, files, ELSEWHERE))
    own = (one for one in problems if one.code != "MCP224" or one.span is None or one.span.path not in HOMES)
    return found, tuple(own)


def _named(found: Decorated | None) -> Iterator[tuple[tuple[str, str], Marked]]:
    if found is None:
        return
    marked: tuple[tuple[str, tuple[Marked, ...]], ...] = (
        ("tool", found.tools),
        ("prompt", found.prompts),
        ("resource", (*found.resources, *found.templates)),
    )
    for kind, those in marked:
        yield from (((kind, _name(one)), one) for one in those)


def _name(one: Marked) -> str:
    name = one.node.get("name")
    return "" if name is None else str(name.value)


def _report_missing(reading: Reading, kind: str, node: Node, known: list[str]) -> None:
    near = difflib.get_close_matches(str(node.value), known, n=1)
    written = MARKS[kind].format(name=node.value)
    hint = f"did you mean `{near[0]}`?" if near else f"mark a function in `{reading.base.path(FOLDER)}/`: `{written}`"
    reading.report("MCP272", node.span, f"nothing implements the custom {kind} `{node.value}`", "", hint)
