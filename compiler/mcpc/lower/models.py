"""Python functions that ask for a model of their tool's arguments, by the annotation of their one parameter.

A name is taken for a model's if no other module of the project, and not the file itself, gives it another meaning.
"""

from __future__ import annotations

import builtins
import difflib
import re
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.languages import is_models_file, mentions
from mcpc.models import INPUT, OUTPUT, owner, tool_classes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.definitions import Definition
    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.ir import HandlerFile
    from mcpc.languages import Annotation, Function
    from mcpc.sources import Source

MODULE = "mcpc_app.models"
"""Where a server has its models."""
WORD = re.compile(r"\w+")
ALIKE, DISTANT = 0.85, 0.6
"""How like a model's name one is that must be meant for it, and one that may be."""
COMPARED = 500
"""A name is compared with so many at most."""
RUN = "`mcpc models` writes a file with all of them"


@dataclass(frozen=True, slots=True)
class Catalog:
    """The models there are.

    `owners`: the tool of each class of an input or output; `bases`: what the classes of a tool begin with; `files`: the
    modules `mcpc models` wrote, `others` those that it did not.
    """

    owners: dict[str, str] = field(default_factory=dict)
    bases: dict[str, str] = field(default_factory=dict)
    files: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()

    def means_model(self, annotation: Annotation) -> bool:
        """Say whether an annotation names a model, one that there is or one that there is not."""
        origin = annotation.origin.lstrip(".")
        if origin in self.files:
            return True
        if annotation.origin == "." or origin in self.others or origin.partition(".")[0] in sys.stdlib_module_names:
            return False
        if not origin and hasattr(builtins, annotation.name):
            return False
        known = annotation.name in self.owners or bool(self.nearest(annotation.name, ALIKE))
        return known or (not origin and annotation.name.endswith((INPUT, OUTPUT)))

    def nearest(self, name: str, cutoff: float) -> str:
        """Return the model whose name is most like this one, nothing if none is."""
        names = self.owners if len(self.owners) <= COMPARED else ()
        return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=cutoff)), "")

    def root(self, tool: str, suffix: str) -> str:
        """Return the class of a tool's input or output, nothing if it has none."""
        name = self.bases.get(tool, "") + suffix
        return name if self.owners.get(name) == tool else ""


def catalog(definition: Definition) -> Catalog:
    """Return the models that the definition's tools have; none if nothing in the project could mention one."""
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
    """Return how a function that asks for a model is called, and what is wrong with what it asks for.

    `tool`: the tool's name, nothing for a prompt.
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
        if not owner(name, known.owners):
            near = known.nearest(name, DISTANT)
            hint = f"did you mean `{near}`?" if near else RUN
            yield diagnose("MCP214", annotation.span, f"{subject}, and no tool has such a model", expected, hint)
        elif not is_result:
            yield diagnose("MCP214", annotation.span, f"{subject}, which is only a part of what it is given", expected)
    elif not tool:
        yield diagnose("MCP214", annotation.span, f"{subject}, and a prompt has no models")
    elif name != own:
        message = f"{subject}, the model of another tool's arguments or results (`{known.owners[name]}`)"
        if known.owners[name] == tool:
            message = f"{subject}, which is the model of what the tool {'takes' if is_result else 'returns'}"
        yield diagnose("MCP214", annotation.span, message, expected)
    others = [one for one in function.parameters if one.name not in (annotation.parameter, function.context)]
    if not is_result and (others or function.accepts_any):
        message = f"{subject} and other parameters: a model has all arguments in it"
        yield diagnose("MCP214", annotation.span, message, "one parameter")


def mentioned(files: Iterable[HandlerFile], known: Catalog) -> tuple[str, ...]:
    """Return the tools whose models the project's own code mentions, in the order of the definitions."""
    found = set[str]()
    for file in files:
        source = file.source
        if source.path.endswith(".py") and not is_models_file(source):
            words = {word for word in WORD.findall(source.text) if INPUT in word or OUTPUT in word}
            candidates = {name: tool for name in words if (tool := owner(name, known.owners))}
            names = mentions(source) if candidates else frozenset[str]()
            found.update(tool for name, tool in candidates.items() if name in names)
    return tuple(tool for tool in dict.fromkeys(known.owners.values()) if tool in found)
