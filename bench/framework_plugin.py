"""A pytest plugin that puts mcpc's stand-ins in place of a framework, and keeps the outcome of every test.

`MCPC_STANDINS` names the generation, and `MCPC_VERSION` its version; without the former, the framework itself is
tested. `MCPC_OUTCOMES` is the file to write.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

GENERATION = os.environ.get("MCPC_STANDINS", "")
OUTCOMES: dict[str, dict[str, str]] = {}
WORST = ("failed", "skipped", "passed")
LENGTH = 4000


def install() -> None:
    """Install the stand-ins, with the client of `framework_client.py` in place of the one that they do not have."""
    client = import_module("framework_client")
    import_module("mcpc_runtime.systems.fastmcp.standins").install(GENERATION, os.environ["MCPC_VERSION"])
    framework = import_module("fastmcp")
    module = ModuleType("fastmcp.client")
    module.__path__ = []
    for name in ("Client", "NeedsClientError", "CallToolResult"):
        setattr(module, name, getattr(client, name))
    inner = ModuleType("fastmcp.client.client")
    inner.__dict__.update(Client=client.Client, CallToolResult=client.CallToolResult)
    transports = ModuleType("fastmcp.client.transports")
    transports.__dict__.update(FastMCPTransport=client.FastMCPTransport, __getattr__=refused)
    sys.modules |= {"fastmcp.client": module, "fastmcp.client.client": inner, "fastmcp.client.transports": transports}
    framework.__dict__.update(Client=client.Client, client=module)


def refused(name: str) -> type:
    """Return a class for a part of the client that a module only imports: making an object of it is refused."""
    if name.startswith("__"):
        raise AttributeError(name)

    def make(*_: object, **__: object) -> None:
        raise import_module("framework_client").NeedsClientError(name)

    return type(name, (), {"__init__": make})


if GENERATION:
    install()


def pytest_runtest_logreport(report: Any) -> None:
    """Keep the worst outcome of a test's phases."""
    kept = OUTCOMES.get(report.nodeid, {"outcome": "passed", "said": ""})
    if WORST.index(report.outcome) < WORST.index(kept["outcome"]):
        kept = {"outcome": report.outcome, "said": said(report)}
    OUTCOMES[report.nodeid] = kept


def pytest_collectreport(report: Any) -> None:
    """Keep modules that cannot be imported."""
    if report.failed:
        OUTCOMES[report.nodeid] = {"outcome": "not collected", "said": said(report)}


def said(report: Any) -> str:
    """Return the end of what a report says."""
    return str(report.longrepr)[-LENGTH:]


def pytest_sessionfinish() -> None:
    """Write what was kept."""
    Path(os.environ["MCPC_OUTCOMES"]).write_text(json.dumps(OUTCOMES, indent=1))


def pytest_configure(config: Any) -> None:
    """Know the marks of the framework's own configuration."""
    add: Callable[[str, str], None] = config.addinivalue_line
    for mark in ("integration", "client_process", "conformance"):
        add("markers", f"{mark}: of the framework's own tests")
