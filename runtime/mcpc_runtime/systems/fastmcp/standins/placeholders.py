"""Modules and attributes of a framework that have no stand-in: importing them works, using them does not."""

from __future__ import annotations

from types import ModuleType

from mcpc_runtime.systems.fastmcp.engine.errors import UnsupportedFeatureError
from mcpc_runtime.systems.fastmcp.engine.notes import running_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


touched: dict[str, tuple[str, int]] = {}
"""The names without a stand-in that code has touched, each with its first place."""


class PlaceholderMeta(type):
    """The class of placeholders: subclassing and annotations work; calls and other attributes raise an exception."""

    feature: str

    def __call__(cls, *_: object, **__: object) -> NoReturn:
        """Refuse to make an instance."""
        raise UnsupportedFeatureError(cls.feature)

    def __getattr__(cls, name: str) -> object:
        """Return a placeholder for a nested name, so that a module body that only mentions it works."""
        if name.startswith("__"):
            raise AttributeError(name)
        return placeholder(f"{cls.feature}.{name}")

    def __getitem__(cls, _: object) -> type:
        """Return the placeholder itself for a generic type."""
        return cls


def placeholder(feature: str) -> type:
    """Return a class that stands for a name without a stand-in."""
    touched.setdefault(feature, running_place())
    return PlaceholderMeta(feature.rpartition(".")[2], (), {"feature": feature})


class PlaceholderModule(ModuleType):
    """A module without a stand-in: every public name in it is a placeholder."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []
        touched.setdefault(name, running_place())

    def __getattr__(self, name: str) -> object:
        """Return a placeholder, the same one each time."""
        if name.startswith("__"):
            raise AttributeError(name)
        made = placeholder(f"{self.__name__}.{name}")
        setattr(self, name, made)
        return made
