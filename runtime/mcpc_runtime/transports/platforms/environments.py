"""The environment variables that a handler receives from the server's environment."""

from __future__ import annotations

from mcpc_runtime.transports.platforms import ADAPTER, bind_port, system
from mcpc_runtime.transports.platforms.secret_variables import SECRETS, declare_secrets, is_secret

__all__ = [
    "DEFAULTS",
    "MAX_VARIABLE_LENGTH",
    "MINIMAL",
    "SCRIPTS_NEED_SYSTEM_VARIABLES",
    "SCRIPT_DEFAULTS",
    "SECRETS",
    "variable_name",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpc_runtime.transports.platforms.posix.variables import (
        DEFAULTS,
        MAX_VARIABLE_LENGTH,
        MINIMAL,
        SCRIPT_DEFAULTS,
        SCRIPTS_NEED_SYSTEM_VARIABLES,
        variable_name,
    )
else:
    bind_port(globals(), f"{ADAPTER}.variables")


def hide_variables(names: Iterable[str]) -> None:
    """Withhold these variables from handlers: the project declares them as secrets of the server."""
    declare_secrets(variable_name(name) for name in names)


def handler_environment(inherit: bool, names: tuple[str, ...]) -> dict[bytes, bytes]:
    """Return a handler's variables: all, or MINIMAL and those in `names`; a name may end with `*`; DEFAULTS anyway."""
    # DEFAULTS come first, so that the server's own values win; a secret is withheld even where everything is inherited.
    visible = {**DEFAULTS, **system.environ}
    visible = {name: value for name, value in visible.items() if not is_secret(name)}
    if inherit:
        return visible
    selected = [variable_name(name) for name in (*MINIMAL, *names)] + list(DEFAULTS)
    exact = {name for name in selected if not name.endswith(b"*")}
    prefixes = tuple(name[:-1] for name in selected if name.endswith(b"*"))
    return {name: value for name, value in visible.items() if name in exact or name.startswith(prefixes)}


def script_variables() -> dict[bytes, bytes]:
    """Return the variables that every script of mcp-bash has, whatever its project allows."""
    return handler_environment(False, ()) if SCRIPTS_NEED_SYSTEM_VARIABLES else {}
