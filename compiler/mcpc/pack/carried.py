"""Select the runtime modules that a server needs: the closure of its imports without closed gates.

A gate is a module or package that only some servers use, although other modules import it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from mcpc.model.ir import PythonFunction
from mcpc.pack.closure import ADAPTERS, MODULE, eager_closure, module_closure
from mcpc.pack.late_imports import packed_modules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.resources.abc import Traversable

    from mcpc.emit import ArtifactFile
    from mcpc.model.ir import Server
    from mcpc.pack.closure import Edges
    from mcpc.pack.late_imports import PackedModule

START_MODULES = (
    "mcpc_app",
    "mcpc_app.index",
    "mcpc_runtime",
    "mcpc_runtime.transports.platforms",
    "mcpc_runtime.protocol",
    "mcpc_runtime.protocol.constants",
    "mcpc_runtime.lazy",
    "mcpc_runtime.protocol.jsonrpc",
    "mcpc_runtime.protocol.image",
    "mcpc_runtime.protocol.requests",
    "mcpc_runtime.protocol.session",
    "mcpc_runtime.transports.platforms.artifact_file",
    "mcpc_runtime.artifact.image",
    "mcpc_runtime.transports",
    "mcpc_runtime.transports.stdio",
    "mcpc_runtime.server.driver",
    "mcpc_runtime.server.stdio_driver",
    "mcpc_runtime.main",
)
"""The modules that every start imports, each after its dependencies."""
OTHER_PYTHONS = (
    "mcpc_runtime.artifact.bytecode_compilation",
    *(f"{adapter}.bytecode_{part}" for adapter in ADAPTERS for part in ("cache", "folders")),
)
"""What every file has for a Python without bytecode."""
GENERATED = ("mcpc/", "mcpc_app/")
"""The folders of generated modules."""
GATES: dict[str, Callable[[Server], bool]] = {
    "mcpc_runtime.handlers.python.bindings.models": lambda server: bool(server.models),
    "mcpc_runtime.handlers.python.inline_runner": lambda server: any(
        definition.running.inline for definition in server.definitions
    ),
    # A lambda, because the function is defined below.
    "mcpc_runtime.http": lambda server: serves_http(server),
    "mcpc_runtime.artifact.packages": lambda server: server.layer is not None or server.serving is not None,
    "mcpc_runtime.artifact.wheel_tags": lambda server: server.layer is not None or server.serving is not None,
    "mcpc_runtime.tools.cli.other_machine": lambda server: server.layer is not None or server.serving is not None,
    "mcpc_runtime.protocol.completion": lambda server: server.completes,
    "mcpc_runtime.protocol.operations": lambda server: "finder" in used_contracts(server),
    "mcpc_runtime.protocol.static_results": lambda server: "known" in used_contracts(server),
    "mcpc_runtime.protocol.dynamic_resource_list": lambda server: bool(server.live_lists),
    "mcpc_runtime.protocol.run_time_lists": lambda server: server.run_time is not None,
    "mcpc_runtime.protocol.tasks": lambda server: server.has_tasks,
    "mcpc_runtime.artifact.settings": lambda server: bool(server.settings),
    "mcpc_runtime.server.tasks": lambda server: server.has_tasks,
    "mcpc_runtime.server.tasks.redis": lambda server: server.serving is not None and "redis" in server.serving.modules,
}
"""Modules that are closed to the servers for which the condition is false."""


def start_modules(server: Server) -> tuple[str, ...]:
    """Return the modules that the start of a server imports, including those of its hooks."""
    hooked = (row.partition(":")[0] for hook, row in server.traits.hooks if hook == "start")
    more = dict.fromkeys(name for module in hooked for name in eager_closure(runtime_edges(), module))
    # The main module stays last: all that the hooks import is there when it runs.
    *path, main = START_MODULES
    return (*path, *(name for name in more if name not in START_MODULES), main)


def runtime_files(server: Server, generated: Sequence[ArtifactFile]) -> dict[str, bytes]:
    """Return the runtime sources that this server needs, by their names in the archive."""
    sources = runtime_sources()
    edges = runtime_edges()
    ours = (module.data for module in generated if module.name.startswith(GENERATED))
    roots = {
        *START_MODULES,
        *OTHER_PYTHONS,
        *(name for data in ours for name in MODULE.findall(data.decode("utf-8", "replace"))),
    }
    roots.update(name for name in edges if is_within(name, server.traits.whole_packages))
    tables = {
        "mcpc_runtime.handlers.contracts": used_contracts(server),
        "mcpc_runtime.handlers.python.bindings": used_bindings(server),
    }
    closed = frozenset(name for name, is_open in GATES.items() if not is_open(server))
    needed = module_closure(edges, sorted(roots), tables, closed)
    return {name: data for name, data in sources.items() if module_name(name) in needed}


@cache
def runtime_sources() -> dict[str, bytes]:
    """Return the runtime's source files as they are packed, by their names in the archive."""
    modules = runtime_modules()
    return {name: modules[module_name(name)].text.encode() for name in source_files()}


@cache
def runtime_modules() -> dict[str, PackedModule]:
    """Return the runtime's modules as they are packed, by their names."""
    return packed_modules({module_name(name): data.decode() for name, data in source_files().items()}, START_MODULES)


@cache
def runtime_edges() -> dict[str, Edges]:
    """Return what each module of the runtime refers to."""
    return {name: module.edges for name, module in runtime_modules().items()}


@cache
def source_files() -> dict[str, bytes]:
    """Return the runtime's source files as they are, by their names in the archive."""
    return dict(sorted(python_files(files("mcpc_runtime"), "mcpc_runtime")))


def python_files(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the Python files below a folder."""
    for child in folder.iterdir():
        if child.is_dir():
            yield from python_files(child, f"{name}/{child.name}")
        elif child.name.endswith(".py"):
            yield f"{name}/{child.name}", child.read_bytes()


def module_name(file: str) -> str:
    """Return the module name of a file of the archive."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def serves_http(server: Server) -> bool:
    """Tell whether the file has the HTTP server."""
    return server.serving is not None and "uvicorn" in server.serving.modules


def used_contracts(server: Server) -> frozenset[str]:
    """Return the contracts of the server's handlers and of its resources' contents."""
    handlers = {definition.handler.contract for definition in server.definitions}
    contents = {readable.content.contract for readable in server.readable if readable.content is not None}
    return frozenset({*handlers, *contents, *server.traits.contracts})


def used_bindings(server: Server) -> frozenset[str]:
    """Return the bindings of the server's Python functions."""
    handlers = [definition.handler for definition in server.definitions]
    used = {handler.binding[0] for handler in handlers if isinstance(handler, PythonFunction) and handler.binding}
    completing = any(isinstance(completion.handler, PythonFunction) for completion in server.completions)
    return frozenset(used | {"named"} if completing else used)


def is_within(module: str, packages: tuple[str, ...]) -> bool:
    """Tell whether a module is one of these, or in one of these packages."""
    return any(module == package or module.startswith(f"{package}.") for package in packages)
