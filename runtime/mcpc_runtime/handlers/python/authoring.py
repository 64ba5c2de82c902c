"""The decorators that a project's Python files import to declare tools, prompts, resources and completions.

A decorator only sets an attribute of the function, which it returns; the build evaluates everything else.  Nothing here
inspects a function, so the decorators add nothing to the import time of handlers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, Literal, Protocol, TypedDict, TypeVar, Unpack, overload

from mcpc_runtime.handlers.python.bindings import FUNCTIONS
from mcpc_runtime.handlers.python.context import Context, elicitation, roots, sampling
from mcpc_runtime.handlers.python.errors import Cancelled, ProtocolError, ToolError
from mcpc_runtime.handlers.python.settings import Secret, Settings
from mcpc_runtime.lazy import resolve

F = TypeVar("F", bound=Callable[..., object])
Object = Mapping[str, object]


class Running(TypedDict, total=False):
    """How a handler is run: timeout in seconds, environment variables, required programs (`git >= 2.30`)."""

    timeout: float
    environment: Sequence[str] | Literal["inherit", "minimal"]
    requires: Sequence[str]


class PromptOptions(Running, total=False):
    """The keywords of `prompt`."""

    name: str
    title: str
    description: str
    icons: Sequence[Object]
    meta: Object
    tags: Set[str]


class ToolOptions(PromptOptions, total=False):
    """The keywords of `tool`; the hints may also be in `annotations`.

    `inline`: the function runs in the server's process, which is faster but not isolated; `"loop"`: over HTTP on
    the event loop's thread, for functions that never wait.  `task`: a call becomes a task if the client supports
    that (`True` or `"optional"`), or always (`"required"`).  `max_result`: the longest text of its result (`64K`).
    """

    inline: bool | Literal["loop"]
    max_result: int | str
    task: bool | Literal["optional", "required"] | None
    annotations: Object
    output_schema: Object | None
    readOnlyHint: bool
    destructiveHint: bool
    idempotentHint: bool
    openWorldHint: bool


class ResourceOptions(PromptOptions, total=False):
    """The keywords of `resource`."""

    mime_type: str
    annotations: Object
    size: int
    inline: bool | Literal["loop"]


class CompletionOptions(Running, total=False):
    """The keywords of `completion`."""

    inline: bool | Literal["loop"]


class ServerOptions(Running, total=False):
    """The keywords of `Server`; the handler options apply to all handlers.

    `settings`: a subclass of `Settings`, a class of pydantic-settings, or objects as in `server.json`.
    """

    version: str
    title: str
    description: str
    website_url: str
    icons: Sequence[Object]
    max_result: int | str
    settings: type | Sequence[Object]


class DescribedOptions(ResourceOptions, ToolOptions, total=False):
    """The keywords of `mcp_tool` and the like, which may also be members of one object, as in bx-mcp."""

    uri: str
    version: str
    arguments: Sequence[Object]


class DescribedDecorator(Protocol):
    """`@mcp_tool`, `@mcp_tool("description")`, `@mcp_tool({"name": …, "description": …})`, `@mcp_tool(name=…)`."""

    @overload
    def __call__(self, function: F, /, **options: Unpack[DescribedOptions]) -> F: ...
    @overload
    def __call__(
        self, target: str | Object | None = None, /, **options: Unpack[DescribedOptions]
    ) -> Callable[[F], F]: ...


class ToolDecorator(Protocol):
    """`@tool`, `@tool(...)`, `@tool("name")`, `tool(function)`."""

    @overload
    def __call__(self, function: F, /, **options: Unpack[ToolOptions]) -> F: ...
    @overload
    def __call__(self, name: str | None = None, /, **options: Unpack[ToolOptions]) -> Callable[[F], F]: ...


class PromptDecorator(Protocol):
    """`@prompt`, `@prompt(...)`, `@prompt("name")`, `prompt(function)`."""

    @overload
    def __call__(self, function: F, /, **options: Unpack[PromptOptions]) -> F: ...
    @overload
    def __call__(self, name: str | None = None, /, **options: Unpack[PromptOptions]) -> Callable[[F], F]: ...


class ResourceDecorator(Protocol):
    """`@resource("config://app", ...)`; with a template, `@resource("users://{id}")`, for a function of `id`."""

    def __call__(self, uri: str, /, **options: Unpack[ResourceOptions]) -> Callable[[F], F]: ...


class CompletionDecorator(Protocol):
    """`@completion("prompt", "argument")`, `@completion("users://{id}", "id")`."""

    def __call__(self, ref: str, argument: str, /, **options: Unpack[CompletionOptions]) -> Callable[[F], F]: ...


def Field(default: object = ..., *, default_factory: Callable[[], object] | None = None, **_says: object) -> Any:  # noqa: N802
    """Declare constraints of a parameter: `limit: int = …(10, ge=1, description="how many")`."""


__all__ = [
    "MARK",
    "PUBLIC",
    "Cancelled",
    "Context",
    "Field",
    "ProtocolError",
    "Secret",
    "Server",
    "Settings",
    "ToolError",
    "call_tool_handler",
    "completion",
    "elicitation",
    "mcp_prompt",
    "mcp_resource",
    "mcp_tool",
    "prompt",
    "resource",
    "roots",
    "sampling",
    "tool",
]

MARK = "__mcpc__"
PUBLIC = tuple(name for name in __all__ if name not in ("MARK", "PUBLIC"))
"""The names of `from mcpc import ...`."""

TYPE_CHECKING = False
# Type checkers take `Field` for the function above, which returns Any, so that it is a default of any parameter.
if not TYPE_CHECKING:

    class Field:
        """The constraints of a parameter, which the build reads, and its default, which a call uses."""

        __slots__ = ("default", "default_factory")

        def __init__(self, default=..., *, default_factory=None, **_says):
            self.default = default
            self.default_factory = default_factory

        def get_default(self, *, call_default_factory=True):
            """Return the value of a parameter that the caller left out."""
            factory = self.default_factory if call_default_factory else None
            return factory() if factory is not None else self.default


def marker(kind: str, marked: list[object], needed: tuple[str, ...] = ()) -> Any:
    """Return the decorator of a kind, which appends the functions it decorates to `marked`.

    It works with and without parentheses; one with `needed` options requires parentheses, and takes them first.
    """

    def mark(target: object = None, /, **options: object) -> object:
        if callable(target):
            return put(target, options)
        if target is not None:
            options["name"] = target
        return lambda function: put(function, options)

    def mark_with(*values: object, **options: object) -> object:
        if any(map(callable, values)):
            raise TypeError(f"@{kind} needs {' and '.join(needed)} in parentheses")
        # Fewer values than names: the others may be keywords, which the next line looks for.
        options |= zip(needed, values, strict=False)
        missing = [name for name in needed if name not in options]
        if missing or len(values) > len(needed):
            raise TypeError(f"@{kind} takes {' and '.join(needed)}, and options as keywords")
        return lambda function: put(function, options)

    def put(function: object, options: dict[str, object]) -> object:
        marked.append(function)
        return put_mark(function, kind, options)

    return mark_with if needed else mark


def put_mark(function: object, kind: str, options: dict[str, object]) -> object:
    """Record a decorator on a function, and return the function."""
    setattr(function, MARK, (*getattr(function, MARK, ()), (kind, options)))
    return function


def described_decorator(kind: str) -> Any:
    """Return a decorator that takes a description, an object, or keywords, as those of bx-mcp do."""

    def mark(target: Callable[..., object] | str | Object | None = None, /, **options: object) -> object:
        if callable(target):
            return put_mark(target, kind, options)
        if isinstance(target, str):
            options = {"description": target, **options}
        elif target is not None:
            options = {**target, **options}
        return lambda function: put_mark(function, kind, options)

    return mark


URI, COMPLETED = ("uri",), ("ref", "argument")
tool: ToolDecorator = marker("tool", [])
prompt: PromptDecorator = marker("prompt", [])
resource: ResourceDecorator = marker("resource", [], URI)
completion: CompletionDecorator = marker("completion", [], COMPLETED)
mcp_tool: DescribedDecorator = described_decorator("mcp_tool")
mcp_prompt: DescribedDecorator = described_decorator("mcp_prompt")
mcp_resource: DescribedDecorator = described_decorator("mcp_resource")


def call_tool_handler(request: Object, caller: str) -> Any:
    """Return the answer of another tool to a ToolBox tool; an `async` function awaits it."""
    return resolve(FUNCTIONS["call_tool_handler"])(request, caller)


class Server:
    """The metadata of a server without server.json; its methods are decorators."""

    def __init__(self, name: str = "", instructions: str = "", **options: Unpack[ServerOptions]) -> None:
        self.name = name
        self.instructions = instructions
        self.options = options
        self.marked: list[object] = []
        self.tool: ToolDecorator = marker("tool", self.marked)
        self.prompt: PromptDecorator = marker("prompt", self.marked)
        self.add_tool = self.tool
        self.add_prompt = self.prompt
        self.resource: ResourceDecorator = marker("resource", self.marked, URI)
        self.completion: CompletionDecorator = marker("completion", self.marked, COMPLETED)

    def run(self, *_: object, **__: object) -> None:
        """Do nothing in a built server, which serves already; exit with a hint if the file itself is run."""
        # A worker is started with `-c`, and so its `__main__` has no file.
        if getattr(sys.modules.get("__main__"), "__file__", None):
            sys.exit("this file must be compiled: run `mcpc dev --once` or `mcpc build` in its folder")
