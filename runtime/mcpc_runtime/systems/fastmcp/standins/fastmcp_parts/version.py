"""FastMCP's version, loggers and warnings, and the SDK's errors by their names there."""

from __future__ import annotations

import logging
import os

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.generation import selected

ROOT = logging.getLogger("fastmcp")


def get_logger(name: str) -> logging.Logger:
    """Return a logger below `fastmcp`."""
    return logging.getLogger(name if name.startswith("fastmcp.") else f"fastmcp.{name}")


def configure_logging(level: str | int = "INFO", logger: logging.Logger | None = None, **_: object) -> None:
    """Set the level of FastMCP's loggers."""
    (logger or ROOT).setLevel(level)


if ROOT.level == logging.NOTSET:
    ROOT.setLevel(os.environ.get("FASTMCP_LOG_LEVEL", "INFO").upper())


__version__ = ".".join(map(str, selected().version))


class FastMCPDeprecationWarning(DeprecationWarning):
    """Something of FastMCP is deprecated."""


NAMES = {"sdk1": "McpError", "sdk2": "MCPError"}


def __getattr__(name: str) -> object:
    """Return the error of the selected SDK, whatever it is called."""
    if name not in NAMES.values():
        raise AttributeError(name)
    return resolve(f"mcpc_runtime.systems.fastmcp.standins.sdk_parts.session:{NAMES[selected().sdk]}")
