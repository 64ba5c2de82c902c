"""How a handler is called and what its output means: one file a system.

A contract is two functions: `prepare(call, image)` makes the runner's command, `conclude(call, completed)` makes an
outcome of what came back.  Neither does any IO beyond reading the image.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpc_runtime.protocol.effects import Call, Ending
    from mcpc_runtime.work import Work

CONTRACTS = {
    "file": ("mcpc_runtime.contracts.file", "mcpc_runtime.runners.files:FileRunner"),
    "tasks": ("mcpc_runtime.contracts.tasks", "mcpc_runtime.runners.tasks:TaskRunner"),
    "mcp_bash": ("mcpc_runtime.contracts.mcp_bash", "mcpc_runtime.mcp_bash.runner:McpBashRunner"),
    "executable": ("mcpc_runtime.contracts.executable", "mcpc_runtime.runners.process:ProcessRunner"),
    "known": ("mcpc_runtime.contracts.known", "mcpc_runtime.runners.ready:ReadyRunner"),
    "mcbox": ("mcpc_runtime.contracts.mcbox", "mcpc_runtime.runners.shell:ShellRunner"),
    "mcp_bash_completion": ("mcpc_runtime.contracts.mcp_bash_completion", "mcpc_runtime.runners.process:ProcessRunner"),
    "mcp_bash_prompt": ("mcpc_runtime.contracts.mcp_bash_prompt", "mcpc_runtime.runners.ready:ReadyRunner"),
    "mcp_bash_resource": ("mcpc_runtime.contracts.mcp_bash_resource", "mcpc_runtime.providers.runner:ProviderRunner"),
    "python": ("mcpc_runtime.contracts.python", "mcpc_runtime.runners.worker:WorkerRunner"),
    "toolbox": ("mcpc_runtime.contracts.toolbox", "mcpc_runtime.runners.node:NodeRunner"),
    "toolbox_python": ("mcpc_runtime.contracts.toolbox_python", "mcpc_runtime.runners.worker:WorkerRunner"),
}
"""A contract's module (`prepare`, `conclude`) and the runner it speaks to."""


class Way:
    """How the handlers of one contract are called: its two functions and its runner.

    A contract may say more: `limit(call)`, how many seconds a call has; `extended(call, seconds)`, how many more it has
    after it told of its progress so long after its beginning, None if that changes nothing; and `expired(work)`, what
    the answer is when they are over.
    """

    __slots__ = ("conclude", "expired", "extended", "limit", "prepare", "runner")

    def __init__(self, name: str, runner: Any) -> None:
        module = __import__(name, fromlist=["prepare"])
        self.prepare: Callable[..., Any] = module.prepare
        self.conclude: Callable[..., Ending] = module.conclude
        self.limit: Callable[[Call], float] | None = getattr(module, "limit", None)
        self.extended: Callable[[Call, float], float | None] | None = getattr(module, "extended", None)
        self.expired: Callable[[Work], Ending] | None = getattr(module, "expired", None)
        self.runner = runner
