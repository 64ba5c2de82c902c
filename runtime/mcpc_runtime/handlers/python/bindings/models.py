"""Functions that take a model of their arguments, and the models themselves, each tool's made when first asked for.

The compiled validator has accepted the arguments before; that a model does not is told in words, and is no failure of
the function's.
"""

from __future__ import annotations

import importlib
import sys
from _thread import RLock
from types import ModuleType

from mcpc_runtime.platforms.rollback import Rollback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from mcpc_runtime.protocol.jsonrpc import Json

MOST = 5
"""How many refusals of a model are told."""


class ModelClasses:
    """The classes of a server by their names: `owners` has each one's module, `places` each module's source."""

    def __init__(
        self, package: str, loader: Any, folder: str, owners: Mapping[str, str], places: Mapping[str, tuple[int, int]]
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
        """Return a tool's module; pydantic looks for it by its name."""
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


def call(
    function: Callable[..., object], arguments: dict[str, Json], more: dict[str, object], module: str, name: str
) -> object:
    """Call a function with the model of its arguments."""
    model = getattr(importlib.import_module(module), name)
    try:
        given = model.model_validate(arguments, by_alias=True, by_name=False)
    except ValueError as problem:
        if not hasattr(problem, "errors"):
            raise
        return {"content": [{"type": "text", "text": refusal(name, problem)}], "isError": True}
    return function(given, **more)


def refusal(name: str, problem: Any) -> str:
    """Return what a model does not take, a line each."""
    found = problem.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"- /{'/'.join(map(str, one['loc']))}: {one['msg']}" for one in found[:MOST]]
    lines += [f"- and {len(found) - MOST} more"] if len(found) > MOST else []
    return "\n".join((f"The arguments match the tool's schema, but {name} rejects them:", *lines))


def dump(model: Any) -> object:
    """Return a model as JSON: what was given or set, under the names of the schema, and nothing else."""
    settle(model)
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def settle(value: Any) -> None:
    """Count as set what a function changed in place: a default it appended to is not absent any more."""
    if hasattr(value, "__pydantic_fields_set__"):
        given = value.__pydantic_fields_set__
        for name, field in type(value).model_fields.items():
            if name not in given and value.__dict__.get(name) != field.default:
                given.add(name)
    for inner in parts(value):
        settle(inner)


def parts(value: Any) -> Iterator[object]:
    """Yield what a model or a container is made of."""
    if hasattr(value, "__pydantic_fields_set__"):
        yield from value.__dict__.values()
        yield from (value.__pydantic_extra__ or {}).values()
    elif isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value
