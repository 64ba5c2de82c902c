"""Code mode: the list has tools that find others, and one that runs code in a sandbox, which calls them.

The sandbox is the project's: `pydantic-monty`, or its own provider.  Code of a model is never run by this interpreter.
"""

from __future__ import annotations

import asyncio
import inspect
from importlib import import_module
from typing import Annotated, Any, Protocol

from mcpc_runtime.systems.fastmcp.engine.errors import NotFoundError, ToolError
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.catalogs import CatalogTransform
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.components import Tool
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.context import Context  # noqa: TC001 - read from annotations
from mcpc_runtime.systems.fastmcp.standins.fastmcp.parts.discovery import GetSchemas, Search, ToolCatalog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from mcpc_runtime.systems.fastmcp.engine.transforms import Next
    from mcpc_runtime.systems.fastmcp.engine.versions import VersionSpec

    Functions = Mapping[str, Callable[..., Any]]
    DiscoveryToolFactory = Callable[[ToolCatalog], Any]

MONTY = "pydantic_monty"
LIMITS: dict[str, Any] = {"max_duration_secs": 30.0, "max_memory": 100_000_000}
"""What code may use where a project names no limits."""
DESCRIPTION = (
    "Run a block of Python code that calls tools with `await call_tool(tool_name: str, params: dict)`; what it returns"
    " with `return` is the result. Nothing else is available to it. Prefer one block that makes several calls."
)


class SandboxProvider(Protocol):
    """What runs code of a model, isolated from this process."""

    async def run(
        self, code: str, *, inputs: dict[str, Any] | None = None, external_functions: Functions | None = None
    ) -> Any:
        """Run code that may call functions; return its result."""


class MontySandboxProvider:
    """Runs code with `pydantic-monty`.  `limits`: those of Monty; None for none."""

    def __init__(self, *, limits: dict[str, Any] | None = LIMITS) -> None:
        self.limits: dict[str, Any] | None = None if limits is None else {**limits}

    async def run(
        self, code: str, *, inputs: dict[str, Any] | None = None, external_functions: Functions | None = None
    ) -> Any:
        """Run code; a call that is cancelled ends it."""
        try:
            monty = import_module(MONTY)
        except ModuleNotFoundError:
            message = "code mode needs the package `pydantic-monty`: require it, or `fastmcp[code-mode]`"
            raise ImportError(message) from None
        functions = {name: asynchronous(function) for name, function in (external_functions or {}).items()}
        given: dict[str, Any] = {"inputs": inputs or None, "external_functions": functions or None}
        program = monty.Monty(code, inputs=[*(inputs or ())])
        if hasattr(program, "run_async"):
            running = program.run_async(**given, limits=self.limits)
        else:
            running = monty.run_monty_async(program, **given, limits=self.limits)
        task = asyncio.ensure_future(running)
        try:
            return await task
        finally:
            task.cancel()


def asynchronous(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """Return a function as one that is awaited."""

    async def call(*values: Any, **named: Any) -> Any:
        found = function(*values, **named)
        return await found if inspect.isawaitable(found) else found

    return call


def value_of(result: Any) -> dict[str, Any] | str:
    """Return a tool's result as code gets it: its structured content, or its texts."""
    if result.structured_content is not None:
        content: dict[str, Any] = result.structured_content
        return content
    return "\n".join(each.text if each.type == "text" else str(each) for each in result.content)


class CodeMode(CatalogTransform):
    """The list has the tools of `discovery_tools`, and one that runs code."""

    def __init__(
        self,
        *,
        sandbox_provider: SandboxProvider | None = None,
        discovery_tools: list[DiscoveryToolFactory] | None = None,
        execute_tool_name: str = "execute",
        execute_description: str | None = None,
        max_tool_calls: int | None = 50,
    ) -> None:
        super().__init__()
        self.sandbox_provider: Any = sandbox_provider or MontySandboxProvider()
        self.execute_tool_name = execute_tool_name
        self.execute_description = execute_description
        self.max_tool_calls = max_tool_calls
        default: list[DiscoveryToolFactory] = [Search(), GetSchemas()]
        self._discovery = default if discovery_tools is None else discovery_tools
        self._tools: dict[str, Any] = {}

    async def transform_tools(self, tools: Sequence[Any]) -> Sequence[Any]:
        """Return the tools of the code mode."""
        return [*self._made().values()]

    async def get_tool(self, name: str, call_next: Next, *, version: VersionSpec | None = None) -> Any:
        """Return a tool of the code mode, or another one."""
        found = self._made().get(name)
        return found if found is not None else await call_next(name, version=version)

    def _made(self) -> dict[str, Any]:
        if not self._tools:
            found = [*(make(self.get_tool_catalog) for make in self._discovery), self._execute_tool()]
            names = [each.name for each in found]
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"several tools of the code mode have the name {twice[0]!r}")
            self._tools = dict(zip(names, found, strict=True))
        return self._tools

    def _execute_tool(self) -> Any:
        async def execute(
            code: Annotated[str, "Python code, which may use `await call_tool(tool_name, params)`"],
            ctx: Context = None,  # type: ignore[assignment]
        ) -> Any:
            """Run code that calls tools."""
            functions = {"call_tool": self._caller(ctx)}
            return await self.sandbox_provider.run(code, external_functions=functions)

        description = DESCRIPTION if self.execute_description is None else self.execute_description
        return Tool.from_function(execute, name=self.execute_tool_name, description=description)

    def _caller(self, ctx: Any) -> Callable[[str, dict[str, Any]], Awaitable[Any]]:
        """Return the function by which code calls tools of the catalog, a limited number of times."""
        calls = 0

        async def call_tool(tool_name: str, params: dict[str, Any]) -> Any:
            nonlocal calls
            calls += 1
            if self.max_tool_calls is not None and calls > self.max_tool_calls:
                raise ToolError(f"Tool call limit exceeded: code may call {self.max_tool_calls} tools at most")
            if not any(each.name == tool_name for each in await self.get_tool_catalog(ctx)):
                raise NotFoundError(f"Unknown tool: {tool_name}")
            return value_of(await ctx.fastmcp.call_tool(tool_name, params))

        return call_tool
