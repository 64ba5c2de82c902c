"""What can be written at a cursor: keys and values of JSON files, arguments as shell variables, names of functions."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.file_schemas import kind_of, schema_of
from mcpc.language_server.definitions import definitions_in
from mcpc.language_server.json_cursor import cursor_at
from mcpc.language_server.reduction import definition_key
from mcpc.language_server.schema_lookup import descriptions_of, properties_of, schemas_at, values_of
from mcpc.lower.variables import PREFIX, UNDERSCORES, names_in
from mcpc.sources import member_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.language_server.json_cursor import JsonCursor
    from mcpc.language_server.open_project import OpenProject
    from mcpc.language_server.schema_lookup import JsonSchema

SHELL_WORD = re.compile(r"\$\{?(\w*)$")
NAME_BEFORE = re.compile(r"(?:^|\n)(?:(async[ ]+)?(def)[ ]+|function[ ]+)?(\w*)$")
EMPTY_VALUES = {"string": '""', "object": "{}", "array": "[]"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """One text that can take the place of what is from `start` to `end`.  `kind`: `field`, `value` or `variable`."""

    label: str
    new: str
    start: int
    end: int
    kind: str
    about: str = ""


def proposals_at(project: OpenProject, path: str, offset: int) -> list[Proposal]:
    """Return what can be written at a place."""
    text = project.text(path)
    if text is None:
        return []
    ending = path.rpartition(".")[2]
    return [*COMPLETERS.get(ending, _nothing)(project, path, text, offset)]


def _nothing(project: OpenProject, path: str, text: str, offset: int) -> Iterator[Proposal]:
    return iter(())


def _in_json(project: OpenProject, path: str, text: str, offset: int) -> Iterator[Proposal]:
    kind = kind_of(path)
    if kind is None or kind.language != "json":
        return
    cursor = cursor_at(text, offset)
    schemas = schemas_at(schema_of(kind.name), cursor.path)
    if cursor.is_key:
        yield from _keys(cursor, schemas)
    else:
        yield from _values(project, path, cursor, schemas)


def _keys(cursor: JsonCursor, schemas: list[JsonSchema]) -> Iterator[Proposal]:
    for name, schema in properties_of(schemas).items():
        if name not in cursor.keys or name == cursor.written:
            value = "" if cursor.has_colon else f": {_empty_value(schema)}"
            new = json.dumps(name) + value.rstrip()
            yield Proposal(
                name,
                new if cursor.has_colon else json.dumps(name) + value,
                cursor.start,
                cursor.end,
                "field",
                _about(schema),
            )


def _empty_value(schema: JsonSchema) -> str:
    kind = schema.get("type")
    return EMPTY_VALUES.get(kind, "") if isinstance(kind, str) else ""


def _about(schema: JsonSchema) -> str:
    return " ".join(descriptions_of([schema]))


def _values(project: OpenProject, path: str, cursor: JsonCursor, schemas: list[JsonSchema]) -> Iterator[Proposal]:
    about = " ".join(descriptions_of(schemas))
    for value in (*values_of(schemas), *_named_values(project, path, cursor)):
        label = value if isinstance(value, str) else json.dumps(value)
        yield Proposal(label, json.dumps(value), cursor.start, cursor.end, "value", about)


def _named_values(project: OpenProject, path: str, cursor: JsonCursor) -> Iterator[str]:
    """Yield names of the project that a member refers to."""
    keys = [step for step in cursor.path if isinstance(step, str)]
    last = keys[-1] if keys else ""
    if "ref" in keys and last in ("name", "uri"):
        kind = "prompt" if last == "name" else "resource template"
        yield from (each.name for each in definitions_in(project) if each.kind == kind)
    elif last == "command" and "mcpc/handler" in keys:
        yield from (name for name, source in project.disk.files.items() if source.data.startswith(b"#!"))
    elif last == "required" and isinstance(cursor.path[-1], int):
        yield from _property_names(project, path, cursor)
    elif last == "tool" and path.startswith("tests/"):
        yield from (each.name for each in definitions_in(project) if each.kind == "tool")


def _property_names(project: OpenProject, path: str, cursor: JsonCursor) -> Iterator[str]:
    """Yield the properties beside the `required` that the cursor is in."""
    text = project.text(path) or ""
    beside = re.compile(r'"properties"\s*:\s*\{').finditer(text, 0, cursor.start)
    found = max((match.end() for match in beside), default=-1)
    if found >= 0:
        yield from cursor_at(text, found).keys


def _in_bash(project: OpenProject, path: str, text: str, offset: int) -> Iterator[Proposal]:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    variable = SHELL_WORD.search(line)
    if variable is not None:
        start = offset - len(variable[1])
        for name in _argument_variables(project, path, offset):
            yield Proposal(name[0], name[0], start, offset, "variable", name[1])
    else:
        yield from _functions(project, line, offset, "{kind}_{name}() {{\n  \n}}", "def" not in line)


def _argument_variables(project: OpenProject, path: str, offset: int) -> list[tuple[str, str]]:
    """Return the variables of the arguments of the function that the cursor is in; without one, of all functions."""
    slices = project.slices_of(path)
    number = -1 if slices is None else slices.at(offset, offset)
    keys = frozenset[str]() if slices is None or number < 0 else slices.keys[number]
    everything = [*definitions_in(project)]
    chosen = [each for each in everything if definition_key(each.name) in keys] or everything
    found: dict[str, str] = {}
    for each in chosen:
        schema = member_of(each.item.node, "inputSchema", "object")
        for name in names_in(schema) if schema is not None else ():
            found.setdefault(PREFIX + name.translate(UNDERSCORES), f"The argument `{name}` of `{each.name}`.")
    return [*found.items()]


def _in_python(project: OpenProject, path: str, text: str, offset: int) -> Iterator[Proposal]:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    yield from _functions(project, line, offset, "def {name}():\n    ", True)


def _functions(project: OpenProject, line: str, offset: int, form: str, allowed: bool) -> Iterator[Proposal]:
    """Yield functions for definitions without one, at the beginning of a line."""
    begun = NAME_BEFORE.fullmatch(line)
    if begun is None or not allowed:
        return
    for problem in (each for found in project.found.values() for each in found if each.code == "MCP201"):
        match = MISSING.search(problem.message)
        if match is not None:
            new = form.format(kind=match[1], name=definition_key(match[2]))
            yield Proposal(
                new.split("\n")[0], new, offset - len(line), offset, "function", f"Handles the {match[1]} `{match[2]}`."
            )


MISSING = re.compile(r"the (tool|prompt) `([^`]+)`")
COMPLETERS: dict[str, Callable[[OpenProject, str, str, int], Iterator[Proposal]]] = {
    "json": _in_json,
    "bash": _in_bash,
    "py": _in_python,
}
"""What completes in a file, by the ending of its name."""
