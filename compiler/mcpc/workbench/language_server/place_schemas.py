"""The schemas of a place in a file: those of the file's kind, and in test cases those of what a case calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.model.ir import Prompt, Tool
from mcpc.workbench.file_schemas import schema_of
from mcpc.workbench.language_server.definitions import definitions_in
from mcpc.workbench.language_server.schema_lookup import schemas_at

if TYPE_CHECKING:
    from mcpc.model.ir.settings import Setting
    from mcpc.workbench.file_schemas import FileKind
    from mcpc.workbench.language_server.cursor import Cursor, Step
    from mcpc.workbench.language_server.definitions import PlacedDefinition
    from mcpc.workbench.language_server.open_project import OpenProject
    from mcpc.workbench.language_server.schema_lookup import JsonSchema

ARGUMENTS_DEPTH = 3
"""The length of the path `tests`, number, `arguments`."""


def schemas_of_place(project: OpenProject, kind: FileKind, cursor: Cursor, *more: Step) -> list[JsonSchema]:
    """Return the schemas of the value at a cursor, or of the object whose key it is; `more`: of what is below."""
    path = (*cursor.path, *more)
    found = schemas_at(schema_of(kind.name), path)
    if kind.name == "cases":
        found += _of_arguments(project, cursor, path)
        found += _of_settings(project, path)
    return found


def _of_arguments(project: OpenProject, cursor: Cursor, path: tuple[Step, ...]) -> list[JsonSchema]:
    """Return the schemas of a place in the arguments of a case whose tool or prompt is named before them."""
    if path[:1] != ("tests",) or path[2:ARGUMENTS_DEPTH] != ("arguments",) or len(cursor.beside) < ARGUMENTS_DEPTH:
        return []
    written = cursor.beside[2]
    called = (each for each in definitions_in(project) if written.get(each.kind) == each.name)
    return [schema for each in called for schema in schemas_at(_arguments_schema(each), path[ARGUMENTS_DEPTH:])]


def _arguments_schema(definition: PlacedDefinition) -> JsonSchema:
    item = definition.item
    if isinstance(item, Tool) and isinstance(item.input.value, dict):
        return item.input.value
    if not isinstance(item, Prompt):
        return {}
    named = {each.name: _described({"type": "string"}, each.metadata.description) for each in item.arguments}
    return {"properties": named}


def _of_settings(project: OpenProject, path: tuple[Step, ...]) -> list[JsonSchema]:
    """Return the schemas of a place in the settings of a file or of a case."""
    if project.server is None or "settings" not in path[:ARGUMENTS_DEPTH]:
        return []
    named = {each.name: _setting_schema(each) for each in project.server.settings}
    return schemas_at({"properties": named}, path[path.index("settings") + 1 :])


def _setting_schema(setting: Setting) -> JsonSchema:
    choices: JsonSchema = {"enum": [*setting.choices]} if setting.choices else {}
    return _described({"type": setting.type, **choices}, setting.description or setting.title)


def _described(schema: dict[str, Any], text: str | None) -> JsonSchema:
    return {"description": text, **schema} if text else schema
