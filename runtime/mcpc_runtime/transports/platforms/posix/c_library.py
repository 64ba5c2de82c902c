"""Functions of the C library that no Python module provides; `_ctypes` alone costs a fifth of `ctypes`."""

from __future__ import annotations

import _ctypes
from typing import Any


def address_of(name: str) -> int:
    """Return the address of a function; raise ImportError without `_ctypes`, OSError if there is no such function."""
    return _ctypes.dlsym(_ctypes.dlopen(None, 0), name)  # type: ignore[arg-type]


def call(address: int, arguments: tuple[object, ...]) -> int:
    """Call a function that returns an integer."""
    return int(_ctypes.call_function(address, arguments))


def buffer(size: int) -> Any:
    """Return memory of this size, all zeros, that a function may write to; `bytes` returns its contents."""
    return (number_type("B") * size)()


def unsigned_64(value: int) -> Any:
    """Return an argument of 64 bits; a plain number is an `int`."""
    return number_type("Q")(value)


def number_type(code: str) -> Any:
    """Return the C type of numbers with this code of the module `struct`."""
    if code not in number_types:

        class Number(_ctypes._SimpleCData):  # type: ignore[type-arg]  # not generic at run time
            _type_ = code

        number_types[code] = Number
    return number_types[code]


number_types: dict[str, Any] = {}
