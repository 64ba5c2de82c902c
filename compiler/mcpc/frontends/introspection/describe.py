"""Description of a decorated function as a protocol object, with all reasons why it cannot be described.

Runs in the process of the project.  A problem is a row: its code, where it is (`function`, `returns`, `parameter x`,
`option x`), and its texts; the compiler knows the spans.  Docstrings give the purpose and the parameters, in the styles
of Google, NumPy, reST and epytext.
"""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from docstring_parser import ParseError, parse
from pydantic_core import SchemaError

from mcpc.frontends.introspection.keyword_decorators import with_described_arguments
from mcpc.frontends.introspection.schemas import (
    NO_SCHEMA_ERRORS,
    NOTHING,
    parameter_schema,
    resolve_annotation,
    result_schema,
    takes_raw_value,
)
from mcpc.model.ir.uri_templates import TemplateError, parse_template
from mcpc_runtime.handlers.python.bindings.conversion import UnsupportedTypeError, conversion, type_text
from mcpc_runtime.handlers.python.bindings.dumping import to_json
from mcpc_runtime.handlers.python.bindings.hints import UNCHECKED, is_field_default, optional_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

J = TypeVar("J")
COPIED_OPTIONS = ("name", "title", "description", "icons")
RESOURCE_OPTIONS = {"mime_type": "mimeType", "annotations": "annotations", "size": "size"}
"""Further options of a resource, and their members."""
ANNOTATION_NAMES = {
    "read_only_hint": "readOnlyHint",
    "destructive_hint": "destructiveHint",
    "idempotent_hint": "idempotentHint",
    "open_world_hint": "openWorldHint",
}
ANNOTATIONS = tuple(ANNOTATION_NAMES.values())
HANDLER_KEYWORDS = {
    **{name: name for name in ("timeout", "inline", "environment", "requires", "task")},
    "max_result": "maxResult",
}
"""Keywords for how a function is run, with their names in `HANDLER`."""
HANDLER = "mcpc/handler"
"""The key in `_meta` that contains them."""
NAMED_KINDS = ("tool", "prompt", "resource")
"""Kinds that clients see by name; a completion belongs to one of them."""
CONTEXTS = frozenset({"mcpc_runtime", "fastmcp", "mcp"})
"""The packages whose class `Context` is the call's context."""
MAX_DEPTH = 100
PYDANTIC_ADDRESS = re.compile(r"\s*For further information visit \S+\s*\Z")
OBJECT_ADDRESS = re.compile(r" at 0x[0-9a-f]+(?=>)")
"""It is another one in each process, and a build says the same each time."""
EXCEPTION_PREFIX = re.compile(r"^(?:(?:SchemaError|TypeError|error): )+")
CONSTRAINTS = "check that each keyword of `Field(...)` has a valid value, and that `pattern` is a regular expression"
USE_JSON_TYPES = (
    "use a type of JSON, a dataclass, a TypedDict, or one of the supported standard types (see `mcpc help codes`)"
)


@dataclass(slots=True)
class FunctionDescription:
    """A function that is being described, its decorator's options, and the problems found so far."""

    kind: str
    name: str
    function: Callable[..., Any]
    options: dict[str, Any]
    folder: str
    context: str = ""
    problems: list[dict[str, str]] = field(default_factory=list)

    def report(self, code: str, where: str, message: str, hint: str = "") -> None:
        self.problems.append({"code": code, "where": where, "message": message, "hint": hint})


def describe(subject: FunctionDescription) -> dict[str, Any]:
    """Return the row of one decorated function: its definition, how it is called, its problems."""
    function = subject.function
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        hint = "return a list of the yielded values"
        subject.report(
            "MCP220", "function", f"`{subject.name}` is a generator, but a call returns a single result", hint
        )
    hints = dict(parameter_hints(subject))
    text, documented = parse_docstring(getattr(function, "__doc__", None) or "")
    definition: dict[str, Any] = {"name": subject.name} if subject.kind in NAMED_KINDS else {}
    if text and subject.kind in NAMED_KINDS:
        definition["description"] = text
    definition |= decorator_members(subject)
    binding: list[str] = []
    if not subject.problems:
        parts, binding = DESCRIBERS[subject.kind](subject, hints, documented)
        definition |= parts
    check_paths(subject, definition)
    return {"definition": definition, "binding": binding, "context": subject.context, "problems": subject.problems}


def parameter_hints(subject: FunctionDescription) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield each parameter with its hint and default, the result as `return`; report unsupported types."""
    signature = inspect.signature(subject.function)
    for name, parameter in signature.parameters.items():
        where = f"parameter {name}"
        if wants_context(subject, name, parameter.annotation):
            continue
        hint = checked_hint(subject, where, parameter.annotation)
        yield name, (optional_hint(hint, parameter.default) if subject.kind == "tool" else hint, parameter.default)
    if "output_schema" not in subject.options:
        # `return` is a keyword, so that no parameter has this name.
        yield "return", (checked_hint(subject, "returns", signature.return_annotation), NOTHING)


def wants_context(subject: FunctionDescription, name: str, annotation: Any) -> bool:
    """Tell whether a parameter is for the call's context, which clients do not send; the first one receives it."""
    if annotation is NOTHING:
        return False
    try:
        is_wanted = is_context(resolve_annotation(subject.function, annotation))
    except (NameError, *NO_SCHEMA_ERRORS):
        return False  # told when it is looked at as an argument
    if is_wanted and subject.context:
        message = f"`{name}` of `{subject.name}` is a second context parameter beside `{subject.context}`"
        subject.report("MCP218", f"parameter {name}", message, "remove one of them")
    subject.context = subject.context or (name if is_wanted else "")
    return is_wanted


def is_context(hint: Any) -> bool:
    """Tell whether a type is a context, or a union with one: mcpc's, or a known library's."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType, Annotated):
        return any(map(is_context, typing.get_args(hint)))
    kind = typing.get_origin(hint) or hint
    return isinstance(kind, type) and kind.__name__ == "Context" and kind.__module__.partition(".")[0] in CONTEXTS


def checked_hint(subject: FunctionDescription, where: str, annotation: Any) -> Any:
    """Return the annotated type, and check that values can be converted to it."""
    if annotation is NOTHING:
        return NOTHING if where == "returns" else Any
    try:
        hint = resolve_annotation(subject.function, annotation)
        conversion(hint)
    except UnsupportedTypeError as problem:
        if where == "returns" and has_schema(hint):
            return hint
        unknown = f"`{type_text(problem.args[0])}`"
        subject.report("MCP217", where, f"a value of the type {unknown} cannot be represented in JSON", USE_JSON_TYPES)
    except NameError as problem:
        hint_text = "import it at run time, not under `if TYPE_CHECKING:`"
        subject.report("MCP217", where, f"`{problem.name}` is undefined when the file runs", hint_text)
    except NO_SCHEMA_ERRORS as problem:
        subject.report("MCP217", where, f"unsupported type: {brief_message(problem)}")
    else:
        return hint
    return Any


def has_schema(hint: Any) -> bool:
    """Tell whether pydantic can describe a result, which is never converted to its type."""
    try:
        return result_schema(hint) is not None
    except NO_SCHEMA_ERRORS:
        return False


def brief_message(problem: BaseException) -> str:
    """Return the message of an exception, on one line, without the address that pydantic adds, and those of objects."""
    text = OBJECT_ADDRESS.sub("", PYDANTIC_ADDRESS.sub("", str(problem)))
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if isinstance(problem, SchemaError):
        # pydantic tells where in its own schema it was, a line each; what was wrong comes last.
        return EXCEPTION_PREFIX.sub("", lines[-1])
    return lines[0] if lines else type(problem).__name__


def decorator_members(subject: FunctionDescription) -> dict[str, Any]:
    """Return the members of the definition that its decorator defines."""
    given = {name: json_option(subject, name, value) for name, value in subject.options.items() if value is not None}
    said = {name: given[name] for name in COPIED_OPTIONS if name in given}
    if subject.kind == "tool":
        written = given.get("annotations", {})
        hints = {name: given[name] for name in ANNOTATIONS if name in given}
        if isinstance(written, dict):
            written = {ANNOTATION_NAMES.get(name, name): value for name, value in written.items()} | hints
        if written:
            said["annotations"] = written
    meta = given.get("meta", {})
    if given.get("tags") and isinstance(meta, dict):
        meta = {**meta, "fastmcp": {"tags": given["tags"]}}
    if subject.kind == "resource":
        said |= {member: given[name] for name, member in RESOURCE_OPTIONS.items() if name in given}
    running = handler_options(subject, given)
    if running and isinstance(meta, dict):
        written = meta.get(HANDLER)
        meta = {**meta, HANDLER: {**(written if isinstance(written, dict) else {}), **running}}
    return {**said, "_meta": meta} if meta else said


def handler_options(subject: FunctionDescription, given: dict[str, Any]) -> dict[str, Any]:
    """Return a decorator's options for how its function is run; only a tool can be a task."""
    running = {member: given[name] for name, member in HANDLER_KEYWORDS.items() if name in given}
    said = running.pop("task", None)
    return {**running, "task": task_mode(said)} if said is not None and subject.kind == "tool" else running


def task_mode(said: Any) -> Any:
    """Return the task mode of a tool: a decorator may have a boolean, or FastMCP's `TaskConfig`."""
    if isinstance(said, bool):
        return "optional" if said else "forbidden"
    return said.get("mode", said) if isinstance(said, dict) else said


def json_option(subject: FunctionDescription, name: str, value: Any) -> Any:
    """Return the value of an option as JSON."""
    try:
        is_model = hasattr(value, "model_dump")
        written = value.model_dump(mode="json", by_alias=True, exclude_none=True) if is_model else to_json(value)
        return checked_json([written])[0]
    except NO_SCHEMA_ERRORS:
        subject.report("MCP221", f"option {name}", f"the value of `{name}` cannot be written as JSON")
        return None


def tool(
    subject: FunctionDescription, hints: dict[str, tuple[Any, Any]], documented: dict[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the schemas of a tool, and how its function is called."""
    result, _ = hints.pop("return", (NOTHING, NOTHING))
    schema = input_schema(subject, hints)
    for name, text in documented.items():
        if text and name in schema.get("properties", {}):
            schema["properties"][name].setdefault("description", text)
    output, wraps = (subject.options.get("output_schema"), False)
    if "output_schema" not in subject.options:
        output, wraps = output_schema(subject, result)
    else:
        output = json_option(subject, "output_schema", output)
    returns_more = result not in (NOTHING, type(None))
    converts = any(not conversion(hint).inert or is_field_default(default) for hint, default in hints.values())
    raw = [f"{UNCHECKED}{name}" for name, (hint, _) in hints.items() if takes_raw_value(hint)]
    binding = ["hints", *(["wrap"] if wraps else []), *raw] if converts or wraps or returns_more or raw else []
    return {"inputSchema": schema, **({} if output is None else {"outputSchema": output})}, binding


def input_schema(subject: FunctionDescription, hints: dict[str, tuple[Any, Any]]) -> dict[str, Any]:
    """Return the schema of the parameters; report those that have none."""
    try:
        return checked_json(parameter_schema(hints))
    except NO_SCHEMA_ERRORS:
        # The schema of all parameters fails for one of them, and pydantic does not say for which.
        for name, row in hints.items():
            try:
                checked_json(parameter_schema({name: row}))
            except NO_SCHEMA_ERRORS as problem:
                is_default = is_field_default(row[1])
                where = f"default {name}" if is_default else f"parameter {name}"
                hint = CONSTRAINTS if is_default or isinstance(problem, SchemaError) else USE_JSON_TYPES
                subject.report(
                    "MCP217", where, f"cannot generate a schema for `{name}`: {brief_message(problem)}", hint
                )
    return {"type": "object"}


def output_schema(subject: FunctionDescription, hint: Any) -> tuple[dict[str, Any] | None, bool]:
    """Return the schema of the result, and whether the result is put into an object."""
    try:
        schema, wraps = result_schema(hint)
        return (None if schema is None else checked_json(schema)), wraps
    except NO_SCHEMA_ERRORS as problem:
        message = f"cannot generate a schema for the result of `{subject.name}`: {brief_message(problem)}"
        subject.report("MCP217", "returns", message, "use `output_schema=None` to omit it")
    return None, False


def checked_json(value: J) -> J:
    """Return a value that is JSON; raise ValueError for another one (`nan`), or one that is nested too deeply."""
    # This also refuses what contains itself; after each turn of the loop, `level` is one deeper.
    json.dumps(value, allow_nan=False)
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [
            part
            for item in level
            if isinstance(item, dict | list)
            for part in (item.values() if isinstance(item, dict) else item)
        ]
    if level:
        raise ValueError("it is nested too deeply")
    return value


def prompt(
    subject: FunctionDescription, hints: dict[str, tuple[Any, Any]], documented: dict[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of a prompt, which are all strings, and how its function is called."""
    result, _ = hints.pop("return", (NOTHING, NOTHING))
    schema = input_schema(subject, hints)
    arguments_of_schema = [argument(name, hints[name][0], schema, documented) for name in schema.get("properties", {})]
    arguments = with_described_arguments(subject, arguments_of_schema)
    converts = any(hint not in (str, Any) or is_field_default(default) for hint, default in hints.values())
    returns_more = result not in (NOTHING, type(None))
    return {"arguments": arguments}, (["hints", "prompt"] if converts or returns_more else [])


def argument(name: str, hint: Any, schema: dict[str, Any], documented: dict[str, str]) -> dict[str, Any]:
    """Return an argument of a prompt; a type other than string is described in its description."""
    written = dict(schema["properties"][name])
    description = written.pop("description", "") or documented.get(name, "")
    written.pop("default", None)
    if written not in ({}, {"type": "string"}):
        used = {"$defs": schema["$defs"]} if "$defs" in schema and "$ref" in json.dumps(written) else {}
        form = (
            f"Written as JSON that fits {json.dumps({**written, **used}, ensure_ascii=False)}; a string needs no quotes"
        )
        description = f"{description}\n\n{form}" if description else form
    required = name in schema.get("required", ())
    return {"name": name, **({"description": description} if description else {}), "required": required}


def resource(
    subject: FunctionDescription, hints: dict[str, tuple[Any, Any]], documented: dict[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the URI of a resource, or its template, whose variables are the function's parameters."""
    result, _ = hints.pop("return", (NOTHING, NOTHING))
    uri = subject.options["uri"]
    if not isinstance(uri, str):
        subject.report("MCP221", "option uri", f"the URI of `{subject.name}` is not a string")
        return {}, []
    is_template = "{" in uri
    check_variables(subject, uri if is_template else "", hints)
    converts = any(hint not in (str, Any) or is_field_default(default) for hint, default in hints.values())
    returns_more = result not in (NOTHING, type(None), str, bytes)
    return {"uriTemplate" if is_template else "uri": uri}, (["hints", "resource"] if converts or returns_more else [])


def check_variables(subject: FunctionDescription, template: str, hints: dict[str, tuple[Any, Any]]) -> None:
    """Report parameters that no URI can provide, and variables without a parameter."""
    try:
        variables = {variable.name: variable for variable in parse_template(template).variables} if template else {}
    except TemplateError:
        return  # told when it is looked at as a template
    for name, (_, default) in hints.items():
        variable = variables.get(name)
        if default is not NOTHING:
            continue
        if variable is None:
            what = "is not a variable of its template" if template else "cannot be filled: its URI has no variables"
            hint = f"add `{{{name}}}` to the URI, or give the parameter a default"
            subject.report("MCP227", f"parameter {name}", f"`{name}` of `{subject.name}` {what}", hint)
        elif variable.optional:
            message = f"a URI may omit `{name}`, but `{subject.name}` requires it"
            subject.report("MCP227", f"parameter {name}", message, "give it a default")
    for name in variables:
        if name not in hints:
            message = f"`{subject.name}` has no parameter for the variable `{name}`"
            subject.report("MCP227", "option uri", message, "add a parameter of that name")


def completion(
    subject: FunctionDescription, hints: dict[str, tuple[Any, Any]], documented: dict[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the reference and the argument that a function completes."""
    ref, argument = subject.options["ref"], subject.options["argument"]
    for name in ("ref", "argument"):
        if not isinstance(subject.options[name], str):
            subject.report("MCP221", f"option {name}", f"`{name}` of `{subject.name}` is not a string")
    if subject.problems:
        return {}, []
    # A URI has a colon behind its scheme; the name of a prompt is taken to have none.
    is_template = ":" in ref
    row = {"type": "ref/resource", "uri": ref} if is_template else {"type": "ref/prompt", "name": ref}
    return {"ref": row, "argument": argument}, []


DESCRIBERS: dict[str, Callable[..., tuple[dict[str, Any], list[str]]]] = {
    "completion": completion,
    "prompt": prompt,
    "resource": resource,
    "tool": tool,
}


def check_paths(subject: FunctionDescription, definition: dict[str, Any]) -> None:
    """Report a definition that contains the project's temporary path: no two builds would be the same."""
    has_path = False
    for name, schema in definition.get("inputSchema", {}).get("properties", {}).items():
        if subject.folder in json.dumps(schema):
            has_path = True
            message = f"the schema of `{name}` contains the path of the project, which differs in each build"
            subject.report("MCP223", f"parameter {name}", message, "find the folder in the function, when it is called")
    if not has_path and subject.folder in json.dumps(definition):
        message = f"the definition of `{subject.name}` contains the path of the project, which differs in each build"
        subject.report("MCP223", "function", message, "find the folder in the function, when it is called")


PARSER_ERRORS = (ParseError, AttributeError, LookupError, TypeError, ValueError)
"""What the parser raises for a text that only looks like a section."""


PLACEHOLDER = "-"
# The heading of parameters at the beginning of a text: Google's with a colon, NumPy's with a line of hyphens below.
SECTION = re.compile(r"(?:Args|Arguments|Parameters|Params)(?::|[ \t]*\n-{3,}[ \t]*)$", re.MULTILINE)


def parse_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Return the description, which precedes the sections, and the text of each parameter."""
    text = inspect.cleandoc(text)
    try:
        # A section at the very beginning is found only below something.
        parsed = parse(f"{PLACEHOLDER}\n\n{text}") if SECTION.match(text) else parse(text)
    except PARSER_ERRORS:
        return text, {}
    if not parsed.meta:
        return text, {}
    documented: dict[str, str] = {}
    for parameter in parsed.params:
        # In NumPy's style a row may describe several parameters: `x, y : int`.
        for name in parameter.arg_name.split(","):
            documented[name.strip().lstrip("*")] = (parameter.description or "").strip()
    return (parsed.description or "").removeprefix(PLACEHOLDER).strip(), documented
