"""The table of contracts: how each kind of handler is called, and what its output means.

A contract is a module with two functions: `build_invocation(call, image)` returns the request to the runner, and
`parse_result(call, result)` converts the runner's result to an ending.  Neither does any IO beyond reading the image.
"""

from __future__ import annotations

CONTRACTS = {
    "file": ("mcpc_runtime.handlers.files.contract", "mcpc_runtime.handlers.files.runner:FileRunner"),
    "mcp_bash": ("mcpc_runtime.systems.mcp_bash.contract", "mcpc_runtime.systems.mcp_bash.runner:McpBashRunner"),
    "executable": (
        "mcpc_runtime.handlers.executable.contract",
        "mcpc_runtime.handlers.executable.runner:ProcessRunner",
    ),
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
    "python": ("mcpc_runtime.handlers.python.contract", "mcpc_runtime.handlers.python.runner:WorkerRunner"),
    "toolbox": ("mcpc_runtime.systems.toolbox.contract", "mcpc_runtime.systems.toolbox.runner:NodeRunner"),
    "toolbox_python": (
        "mcpc_runtime.systems.toolbox.python_contract",
        "mcpc_runtime.handlers.python.runner:WorkerRunner",
    ),
}
"""The module of each contract and its runner; no runner where `build_invocation` returns the result itself."""
