"""The contracts: how each kind of handler is called, and what its output means.

A contract is a module with two functions: `build_invocation(call, image)` returns the request to the runner, and
`parse_result(call, result)` converts the runner's result to an ending.  Neither does any IO beyond reading the image.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from mcpc_runtime.interfaces import Contract, Job, Runner
from mcpc_runtime.protocol.effects import Call, Ending


class ExpiredCall(Protocol):
    """A running call whose time is over: the call, the time when it began, and the job of its runner."""

    handler_call: Call
    began: float
    job: Job


CONTRACTS = {
    "bash_sdk": ("mcpc_runtime.systems.bash_sdk.contract", "mcpc_runtime.systems.bash_sdk.runner:ServerScriptRunner"),
    "file": ("mcpc_runtime.handlers.files.contract", "mcpc_runtime.handlers.files.runner:FileRunner"),
    "finder": ("mcpc_runtime.handlers.finder.contract", ""),
    "mcp_bash": ("mcpc_runtime.systems.mcp_bash.contract", "mcpc_runtime.systems.mcp_bash.runner:McpBashRunner"),
    "command": (
        "mcpc_runtime.handlers.executable.command_line",
        "mcpc_runtime.handlers.executable.runner:ProcessRunner",
    ),
    "executable": (
        "mcpc_runtime.handlers.executable.contract",
        "mcpc_runtime.handlers.executable.runner:ProcessRunner",
    ),
    "fastmcp": ("mcpc_runtime.systems.fastmcp.contract", "mcpc_runtime.systems.fastmcp.runner:ProgramRunner"),
    "http": ("mcpc_runtime.handlers.http.contract", "mcpc_runtime.handlers.http.runner:RequestRunner"),
    "known": ("mcpc_runtime.handlers.static.contract", ""),
    "mcbox": ("mcpc_runtime.handlers.bash.contract", "mcpc_runtime.handlers.bash.runner:ShellRunner"),
    "mcp_bash_completion": (
        "mcpc_runtime.systems.mcp_bash.completion_contract",
        "mcpc_runtime.handlers.executable.runner:ProcessRunner",
    ),
    "mcp_bash_prompt": ("mcpc_runtime.systems.mcp_bash.prompt_contract", ""),
    "mcp_bash_resource": (
        "mcpc_runtime.systems.mcp_bash.resource_contract",
        "mcpc_runtime.systems.mcp_bash.providers.runner:ProviderRunner",
    ),
    "pipeline": ("mcpc_runtime.handlers.pipeline.contract", "mcpc_runtime.handlers.pipeline.runner:PipelineRunner"),
    "python": ("mcpc_runtime.handlers.python.contract", "mcpc_runtime.handlers.python.runner:WorkerRunner"),
    "toolbox": ("mcpc_runtime.systems.toolbox.contract", "mcpc_runtime.systems.toolbox.runner:NodeRunner"),
    "toolbox_python": (
        "mcpc_runtime.systems.toolbox.python_contract",
        "mcpc_runtime.handlers.python.runner:WorkerRunner",
    ),
}
"""The module of each contract and its runner; no runner where `build_invocation` returns the result itself."""


class CallBinding:
    """A contract with its runner.

    A contract has two functions, and may have four more: `limit(call)` returns a call's time limit in seconds;
    `extended(call, seconds)` the new limit for a call that reports progress so long after its start, None for no
    change; `expired(running_call)` the ending of a call whose time is over; `dry_run(call, image, stand_in)` what the
    call would run, for the console: `stand_in(name)` is there for the value of a name, and secret settings have theirs.
    """

    __slots__ = ("build_invocation", "expired", "extended", "limit", "parse_result", "runner")

    def __init__(self, module_name: str, runner: Runner[Any, Any] | None) -> None:
        # Without `fromlist` the package at the top would be returned.
        module = __import__(module_name, fromlist=["build_invocation"])
        contract: Contract[Any, Any] = module
        self.build_invocation = contract.build_invocation
        self.parse_result = contract.parse_result
        self.limit: Callable[[Call], float] | None = getattr(module, "limit", None)
        self.extended: Callable[[Call, float], float | None] | None = getattr(module, "extended", None)
        self.expired: Callable[[ExpiredCall], Ending] | None = getattr(module, "expired", None)
        self.runner = runner
