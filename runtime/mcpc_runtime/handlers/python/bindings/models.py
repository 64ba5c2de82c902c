"""Binding of functions that take a model of their arguments, and the generated models, each compiled on first use.

The compiled validator has accepted the arguments before; if a model rejects them, the tool result states the reasons.
"""

from __future__ import annotations

import importlib
import sys
from _thread import RLock
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Protocol, TypedDict

from mcpc_runtime.protocol.jsonrpc import Json
from mcpc_runtime.transports.platforms.cleanup import Rollback


class DataLoader(Protocol):
    """The loader of a package's modules and data."""

    def get_data(self, path: str) -> bytes:
        """Return the contents of a file."""
        ...


class ModelError(TypedDict):
    """One error of a model."""

    loc: tuple[int | str, ...]
    msg: str


MAX_REFUSALS = 5
"""The most errors of a model that are listed."""


class ModelClasses:
    """The model classes of a server: `owners` maps a class to its module, `places` a module to its source range."""

    def __init__(
        self,
        package: str,
        loader: DataLoader,
        folder: str,
        owners: Mapping[str, str],
        places: Mapping[str, tuple[int, int]],
    ) -> None:
        self._package = package
        self._read: Callable[[], bytes] = lambda: loader.get_data(f"{folder}/sources")
        self._owners = owners
        self._places = places
        self._lock = RLock()

    def find(self, name: str) -> object:
        """Return the class of this name."""
        owner = self._owners.get(name)
        if owner is None:
            raise AttributeError(f"unknown model {name}")
        return getattr(self._module(owner), name)

    def _module(self, owner: str) -> ModuleType:
        """Return a tool's module; pydantic finds it by name in `sys.modules`."""
        name = f"{self._package}.{owner}"
        with self._lock:
            module = sys.modules.get(name)
            if module is None:
                start, end = self._places[owner]
                module = sys.modules[name] = ModuleType(name)
                with Rollback(lambda: sys.modules.pop(name)):
                    code = compile(self._read()[start:end], f"<{name}>", "exec", dont_inherit=True)
                    exec(code, module.__dict__)  # noqa: S102 - written and checked by the compiler
        return module


def call_with_model(
    function: Callable[..., object], arguments: dict[str, Json], more: dict[str, object], module: str, name: str
) -> object:
    """Call a function with the model of its arguments."""
    model = getattr(importlib.import_module(module), name)
    try:
        # Only by the names of the schema: what a field is called in Python is no name of an argument.
        instance = model.model_validate(arguments, by_alias=True, by_name=False)
    except ValueError as problem:
        # The ValidationError of pydantic is a ValueError; it is told by its method, since pydantic is not imported
        # here.
        if not hasattr(problem, "errors"):
            raise
        errors = problem.errors(include_url=False, include_context=False, include_input=False)
        return {"content": [{"type": "text", "text": rejection_text(name, errors)}], "isError": True}
    return function(instance, **more)


def rejection_text(name: str, errors: Sequence[ModelError]) -> str:
    """Return the errors of a model, one line each."""
    lines = [f"- /{'/'.join(map(str, error['loc']))}: {error['msg']}" for error in errors[:MAX_REFUSALS]]
    lines += [f"- and {len(errors) - MAX_REFUSALS} more"] if len(errors) > MAX_REFUSALS else []
    return "\n".join((f"The arguments match the tool's schema, but {name} rejects them:", *lines))


def dump_model(model: Any) -> object:
    """Return a model as JSON: only fields that were set, under the names of the schema."""
    mark_changed_as_set(model)
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def mark_changed_as_set(value: Any) -> None:
    """Mark fields as set whose default a function changed in place, such as a list it appended to."""
    if hasattr(value, "__pydantic_fields_set__"):
        fields_set = value.__pydantic_fields_set__
        for name, field in type(value).model_fields.items():
            if name not in fields_set and value.__dict__.get(name) != field.default:
                fields_set.add(name)
    for inner in inner_values(value):
        mark_changed_as_set(inner)


def inner_values(value: object) -> Iterator[object]:
    """Yield the values inside a model or a container."""
    if hasattr(value, "__pydantic_fields_set__"):
        yield from value.__dict__.values()
        yield from (getattr(value, "__pydantic_extra__", None) or {}).values()
    elif isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value
