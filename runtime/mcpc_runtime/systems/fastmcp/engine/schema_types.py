"""Annotations as the frameworks read them: resolved, taken apart, and asked which wire types are in them.

The frameworks' own classes are recognized by their names and packages, so that nothing has to be imported for it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from types import GenericAlias, SimpleNamespace, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from mcpc_runtime.systems.fastmcp.interfaces import Function, Object

PACKAGES = frozenset({"mcp", "mcp_types", "fastmcp", "mcpc_runtime"})
"""The packages whose classes are the frameworks' own."""
CONTENT = frozenset({"TextContent", "ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource"})
"""The classes of content blocks."""
HELPERS = frozenset({"Image", "Audio", "File"})
"""The classes that become content blocks."""
UNKNOWN: Any = object()
"""An annotation that could not be resolved."""


def is_class(annotation: object, names: Iterable[str]) -> bool:
    """Tell whether an annotation is one of the frameworks' classes, or a subclass of one."""
    return isinstance(annotation, type) and any(is_own(base, names) for base in annotation.__mro__)


def is_own(annotation: object, names: Iterable[str]) -> bool:
    """Tell whether an annotation is exactly one of the frameworks' classes."""
    package = getattr(annotation, "__module__", "").partition(".")[0]
    return isinstance(annotation, type) and package in PACKAGES and annotation.__name__ in names


def is_union(annotation: object) -> bool:
    return get_origin(annotation) in (Union, UnionType)


def union_of(annotations: Sequence[object]) -> object:
    """Return the union of some annotations, or the only one."""
    return annotations[0] if len(annotations) == 1 else Union[tuple(annotations)]  # noqa: UP007  # made of values


def unwrapped(annotation: object) -> tuple[Any, tuple[Any, ...]]:
    """Return an annotation's type, and its metadata."""
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        return inner, tuple(metadata)
    return annotation, ()


def unaliased(annotation: object) -> Any:
    """Return the value of an alias (`type X = ...`), and any other annotation as it is."""
    while type(annotation).__name__ == "TypeAliasType":
        annotation = annotation.__value__  # type: ignore[attr-defined]
    return annotation


def contains(annotation: object, found: Callable[[object], bool]) -> bool:
    """Tell whether a type anywhere in an annotation is one that is asked for."""
    return found(annotation) or any(contains(argument, found) for argument in get_args(annotation))


def has_arm(annotation: object, found: Callable[[object], bool]) -> bool:
    """Tell whether an annotation, or an arm of its unions, is one that is asked for."""
    annotation = unaliased(annotation)
    if get_origin(annotation) is Annotated:
        return has_arm(get_args(annotation)[0], found)
    if is_union(annotation):
        return any(has_arm(argument, found) for argument in get_args(annotation))
    return found(annotation)


def without_arms(annotation: object, dropped: Callable[[object], bool]) -> Any:
    """Return an annotation without some arms of its unions; as it is where nothing would be left."""
    if not has_arm(annotation, dropped):
        return annotation
    inner, metadata = unwrapped(unaliased(annotation))
    if metadata:
        return Annotated[(without_arms(inner, dropped), *metadata)]
    if not is_union(inner):
        return inner
    kept = [without_arms(arm, dropped) for arm in get_args(inner) if not is_dropped(arm, dropped)]
    return union_of(kept) if kept else annotation


def is_dropped(annotation: object, dropped: Callable[[object], bool]) -> bool:
    """Tell whether an arm itself, not only a part of it, is to be dropped."""
    inner = unwrapped(unaliased(annotation))[0]
    return not is_union(inner) and dropped(inner)


def is_bare_sequence(annotation: object) -> bool:
    """Tell whether an annotation is a sequence of anything: `list`, `list[Any]`, `tuple[Any, ...]`."""
    annotation = unwrapped(unaliased(annotation))[0]
    sequences = (list, tuple, Sequence)
    if annotation in sequences:
        return True
    if (origin := get_origin(annotation)) not in sequences:
        return False
    arguments = get_args(annotation)
    return arguments == (Any, ...) if origin is tuple and arguments else all(each is Any for each in arguments)


def is_builtin_generic(annotation: object) -> bool:
    """Tell whether an annotation is of the form `list[int]`, not `typing.List[int]`."""
    return isinstance(annotation, GenericAlias)


def called(function: Function) -> Function:
    """Return what is called: an instance's `__call__`, a static method's function, others as they are."""
    if not inspect.isroutine(function) and not isinstance(function, functools.partial):
        function = function.__call__  # type: ignore[operator]
    return function.__func__ if isinstance(function, staticmethod) else function


def function_name(function: Function) -> str:
    """Return a function's name; that of its class where it has none."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", None) or type(function).__name__)


def hints_of(function: Function) -> Object:
    """Return a function's annotations: resolved if all of them can be, else as they are written."""
    while isinstance(function, functools.partial):
        function = function.func
    try:
        return get_type_hints(called(function), include_extras=True)
    except Exception:  # noqa: BLE001  # an annotation is code of the project
        return dict(getattr(called(function), "__annotations__", {}))


def resolved(text: object, names: Object) -> Any:
    """Return the value of an annotation that may be text, in a namespace; UNKNOWN if a name is not there."""
    if not isinstance(text, str):
        return text
    holder = SimpleNamespace(__annotations__={"value": text})
    try:
        return get_type_hints(holder, globalns=names, include_extras=True)["value"]
    except Exception:  # noqa: BLE001  # an annotation is code of the project
        return UNKNOWN
