"""Build the models of a server's tools on demand: a class for each schema.

Their modules are texts: one for each tool of an artifact, one with all tools for editors and clients.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.languages import MODELS_LINE
from mcpc.schema.models.ast_allowlist import IMPORTS, ModelClass
from mcpc.schema.models.composition import compose_classes
from mcpc.schema.models.names import INPUT, OUTPUT, tool_classes
from mcpc.schema.models.store import views_digest
from mcpc.schema.models.view import model_schema
from mcpc.schema.models.view_schemas import NoModelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpc.model.ir import Schema, Server, Tool
    from mcpc.schema.models.ast_allowlist import Classes, Result
    from mcpc.schema.models.view import ModelSchema

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
    return tuple(dict.fromkeys(tool.name for tool in server.tools))


@lru_cache(maxsize=2)
def model_requests(server: Server, tools: tuple[str, ...]) -> tuple[ModelRequest, ...]:
    """Return the schemas of some tools with their views, a tool's input before its output."""
    names = class_prefixes(server)
    # Of several tools of one name the first counts.
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
    # A result for each view, in their order.
    results = iter(compose_classes([item.view for item in asked if item.view]))
    return tuple(_model(item, next(results) if item.view else item.problem) for item in asked)


def _model(asked: ModelRequest, result: Result) -> Model:
    if isinstance(result, str):
        empty = ModelClass(EMPTY_CLASS.format(name=asked.root), ("BaseModel", "ConfigDict"))
        return Model(asked, {asked.root: empty}, result)
    return Model(asked, result)


SCHEMAS = "# Of the schemas with the digest "
FUTURE = "from __future__ import annotations"


def digest_line(wanted: Iterable[ModelRequest]) -> str:
    """Return the line that identifies the schemas of a file."""
    return f"{SCHEMAS}{views_digest([item.view for item in wanted])[:32]}."


def tool_module(models: Sequence[Model]) -> str:
    classes = _classes(models)
    return "\n".join((FUTURE, *_imports(classes.values()), *_bodies(classes)))


def all_tools_module(models: Sequence[Model]) -> str:
    classes = _classes(models)
    doc = '"""What the tools of this server take and return."""'
    digest = digest_line(model.wanted for model in models)
    head = (MODELS_LINE, digest, doc, "", FUTURE, *_imports(classes.values()), "")
    names = "".join(f'    "{name}",\n' for name in sorted(classes))
    return "\n".join((*head, f"__all__ = [\n{names}]" if names else "__all__: list[str] = []", *_bodies(classes)))


def _classes(models: Iterable[Model]) -> dict[str, ModelClass]:
    return {name: made for model in models for name, made in model.classes.items()}


def _imports(classes: Iterable[ModelClass]) -> list[str]:
    used = {word for made in classes for word in made.words}
    lines = []
    for module in ("typing", "pydantic"):
        words = sorted(used & IMPORTS[module])
        lines += ["", f"from {module} import {', '.join(words)}"] if words else []
    return lines


def _bodies(classes: dict[str, ModelClass]) -> list[str]:
    rebuilt = [f"{name}.model_rebuild()" for name, made in classes.items() if made.rebuilt]
    bodies = [f"\n\n{made.source}" for made in classes.values()]
    return [*bodies, *(["", "", *rebuilt] if rebuilt else []), ""]
