"""What kind of type a hint is: predicates of the table of conversions, and what the names of types stand for."""

from __future__ import annotations

import sys
import types
import typing
from typing import Any, TypeGuard


def type_name(hint: object) -> str:
    """Return the full name of a class, or of the class behind `list[int]`."""
    kind = typing.get_origin(hint) or hint
    return f"{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', '')}"


def is_class(hint: object) -> TypeGuard[type]:
    """Tell whether a hint is a class and not a generic alias such as `list[int]`, which claims to be one."""
    return isinstance(hint, type) and typing.get_origin(hint) is None


def is_union(hint: object) -> bool:
    """Tell whether a hint is `A | B` or `Optional[A]`."""
    origin = typing.get_origin(hint)
    # `A | B` has an origin of its own before Python 3.14.
    return origin is typing.Union or getattr(origin, "__name__", "") == "UnionType"


def is_named_tuple(hint: object) -> bool:
    """Tell whether a hint is a NamedTuple."""
    return is_class(hint) and issubclass(hint, tuple) and hasattr(hint, "_fields")


def is_typed_dict(hint: object) -> bool:
    """Tell whether a hint is a TypedDict, of `typing` or of `typing_extensions`."""
    return is_class(hint) and hasattr(hint, "__required_keys__")


def is_path(hint: object) -> bool:
    """Tell whether a hint is a class of paths."""
    return is_class(hint) and hasattr(hint, "__fspath__")


def is_alias(hint: object) -> bool:
    """Tell whether a hint is a name for another one, made by `type X = …` or `TypeAliasType`."""
    # By name: before Python 3.12 the class is that of `typing_extensions`.
    return type(hint).__name__ == "TypeAliasType"


def alias_value(hint: Any) -> object:
    """Return what an alias is a name of; texts in it are read where it was made."""
    module = sys.modules.get(getattr(hint, "__module__", "") or "")
    holder = types.SimpleNamespace(__annotations__={"it": hint.__value__})
    return typing.get_type_hints(holder, vars(module) if module else {}, include_extras=True)["it"]


def needs_pydantic(hint: object) -> bool:
    """Tell whether a hint has a type of pydantic in it, or metadata of pydantic that changes values.

    The author's whole annotation is then pydantic's: taken apart, a type that refers to itself would lose its name.
    """
    return "pydantic" in sys.modules and has_pydantic(hint, set())


def has_pydantic(hint: object, seen: set[int]) -> bool:
    """Tell whether pydantic is in a hint, below its aliases too; `seen`: the aliases that were looked at."""
    if is_alias(hint):
        if id(hint) in seen:
            return False
        seen.add(id(hint))
        return has_pydantic(alias_value(hint), seen)
    # The arguments of a Literal are values, not types.
    if typing.get_origin(hint) is typing.Literal:
        return False
    metadata = getattr(hint, "__metadata__", ()) if typing.get_origin(hint) is typing.Annotated else (hint,)
    parts = (typing.get_origin(hint), *typing.get_args(hint)) if typing.get_args(hint) else ()
    return any(map(changes_values, metadata)) or any(has_pydantic(part, seen) for part in parts if part is not hint)


def changes_values(part: object) -> bool:
    """Tell whether metadata of a hint changes values, instead of only constraining them."""
    if getattr(part, "strip_whitespace", None) or getattr(part, "to_lower", None) or getattr(part, "to_upper", None):
        return True
    return hasattr(part, "__get_pydantic_core_schema__") or "__pydantic_validator__" in getattr(part, "__dict__", ())
