"""Imports that are done when what they name is first used, so that a start does not pay for them.

A type checker sees the import itself, in the branch that is for it alone; the other branch says the same as a string:

    if TYPE_CHECKING:
        from mcpc_runtime.protocol.calls import finish
    else:
        finish = lazy("mcpc_runtime.protocol.calls:finish")

`finish(…)` imports the module, puts the function in the place of the `lazy` one, and calls it.  A string without a
colon names a module: its attributes can be used as usual.  Rows of tables are strings, too; `resolve` imports one.
"""

from __future__ import annotations

from sys import _getframe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

known: dict[str, Any] = {}


def resolve(row: str) -> Any:
    """Return what `package.module:name` names."""
    if row not in known:
        module, _, name = row.partition(":")
        known[row] = getattr(__import__(module, fromlist=[name]), name)
    return known[row]


class lazy:  # noqa: N801 - it stands where an import would
    """A module, or a function or class of one, that is imported when it is first used.

    `alias`: what it is called in the module that uses it, if that is not its name.
    """

    __slots__ = ("_alias", "_globals", "_module", "_name")

    def __init__(self, target: str, alias: str = "") -> None:
        self._module, _, self._name = target.partition(":")
        self._alias = alias or self._name or target.rpartition(".")[2]
        self._globals = _getframe(1).f_globals

    def _import(self) -> Any:
        module = __import__(self._module, fromlist=[self._name or "__name__"])
        found = getattr(module, self._name) if self._name else module
        if self._globals.get(self._alias) is self:
            self._globals[self._alias] = found
        return found

    def __call__(self, *words: Any, **more: Any) -> Any:
        """Import what is called, and call it."""
        return self._import()(*words, **more)

    def __getattr__(self, name: str) -> Any:
        """Import the module, or the class, whose attribute is used."""
        return getattr(self._import(), name)
