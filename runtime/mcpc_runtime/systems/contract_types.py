"""Type checks of the rows of CONTRACTS; this module is never imported by a server.

Each contract must build what its runner accepts, and accept what its runner returns.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Generic, TypeVar

    from mcpc_runtime.handlers.bash import contract as mcbox
    from mcpc_runtime.handlers.bash.runner import ShellRunner
    from mcpc_runtime.handlers.executable import command_line as command
    from mcpc_runtime.handlers.executable import contract as executable
    from mcpc_runtime.handlers.executable.runner import ProcessRunner
    from mcpc_runtime.handlers.files import contract as file
    from mcpc_runtime.handlers.files.runner import FileRunner
    from mcpc_runtime.handlers.http import contract as http
    from mcpc_runtime.handlers.http.runner import RequestRunner
    from mcpc_runtime.handlers.python import contract as python
    from mcpc_runtime.handlers.python.runner import WorkerRunner
    from mcpc_runtime.interfaces import Contract, Runner
    from mcpc_runtime.systems.bash_sdk import contract as bash_sdk
    from mcpc_runtime.systems.bash_sdk.runner import ServerScriptRunner
    from mcpc_runtime.systems.fastmcp import contract as fastmcp
    from mcpc_runtime.systems.fastmcp.runner import ProgramRunner
    from mcpc_runtime.systems.mcp_bash import completion_contract as mcp_bash_completion
    from mcpc_runtime.systems.mcp_bash import contract as mcp_bash
    from mcpc_runtime.systems.mcp_bash import resource_contract as mcp_bash_resource
    from mcpc_runtime.systems.mcp_bash.providers.runner import ProviderRunner
    from mcpc_runtime.systems.mcp_bash.runner import McpBashRunner
    from mcpc_runtime.systems.toolbox import contract as toolbox
    from mcpc_runtime.systems.toolbox import python_contract as toolbox_python
    from mcpc_runtime.systems.toolbox.runner import NodeRunner

    Command = TypeVar("Command")
    Result = TypeVar("Result")

    class ContractWithRunner(Generic[Command, Result]):
        """A contract with a runner of the same command and result types."""

        def __init__(self, contract: Contract[Command, Result], runner: type[Runner[Command, Result]]) -> None: ...

    CONTRACT_TYPES = (
        ContractWithRunner(bash_sdk, ServerScriptRunner),
        ContractWithRunner(command, ProcessRunner),
        ContractWithRunner(executable, ProcessRunner),
        ContractWithRunner(fastmcp, ProgramRunner),
        ContractWithRunner(file, FileRunner),
        ContractWithRunner(http, RequestRunner),
        ContractWithRunner(mcbox, ShellRunner),
        ContractWithRunner(mcp_bash, McpBashRunner),
        ContractWithRunner(mcp_bash_completion, ProcessRunner),
        ContractWithRunner(mcp_bash_resource, ProviderRunner),
        ContractWithRunner(python, WorkerRunner),
        ContractWithRunner(toolbox, NodeRunner),
        ContractWithRunner(toolbox_python, WorkerRunner),
    )
