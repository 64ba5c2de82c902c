"""Build the models of a server's tools, a class for each schema, on demand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.models.ast_allowlist import ModelClass
from mcpc.models.composition import compose_classes
from mcpc.models.names import INPUT, OUTPUT, tool_classes
from mcpc.models.view import model_schema
from mcpc.models.view_schemas import NoModelError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.ir import Schema, Server, Tool
    from mcpc.models.ast_allowlist import Classes, Result
    from mcpc.models.view import ModelSchema

EMPTY_CLASS = """class {name}(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        validate_by_name=True,
    )"""
"""The class of a schema without a model: it accepts every object."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A schema whose model is requested, its view, and the reason if there is none."""

    tool: str
    base: str
    root: str
    schema: Schema
    view: ModelSchema | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """The classes of one schema, including its own; `problem`: why they are empty."""

    wanted: ModelRequest
    classes: Classes
    problem: str = ""


def class_prefixes(server: Server) -> dict[str, str]:
    """Return for each tool the prefix of its classes' names."""
    return tool_classes(tool.name for tool in server.tools)


def tool_names(server: Server) -> tuple[str, ...]:
    """Return the names of all tools."""
    return tuple(dict.fromkeys(tool.name for tool in server.tools))


@lru_cache(maxsize=2)
def model_requests(server: Server, tools: tuple[str, ...]) -> tuple[ModelRequest, ...]:
    """Return the schemas of some tools with their views, a tool's input before its output."""
    names = class_prefixes(server)
    first = {tool.name: tool for tool in reversed(server.tools)}
    return tuple(item for name in tools if name in first for item in _of_tool(first[name], names[name]))


def _of_tool(tool: Tool, base: str) -> Iterator[ModelRequest]:
    for schema, suffix in ((tool.input, INPUT), (tool.output, OUTPUT)):
        if schema is not None:
            seen, problem = _view_of(schema, base + suffix)
            yield ModelRequest(tool.name, base, base + suffix, schema, seen, problem)


def _view_of(schema: Schema, root: str) -> tuple[ModelSchema | None, str]:
    try:
        return model_schema(schema, root), ""
    except NoModelError as problem:
        return None, str(problem)
    except RecursionError:
        return None, "it is nested too deeply"


@lru_cache(maxsize=2)
def build_models(server: Server, tools: tuple[str, ...]) -> tuple[Model, ...]:
    """Return the models of some tools."""
    asked = model_requests(server, tools)
    results = iter(compose_classes([item.view for item in asked if item.view]))
    return tuple(_model(item, next(results) if item.view else item.problem) for item in asked)


def _model(asked: ModelRequest, result: Result) -> Model:
    if isinstance(result, str):
        empty = ModelClass(EMPTY_CLASS.format(name=asked.root), ("BaseModel", "ConfigDict"))
        return Model(asked, {asked.root: empty}, result)
    return Model(asked, result)
