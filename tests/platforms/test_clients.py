"""The official SDKs' clients talk to a server on every machine, as they do to examples/files in tests/clients."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

from clients import conversation
from support.needs import lacking

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import ModuleType

    from support.machines import Machine

PIPED = '{ "$@" 2>&1 >&3 | cat >&2; } 3>&1'
"""A script that gives a program a pipe for its errors: under Wine they cannot go to the file that a client passes on."""
SDKS = {
    "python": ("clients.test_python_sdk", ("legacy", "auto", conversation.STATELESS)),
    "fastmcp": ("clients.test_fastmcp", ("legacy", "auto")),
    "typescript": ("clients.test_typescript_sdk", ("v1", "legacy", "auto", conversation.STATELESS)),
}


@pytest.mark.parametrize(("sdk", "mode"), [(sdk, mode) for sdk, (_, modes) in SDKS.items() for mode in modes])
def test_it_understands_the_server(
    machine: Machine, file_of: Callable[[str], Path], tmp_path: Path, sdk: str, mode: str
) -> None:
    check = imported(SDKS[sdk][0]).check
    folder = (
        [imported("support.npm").installed_packages(imported("clients.conftest").SOURCES)]
        if sdk == "typescript"
        else []
    )
    command = machine.command(file_of("files"))
    if machine.is_wine:
        command = ["bash", "-c", PIPED, "bash", *command]
    check(*folder, conversation.place_of_command(command, tmp_path, machine.environment()), mode)


def imported(name: str) -> ModuleType:
    """Return a module that needs an SDK; skip the test without it."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        lacking(f"{problem.name} is not installed")
