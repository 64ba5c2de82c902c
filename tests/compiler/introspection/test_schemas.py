"""Schemas of type hints, and what the describing process says of functions and servers, in the process of the test."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Sequence
from types import ModuleType
from typing import Annotated, Any, Optional

import pytest
from pydantic import BaseModel, Field

from mcpc.frontends.introspection.child_process import (
    TooLateError,
    decorated_functions,
    describe_decorated,
    describe_server,
    failure_message,
    file_line,
    import_failure,
    undetected_functions,
)
from mcpc.frontends.introspection.describe import FunctionDescription, brief_message, check_paths
from mcpc.frontends.introspection.schemas import (
    NOTHING,
    WRAPPED_KEY,
    is_or_has_bytes,
    is_uninformative,
    parameter_schema,
    resolve_annotation,
    result_schema,
    with_description,
)
from mcpc_runtime.artifact.build_time.raised import raised_facts, relative
from mcpc_runtime.handlers.python import authoring


class Point(BaseModel):
    """A place."""

    x: int
    near: list[Point] = []


class Titled(BaseModel, title="Own"):
    y: str = Field(title="Y")


@pytest.mark.parametrize(
    ("hint", "is_so"),
    [
        (NOTHING, True), (None, True), (type(None), True), (Any, True), (object, True), (bytes, True), (bytes | None, True),
        (Annotated[bytes, "x"], True), (list, True), (list[Any], True), (tuple[Any, ...], True), (Sequence[object], True),
        (Collection, True), (Iterable[Any], True), (tuple[Any, Any], False), (list[int], False), (list[bytes], False), (dict, False),
        (dict[str, Any], False), (int, False), (str | None, False), (Annotated[int, "x"], False), (Optional[bytes], True),  # noqa: UP045
    ],
)  # fmt: skip
def test_results_that_say_nothing(hint: Any, is_so: bool) -> None:
    assert is_uninformative(hint) == is_so
    assert is_or_has_bytes(hint) == ("bytes" in str(hint) and "list" not in str(hint))


@pytest.mark.parametrize(
    ("hint", "schema", "wraps"),
    [
        (None, None, False),
        (
            int,
            {
                "type": "object",
                "properties": {"result": {"type": "integer"}},
                "required": ["result"],
                WRAPPED_KEY: True,
            },
            True,
        ),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}, False),
        (
            Titled,
            {
                "type": "object",
                "title": "Own",
                "properties": {"y": {"title": "Y", "type": "string"}},
                "required": ["y"],
            },
            False,
        ),
    ],
)
def test_the_schema_of_a_result(hint: Any, schema: Any, wraps: bool) -> None:
    found, wrapped = result_schema(hint)
    assert (found, wrapped) == (schema, wraps)


def test_a_recursive_result_keeps_its_definition() -> None:
    point = {
        "properties": {
            "x": {"type": "integer"},
            "near": {"default": [], "type": "array", "items": {"$ref": "#/$defs/Point"}},
        }
    }
    whole = {"type": "object", "description": "A place.", "required": ["x"], **point}
    assert result_schema(Point) == ({**whole, "$defs": {"Point": whole}}, False)


def test_the_schema_of_parameters() -> None:
    described = Annotated[str, Field(description="own"), "text"]
    found = parameter_schema(
        {"a": (int, NOTHING), "b": (Annotated[str, "text"], "x"), "c": (described, NOTHING), "d": (Any, None)}
    )
    assert found == {
        "type": "object",
        "properties": {
            "a": {"type": "integer"}, "b": {"type": "string", "default": "x", "description": "text"},
            "c": {"type": "string", "description": "own"}, "d": {"default": None},
        },
        "required": ["a", "c"], "additionalProperties": False,
    }  # fmt: skip
    assert list(found) == ["type", "properties", "required", "additionalProperties"]
    assert (with_description(int), with_description(Annotated[int, 5])) == (int, Annotated[int, 5])


def test_an_annotation_is_that_of_the_innermost_function() -> None:
    def inner(a: Point) -> None: ...

    @functools.wraps(inner)
    def outer(*given: Any) -> None: ...

    assert resolve_annotation(outer, "Point | None") == Point | None
    assert resolve_annotation(outer, Annotated[int, "x"]) == Annotated[int, "x"]


def module(text: str, folder: str = "/project") -> ModuleType:
    made = ModuleType("tools")
    exec(compile(text, f"{folder}/tools.py", "exec"), vars(made))
    return made


TOOLS = """
from mcpc_runtime.handlers.python.authoring import Server, tool, prompt, resource, completion, Context
mcp = Server("s", version="1", instructions="i")
@tool(title="T", annotations={"read_only_hint": True}, tags={"x"}, timeout=5, task=True)
def add(context: Context, a: int, b: int = 1) -> int:
    '''Add.

    Args:
        a: The first.
    '''
@tool
def twice(a): ...
twice = tool(twice)
@prompt
def ask(topic: str, count: int = 1) -> str: ...
@resource("a:{x}", mime_type="text/plain")
def read(x: str, y: str, z: str = "") -> str: ...
@completion("ask", "topic")
def complete(value, context_arguments): ...
@tool
def generator():
    yield 1
@tool
def complexes(a: complex): ...
def plain(): ...
for hidden in (lambda: 1,):
    mcp.tool(hidden, name="h")
    hidden.__name__ = "hidden"
"""


def row(name: str, kind: str = "tool") -> dict[str, Any]:
    return describe_decorated(module(TOOLS), {"kind": kind, "function": name}, "/project", set())


def test_a_tool_is_described() -> None:
    found = row("add")
    assert (found["context"], found["binding"], found["problems"]) == ("context", ["hints", "wrap"], [])
    definition = found["definition"]
    assert definition["inputSchema"]["properties"] == {
        "a": {"type": "integer", "description": "The first."}, "b": {"type": "integer", "default": 1}
    }  # fmt: skip
    assert {name: definition[name] for name in ("name", "title", "description", "annotations", "_meta")} == {
        "name": "add", "title": "T", "description": "Add.", "annotations": {"readOnlyHint": True},
        "_meta": {"fastmcp": {"tags": ["x"]}, "mcpc/handler": {"timeout": 5, "task": "optional"}},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kind", "codes"),
    [
        ("twice", "tool", ["MCP220 function"]), ("plain", "tool", ["MCP220 function"]), ("gone", "tool", ["MCP220 function"]),
        ("add", "prompt", ["MCP220 function"]), ("generator", "tool", ["MCP220 function"]), ("complexes", "tool", ["MCP217 parameter a"]),
        ("read", "resource", ["MCP227 parameter y"]), ("ask", "prompt", []), ("complete", "completion", []),
    ],
)  # fmt: skip
def test_problems_name_their_place(name: str, kind: str, codes: list[str]) -> None:
    assert [f"{problem['code']} {problem['where']}" for problem in row(name, kind)["problems"]] == codes


def test_prompts_and_completions() -> None:
    found = row("ask", "prompt")
    assert [(each["name"], each["required"]) for each in found["definition"]["arguments"]] == [
        ("topic", True),
        ("count", False),
    ]
    assert found["binding"] == ["hints", "prompt"]
    assert row("complete", "completion")["definition"] == {
        "ref": {"type": "ref/prompt", "name": "ask"},
        "argument": "topic",
    }


@pytest.mark.parametrize(
    ("definition", "places"),
    [
        ({"inputSchema": {"properties": {"a": {"default": "/project/x"}, "b": {}}}}, ["parameter a"]),
        ({"description": "In /project.", "inputSchema": {}}, ["function"]),
        ({"description": "In /other."}, []),
    ],
)
def test_a_path_of_the_project_is_reported(definition: dict[str, Any], places: list[str]) -> None:
    subject = FunctionDescription("tool", "t", len, {}, "/project")
    check_paths(subject, definition)
    assert [(problem["code"], problem["where"]) for problem in subject.problems] == [("MCP223", at) for at in places]


def test_servers_and_what_only_running_shows() -> None:
    made = module(TOOLS)
    said = describe_server(made, "mcp", "/project")
    assert said["problems"] == []
    assert {name: said["said"][name] for name in ("name", "version", "instructions")} == {
        "name": "s",
        "version": "1",
        "instructions": "i",
    }
    made.unset = authoring.Server(settings=5)  # type: ignore[arg-type]
    assert [problem["code"] for problem in describe_server(made, "unset", "/project")["problems"]] == ["MCP160"]
    assert (describe_server(made, "plain", "/project"), describe_server(made, "gone", "/project")) == ({}, {})
    names = {function.__name__ for function in decorated_functions(made)}
    assert names == {"add", "twice", "ask", "read", "complete", "generator", "complexes", "hidden"}
    known = {id(getattr(made.add, authoring.MARK))}
    strays = [*undetected_functions([made, made], known, "/project")]
    assert [stray["function"] for stray in strays] == [
        "hidden",
        "twice",
        "ask",
        "read",
        "complete",
        "generator",
        "complexes",
    ]
    assert strays[1] == {"function": "twice", "path": "tools.py", "line": 11, "kinds": ["tool", "tool"]}
    assert [*undetected_functions([made], set(), "/other")] == []


ASKED = {"path": "tools.py", "seconds": 7}


def test_why_a_file_cannot_be_imported() -> None:
    with pytest.raises(ZeroDivisionError) as problem:
        module("def f(): 1 / 0\nf()\n")
    found = import_failure(problem.value, ASKED, "/project")
    raised = found.pop("raised")
    assert found == {"message": "it raises ZeroDivisionError: division by zero", "path": "tools.py", "line": 1}
    assert (raised["type"], raised["line"], raised["column"], raised["end_column"]) == ("ZeroDivisionError", 1, 9, 14)
    with pytest.raises(SyntaxError) as broken:
        module("x = 1\ny = = 2\n", "/project/pack")
    assert {name: import_failure(broken.value, ASKED, "/project")[name] for name in ("path", "line")} == {
        "path": "pack/tools.py",
        "line": 2,
    }
    found = import_failure(KeyError(), ASKED, "/project")
    assert (found["message"], found["path"], found["line"]) == ("it raises KeyError", "tools.py", 0)
    messages = [
        failure_message(raised_facts(each, "/project"), each, ASKED)
        for each in (TooLateError(), SystemExit(3), ValueError("/project/x.py"))
    ]
    assert messages == [
        "the import took longer than 7 seconds",
        "it ends the program (SystemExit: 3)",
        "it raises ValueError: x.py",
    ]
    assert (relative("/project/a/b.py", "/project"), relative("/projects/b.py", "/project")) == ("a/b.py", "")
    assert file_line(ASKED, marks=[1]) == {"path": "tools.py", "marks": [1], "servers": {}, "failure": None}


def test_a_message_is_the_same_in_each_process() -> None:
    assert (
        brief_message(TypeError(f"{object()!r} and {object()!r} at 0x1"))
        == "<object object> and <object object> at 0x1"
    )
