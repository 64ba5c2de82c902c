"""The models of a server's tools: a view of each schema, and classes of the views; none before they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.models.composition import composed
from mcpc.models.names import INPUT, OUTPUT, tool_classes
from mcpc.models.shapes import NoModelError
from mcpc.models.vetting import Class
from mcpc.models.view import view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.ir import Schema, Server, Tool
    from mcpc.models.vetting import Classes, Result
    from mcpc.models.view import View

EMPTY = """class {name}(BaseModel):
    model_config = ConfigDict(
        extra='allow',
        validate_by_name=True,
    )"""
"""The class of a schema of which there can be no model: it takes every object."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A schema of which a model is wanted, its view, and why there is none if there is none."""

    tool: str
    base: str
    root: str
    schema: Schema
    view: View | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """The classes of one schema, its own among them; `problem`: why they say nothing."""

    wanted: Wanted
    classes: Classes
    problem: str = ""


def bases(server: Server) -> dict[str, str]:
    """Return for each tool what the names of its classes begin with."""
    return tool_classes(tool.name for tool in server.tools)


def every_tool(server: Server) -> tuple[str, ...]:
    """Return the names of all tools."""
    return tuple(dict.fromkeys(tool.name for tool in server.tools))


@lru_cache(maxsize=2)
def wanted(server: Server, tools: tuple[str, ...]) -> tuple[Wanted, ...]:
    """Return the schemas of some tools with their views, a tool's input before its output."""
    names = bases(server)
    first = {tool.name: tool for tool in reversed(server.tools)}
    return tuple(one for name in tools if name in first for one in _of_tool(first[name], names[name]))


def _of_tool(tool: Tool, base: str) -> Iterator[Wanted]:
    for schema, suffix in ((tool.input, INPUT), (tool.output, OUTPUT)):
        if schema is not None:
            seen, problem = _viewed(schema, base + suffix)
            yield Wanted(tool.name, base, base + suffix, schema, seen, problem)


def _viewed(schema: Schema, root: str) -> tuple[View | None, str]:
    try:
        return view(schema, root), ""
    except NoModelError as problem:
        return None, str(problem)
    except RecursionError:
        return None, "it is nested too deeply"


@lru_cache(maxsize=2)
def made(server: Server, tools: tuple[str, ...]) -> tuple[Model, ...]:
    """Return the models of some tools."""
    asked = wanted(server, tools)
    results = iter(composed([one.view for one in asked if one.view]))
    return tuple(_model(one, next(results) if one.view else one.problem) for one in asked)


def _model(asked: Wanted, result: Result) -> Model:
    if isinstance(result, str):
        empty = Class(EMPTY.format(name=asked.root), ("BaseModel", "ConfigDict"))
        return Model(asked, {asked.root: empty}, result)
    return Model(asked, result)
