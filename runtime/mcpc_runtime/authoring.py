"""What a project's Python files import to say which of their functions are tools and prompts.

A mark is an attribute of the function, which stays what it was; everything else is worked out when the server is built.
Nothing here looks at a function, so that importing a file of handlers costs what it would cost without.
"""

from __future__ import annotations

import sys

from mcpc_runtime.context import Cancelled, Context, ToolError

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

        `inline`: the function runs in the server's own process, which is faster, and not protected from it.
        """

        inline: bool
        annotations: Object
        output_schema: Object | None
        readOnlyHint: bool
        destructiveHint: bool
        idempotentHint: bool
        openWorldHint: bool

    class ServerOptions(Running, total=False):
        """The keywords of `Server`; how handlers are run holds for all of them."""

        version: str
        title: str
        description: str
        website_url: str
        icons: Sequence[Object]

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

    def Field(default: Any = ..., *, default_factory: Callable[[], Any] | None = None, **_says: Any) -> Any:  # noqa: N802
        """State what a parameter must be beyond its type: `limit: int = …(10, ge=1, description="how many")`."""


__all__ = ["MARK", "PUBLIC", "Cancelled", "Context", "Field", "Server", "ToolError", "prompt", "resource", "tool"]

MARK = "__mcpc__"
PUBLIC = ("Cancelled", "Context", "Field", "Server", "ToolError", "prompt", "resource", "tool")
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


def marker(kind: str, marked: list[Any]) -> Any:
    """Return the decorator of a kind, with and without parentheses, which adds to `marked` what it was put on."""

    def mark(target: Any = None, /, **options: Any) -> Any:
        if callable(target):
            return put(target, options)
        if target is not None:
            options["name"] = target
        return lambda function: put(function, options)

    def put(function: Any, options: dict[str, Any]) -> Any:
        setattr(function, MARK, (*getattr(function, MARK, ()), (kind, options)))
        marked.append(function)
        return function

    return mark


tool: ToolMark = marker("tool", [])
prompt: PromptMark = marker("prompt", [])


def resource(uri: str, **_options: Any) -> Callable[[F], F]:
    """Mark nothing: resources are not served yet, and the build says so."""
    return lambda function: function


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
        self.resource = resource

    def run(self, *_: Any, **__: Any) -> None:
        """Do nothing in a built server, which serves already; tell who runs the file itself how it is served."""
        if getattr(sys.modules.get("__main__"), "__file__", None):
            sys.exit("this file is compiled: `mcpc run` in its folder serves it, `mcpc build` makes one file of it")
