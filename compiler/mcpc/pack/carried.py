"""Which modules of the runtime a server carries: the closure of its imports, without what its gates close.

A gate is a module or package that only some servers use, although the imports of others lead to it, too.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from mcpc.ir import PythonFunction
from mcpc.pack.closure import MODULE, closure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.resources.abc import Traversable

    from mcpc.emit import Module
    from mcpc.ir import Server

START_PATH = (
    "mcpc_app",
    "mcpc_app.index",
    "mcpc_runtime",
    "mcpc_runtime.protocol",
    "mcpc_runtime.protocol.facts",
    "mcpc_runtime.lazy",
    "mcpc_runtime.protocol.jsonrpc",
    "mcpc_runtime.protocol.effects",
    "mcpc_runtime.protocol.session_state",
    "mcpc_runtime.protocol.session",
    "mcpc_runtime.opened",
    "mcpc_runtime.image",
    "mcpc_runtime.transports",
    "mcpc_runtime.transports.stdio",
    "mcpc_runtime.engine",
    "mcpc_runtime.main",
)
"""What every start imports, each after what it needs."""
GENERATED = ("mcpc/", "mcpc_app/")
"""The folders of generated modules."""
CONTRACTS_OF = {"mcp_bash": frozenset({"mcp_bash_completion", "mcp_bash_resource"})}
"""The contracts that every server of a system may need, whatever its definitions are."""
GATES: dict[str, Callable[[Server, Sequence[Module]], bool]] = {
    "mcpc_runtime.bindings.models": lambda server, _: bool(server.models),
    "mcpc_runtime.bindings.toolbox": lambda server, _: "toolbox_python" in contracts(server),
    "mcpc_runtime.health": lambda server, _: is_of(server, "mcp_bash"),
    "mcpc_runtime.http": lambda server, _: serves_http(server),
    "mcpc_runtime.http.bx": lambda server, _: is_of(server, "bx"),
    "mcpc_runtime.http.facets": lambda server, _: bool(server.facets),
    "mcpc_runtime.layer": lambda _, modules: any(module.name.startswith(("site/", "serving/")) for module in modules),
    "mcpc_runtime.mcp_bash": lambda server, _: is_of(server, "mcp_bash"),
    "mcpc_runtime.protocol.completion": lambda server, _: server.completes,
    "mcpc_runtime.protocol.known": lambda server, _: "known" in contracts(server),
    "mcpc_runtime.protocol.live": lambda server, _: is_of(server, "live"),
    "mcpc_runtime.protocol.tasks": lambda server, _: has_tasks(server),
    "mcpc_runtime.remote_token": lambda server, _: is_of(server, "mcp_bash"),
    "mcpc_runtime.runners.inline": lambda server, _: runs_inline(server),
    "mcpc_runtime.runners.tasks": lambda server, _: has_tasks(server),
    "mcpc_runtime.straight": lambda server, _: runs_inline(server),
    "mcpc_runtime.tasks": lambda server, _: has_tasks(server),
    "mcpc_runtime.tasks.redis": lambda server, _: carries_redis(server),
    "mcpc_runtime.watching": lambda server, _: is_of(server, "mcp_bash"),
}
"""What is closed to the servers for which its condition does not hold."""


def carried(server: Server, generated: Sequence[Module]) -> dict[str, bytes]:
    """Return the runtime's sources that this server needs, by their names in the archive."""
    sources = runtime_sources()
    texts = runtime_texts()
    ours = (module.data for module in generated if module.name.startswith(GENERATED))
    roots = {*START_PATH, *(name for data in ours for name in MODULE.findall(data.decode("utf-8", "replace")))}
    tables = {"mcpc_runtime.contracts": contracts(server), "mcpc_runtime.bindings": bindings(server)}
    closed = frozenset(name for name, is_open in GATES.items() if not is_open(server, generated))
    needed = closure(texts, sorted(roots), tables, closed)
    return {name: data for name, data in sources.items() if module_name(name) in needed}


@cache
def runtime_sources() -> dict[str, bytes]:
    """Return the runtime's source files by their names in the archive."""
    return dict(sorted(python_files(files("mcpc_runtime"), "mcpc_runtime")))


@cache
def runtime_texts() -> dict[str, str]:
    """Return the runtime's sources as text, by the names of their modules."""
    return {module_name(name): data.decode() for name, data in runtime_sources().items()}


def python_files(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the Python files below a folder."""
    for child in folder.iterdir():
        if child.is_dir():
            yield from python_files(child, f"{name}/{child.name}")
        elif child.name.endswith(".py"):
            yield f"{name}/{child.name}", child.read_bytes()


def module_name(file: str) -> str:
    """Return the module that a file of the archive is."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def serves_http(server: Server) -> bool:
    """Tell whether the server carries what serves over HTTP."""
    return server.serving is not None and "uvicorn" in server.serving.modules


def carries_redis(server: Server) -> bool:
    """Tell whether the server carries the client of Redis."""
    return server.serving is not None and "redis" in server.serving.modules


def has_tasks(server: Server) -> bool:
    """Tell whether calls may become tasks."""
    return any(tool.running.task for tool in server.tools)


def runs_inline(server: Server) -> bool:
    """Tell whether a handler runs in the server's own process."""
    return any(definition.running.inline for definition in server.definitions)


def is_of(server: Server, name: str) -> bool:
    """Tell whether something of the server is written in a format that has its own parts of the runtime."""
    return name in dict(server.settings)


def contracts(server: Server) -> frozenset[str]:
    """Return the contracts of the server's handlers and of what has its resources' contents."""
    handlers = {definition.handler.contract for definition in server.definitions}
    contents = {readable.content.contract for readable in server.readable if readable.content is not None}
    systems = (names for system, names in CONTRACTS_OF.items() if is_of(server, system))
    return frozenset(handlers.union(contents, *systems))


def bindings(server: Server) -> frozenset[str]:
    """Return the bindings of the server's Python functions: how they are given their arguments."""
    handlers = [definition.handler for definition in server.definitions]
    used = {handler.binding[0] for handler in handlers if isinstance(handler, PythonFunction) and handler.binding}
    completing = any(isinstance(completion.handler, PythonFunction) for completion in server.completions)
    return frozenset(used | {"named"} if completing else used)
