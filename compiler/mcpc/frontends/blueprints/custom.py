"""Custom features: decorated functions in `custom/*.py`, each served by the servers that list its id.

    custom_tools: ["status"]        @tool(name="status")
                                    def anything() -> str: …

The folder is in the knowledge base, beside it, or at the top of the project.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from mcpc.diagnostics import has_errors
from mcpc.diagnostics.model import did_you_mean
from mcpc.frontends.decorated import DEFINITION_FILES, DecoratorFamily, read_decorated
from mcpc.frontends.introspection import KINDS
from mcpc.model.definitions import HandlerLibrary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.diagnostics import Diagnostics
    from mcpc.frontends.blueprints.contents import KnowledgeBase, KnowledgeBaseReader
    from mcpc.frontends.decorated import DecoratedDefinitions
    from mcpc.model.definitions import PromptDefinition, ResourceDefinition, TemplateDefinition, ToolDefinition
    from mcpc.reading import Node

    CustomDefinition = ToolDefinition | PromptDefinition | ResourceDefinition | TemplateDefinition

M = TypeVar("M")
FOLDER = "custom"
WHERE_TO_DEFINE = f"define it in a file of the folder `{FOLDER}`"
DECORATOR_EXAMPLES = {
    "tool": '@tool(name="{name}")',
    "prompt": '@prompt(name="{name}")',
    "resource": '@resource("docs://…", name="{name}")',
}


@dataclass(frozen=True, slots=True)
class CustomFeatures:
    """The decorated functions that feature files list, by kind and id, and the files that contain them."""

    functions: dict[tuple[str, str], list[CustomDefinition]] = field(default_factory=dict)
    libraries: tuple[HandlerLibrary, ...] = ()
    complete: bool = True

    def of(self, kind: type[M]) -> tuple[M, ...]:
        """Return the definitions of a kind."""
        return tuple(item for those in self.functions.values() for item in those if isinstance(item, kind))


def read_custom_features(reader: KnowledgeBaseReader, wanted: Iterable[tuple[str, Node]]) -> CustomFeatures:
    """Return the functions for the listed ids; report ids without a function, and functions without an id."""
    listed = tuple(wanted)
    files = tuple(_files(reader.base))
    decorated, problems = _decorated(reader.base, files)
    reader.problems.extend(problems)
    functions: dict[tuple[str, str], list[CustomDefinition]] = {}
    for key, entry in _by_kind_and_name(decorated):
        functions.setdefault(key, []).append(entry)
    ids = dict.fromkeys((kind, str(node.value)) for kind, node in listed)
    for kind, node in listed if not has_errors(problems) else ():
        if (kind, str(node.value)) not in functions:
            _report_missing(reader, kind, node, [name for other, name in functions if other == kind])
    for (kind, name), those in functions.items():
        if (kind, name) not in ids and those[0].bound is not None:
            message = f"the {kind} `{name}` is not listed in a feature file, and is not served"
            reader.report("MCP202", those[0].bound.span, message, "", f"list its id in `custom_{kind}s`")
    used = {key: functions[key] for key in ids if key in functions}
    homes = {item.bound.file for those in used.values() for item in those if item.bound is not None}
    libraries = tuple(HandlerLibrary(reader.base.tree.files[path], "python", ()) for path in files if path in homes)
    return CustomFeatures(used, libraries, not has_errors(problems))


def _files(base: KnowledgeBase) -> Iterator[str]:
    """Yield the Python files of the folder `custom`, at any of its possible paths."""
    beside = base.folder.rpartition("/")[0]
    homes = dict.fromkeys(f"{place}/{FOLDER}" if place else FOLDER for place in (base.folder, beside, ""))
    for path in base.tree.files:
        folder, _, name = path.rpartition("/")
        if folder in homes and name.endswith(".py"):
            yield path


def _decorated(base: KnowledgeBase, files: tuple[str, ...]) -> tuple[DecoratedDefinitions | None, Diagnostics]:
    """Return the decorated functions of these files; misplaced native decorators are not reported here."""
    if not files:
        return None, ()
    decorated, problems = read_decorated(
        base.tree, described=True, family=DecoratorFamily(KINDS, files, WHERE_TO_DEFINE)
    )
    own = (
        problem
        for problem in problems
        if problem.code != "MCP224" or problem.span is None or problem.span.path not in DEFINITION_FILES
    )
    return decorated, tuple(own)


def _by_kind_and_name(decorated: DecoratedDefinitions | None) -> Iterator[tuple[tuple[str, str], CustomDefinition]]:
    if decorated is None:
        return
    functions: tuple[tuple[str, tuple[CustomDefinition, ...]], ...] = (
        ("tool", decorated.tools),
        ("prompt", decorated.prompts),
        ("resource", (*decorated.resources, *decorated.templates)),
    )
    for kind, those in functions:
        yield from (((kind, _name(item)), item) for item in those)


def _name(one: CustomDefinition) -> str:
    name = one.node.get("name")
    return "" if name is None else str(name.value)


def _report_missing(reader: KnowledgeBaseReader, kind: str, node: Node, known: list[str]) -> None:
    written = DECORATOR_EXAMPLES[kind].format(name=node.value)
    example = f"decorate a function in `{reader.base.path(FOLDER)}/`: `{written}`"
    hint = did_you_mean(str(node.value), known, example)
    reader.report("MCP272", node.span, f"the custom {kind} `{node.value}` is not implemented", "", hint)
