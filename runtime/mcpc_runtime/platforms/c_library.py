"""Functions of the C library that no module of Python has; `_ctypes` alone costs a fifth of `ctypes`."""

from __future__ import annotations

from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _ctypes
else:
    _ctypes = lazy("_ctypes")


def address_of(name: str) -> int:
    """Return where a function is; raise ImportError without `_ctypes`, OSError if there is no such function."""
    return _ctypes.dlsym(_ctypes.dlopen(None, 0), name)  # type: ignore[arg-type]


def call(address: int, arguments: tuple[object, ...]) -> int:
    """Call a function that takes and returns integers, or what its arguments say."""
    return int(_ctypes.call_function(address, arguments))
