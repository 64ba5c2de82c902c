"""Lazy imports: a module is imported when one of its names is first used, so that the start does not pay for it.

The packer writes them in place of imports whose names functions only call, take attributes of, or pass to `isinstance`
(`mcpc.pack.late_imports`):

    finish_call = lazy("mcpc_runtime.protocol.calls:finish_call")

`finish_call(…)` imports the module, replaces the `lazy` object by the function, and calls it. A string without a colon
names a module: its attributes can be used as usual. Rows of tables are strings, too; `resolve` imports one. No module
writes `lazy` itself.
"""

from __future__ import annotations

from sys import _getframe, modules
from typing import Any

resolved_rows: dict[str, object] = {}


def resolve(row: str) -> Any:
    """Return the object that `package.module:name` names."""
    if row not in resolved_rows:
        module, _, name = row.partition(":")
        resolved_rows[row] = getattr(__import__(module, fromlist=[name]), name)
    return resolved_rows[row]


def call_rows(rows: tuple[str, ...], *arguments: object) -> list[Any]:
    """Call the function of each row; return the results."""
    return [resolve(row)(*arguments) for row in rows]


class lazy:  # noqa: N801 - it stands where an import would
    """A module, or a function or class in one, that is imported when it is first used.

    `alias`: its name in the module that uses it, if that differs from its own name.
    """

    __slots__ = ("_alias", "_globals", "_module", "_name", "_object")

    def __init__(self, target: str, alias: str = "") -> None:
        self._module, _, self._name = target.partition(":")
        self._alias = alias or self._name or target.rpartition(".")[2]
        self._globals = _getframe(1).f_globals
        self._object: object = None

    def _import(self) -> Any:
        if self._object is None:
            # With a list that is not empty `__import__` returns the module, and not its outermost package.
            module = __import__(self._module, fromlist=[self._name or "__name__"])
            self._object = getattr(module, self._name) if self._name else module
        if self._globals.get(self._alias) is self:
            self._globals[self._alias] = self._object
        return self._object

    def __call__(self, *arguments: object, **options: object) -> Any:
        """Import the function or class, and call it."""
        return self._import()(*arguments, **options)

    def __instancecheck__(self, value: object) -> bool:
        """Tell whether a value is of the class; none is before its module is imported."""
        return self._module in modules and isinstance(value, self._import())

    def __getattr__(self, name: str) -> Any:
        """Import the module, or the class, whose attribute is used."""
        return getattr(self._import(), name)
