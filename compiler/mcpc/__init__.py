"""mcpc compiles Model Context Protocol servers: definitions in, one executable file out."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mcpc_runtime.handlers.python.authoring import (
        Cancelled,
        Context,
        Field,
        ProtocolError,
        Secret,
        Server,
        Settings,
        ToolError,
        completion,
        elicitation,
        mcp_prompt,
        mcp_resource,
        mcp_tool,
        prompt,
        resource,
        roots,
        sampling,
        tool,
    )

__version__ = "1.0.0rc1"
DISTRIBUTION = "mcp-compiler"
"""The name on PyPI, where `mcpc` is another project."""
__all__ = [
    "Cancelled",
    "Context",
    "Field",
    "ProtocolError",
    "Secret",
    "Server",
    "Settings",
    "ToolError",
    "__version__",
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


def __dir__() -> list[str]:
    """Return the public names, which are imported when they are asked for."""
    return sorted({*globals(), *__all__})


def _register_exit_report() -> None:
    """Report once, when the process ends, that a project file was run directly; an import reports nothing."""
    global _is_registered
    if not _is_registered:
        _is_registered = True
        import_module("atexit").register(_report_direct_run, getattr(sys.modules.get("__main__"), "__file__", ""))


_is_registered = False


def _report_direct_run(file: str) -> None:
    """Report how `file` is served if it was run directly and defines a server; called when Python exits."""
    authoring = sys.modules.get("mcpc_runtime.handlers.python.authoring")
    main = vars(sys.modules["__main__"]) if authoring and "__main__" in sys.modules else {}
    kinds = (authoring.Server,) if authoring else ()
    if file and any(isinstance(item, kinds) or hasattr(item, "__mcpc__") for item in main.values()):
        sys.stderr.write(f"{file} only defines a server: run `mcpc dev --once` in its folder to serve it\n")


def __getattr__(name: str) -> object:
    """Return a name that project files import from `mcpc`; the compiler itself uses none of them."""
    if name in __all__:
        _register_exit_report()
        return getattr(import_module("mcpc_runtime.handlers.python.authoring"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
