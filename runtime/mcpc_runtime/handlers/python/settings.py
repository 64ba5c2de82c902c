"""`Settings`: a class of a project whose annotated attributes are the settings of its server, with their types.

    class WeatherSettings(Settings):
        api_key: Secret                                       # API_KEY, required
        units: Literal["metric", "imperial"] = "metric"       # UNITS

    server = Server("weather", settings=WeatherSettings)

The build reads the class; `WeatherSettings()` reads the values, which the server has checked, from the environment.
The types are in a generated module, so that no annotation is evaluated in a built server.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import dataclass_transform
else:

    def dataclass_transform(**_: object) -> object:
        """Do nothing: only type checkers need it."""
        return lambda kind: kind


TYPES = "mcpc_app.settings"
"""The generated module: `KINDS`, the Python type of each setting by its variable."""


class Secret:
    """A text that is not shown where it is printed; `get_secret_value()` returns it, as with pydantic's `SecretStr`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def get_secret_value(self) -> str:
        """Return the text itself."""
        return self._value

    def __eq__(self, other: object) -> bool:
        """Tell whether another secret has the same text."""
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        """Return the hash of the text."""
        return hash(self._value)

    def __repr__(self) -> str:
        """Return asterisks."""
        return "Secret('**********')"

    def __str__(self) -> str:
        """Return asterisks."""
        return "**********"


CONVERSIONS: Mapping[str, Callable[[str], object]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": lambda text: text == "true",
    # In a function, so that the packer can make the import of `pathlib` late.
    "Path": lambda text: Path(text),
    "Secret": Secret,
}
"""How a checked text becomes a value of an annotated type."""


@dataclass_transform(kw_only_default=True)
class Settings:
    """The settings of a server: `api_key: str` is the variable API_KEY, with `prefix` before it."""

    settings_prefix = ""

    def __init_subclass__(cls, prefix: str = "", **options: object) -> None:
        super().__init_subclass__(**options)
        cls.settings_prefix = prefix or cls.settings_prefix

    def __init__(self, **given: object) -> None:
        """Read every setting; one without a value or a default is missing as an attribute."""
        kinds = known_kinds()
        for name in attribute_names(type(self)):
            variable = f"{self.settings_prefix}{name}".upper()
            # A variable that the built server does not know was not checked.
            text = os.environ.get(variable, "") if variable in kinds else ""
            if name in given:
                setattr(self, name, given[name])
            elif text:
                setattr(self, name, CONVERSIONS[kinds[variable]](text))
            else:
                set_default(self, name)

    def __getattr__(self, name: str) -> object:
        """Tell which setting has no value."""
        if name.startswith("_") or name not in attribute_names(type(self)):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise AttributeError("the setting " + f"{self.settings_prefix}{name}".upper() + " has no value")

    def __repr__(self) -> str:
        """Return the names and values; those of secrets are not shown."""
        values = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({values})"


def set_default(settings: Settings, name: str) -> None:
    """Set an attribute to the default of its class, if there is one: a value, or that of a `Field`."""
    missing = object()
    default = getattr(type(settings), name, missing)
    if hasattr(default, "get_default"):
        default = default.get_default(call_default_factory=True)
    # The defaults of a required `Field`: `...` of mcpc, PydanticUndefined of pydantic.
    if default is not missing and default is not ... and type(default).__name__ != "PydanticUndefinedType":
        setattr(settings, name, default)


def attribute_names(kind: type) -> tuple[str, ...]:
    """Return the annotated attributes of a class of settings, those of its bases first."""
    classes = [each for each in reversed(kind.__mro__) if issubclass(each, Settings) and each is not Settings]
    names = (name for each in classes for name in own_annotations(each))
    return tuple(dict.fromkeys(name for name in names if not name.startswith("_")))


def own_annotations(kind: type) -> Mapping[str, object]:
    """Return the annotations in the body of a class."""
    if sys.version_info >= (3, 14):
        # They are computed when they are asked for (PEP 649); a name that only type checkers know stays a reference.
        from annotationlib import Format, get_annotations  # noqa: PLC0415 - a module of Python 3.14

        return get_annotations(kind, format=Format.FORWARDREF)
    annotations: Mapping[str, object] = vars(kind).get("__annotations__", {})
    return annotations


def known_kinds() -> Mapping[str, str]:
    """Return the types of the built server's settings; while a project is built there are none yet."""
    try:
        __import__(TYPES)
    except ImportError:
        return {}
    kinds: Mapping[str, str] = sys.modules[TYPES].KINDS
    return kinds
