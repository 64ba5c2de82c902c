"""Definitions and handlers of an open project by their places, as the last complete check found them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span
from mcpc.model.ir import Completion, Executable, Prompt, Resource, ResourceTemplate, Tool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.model.ir import Handler
    from mcpc.model.ir.printer import AnyDefinition
    from mcpc.workbench.language_server.open_project import OpenProject

KINDS: dict[type, str] = {
    Tool: "tool",
    Prompt: "prompt",
    Resource: "resource",
    ResourceTemplate: "resource template",
    Completion: "completion",
}


@dataclass(frozen=True, slots=True)
class PlacedDefinition:
    """One definition: where it is, where its name is, and that of its handler; places are in the current texts."""

    kind: str
    name: str
    whole: Span
    named: Span
    handled: Span | None
    item: AnyDefinition

    @property
    def is_function(self) -> bool:
        """Whether the definition is its own handler: a decorated function."""
        return self.handled is not None and self.handled.path == self.whole.path and self.whole.path.endswith(".py")


def definitions_in(project: OpenProject) -> Iterator[PlacedDefinition]:
    """Yield every definition of a project."""
    server = project.server
    if server is None:
        return
    for item in (*server.tools, *server.prompts, *server.readable, *server.completions):
        handler = item.handler
        yield PlacedDefinition(
            kind=KINDS[type(item)],
            name=item.name,
            whole=project.now(item.node.span),
            named=project.now(item.span),
            handled=None if handler is None else _handled(project, handler),
            item=item,
        )


def _handled(project: OpenProject, handler: Handler) -> Span | None:
    file = handler.file or handler.span.path
    if isinstance(handler, Executable) or handler.span.path != file:
        return Span(file) if project.text(file) is not None else None
    return project.now(handler.span)


def definition_at(project: OpenProject, path: str, offset: int) -> PlacedDefinition | None:
    """Return the definition at a place, of its text or of its name."""
    found = (each for each in definitions_in(project) if _holds(each.whole, path, offset))
    return next(found, None)


def handled_at(project: OpenProject, path: str, offset: int) -> PlacedDefinition | None:
    """Return the definition whose handler is at a place: its function, or the whole script."""
    found: PlacedDefinition | None = None
    text = project.text(path) or ""
    for each in definitions_in(project):
        span = each.handled
        if span is None or span.path != path:
            continue
        if span.start == span.end == 0:
            return each
        if text.rfind("\n", 0, span.start) < offset and (found is None or _start(found) < span.start):
            found = each
    return found


def _start(definition: PlacedDefinition) -> int:
    return definition.handled.start if definition.handled is not None else -1


def _holds(span: Span, path: str, offset: int) -> bool:
    return span.path == path and span.start <= offset <= span.end
