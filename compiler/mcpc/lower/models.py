"""Bind Python functions whose only parameter is annotated with a model of their tool's arguments.

A name is taken for a model's unless the file or another module of the project defines it otherwise.
"""

from __future__ import annotations

import builtins
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import nearest
from mcpc.languages import is_models_file, mentions
from mcpc.schema.models import INPUT, OUTPUT, owning_tool, tool_classes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.languages import Annotation, Function
    from mcpc.model.definitions import Definition
    from mcpc.model.ir import HandlerFile
    from mcpc.reading import Source

MODULE = "mcpc_app.models"
"""The module with a server's models."""
WORD = re.compile(r"\w+")
ALIKE, DISTANT = 0.85, 0.6
"""Minimum similarity to a model's name: of a certain misspelling, and of a possible one."""
MAX_COMPARISONS = 500
"""Maximum number of names that a name is compared with."""
RUN = "`mcpc generate models` writes a file with all of them"


@dataclass(frozen=True, slots=True)
class Catalog:
    """The models of a project.

    `owners`: the tool of each class of an input or output; `bases`: the root class names of a tool; `files`: modules
    written by `mcpc generate models`, `others`: modules that were not.
    """

    owners: dict[str, str] = field(default_factory=dict)
    bases: dict[str, str] = field(default_factory=dict)
    files: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()

    def means_model(self, annotation: Annotation) -> bool:
        """Tell whether an annotation names a model, existing or not."""
        origin = annotation.origin.lstrip(".")
        if origin in self.files:
            return True
        if annotation.origin == "." or origin in self.others or origin.partition(".")[0] in sys.stdlib_module_names:
            return False
        if not origin and hasattr(builtins, annotation.name):
            return False
        known = annotation.name in self.owners or bool(self.nearest(annotation.name, ALIKE))
        # A name with such an ending that nothing defines was meant to be that of a model.
        return known or (not origin and annotation.name.endswith((INPUT, OUTPUT)))

    def nearest(self, name: str, cutoff: float) -> str:
        """Return the most similar model name, or an empty string."""
        names = self.owners if len(self.owners) <= MAX_COMPARISONS else ()
        return nearest(name, names, cutoff)

    def root(self, tool: str, suffix: str) -> str:
        """Return the class of a tool's input or output, or an empty string."""
        name = self.bases.get(tool, "") + suffix
        return name if self.owners.get(name) == tool else ""


def model_catalog(definition: Definition) -> Catalog:
    """Return the models of the definition's tools; none if no file of the project could use one."""
    sources = (*definition.beside, *(library.source for library in definition.libraries))
    modules = [source for source in sources if source.path.endswith(".py")]
    if not any(suffix in source.text for source in modules for suffix in (INPUT, OUTPUT)):
        return Catalog()
    nodes = [tool.node for tool in definition.tools if tool.node.kind == "object"]
    named = [(str(name.value), node) for node in nodes if (name := node.get("name")) and name.kind == "string"]
    bases = tool_classes(name for name, _ in named)
    owners = {bases[name] + INPUT: name for name, _ in named}
    owners |= {bases[name] + OUTPUT: name for name, node in named if node.get("outputSchema")}
    files = frozenset(_module(source) for source in modules if is_models_file(source))
    return Catalog(owners, bases, files, frozenset(map(_module, modules)) - files)


def _module(source: Source) -> str:
    return source.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def model_binding(tool: str, function: Function, known: Catalog) -> tuple[tuple[str, ...], Diagnostics]:
    """Return how a function with a model parameter is called, and problems of the annotation.

    `tool`: the tool's name, empty for a prompt.
    """
    asked = [annotation for annotation in function.annotations if known.means_model(annotation)]
    given = next((annotation for annotation in asked if annotation.parameter != "return"), None)
    problems = tuple(problem for annotation in asked for problem in _wrong(tool, function, annotation, known))
    return ("models", MODULE, given.name) if given else (), problems


def _wrong(tool: str, function: Function, annotation: Annotation, known: Catalog) -> Iterator[Diagnostic]:
    is_result = annotation.parameter == "return"
    name, subject = annotation.name, f"`{function.name}` {'returns' if is_result else 'takes'} `{annotation.name}`"
    own = known.root(tool, OUTPUT if is_result else INPUT)
    expected = f"`{own}`" if own else ""
    if name not in known.owners:
        if not owning_tool(name, known.owners):
            near = known.nearest(name, DISTANT)
            hint = f"did you mean `{near}`?" if near else RUN
            yield diagnose("MCP214", annotation.span, f"{subject}, which is not the model of a tool", expected, hint)
        elif not is_result:
            yield diagnose(
                "MCP214", annotation.span, f"{subject}, which is only a part of the model of its arguments", expected
            )
    elif not tool:
        yield diagnose("MCP214", annotation.span, f"{subject}, but prompts do not have models")
    elif name != own:
        message = f"{subject}, the model of another tool's arguments or results (`{known.owners[name]}`)"
        if known.owners[name] == tool:
            message = f"{subject}, which is the model of what the tool {'takes' if is_result else 'returns'}"
        yield diagnose("MCP214", annotation.span, message, expected)
    others = [item for item in function.parameters if item.name not in (annotation.parameter, function.context)]
    if not is_result and (others or function.accepts_any):
        message = f"{subject} and other parameters: a model contains all arguments"
        yield diagnose("MCP214", annotation.span, message, "one parameter")


def mentioned_models(files: Iterable[HandlerFile], known: Catalog) -> tuple[str, ...]:
    """Return the tools whose models the project's code uses, in the order of the definitions."""
    tools = set[str]()
    for file in files:
        source = file.source
        if source.path.endswith(".py") and not is_models_file(source):
            # By its words first: most files name no model, and need not be parsed.
            words = {word for word in WORD.findall(source.text) if INPUT in word or OUTPUT in word}
            candidates = {name: tool for name in words if (tool := owning_tool(name, known.owners))}
            names = mentions(source) if candidates else frozenset[str]()
            tools.update(tool for name, tool in candidates.items() if name in names)
    return tuple(tool for tool in dict.fromkeys(known.owners.values()) if tool in tools)
