"""What a project's Python files import to say which of their functions are tools and prompts.

A mark is an attribute of the function, which stays what it was; everything else is worked out when the server is built.
Nothing here looks at a function, so that importing a file of handlers costs what it would cost without.
"""

from __future__ import annotations

import sys

from mcpc_runtime.context import Context, elicitation, roots, sampling
from mcpc_runtime.handler_errors import Cancelled, ProtocolError, ToolError
from mcpc_runtime.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set
    from typing import Any, Literal, Protocol, TypedDict, TypeVar, Unpack, overload

    F = TypeVar("F", bound=Callable[..., Any])
    Object = Mapping[str, Any]

    class Running(TypedDict, total=False):
        """How a handler is run: seconds it may take, variables it finds, programs it starts (`git >= 2.30`)."""

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
        """The keywords of `tool`; the hints may stand in `annotations`, too.

        `inline`: the function runs in the server's own process, which is faster, and not protected from it; `"loop"`:
        over HTTP on the thread that serves everybody, for functions that never wait.  `task`: a call becomes a task
        where the client can (`True` or `"optional"`), or always (`"required"`).
        """

        inline: bool | Literal["loop"]
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
        """The keywords of `Server`; how handlers are run holds for all of them."""

        version: str
        title: str
        description: str
        website_url: str
        icons: Sequence[Object]

    class Stated(ResourceOptions, ToolOptions, total=False):
        """The keywords of bx-mcp's marks; an object in parentheses says the same."""

        uri: str
        version: str
        arguments: Sequence[Object]

    class StatedMark(Protocol):
        """`@mcp_tool`, `@mcp_tool("description")`, `@mcp_tool({"name": …, "description": …})`, `@mcp_tool(name=…)`."""

        @overload
        def __call__(self, function: F, /, **options: Unpack[Stated]) -> F: ...
        @overload
        def __call__(self, said: str | Object | None = None, /, **options: Unpack[Stated]) -> Callable[[F], F]: ...

    class ToolMark(Protocol):
        """`@tool`, `@tool(...)`, `@tool("name")`, `tool(function)`."""

        @overload
        def __call__(self, function: F, /, **options: Unpack[ToolOptions]) -> F: ...
        @overload
        def __call__(self, name: str | None = None, /, **options: Unpack[ToolOptions]) -> Callable[[F], F]: ...

    class PromptMark(Protocol):
        """`@prompt`, `@prompt(...)`, `@prompt("name")`, `prompt(function)`."""

        @overload
        def __call__(self, function: F, /, **options: Unpack[PromptOptions]) -> F: ...
        @overload
        def __call__(self, name: str | None = None, /, **options: Unpack[PromptOptions]) -> Callable[[F], F]: ...

    class ResourceMark(Protocol):
        """`@resource("config://app", ...)`; with a template, `@resource("users://{id}")`, for a function of `id`."""

        def __call__(self, uri: str, /, **options: Unpack[ResourceOptions]) -> Callable[[F], F]: ...

    class CompletionMark(Protocol):
        """`@completion("prompt", "argument")`, `@completion("users://{id}", "id")`."""

        def __call__(self, ref: str, argument: str, /, **options: Unpack[CompletionOptions]) -> Callable[[F], F]: ...

    def Field(default: Any = ..., *, default_factory: Callable[[], Any] | None = None, **_says: Any) -> Any:  # noqa: N802
        """State what a parameter must be beyond its type: `limit: int = …(10, ge=1, description="how many")`."""

    from mcpc_runtime.bindings.toolbox import call_tool_handler as toolbox_call_tool_handler
else:
    toolbox_call_tool_handler = lazy("mcpc_runtime.bindings.toolbox:call_tool_handler", "toolbox_call_tool_handler")


__all__ = [
    "MARK",
    "PUBLIC",
    "Cancelled",
    "Context",
    "Field",
    "ProtocolError",
    "Server",
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
"""What `from mcpc import ...` finds."""

if not TYPE_CHECKING:

    class Field:
        """What a parameter must be, and its default; the build reads the first, a call the second."""

        __slots__ = ("default", "default_factory")

        def __init__(self, default=..., *, default_factory=None, **_says):
            self.default = default
            self.default_factory = default_factory

        def get_default(self, *, call_default_factory=True):
            """Return what a parameter is that the caller left out."""
            made = self.default_factory if call_default_factory else None
            return made() if made is not None else self.default


def marker(kind: str, marked: list[Any], needed: tuple[str, ...] = ()) -> Any:
    """Return the decorator of a kind, which adds to `marked` what it was put on.

    It stands with and without parentheses; one that has `needed` options takes them first, and cannot be without.
    """

    def mark(target: Any = None, /, **options: Any) -> Any:
        if callable(target):
            return put(target, options)
        if target is not None:
            options["name"] = target
        return lambda function: put(function, options)

    def mark_with(*given: Any, **options: Any) -> Any:
        if any(map(callable, given)):
            raise TypeError(f"@{kind} is told {' and '.join(needed)} in parentheses")
        options |= zip(needed, given, strict=False)
        missing = [name for name in needed if name not in options]
        if missing or len(given) > len(needed):
            raise TypeError(f"@{kind} takes {' and '.join(needed)}, and options by their names")
        return lambda function: put(function, options)

    def put(function: Any, options: dict[str, Any]) -> Any:
        marked.append(function)
        return put_mark(function, kind, options)

    return mark_with if needed else mark


def put_mark(function: Any, kind: str, options: dict[str, Any]) -> Any:
    """Leave a mark on a function, and return it."""
    setattr(function, MARK, (*getattr(function, MARK, ()), (kind, options)))
    return function


def stating(kind: str) -> Any:
    """Return the decorator of one of bx-mcp's kinds, which may be told a description, or all of it as an object."""

    def mark(said: Any = None, /, **options: Any) -> Any:
        if callable(said):
            return put_mark(said, kind, options)
        if isinstance(said, str):
            options = {"description": said, **options}
        elif said is not None:
            options = {**said, **options}
        return lambda function: put_mark(function, kind, options)

    return mark


URI, COMPLETED = ("uri",), ("ref", "argument")
tool: ToolMark = marker("tool", [])
prompt: PromptMark = marker("prompt", [])
resource: ResourceMark = marker("resource", [], URI)
completion: CompletionMark = marker("completion", [], COMPLETED)
mcp_tool: StatedMark = stating("mcp_tool")
mcp_prompt: StatedMark = stating("mcp_prompt")
mcp_resource: StatedMark = stating("mcp_resource")


def call_tool_handler(request: dict[str, Any], caller: str) -> Any:
    """Return what another tool answers to one that keeps ToolBox's contract; an `async` function awaits it."""
    return toolbox_call_tool_handler(request, caller)


class Server:
    """What a server says of itself, if there is no server.json; its methods mark functions."""

    def __init__(self, name: str = "", instructions: str = "", **options: Unpack[ServerOptions]) -> None:
        self.name = name
        self.instructions = instructions
        self.options = options
        self.marked: list[Any] = []
        self.tool: ToolMark = marker("tool", self.marked)
        self.prompt: PromptMark = marker("prompt", self.marked)
        self.add_tool = self.tool
        self.add_prompt = self.prompt
        self.resource: ResourceMark = marker("resource", self.marked, URI)
        self.completion: CompletionMark = marker("completion", self.marked, COMPLETED)

    def run(self, *_: Any, **__: Any) -> None:
        """Do nothing in a built server, which serves already; tell who runs the file itself how it is served."""
        if getattr(sys.modules.get("__main__"), "__file__", None):
            sys.exit("this file is compiled: `mcpc run` in its folder serves it, `mcpc build` makes one file of it")
