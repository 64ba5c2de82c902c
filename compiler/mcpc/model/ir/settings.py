"""Settings: the values that the person who installs a server gives it, as API keys, addresses and folders.

A setting is declared once.  Handlers, the built file's own checks, clients' inputs, and the manifests of bundles,
plugins, registries and deployments all follow from the declaration.  A value is never part of a built file, except for
a default.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.diagnostics import Span
    from mcpc.reading import Json

SETTING_TYPES = ("string", "integer", "number", "boolean", "file", "directory")
"""The types of settings; `file` and `directory` are paths that must exist when the server starts."""
Scalar = str | int | float | bool


def variable_text(value: Scalar) -> str:
    """Return a value as the text of an environment variable."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.  `name`: the environment variable that has its value; `choices`: the only valid values, if any."""

    name: str
    type: str
    span: Span
    title: str = ""
    description: str = ""
    required: bool = False
    secret: bool = False
    default: Scalar | None = None
    choices: tuple[Scalar, ...] = field(default=())

    def as_json(self) -> Json:
        """Return it as JSON; fields that are false or not set are left out."""
        others: dict[str, Json] = {
            "title": self.title,
            "description": self.description,
            "required": self.required,
            "secret": self.secret,
            "choices": [*self.choices],
        }
        facts: dict[str, Json] = {"name": self.name, "type": self.type}
        facts.update({name: value for name, value in others.items() if value})
        if self.default is not None:
            facts["default"] = self.default
        return facts
