"""What is known of a place in a file: the schemas that apply there, and what is shown for it.

The schemas are those of the file's kind, and in test cases those of what a case calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import CODES, Span, explain
from mcpc.model.ir import Prompt, Tool
from mcpc.model.ir.printer import print_definition
from mcpc.workbench.file_schemas import kind_of, schema_of
from mcpc.workbench.language_server.cursors import cursor_in_json, cursor_in_toml, string_of
from mcpc.workbench.language_server.open_project import definition_at, definitions_in, handled_at, holds
from mcpc.workbench.language_server.yaml_cursor import cursor_in_frontmatter, cursor_in_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mcpc.model.ir.project import Setting
    from mcpc.workbench.language_server.cursors import Cursor, Step
    from mcpc.workbench.language_server.open_project import OpenProject, PlacedDefinition

JsonSchema = dict[str, Any]
CURSORS: dict[str, Callable[[str, int], Cursor | None]] = {
    "json": cursor_in_json,
    "yaml": cursor_in_yaml,
    "yml": cursor_in_yaml,
    "toml": cursor_in_toml,
    "md": cursor_in_frontmatter,
}
"""How a cursor is found in a file of keys and values, by the ending of its name; in Markdown, in its frontmatter."""
ARGUMENTS_DEPTH = 3
"""The length of the path `tests`, number, `arguments`."""
MAX_SCHEMAS = 200
APPLIED = ("allOf", "anyOf", "oneOf", "then", "else")
"""Keywords whose schemas apply to the same value."""
MAX_VALUES, MAX_SHOWN = 20, 4_000


def ending_of(path: str) -> str:
    """Return the ending of a file's name, which says its syntax."""
    return path.rpartition(".")[2]


def cursor_at(path: str, text: str, offset: int) -> Cursor | None:
    """Return where a cursor is in a file with a schema; None in one without, and where nothing can be written."""
    return CURSORS[ending_of(path)](text, offset) if ending_of(path) in CURSORS and kind_of(path) else None


def schemas_of_place(project: OpenProject, path: str, cursor: Cursor, *more: Step) -> list[JsonSchema]:
    """Return the schemas of the value at a cursor, or of the object whose key it is; `more`: of what is below."""
    kind, steps = kind_of(path), (*cursor.path, *more)
    if kind is None:
        return []
    schemas = schemas_at(schema_of(kind.name), steps)
    if kind.name == "cases":
        schemas += _of_arguments(project, cursor, steps)
        schemas += _of_settings(project, steps)
    return schemas


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
    return {
        "properties": {each.name: _described({"type": "string"}, each.metadata.description) for each in item.arguments}
    }


def _of_settings(project: OpenProject, path: tuple[Step, ...]) -> list[JsonSchema]:
    """Return the schemas of a place in the settings of a file or of a case."""
    if project.server is None or "settings" not in path[:ARGUMENTS_DEPTH]:
        return []
    named = {each.name: _setting_schema(each) for each in project.server.settings}
    return schemas_at({"properties": named}, path[path.index("settings") + 1 :])


def _setting_schema(setting: Setting) -> JsonSchema:
    choices: JsonSchema = {"enum": [*setting.choices]} if setting.choices else {}
    return _described({"type": setting.type, **choices}, setting.description or setting.title)


def _described(schema: JsonSchema, text: str | None) -> JsonSchema:
    return {"description": text, **schema} if text else schema


def schemas_at(root: JsonSchema, path: Sequence[Step]) -> list[JsonSchema]:
    """Return the schemas of the value at a path, without those that say nothing."""
    schemas = [*_alternatives(root, root)]
    for step in path:
        below = (each for schema in schemas for each in _alternatives(_below(schema, step), root))
        # Alternatives multiply with each step.
        schemas = [*below][:MAX_SCHEMAS]
    return schemas


def _alternatives(schema: object, root: JsonSchema) -> Iterator[JsonSchema]:
    """Yield a schema, and those in it that apply to the same value."""
    if not isinstance(schema, dict):
        return
    yield schema
    if "$ref" in schema:
        yield from _alternatives(_referred(schema["$ref"], root), root)
    for keyword in APPLIED:
        inner = schema.get(keyword, ())
        for each in inner if isinstance(inner, (list, tuple)) else (inner,):
            yield from _alternatives(each, root)


def _referred(reference: str, root: JsonSchema) -> object:
    value: Any = root
    for part in reference.removeprefix("#/").split("/"):
        value = value.get(part, {}) if isinstance(value, dict) else {}
    return value


def _below(schema: JsonSchema, step: Step) -> object:
    if isinstance(step, int):
        return schema.get("items")
    return schema["properties"][step] if step in schema.get("properties", ()) else schema.get("additionalProperties")


def properties_of(schemas: Sequence[JsonSchema]) -> dict[str, JsonSchema]:
    """Return the properties that schemas name, each with the schema that says most."""
    properties: dict[str, JsonSchema] = {}
    for schema in schemas:
        for name, value in schema.get("properties", {}).items():
            if isinstance(value, dict) and len(value) >= len(properties.get(name, ())):
                properties[name] = value
    return properties


def values_of(schemas: Sequence[JsonSchema]) -> list[object]:
    """Return the values that schemas list: of `enum`, `const`, and the booleans."""
    values: list[object] = []
    for schema in schemas:
        values += schema.get("enum", ())
        values += [schema["const"]] if "const" in schema else []
        values += [True, False] if schema.get("type") == "boolean" else []
    # A boolean stays in any case, because True equals 1 and False equals 0.
    return [value for number, value in enumerate(values) if value not in values[:number] or isinstance(value, bool)]


def descriptions_of(schemas: Sequence[JsonSchema]) -> list[str]:
    return [*dict.fromkeys(str(schema["description"]) for schema in schemas if "description" in schema)]


def hover_at(project: OpenProject, path: str, offset: int) -> tuple[str, Span | None]:
    """Return Markdown about a place, empty if there is nothing to say, and the range that it is about."""
    parts = [*_problems(project, path, offset)]
    field, span = _field(project, path, offset)
    parts += [field] if field else []
    handled = handled_at(project, path, offset) if ending_of(path) not in CURSORS else None
    definition = handled or definition_at(project, path, offset)
    if definition is not None and (handled is not None or not field or holds(definition.named, path, offset)):
        parts.append(f"```text\n{print_definition(definition.item)[:MAX_SHOWN]}```")
    return "\n\n---\n\n".join(parts), span


def _problems(project: OpenProject, path: str, offset: int) -> Iterator[str]:
    """Yield the explanation of each problem at a place, once a code."""
    problems = project.found.get(path, ())
    here = (each.code for each in problems if each.span and each.span.end and holds(each.span, path, offset))
    for code in dict.fromkeys(here):
        yield f"**{code}**: {CODES[code].title}\n\n{explain(code).strip()}"


def _field(project: OpenProject, path: str, offset: int) -> tuple[str, Span | None]:
    """Return the meaning of the field at a place of a file with a schema."""
    text = project.text(path)
    cursor = None if text is None else cursor_at(path, text, offset)
    if text is None or cursor is None or cursor.start == cursor.end:
        return "", None
    # A text before a colon is a key, also where YAML could have a value.
    if cursor.is_key or cursor.has_colon:
        name = string_of(text[cursor.start : cursor.end])
        schema = properties_of(schemas_of_place(project, path, cursor)).get(name)
        schemas = [] if schema is None else [*schemas_of_place(project, path, cursor, name), schema]
    else:
        name, schemas = str(cursor.key), schemas_of_place(project, path, cursor)
    texts = descriptions_of(schemas)
    values = values_of(schemas)
    if values and len(values) <= MAX_VALUES:
        texts.append("Values: " + ", ".join(f"`{value}`" for value in values) + ".")
    return (f"**{name}**\n\n" + "\n\n".join(texts) if texts else ""), Span(path, cursor.start, cursor.end)
