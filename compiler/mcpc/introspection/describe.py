"""What a marked function offers, as the protocol's object, and everything that keeps it from being described.

Runs in the process of the project.  A problem is a row: its code, where it is (`function`, `returns`, `parameter x`,
`option x`), and its texts; the compiler knows the places.
"""

from __future__ import annotations

import inspect
import json
import re
import types
import typing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic_core import SchemaError

from mcpc.introspection import docstrings
from mcpc.introspection.schemas import IMPOSSIBLE, NOTHING, of_parameters, of_result, resolved
from mcpc.introspection.stated import with_stated
from mcpc.ir.uri_templates import TemplateError, parse_template
from mcpc_runtime.bindings.conversion import UnsupportedError, conversion, shown
from mcpc_runtime.bindings.dumping import dump
from mcpc_runtime.bindings.hints import is_stated, optional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

J = TypeVar("J")
COPIED = ("name", "title", "description", "icons")
READ = {"mime_type": "mimeType", "annotations": "annotations", "size": "size"}
"""What a resource says besides, and the members that it becomes."""
HINTS = {
    "read_only_hint": "readOnlyHint",
    "destructive_hint": "destructiveHint",
    "idempotent_hint": "idempotentHint",
    "open_world_hint": "openWorldHint",
}
NAMED = tuple(HINTS.values())
RUNNING = ("timeout", "inline", "environment", "requires", "task")
"""Keywords that say how a function is run."""
HANDLER = "mcpc/handler"
"""The key in `_meta` under which they stand."""
NAMED_KINDS = ("tool", "prompt", "resource")
"""What is shown to clients by a name; a completion belongs to something that is."""
CONTEXTS = frozenset({"mcpc_runtime", "fastmcp", "mcp"})
"""The packages whose class `Context` is the call's context."""
DEEPEST = 100
FURTHER = re.compile(r"\s*For further information visit \S+\s*\Z")
OUTSIDE = re.compile(r"^(?:(?:SchemaError|TypeError|error): )+")
CONSTRAINTS = "see that each keyword of `Field(...)` is of the kind it takes, and a `pattern` is a regular expression"
NO_ROW = "give it a type that JSON has, a dataclass, a TypedDict, or one of the standard library's (see `mcpc explain`)"


@dataclass(slots=True)
class Subject:
    """A function that is described, the options of its mark, and the problems found so far."""

    kind: str
    name: str
    function: Callable[..., Any]
    options: dict[str, Any]
    folder: str
    context: str = ""
    problems: list[dict[str, str]] = field(default_factory=list)

    def report(self, code: str, where: str, message: str, hint: str = "") -> None:
        self.problems.append({"code": code, "where": where, "message": message, "hint": hint})


def describe(subject: Subject) -> dict[str, Any]:
    """Return the row of one mark: its definition, how its function is called, its problems."""
    function = subject.function
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        hint = "return a list of what it would yield"
        subject.report("MCP220", "function", f"`{subject.name}` is a generator, and a call has one answer", hint)
    hints = dict(found_hints(subject))
    text, documented = docstrings.read(getattr(function, "__doc__", None) or "")
    definition: dict[str, Any] = {"name": subject.name} if subject.kind in NAMED_KINDS else {}
    if text and subject.kind in NAMED_KINDS:
        definition["description"] = text
    definition |= options(subject)
    binding: list[str] = []
    if not subject.problems:
        parts, binding = PARTS[subject.kind](subject, hints, documented)
        definition |= parts
    judge_paths(subject, definition)
    return {"definition": definition, "binding": binding, "context": subject.context, "problems": subject.problems}


def found_hints(subject: Subject) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Yield each parameter with its hint and its default, the result as `return`; report what cannot be known."""
    signature = inspect.signature(subject.function)
    for name, parameter in signature.parameters.items():
        where = f"parameter {name}"
        if wants_context(subject, name, parameter.annotation):
            continue
        hint = hint_of(subject, where, parameter.annotation)
        yield name, (optional(hint, parameter.default) if subject.kind == "tool" else hint, parameter.default)
    if "output_schema" not in subject.options:
        yield "return", (hint_of(subject, "returns", signature.return_annotation), NOTHING)


def wants_context(subject: Subject, name: str, annotation: Any) -> bool:
    """Tell whether a parameter is for the call's context, which no client sends; the first one has it."""
    if annotation is NOTHING:
        return False
    try:
        found = is_context(resolved(subject.function, annotation))
    except (NameError, *IMPOSSIBLE):
        return False  # told when it is looked at as an argument
    if found and subject.context:
        message = f"`{name}` of `{subject.name}` wants a context, and `{subject.context}` has it"
        subject.report("MCP218", f"parameter {name}", message, "one parameter is enough")
    subject.context = subject.context or (name if found else "")
    return found


def is_context(hint: Any) -> bool:
    """Tell whether a type is a context, or a choice with one: mcpc's, or that of a library which has such a thing."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType, Annotated):
        return any(map(is_context, typing.get_args(hint)))
    kind = typing.get_origin(hint) or hint
    return isinstance(kind, type) and kind.__name__ == "Context" and kind.__module__.partition(".")[0] in CONTEXTS


def hint_of(subject: Subject, where: str, annotation: Any) -> Any:
    """Return the type that is written, and see that values of it can be made."""
    if annotation is NOTHING:
        return NOTHING if where == "returns" else Any
    try:
        hint = resolved(subject.function, annotation)
        conversion(hint)
    except UnsupportedError as problem:
        unknown = f"`{shown(problem.args[0])}`"
        subject.report("MCP217", where, f"a value of the type {unknown} has no form in JSON", NO_ROW)
    except NameError as problem:
        hint_text = "import it where the file runs, not under `if TYPE_CHECKING:`"
        subject.report("MCP217", where, f"`{problem.name}` is not known when the file runs", hint_text)
    except IMPOSSIBLE as problem:
        subject.report("MCP217", where, f"the type is not understood: {brief(problem)}")
    else:
        return hint
    return Any


def brief(problem: BaseException) -> str:
    """Return what an exception says, on one line, without the address that pydantic adds."""
    lines = [line.strip() for line in FURTHER.sub("", str(problem)).split("\n") if line.strip()]
    if isinstance(problem, SchemaError):
        # pydantic tells where in its own schema it was, a line each; what was wrong comes last.
        return OUTSIDE.sub("", lines[-1])
    return lines[0] if lines else type(problem).__name__


def options(subject: Subject) -> dict[str, Any]:
    """Return the members of the definition that its mark says."""
    given = {name: plain(subject, name, value) for name, value in subject.options.items() if value is not None}
    said = {name: given[name] for name in COPIED if name in given}
    if subject.kind == "tool":
        written = given.get("annotations", {})
        hints = {name: given[name] for name in NAMED if name in given}
        if isinstance(written, dict):
            written = {HINTS.get(name, name): value for name, value in written.items()} | hints
        if written:
            said["annotations"] = written
    meta = given.get("meta", {})
    if given.get("tags") and isinstance(meta, dict):
        meta = {**meta, "fastmcp": {"tags": given["tags"]}}
    if subject.kind == "resource":
        said |= {member: given[name] for name, member in READ.items() if name in given}
    running = running_of(subject, given)
    if running and isinstance(meta, dict):
        written = meta.get(HANDLER)
        meta = {**meta, HANDLER: {**(written if isinstance(written, dict) else {}), **running}}
    return {**said, "_meta": meta} if meta else said


def running_of(subject: Subject, given: dict[str, Any]) -> dict[str, Any]:
    """Return what a mark says of how its function is run; only a tool can be a task, which is told as a keyword."""
    running = {name: given[name] for name in RUNNING if name in given}
    said = running.pop("task", None)
    return {**running, "task": task(said)} if said is not None and subject.kind == "tool" else running


def task(said: Any) -> Any:
    """Return whether a call becomes a task, in the word for it: a mark may say yes or no, or FastMCP's `TaskConfig`."""
    if isinstance(said, bool):
        return "optional" if said else "forbidden"
    return said.get("mode", said) if isinstance(said, dict) else said


def plain(subject: Subject, name: str, value: Any) -> Any:
    """Return the value of an option as JSON."""
    try:
        written = (
            [value.model_dump(mode="json", by_alias=True, exclude_none=True)] if is_model(value) else [dump(value)]
        )
        checked(written)
    except IMPOSSIBLE:
        subject.report("MCP221", f"option {name}", f"the value of `{name}` cannot be written as JSON")
        return None
    return written[0]


def is_model(value: Any) -> bool:
    """Tell whether a value is a pydantic model."""
    return hasattr(value, "model_dump")


def tool(
    subject: Subject, hints: dict[str, tuple[Any, Any]], documented: dict[str, str]
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
        output = plain(subject, "output_schema", output)
    returns_more = result not in (NOTHING, type(None))
    converts = any(not conversion(hint).inert or is_stated(default) for hint, default in hints.values())
    binding = ["hints", *(["wrap"] if wraps else [])] if converts or wraps or returns_more else []
    return {"inputSchema": schema, **({} if output is None else {"outputSchema": output})}, binding


def input_schema(subject: Subject, hints: dict[str, tuple[Any, Any]]) -> dict[str, Any]:
    """Return the schema of the parameters; report those that have none."""
    try:
        return checked(of_parameters(hints))
    except IMPOSSIBLE:
        for name, row in hints.items():
            try:
                checked(of_parameters({name: row}))
            except IMPOSSIBLE as problem:
                where, hint = (f"default {name}", CONSTRAINTS) if is_stated(row[1]) else (f"parameter {name}", NO_ROW)
                hint = CONSTRAINTS if isinstance(problem, SchemaError) else hint
                subject.report("MCP217", where, f"no schema describes `{name}`: {brief(problem)}", hint)
    return {"type": "object"}


def output_schema(subject: Subject, hint: Any) -> tuple[dict[str, Any] | None, bool]:
    """Return the schema of the result, and whether the result is put into an object."""
    try:
        schema, wraps = of_result(hint)
        return (None if schema is None else checked(schema)), wraps
    except IMPOSSIBLE as problem:
        message = f"no schema describes what `{subject.name}` returns: {brief(problem)}"
        subject.report("MCP217", "returns", message, "`output_schema=None` does without one")
    return None, False


def checked(value: J) -> J:
    """Return a value that is JSON; raise ValueError for what is none (`nan`), or is nested too deeply."""
    json.dumps(value, allow_nan=False)
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        level = [part for item in level if isinstance(item, dict | list) for part in parts_of(item)]
    if level:
        raise ValueError("it is nested too deeply")
    return value


def parts_of(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    """Return what an object or an array holds."""
    return value.values() if isinstance(value, dict) else value


def prompt(
    subject: Subject, hints: dict[str, tuple[Any, Any]], documented: dict[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of a prompt, which are all texts, and how its function is called."""
    result, _ = hints.pop("return", (NOTHING, NOTHING))
    schema = input_schema(subject, hints)
    found = [argument(name, hints[name][0], schema, documented) for name in schema.get("properties", {})]
    arguments = with_stated(subject, found)
    converts = any(hint not in (str, Any) or is_stated(default) for hint, default in hints.values())
    returns_more = result not in (NOTHING, type(None))
    return {"arguments": arguments}, (["hints", "prompt"] if converts or returns_more else [])


def argument(name: str, hint: Any, schema: dict[str, Any], documented: dict[str, str]) -> dict[str, Any]:
    """Return an argument of a prompt; what is no text says how it is written as one."""
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
    subject: Subject, hints: dict[str, tuple[Any, Any]], documented: dict[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the uri of a resource, or the template that its function's parameters are the variables of."""
    result, _ = hints.pop("return", (NOTHING, NOTHING))
    uri = subject.options["uri"]
    if not isinstance(uri, str):
        subject.report("MCP221", "option uri", f"the uri of `{subject.name}` is no text")
        return {}, []
    is_template = "{" in uri
    judge_variables(subject, uri if is_template else "", hints)
    converts = any(hint not in (str, Any) or is_stated(default) for hint, default in hints.values())
    returns_more = result not in (NOTHING, type(None), str, bytes)
    return {"uriTemplate" if is_template else "uri": uri}, (["hints", "resource"] if converts or returns_more else [])


def judge_variables(subject: Subject, template: str, hints: dict[str, tuple[Any, Any]]) -> None:
    """Report parameters that no uri can fill, and variables that no parameter takes."""
    try:
        variables = {one.name: one for one in parse_template(template).variables} if template else {}
    except TemplateError:
        return  # told when it is looked at as a template
    for name, (_, default) in hints.items():
        variable = variables.get(name)
        if default is not NOTHING:
            continue
        if variable is None:
            what = "is no variable of its template" if template else "cannot be filled: its uri has no variables"
            hint = f"write `{{{name}}}` into the uri, or give it a default"
            subject.report("MCP227", f"parameter {name}", f"`{name}` of `{subject.name}` {what}", hint)
        elif variable.optional:
            message = f"a uri may be without `{name}`, and `{subject.name}` needs it"
            subject.report("MCP227", f"parameter {name}", message, "give it a default")
    for name in variables:
        if name not in hints:
            message = f"`{subject.name}` has no parameter for the variable `{name}`"
            subject.report("MCP227", "option uri", message, "add a parameter of that name")


def completion(
    subject: Subject, hints: dict[str, tuple[Any, Any]], documented: dict[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """Return what a function completes."""
    ref, argument = subject.options["ref"], subject.options["argument"]
    for name in ("ref", "argument"):
        if not isinstance(subject.options[name], str):
            subject.report("MCP221", f"option {name}", f"`{name}` of `{subject.name}` is no text")
    if subject.problems:
        return {}, []
    is_template = ":" in ref
    row = {"type": "ref/resource", "uri": ref} if is_template else {"type": "ref/prompt", "name": ref}
    return {"ref": row, "argument": argument}, []


PARTS: dict[str, Callable[..., tuple[dict[str, Any], list[str]]]] = {
    "completion": completion,
    "prompt": prompt,
    "resource": resource,
    "tool": tool,
}


def judge_paths(subject: Subject, definition: dict[str, Any]) -> None:
    """Report what of the definition says where the project lay when it was asked: no two builds would be the same."""
    found = False
    for name, schema in definition.get("inputSchema", {}).get("properties", {}).items():
        if subject.folder in json.dumps(schema):
            found = True
            message = f"the schema of `{name}` holds the folder of the project, which is another at each build"
            subject.report("MCP223", f"parameter {name}", message, "find the folder in the function, when it is called")
    if not found and subject.folder in json.dumps(definition):
        message = f"the definition of `{subject.name}` holds the folder of the project, which is another at each build"
        subject.report("MCP223", "function", message, "find the folder in the function, when it is called")
