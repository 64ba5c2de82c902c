"""Stand-in of `fastmcp`, from version 2 to 4; its modules and names are rows of a table (`../fastmcp_modules.py`)."""

from __future__ import annotations

from mcpc_runtime.systems.fastmcp.standins.exports import install

install("fastmcp")
