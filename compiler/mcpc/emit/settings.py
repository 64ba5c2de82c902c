"""Emit a server's settings: what the runtime checks at start, and the variables that handlers get."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpc.emit.records import Environments
    from mcpc.ir.handlers import PlainData
    from mcpc.ir.settings import Scalar, Setting


def setting_rows(settings: Sequence[Setting]) -> tuple[PlainData, ...]:
    """Return the rows of the index (see `mcpc_runtime.settings.Row`), without what only people read."""
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


def variable_text(value: Scalar) -> str:
    """Return a value as the text of an environment variable."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def with_settings(known: Environments, settings: Sequence[Setting]) -> Environments:
    """Return environments in which the variables of settings are, too."""
    names = tuple(setting.name for setting in settings)
    return tuple((inherit, () if inherit else tuple(dict.fromkeys((*given, *names)))) for inherit, given in known)
