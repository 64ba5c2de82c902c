"""Keys and values that can be written in a file with a schema (JSON, YAML, TOML), names of the project among them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from mcpc.model.ir import Resource
from mcpc.workbench.file_schemas import kind_of
from mcpc.workbench.language_server.definitions import definitions_in
from mcpc.workbench.language_server.json_cursor import cursor_at
from mcpc.workbench.language_server.place_schemas import schemas_of_place
from mcpc.workbench.language_server.proposal import Proposal
from mcpc.workbench.language_server.schema_lookup import descriptions_of, properties_of, values_of
from mcpc.workbench.language_server.syntaxes import syntax_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.workbench.language_server.cursor import Cursor
    from mcpc.workbench.language_server.open_project import OpenProject
    from mcpc.workbench.language_server.schema_lookup import JsonSchema
    from mcpc.workbench.language_server.syntaxes import Syntax

CASE_KINDS = ("tool", "prompt", "resource")


def proposed_fields(project: OpenProject, path: str, text: str, offset: int) -> Iterator[Proposal]:
    """Yield the keys or the values that can be written at a place of a file."""
    kind, syntax = kind_of(path), syntax_of(path)
    cursor = syntax.cursor_at(text, offset) if kind is not None and syntax is not None else None
    if kind is None or syntax is None or cursor is None:
        return
    schemas = schemas_of_place(project, kind, cursor)
    if cursor.is_key or cursor.may_be_key:
        yield from _keys(syntax, cursor, schemas)
    if not cursor.is_key:
        about = " ".join(descriptions_of(schemas))
        for value in (*values_of(schemas), *_named_values(project, path, cursor)):
            new = syntax.write_value(value)
            if new is not None:
                yield _proposal(cursor, value if isinstance(value, str) else json.dumps(value), new, "value", about)


def _keys(syntax: Syntax, cursor: Cursor, schemas: list[JsonSchema]) -> Iterator[Proposal]:
    for name, schema in properties_of(schemas).items():
        new = syntax.write_key(cursor, name, schema) if name not in cursor.keys else None
        if new is not None:
            yield _proposal(cursor, name, new, "field", " ".join(descriptions_of([schema])))


def _proposal(cursor: Cursor, label: str, new: str, kind: str, about: str) -> Proposal:
    return Proposal(label, f"{cursor.lead}{new}{cursor.tail}", cursor.start, cursor.end, kind, about)


def _named_values(project: OpenProject, path: str, cursor: Cursor) -> Iterator[str]:
    """Yield names of the project that a member refers to."""
    kind = kind_of(path)
    keys = [step for step in cursor.path if isinstance(step, str)]
    last = keys[-1] if keys else ""
    if kind is not None and kind.name == "cases":
        is_case = keys[:-1] == ["tests"] and last in CASE_KINDS
        yield from (
            each.item.uri if isinstance(each.item, Resource) else each.name
            for each in definitions_in(project)
            if is_case and each.kind == last
        )
    elif "ref" in keys and last in ("name", "uri"):
        wanted = "prompt" if last == "name" else "resource template"
        yield from (each.name for each in definitions_in(project) if each.kind == wanted)
    elif last == "command" and "mcpc/handler" in keys:
        yield from (name for name, source in project.disk.files.items() if source.data.startswith(b"#!"))
    elif last == "required" and isinstance(cursor.path[-1], int):
        yield from _property_names(project, path, cursor)


def _property_names(project: OpenProject, path: str, cursor: Cursor) -> Iterator[str]:
    """Yield the properties beside the `required` that the cursor is in."""
    text = project.text(path) or ""
    beside = re.compile(r'"properties"\s*:\s*\{').finditer(text, 0, cursor.start)
    found = max((match.end() for match in beside), default=-1)
    if found >= 0:
        yield from cursor_at(text, found).keys
