"""What can be written at a cursor: keys and values by schemas, arguments as shell variables, names of functions."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.lower.bash_options import PREFIX, UNDERSCORES, names_in
from mcpc.model.ir import Resource
from mcpc.reading import member_of
from mcpc.workbench.file_schemas import kind_of
from mcpc.workbench.language_server.cursors import cursor_in_json, toml_key
from mcpc.workbench.language_server.descriptions import (
    CURSORS,
    cursor_at,
    descriptions_of,
    ending_of,
    properties_of,
    schemas_of_place,
    values_of,
)
from mcpc.workbench.language_server.open_project import definitions_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.workbench.language_server.cursors import Cursor
    from mcpc.workbench.language_server.descriptions import JsonSchema
    from mcpc.workbench.language_server.open_project import OpenProject

SHELL_WORD = re.compile(r"\$\{?(\w*)$")
SHELL_FUNCTION = re.compile(r"^(?:function[ ]+)?([\w.:-]+)[ ]*(?:\(\))?[ ]*\{[ \t]*\r?$|^\}", re.MULTILINE)
"""The first line of a function, or the last one, which has no name."""
FUNCTION_PREFIX = re.compile("(?:tool|prompt|resource|complete)_")
NAME_BEFORE = re.compile(r"(?:^|\n)(?:(async[ ]+)?(def)[ ]+|function[ ]+)?(\w*)$")
MISSING = re.compile(r"the (tool|prompt) `([^`]+)`")
CASE_KINDS = ("tool", "prompt", "resource")
EMPTY_VALUES = {"string": '""', "object": "{}", "array": "[]"}
# A space or a colon only in front of a word: `: ` and ` #` mean something in YAML.
PLAIN = re.compile(r"[A-Za-z_/][\w./{}+-]*(?:[ :][\w./+-]+)*")
NOT_TEXT = re.compile(r"null|true|false|yes|no|on|off|y|n", re.IGNORECASE)
"""What a reader of YAML takes for something else than a text: that of YAML 1.1, too."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One text that can take the place of what is from `start` to `end`.

    `kind`: `field`, `value`, `variable` or `function`; `about`: what it is, in words.
    """

    label: str
    new: str
    start: int
    end: int
    kind: str
    about: str = ""


def proposals_at(project: OpenProject, path: str, offset: int) -> list[Proposal]:
    """Return what can be written at a place."""
    text = project.text(path)
    complete = COMPLETERS.get(ending_of(path))
    return [] if text is None or complete is None else [*complete(project, path, text, offset)]


def definition_key(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _in_bash(project: OpenProject, path: str, text: str, offset: int) -> Iterator[Proposal]:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    variable = SHELL_WORD.search(line)
    if variable is not None:
        start = offset - len(variable[1])
        for name, about in _argument_variables(project, text[:offset]).items():
            yield Proposal(name, name, start, offset, "variable", about)
    else:
        yield from _functions(project, line, offset, "{kind}_{name}() {{\n  \n}}", "def" not in line)


def _argument_variables(project: OpenProject, before: str) -> dict[str, str]:
    """Return the variables of the arguments of the function that the cursor is in; without one, of all functions."""
    # The last match decides: the end of a function has no name, and behind it the cursor is in none.
    begun = [match[1] for match in SHELL_FUNCTION.finditer(before)][-1:]
    keys = {key for name in begun if name for key in (name, FUNCTION_PREFIX.sub("", name, count=1))}
    everything = [*definitions_in(project)]
    chosen = [each for each in everything if definition_key(each.name) in keys] or everything
    variables: dict[str, str] = {}
    for each in chosen:
        schema = member_of(each.item.node, "inputSchema", "object")
        for name in names_in(schema) if schema is not None else ():
            variables.setdefault(PREFIX + name.translate(UNDERSCORES), f"The argument `{name}` of `{each.name}`.")
    return variables


def _in_python(project: OpenProject, path: str, text: str, offset: int) -> Iterator[Proposal]:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    yield from _functions(project, line, offset, "def {name}():\n    ", True)


def _functions(project: OpenProject, line: str, offset: int, form: str, allowed: bool) -> Iterator[Proposal]:
    """Yield functions for definitions without one, at the beginning of a line."""
    if NAME_BEFORE.fullmatch(line) is None or not allowed:
        return
    for problem in (each for problems in project.found.values() for each in problems if each.code == "MCP201"):
        match = MISSING.search(problem.message)
        if match is not None:
            new = form.format(kind=match[1], name=definition_key(match[2]))
            about = f"Handles the {match[1]} `{match[2]}`."
            yield Proposal(new.split("\n")[0], new, offset - len(line), offset, "function", about)


def _fields(project: OpenProject, path: str, text: str, offset: int) -> Iterator[Proposal]:
    """Yield the keys or the values that can be written at a place of a file with a schema."""
    cursor = cursor_at(path, text, offset)
    if cursor is None:
        return
    write_key, write_value = WRITERS[ending_of(path)]
    schemas = schemas_of_place(project, path, cursor)
    if cursor.is_key or cursor.may_be_key:
        for name, schema in properties_of(schemas).items():
            new = write_key(cursor, name, schema) if name not in cursor.keys else None
            if new is not None:
                yield _proposal(cursor, name, new, "field", [schema])
    if not cursor.is_key:
        for value in (*values_of(schemas), *_named_values(project, path, cursor)):
            new = write_value(value)
            if new is not None:
                yield _proposal(cursor, value if isinstance(value, str) else json.dumps(value), new, "value", schemas)


def _proposal(cursor: Cursor, label: str, new: str, kind: str, schemas: list[JsonSchema]) -> Proposal:
    written = f"{cursor.lead}{new}{cursor.tail}"
    return Proposal(label, written, cursor.start, cursor.end, kind, " ".join(descriptions_of(schemas)))


def _named_values(project: OpenProject, path: str, cursor: Cursor) -> Iterator[str]:
    """Yield names of the project that a member refers to."""
    kind = kind_of(path)
    keys = [step for step in cursor.path if isinstance(step, str)]
    last = keys[-1] if keys else ""
    if kind is not None and kind.name == "cases":
        is_case = keys[:-1] == ["tests"] and last in CASE_KINDS
        called = (each for each in definitions_in(project) if is_case and each.kind == last)
        yield from (each.item.uri if isinstance(each.item, Resource) else each.name for each in called)
    elif "ref" in keys and last in ("name", "uri"):
        wanted = "prompt" if last == "name" else "resource template"
        yield from (each.name for each in definitions_in(project) if each.kind == wanted)
    elif last == "command" and "mcpc/handler" in keys:
        # Programs are the files that begin with an interpreter's line.
        yield from (name for name, source in project.disk.files.items() if source.data.startswith(b"#!"))
    elif last == "required" and isinstance(cursor.path[-1], int):
        yield from _property_names(project.text(path) or "", cursor)


def _property_names(text: str, cursor: Cursor) -> tuple[str, ...]:
    """Return the properties beside the `required` that the cursor is in."""
    beside = re.compile(r'"properties"\s*:\s*\{').finditer(text, 0, cursor.start)
    last_end = max((match.end() for match in beside), default=-1)
    return cursor_in_json(text, last_end).keys if last_end >= 0 else ()


def _empty_value(schema: JsonSchema) -> str:
    kind = schema.get("type")
    return EMPTY_VALUES.get(kind, "") if isinstance(kind, str) else ""


def _json_key(cursor: Cursor, name: str, schema: JsonSchema) -> str:
    return json.dumps(name) if cursor.has_colon else f"{json.dumps(name)}: {_empty_value(schema)}"


def _yaml_key(cursor: Cursor, name: str, schema: JsonSchema) -> str:
    is_nested = schema.get("type") in ("object", "array")
    return yaml_text(name) + ("" if cursor.has_colon else ":" if is_nested else ": ")


def yaml_value(value: object) -> str:
    return yaml_text(value) if isinstance(value, str) else json.dumps(value)


def yaml_text(text: str) -> str:
    """Return a text as a scalar of YAML: without quotes where every reader takes it for a text."""
    is_plain = PLAIN.fullmatch(text) and not NOT_TEXT.fullmatch(text)
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _toml_key(cursor: Cursor, name: str, schema: JsonSchema) -> str | None:
    key = toml_key(name)
    is_list = schema.get("type") == "array" and schema.get("items", {}).get("type") == "object"
    is_table = schema.get("type") == "object"
    if cursor.header:
        return key if is_table or (is_list and cursor.header == "[[") else None
    if cursor.table is not None and (is_table or is_list):
        # A header, because an inline table has to stay on one line (TOML 1.0).
        return f"[[{cursor.table}{key}]]" if is_list else f"[{cursor.table}{key}]"
    return key if cursor.has_colon else f"{key} = {_empty_value(schema)}"


def _toml_value(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


YAML = (_yaml_key, yaml_value)
WRITERS: dict[str, tuple[Callable[[Cursor, str, JsonSchema], str | None], Callable[[object], str | None]]] = {
    "json": (_json_key, json.dumps),
    "yaml": YAML,
    "yml": YAML,
    "toml": (_toml_key, _toml_value),
    "md": YAML,
}
"""How a key and a value are written, by the ending of a file's name; None for what cannot be written there."""
COMPLETERS: dict[str, Callable[[OpenProject, str, str, int], Iterator[Proposal]]] = {
    **dict.fromkeys(CURSORS, _fields),
    "bash": _in_bash,
    "py": _in_python,
}
"""What completes in a file, by the ending of its name."""
