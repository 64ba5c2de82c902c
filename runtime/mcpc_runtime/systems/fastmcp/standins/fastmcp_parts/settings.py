"""The settings of FastMCP, its version, loggers and warnings, and the SDK's errors by their names there."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.generation import selected
from mcpc_runtime.systems.fastmcp.interfaces import Object
from mcpc_runtime.systems.fastmcp.standins.sdk_parts.definitions import selected_definitions

DEFAULTS: Object = {
    **dict.fromkeys(["log_enabled", "enable_rich_tracebacks", "enable_rich_logging", "deprecation_warnings"], True),
    **dict.fromkeys(["client_raise_first_exceptiongroup_error", "include_fastmcp_meta", "mcp_camelcase_compat"], True),
    **dict.fromkeys(["test_mode", "debug", "mask_error_details", "strict_input_validation", "json_response"], False),
    **dict.fromkeys(["stateless_http", "tool_attempt_parse_json_args", "show_cli_banner", "show_server_banner"], False),
    **dict.fromkeys(["client_init_timeout", "client_log_level", "default_auth_provider", "server_auth"]),
    **dict.fromkeys(["include_tags", "exclude_tags"]),
    **dict.fromkeys(["on_duplicate_tools", "on_duplicate_resources", "on_duplicate_prompts"], "warn"),
    "mounted_components_raise_on_load_error": False,
    "home": os.path.expanduser("~/.local/share/fastmcp"),
    "log_level": "INFO",
    "resource_prefix_format": "path",
    "transport": "stdio",
    "host": "127.0.0.1",
    "port": 8000,
    "sse_path": "/sse",
    "message_path": "/messages/",
    "streamable_http_path": "/mcp",
    "server_dependencies": [],
    "check_for_updates": "off",
    "decorator_mode": "function",
    "cache_expiration_seconds": 0,
}
TRUE = ("1", "true", "yes", "on")


class Settings:
    """The settings; a project may change them."""

    def __init__(self, **changes: object) -> None:
        for name, default in {**DEFAULTS, **changes}.items():
            setattr(self, name, from_environment(name, default))

    @property
    def settings(self) -> Settings:
        return self


def from_environment(name: str, default: object) -> object:
    """Return a setting: the environment's, as the type of the default."""
    text = os.environ.get(f"FASTMCP_{name.upper()}")
    if text is None:
        return default
    if isinstance(default, bool):
        return text.lower() in TRUE
    return int(text) if isinstance(default, int) and text.isdecimal() else text


settings = Settings()


ROOT = logging.getLogger("fastmcp")


def get_logger(name: str) -> logging.Logger:
    """Return a logger below `fastmcp`."""
    return logging.getLogger(name if name.startswith("fastmcp.") else f"fastmcp.{name}")


def configure_logging(level: Any = "INFO", logger: logging.Logger | None = None, **_: object) -> None:
    """Set the level of FastMCP's loggers."""
    (logger or ROOT).setLevel(level)


@contextmanager
def temporary_log_level(level: Any = None, logger: logging.Logger | None = None, **_: object) -> Iterator[None]:
    """Set the level of FastMCP's loggers within a `with` statement."""
    changed = logger or ROOT
    before = changed.level
    if level is not None:
        changed.setLevel(level.upper() if isinstance(level, str) else level)
    try:
        yield
    finally:
        changed.setLevel(before)


if ROOT.level == logging.NOTSET:
    ROOT.setLevel(str(settings.log_level).upper())  # type: ignore[attr-defined]


__version__ = ".".join(map(str, selected().version))


class FastMCPDeprecationWarning(DeprecationWarning):
    """Something of FastMCP is deprecated."""


NAMES = {"sdk1": "McpError", "sdk2": "MCPError"}


def error_arguments(code: int, message: str) -> tuple[Any, ...]:
    """Return what the selected SDK's error is made of."""
    if selected().sdk == "sdk2":
        return (code, message)
    return (selected_definitions().find("ErrorData")(code=code, message=message),)


def __getattr__(name: str) -> object:
    """Return the error of the selected SDK, whatever it is called."""
    if name not in NAMES.values():
        raise AttributeError(name)
    return resolve(f"mcpc_runtime.systems.fastmcp.standins.sdk_parts.session:{NAMES[selected().sdk]}")
