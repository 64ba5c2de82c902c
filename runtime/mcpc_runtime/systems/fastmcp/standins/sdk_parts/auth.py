"""Authorization: classes that a project may subclass and make; no request reaches them.

A name that has no definition here is a record of the fields that it is made with.
"""

from __future__ import annotations

from functools import cache
from types import GenericAlias
from typing import Any, ClassVar

from mcpc_runtime.systems.fastmcp.engine.server import current_call, token_fields


class Fields:
    """A record with the fields that it is made with."""

    __class_getitem__: ClassVar[object] = classmethod(GenericAlias)

    def __init__(self, *_: object, **fields: object) -> None:
        vars(self).update(fields)

    def __getattr__(self, name: str) -> Any:
        # Python itself asks for special names, for example to copy a record, and must not get None.
        if name.startswith("_"):
            raise AttributeError(name)
        return None


class AccessToken(Fields):
    """A token of a client."""


def create_auth_routes(*_: object, **__: object) -> list[object]:
    """Return no routes: the built server has its own."""
    return []


create_protected_resource_routes = create_auth_routes


def get_access_token() -> AccessToken | None:
    """Return the token of the call that the built server has accepted, None if it asks for none."""
    fields = token_fields(current_call.get())
    return None if fields is None else AccessToken(**fields)


@cache
def record(name: str) -> type:
    base: type = Exception if name.endswith("Error") else Fields
    return type(name, (base,), {"__module__": __name__})


def __getattr__(name: str) -> type:
    if name.startswith("_"):
        raise AttributeError(name)
    return record(name)
