"""Annotations as the frameworks read them, and references in schemas, replaced by what they refer to.

The frameworks' own classes are recognized by their names and packages, so that nothing has to be imported for it.

A schema that refers to itself cannot be written without references: then only its root is replaced.
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
UNKNOWN: object = object()
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


def unwrapped(annotation: object) -> tuple[object, tuple[object, ...]]:
    """Return an annotation's type, and its metadata."""
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        return inner, tuple(metadata)
    return annotation, ()


def unaliased(annotation: object) -> object:
    """Return the value of an alias (`type X = ...`), and any other annotation as it is."""
    # By its name: there is one of Python (from 3.12 on), and one of `typing_extensions`.
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


def without_arms(annotation: object, dropped: Callable[[object], bool]) -> object:
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


LOCAL = "#/$defs/"
VALUES = frozenset({"default", "const", "examples", "enum"})
"""The keywords whose values are not schemas."""
MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
"""The keywords whose values are objects of schemas by name."""


class SelfReferenceError(Exception):
    """A schema refers to itself."""


def root_inlined(schema: Object) -> Object:
    """Return a schema with what its root refers to in the place of a reference, and the rest of the root over it."""
    reference = schema.get("$ref")
    if "type" in schema or not isinstance(reference, str) or not reference.startswith(LOCAL):
        return schema
    definition = schema.get("$defs", {}).get(reference.removeprefix(LOCAL))
    rest = {key: value for key, value in schema.items() if key != "$ref"}
    return schema if definition is None else {**definition, **rest}


def dereferenced(schema: Object, discriminators: str) -> Object:
    """Return a schema without references and definitions.  `discriminators`: what becomes of them (the rules)."""
    definitions = schema.get("$defs", {})
    try:
        # Definitions that nothing refers to are looked at, too: any that refers to itself keeps all references.
        for name in definitions:
            inlined({"$ref": LOCAL + name}, definitions, ())
        result: Any = inlined({key: value for key, value in schema.items() if key != "$defs"}, definitions, ())
    except SelfReferenceError:
        return root_inlined(schema)
    result = DISCRIMINATORS[discriminators](result)
    return dict(result)


def inlined(node: object, definitions: Object, inside: tuple[str, ...]) -> Any:
    """Return a node with its references replaced.  `inside`: the definitions that it is in."""
    if isinstance(node, list):
        return [inlined(item, definitions, inside) for item in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if not isinstance(reference, str) or not reference.startswith(LOCAL):
        return {key: inlined(value, definitions, inside) for key, value in node.items()}
    name = reference.removeprefix(LOCAL)
    if name in inside:
        raise SelfReferenceError(name)
    rest = {key: value for key, value in node.items() if key != "$ref"}
    # What stands beside a reference overrides what it refers to, such as a description.
    return {**inlined(definitions[name], definitions, (*inside, name)), **rest}


def without_mapping(node: object) -> Any:
    """Remove the mappings of discriminators, which name definitions."""
    if isinstance(node, list):
        return [without_mapping(item) for item in node]
    if not isinstance(node, dict):
        return node
    found = {key: without_mapping(value) for key, value in node.items()}
    if isinstance(found.get("discriminator"), dict):
        found["discriminator"].pop("mapping", None)
    return found


def without_discriminators(node: object) -> object:
    """Remove the discriminators of unions."""
    return discriminators_removed(node, required=False)


def with_required_discriminators(node: object) -> object:
    """Remove the discriminators of unions, and require their properties in the variants."""
    return discriminators_removed(node, required=True)


def discriminators_removed(node: object, *, required: bool) -> object:
    """Remove the discriminators of unions.  `required`: the variants require the property of it."""
    if isinstance(node, list):
        return [discriminators_removed(item, required=required) for item in node]
    if not isinstance(node, dict):
        return node
    if "discriminator" in node and ("anyOf" in node or "oneOf" in node):
        node = with_required(node) if required else node
        node = {key: value for key, value in node.items() if key != "discriminator"}
    return {
        key: {name: discriminators_removed(each, required=required) for name, each in value.items()}
        if key in MAPS and isinstance(value, dict)
        else (value if key in VALUES else discriminators_removed(value, required=required))
        for key, value in node.items()
    }


def with_required(node: Object) -> Object:
    """Return a union whose variants require the discriminator's property."""
    name = node["discriminator"].get("propertyName")
    if not isinstance(name, str):
        return node
    unions: Object = {key: [required_in(each, name) for each in node[key]] for key in ("anyOf", "oneOf") if key in node}
    return {**node, **unions}


def required_in(variant: object, name: str) -> object:
    if not isinstance(variant, dict) or name in variant.get("required", ()):
        return variant
    return {**variant, "required": [*variant.get("required", ()), name]}


DISCRIMINATORS = {
    "": lambda node: node,
    "mapping": without_mapping,
    "removed": without_discriminators,
    "required": with_required_discriminators,
}
"""What becomes of discriminators."""
