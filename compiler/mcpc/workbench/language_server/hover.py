"""What is shown for a place: the problem there, the meaning of a field, and how a definition is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import CODES, Span, explain
from mcpc.model.ir.printer import print_definition
from mcpc.workbench.file_schemas import kind_of
from mcpc.workbench.language_server.definitions import definition_at, handled_at
from mcpc.workbench.language_server.json_cursor import string_of
from mcpc.workbench.language_server.place_schemas import schemas_of_place
from mcpc.workbench.language_server.schema_lookup import descriptions_of, properties_of, values_of
from mcpc.workbench.language_server.syntaxes import syntax_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.workbench.language_server.definitions import PlacedDefinition
    from mcpc.workbench.language_server.open_project import OpenProject

MAX_VALUES, MAX_SHOWN = 20, 4_000


def hover_at(project: OpenProject, path: str, offset: int) -> tuple[str, Span | None]:
    """Return Markdown about a place, empty if there is nothing to say, and the range that it is about."""
    parts = [*_problems(project, path, offset)]
    field, span = _field(project, path, offset)
    parts += [field] if field else []
    found = handled_at(project, path, offset) if syntax_of(path) is None else None
    definition = found or definition_at(project, path, offset)
    if definition is not None and (found is not None or not field or _is_name(definition, path, offset)):
        parts.append(describe(definition))
    return "\n\n---\n\n".join(parts), span


def _is_name(definition: PlacedDefinition, path: str, offset: int) -> bool:
    span = definition.named
    return span.path == path and span.start <= offset <= span.end


def _problems(project: OpenProject, path: str, offset: int) -> Iterator[str]:
    """Yield the explanation of each problem at a place, once a code."""
    seen = set()
    for problem in project.found.get(path, ()):
        span = problem.span
        if span is not None and span.start <= offset <= span.end and problem.code not in seen and span.end:
            seen.add(problem.code)
            yield f"**{problem.code}**: {CODES[problem.code].title}\n\n{explain(problem.code).strip()}"


def _field(project: OpenProject, path: str, offset: int) -> tuple[str, Span | None]:
    """Return the meaning of the field at a place of a file with a schema."""
    kind, text, syntax = kind_of(path), project.text(path), syntax_of(path)
    cursor = syntax.cursor_at(text, offset) if kind and syntax and text is not None else None
    if kind is None or text is None or cursor is None or cursor.start == cursor.end:
        return "", None
    if cursor.is_key or cursor.has_colon:
        name = string_of(text[cursor.start : cursor.end])
        schema = properties_of(schemas_of_place(project, kind, cursor)).get(name)
        schemas = [] if schema is None else [*schemas_of_place(project, kind, cursor, name), schema]
    else:
        name, schemas = str(cursor.key), schemas_of_place(project, kind, cursor)
    texts = descriptions_of(schemas)
    values = values_of(schemas)
    if values and len(values) <= MAX_VALUES:
        texts.append("Values: " + ", ".join(f"`{value}`" for value in values) + ".")
    return (f"**{name}**\n\n" + "\n\n".join(texts) if texts else ""), Span(path, cursor.start, cursor.end)


def describe(definition: PlacedDefinition) -> str:
    """Return how mcpc reads a definition, as `mcpc show` prints it."""
    return f"```text\n{print_definition(definition.item)[:MAX_SHOWN]}```"
