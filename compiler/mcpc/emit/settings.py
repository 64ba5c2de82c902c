"""Emit a server's settings: what the runtime checks at start, and the variables that handlers get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.emit.artifact_file import ArtifactFile
from mcpc.emit.templates import render
from mcpc.model.ir.project import variable_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.emit.records import Environments
    from mcpc.model.ir.handlers import PlainData
    from mcpc.model.ir.project import Setting


def setting_rows(settings: Sequence[Setting]) -> tuple[PlainData, ...]:
    """Return the rows of the index (see `mcpc_runtime.artifact.settings.Row`), without what only people read."""
    return tuple(
        (
            setting.name,
            setting.type,
            setting.required,
            setting.secret,
            None if setting.default is None else variable_text(setting.default),
            tuple(map(variable_text, setting.choices)),
            setting.title or setting.description.partition("\n")[0],
        )
        for setting in settings
    )


PYTHON_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "file": "Path",
    "directory": "Path",
}
"""The Python type of a setting's value (see `CONVERSIONS` of `mcpc_runtime.handlers.python.settings`)."""


def settings_module(settings: Sequence[Setting]) -> tuple[ArtifactFile, ...]:
    """Return the module with the Python types of settings, for handlers that have a class of settings."""
    if not settings:
        return ()
    kinds = {
        item.name: "Secret" if item.secret and item.type == "string" else PYTHON_TYPES[item.type] for item in settings
    }
    return (ArtifactFile("mcpc_app/settings.py", render("settings.py.j2", kinds=kinds), python=True),)


def with_settings(known: Environments, settings: Sequence[Setting]) -> Environments:
    """Return environments in which the variables of settings are, too."""
    names = tuple(setting.name for setting in settings)
    return tuple((inherit, () if inherit else tuple(dict.fromkeys((*given, *names)))) for inherit, given in known)
