"""The runtime as entries: its sources and its bytecode, an entry each, and the start path as one bundle.

The bundle is in the bytecode of `__main__`: looking a module up in an archive costs more than running it, and the dozen
modules between the first line and the first answer are always the same.
"""

from __future__ import annotations

import warnings
from importlib.resources import files
from typing import TYPE_CHECKING

from mcpc.emit.bytecode import MAGIC, code_of, dump, dump_data, pyc
from mcpc.emit.templates import text
from mcpc.ir import BashFunction, Executable, Foreign, PythonFunction, Root
from mcpc.pack.archive import Entry, archive
from mcpc.pack.serving import nested
from mcpc_runtime import BYTECODE, SOURCES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from importlib.resources.abc import Traversable
    from types import CodeType

    from mcpc.emit import Module
    from mcpc.ir import Server

START = "__main__.py"
ONLY_FOR_TYPE_CHECKERS = frozenset(
    {
        "mcpc_runtime/interfaces.py",
        "mcpc_runtime/protocol/accounts.py",
        "mcpc_runtime/protocol/ports.py",
    }
)
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
BEFORE_SERVING = (
    "mcpc_runtime.mcp_bash",
    *(f"mcpc_runtime.mcp_bash.{name}" for name in ("policy", "settings", "starting")),
)
"""What the start of a server of mcp-bash imports besides."""
FOR_PYTHON = ("context.py", "contracts/python.py", "questions.py", "runners/worker.py", "worker/")
FOR_BASH = ("runners/shell.py", "shells/")
FOR_INLINE = ("runners/inline.py", "straight.py")
FOR_TASKS = (
    "contracts/tasks.py",
    "protocol/course.py",
    "protocol/tasks.py",
    "runners/tasks.py",
    "tasks/__init__.py",
    "tasks/calls.py",
    "tasks/clerk.py",
    "tasks/keeper.py",
    "tasks/places.py",
    "tasks/questions.py",
    "tasks/requests.py",
    "tasks/sqlite.py",
    "tasks/store.py",
)
FOR_MCP_BASH = ("contracts/mcp_bash.py", "mcp_bash/runner.py")
FROM_MCP_BASH = frozenset({"mcp_bash", "mcp_bash_completion", "mcp_bash_prompt", "mcp_bash_resource"})
"""The contracts of mcp-bash."""
READY: frozenset[str] = frozenset({"known", "mcp_bash_prompt"})
"""The contracts that know their answers."""
FOR_FILES = ("contracts/file.py", "runners/files.py")
FOR_PROVIDERS = (
    "contracts/mcp_bash_completion.py",
    "contracts/mcp_bash_prompt.py",
    "contracts/mcp_bash_resource.py",
    "health.py",
    "providers/",
    "remote_token.py",
    "providers/runner.py",
    "watching.py",
)
RUNTIME = "mcpc_runtime"
PACKAGE = "mcpc_runtime/__init__.py"
GENERATED_IN_BUNDLE = frozenset({"mcpc_app/__init__.py", "mcpc_app/index.py"})
"""Whose bytecode only the bundle has: a second copy beside the source would only be read past."""
CARRIED_WHEN: dict[str, Callable[[Server, Sequence[Module]], bool]] = {
    "mcpc_runtime/authoring.py": lambda _, modules: any(module.name == "mcpc/__init__.py" for module in modules),
    "mcpc_runtime/bindings/conversion.py": lambda server, _: "hints" in bindings(server),
    "mcpc_runtime/bindings/dumping.py": lambda server, _: "hints" in bindings(server),
    "mcpc_runtime/bindings/hints.py": lambda server, _: "hints" in bindings(server),
    "mcpc_runtime/bindings/models.py": lambda server, _: bool(server.models),
    "mcpc_runtime/formats/": lambda _, modules: any(b"mcpc_runtime.formats" in module.data for module in modules),
    "mcpc_runtime/patterns.py": lambda _, modules: any(b"mcpc_runtime.patterns" in module.data for module in modules),
    "mcpc_runtime/layer/": lambda _, modules: any(module.name.startswith(("site/", "serving/")) for module in modules),
    "mcpc_runtime/http/": lambda server, _: serves_http(server),
    "mcpc_runtime/http/bx/": lambda server, _: "bx" in dict(server.settings),
    "mcpc_runtime/protocol/globs.py": lambda server, _: "bx" in dict(server.settings) and serves_http(server),
    "mcpc_runtime/http/facets.py": lambda server, _: bool(server.facets),
    "mcpc_runtime/contracts/known.py": lambda server, _: "known" in contracts(server),
    "mcpc_runtime/protocol/known.py": lambda server, _: "known" in contracts(server),
    "mcpc_runtime/protocol/allowing.py": lambda server, _: serves_http(server) or "mcp_bash" in contracts(server),
    "mcpc_runtime/bindings/named.py": lambda server, _: any(
        isinstance(one.handler, PythonFunction) for one in server.completions
    ),
    "mcpc_runtime/protocol/completion.py": lambda server, _: server.completes,
    "mcpc_runtime/protocol/media.py": lambda server, _: server.has_resources or "mcp_bash" in contracts(server),
    **{
        f"mcpc_runtime/{name}": lambda server, _: reads_files(server) or is_of(server, "mcp_bash") for name in FOR_FILES
    },
    **{f"mcpc_runtime/{name}": lambda server, _: is_of(server, "mcp_bash") for name in FOR_PROVIDERS},
    **{f"mcpc_runtime/{name}": lambda server, _: has_tasks(server) for name in FOR_TASKS},
    "mcpc_runtime/events.py": lambda server, _: serves_http(server),
    "mcpc_runtime/shares.py": lambda server, _: serves_http(server) or has_tasks(server),
    "mcpc_runtime/redis.py": lambda server, _: serves_http(server) or has_tasks(server),
    "mcpc_runtime/tasks/redis.py": lambda server, _: has_tasks(server) and carries_redis(server),
    **{f"mcpc_runtime/{name}": lambda server, _: "mcp_bash" in contracts(server) for name in FOR_MCP_BASH},
    "mcpc_runtime/mcp_bash/": lambda server, _: is_of(server, "mcp_bash"),
    "mcpc_runtime/bindings/toolbox.py": lambda server, _: "toolbox_python" in contracts(server),
    "mcpc_runtime/contracts/toolbox.py": lambda server, _: "toolbox" in contracts(server),
    "mcpc_runtime/contracts/toolbox_python.py": lambda server, _: "toolbox_python" in contracts(server),
    "mcpc_runtime/node/": lambda server, _: bool(contracts(server) & {"toolbox", "toolbox_python"}),
    "mcpc_runtime/protocol/live.py": lambda server, _: "live" in dict(server.settings),
    "mcpc_runtime/runners/node.py": lambda server, _: "toolbox" in contracts(server),
    "mcpc_runtime/contracts/executable.py": lambda server, _: has(server, Executable),
    "mcpc_runtime/unpacking.py": lambda server, _: has(server, Executable) or server.unpack or unpacks(server),
    "mcpc_runtime/runners/ready.py": lambda server, _: bool(contracts(server) & READY),
    "mcpc_runtime/contracts/mcbox.py": lambda server, _: has(server, BashFunction),
    "mcpc_runtime/shells/scripts.py": lambda server, _: forks(server),
    **{f"mcpc_runtime/{name}": lambda server, _: has(server, BashFunction) or forks(server) for name in FOR_BASH},
    **{f"mcpc_runtime/{name}": lambda server, _: has(server, PythonFunction) for name in FOR_PYTHON},
    **{
        f"mcpc_runtime/{name}": lambda server, _: any(one.running.inline for one in server.definitions)
        for name in FOR_INLINE
    },
}
"""What only some servers need, and how one can tell; every other file of the runtime is in every artifact."""
NO_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
"""How the interpreter says that it cannot compile a text: wrong, no text, nested too deeply for one of its stacks."""


def runtime_sources() -> dict[str, bytes]:
    """Return the runtime's source files by their names in the archive."""
    return dict(sorted(walk(files("mcpc_runtime"), "mcpc_runtime")))


def walk(place: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the Python files below a folder."""
    for child in place.iterdir():
        if child.is_dir():
            yield from walk(child, f"{name}/{child.name}")
        elif child.name.endswith(".py") and f"{name}/{child.name}" not in ONLY_FOR_TYPE_CHECKERS:
            yield f"{name}/{child.name}", child.read_bytes()


def runtime_entries(server: Server, generated: Sequence[Module]) -> tuple[Entry, ...]:
    """Return the entries of everything but the manifest: runtime, generated modules, handlers, both ways to start."""
    stripped = {**carried(server, generated), **{module.name: module.data for module in generated if is_ours(module)}}
    start = {START: text(START)}
    codes = {name: code_of(data, label(name), strip=True) for name, data in {**stripped, **start}.items()}
    codes[START] = bundled(codes)
    authors = ((module.name, author_code(module)) for module in generated if module.python and module.name not in codes)
    codes.update((name, code) for name, code in authors if code is not None)
    plain = {module.name: module.data for module in generated}
    sources = {**plain, **stripped, **start}
    runtime = {name: code for name, code in codes.items() if name.startswith(f"{RUNTIME}/")}
    others = {name: code for name, code in codes.items() if name not in runtime or name == PACKAGE}
    beside = {f"{name}c": pyc(code, sources[name]) for name, code in others.items() if name not in GENERATED_IN_BUNDLE}
    kept = {name: data for name, data in sources.items() if name in runtime and name != PACKAGE}
    sources = {name: data for name, data in sources.items() if name not in kept}
    packed = archive([Entry(name, data) for name, data in kept.items()], "")
    entries = {**sources, **beside, BYTECODE: one_entry(runtime), SOURCES: packed}
    return tuple(Entry(name, data) for name, data in sorted(nested(entries).items()))


def one_entry(codes: Mapping[str, CodeType]) -> bytes:
    """Return the bytecode of the runtime's modules as one entry (see `mcpc_runtime.Kept`)."""
    bodies = {name: dump(code) for name, code in sorted(codes.items()) if name != PACKAGE}
    # The table has the same length wherever the modules begin: marshal writes every number in five bytes.
    length = len(dump_data(table(bodies, 0)))
    rows = dump_data(table(bodies, len(MAGIC) + 4 + length))
    return b"".join((MAGIC, len(rows).to_bytes(4, "little"), rows, *bodies.values()))


def table(bodies: Mapping[str, bytes], start: int) -> dict[str, tuple[bool, int, int]]:
    """Return each module's row: whether it is a package, where it begins, and its length."""
    rows = {}
    for file, body in bodies.items():
        name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        rows[name] = file.endswith("/__init__.py"), start, len(body)
        start += len(body)
    return rows


def carried(server: Server, generated: Sequence[Module]) -> dict[str, bytes]:
    """Return the runtime's sources without those that this server does not need."""
    sources = runtime_sources()
    unneeded = tuple(name for name, is_needed in CARRIED_WHEN.items() if not is_needed(server, generated))
    return {name: data for name, data in sources.items() if not name.startswith(unneeded)}


def serves_http(server: Server) -> bool:
    """Tell whether the server carries what serves over HTTP."""
    return server.serving is not None and "uvicorn" in server.serving.modules


def has(server: Server, kind: type) -> bool:
    """Tell whether the server has a handler of this kind."""
    return any(isinstance(definition.handler, kind) for definition in server.definitions)


def contracts(server: Server) -> frozenset[str]:
    """Return the contracts that handlers of the server keep."""
    return frozenset(one.handler.contract for one in server.definitions)


def forks(server: Server) -> bool:
    """Tell whether scripts run as children of a shell that has read their SDK."""
    handlers = [one.handler for one in server.definitions if one.handler.contract == "mcp_bash"]
    return any(isinstance(one, Foreign) and dict(one.facts[0]).get("fork") for one in handlers)


def unpacks(server: Server) -> bool:
    """Tell whether a handler of another system wants the project's files on disk."""
    return any(isinstance(one.handler, Foreign) and one.handler.unpacks for one in server.definitions)


def has_tasks(server: Server) -> bool:
    """Tell whether calls may become tasks."""
    return any(tool.running.task for tool in server.tools)


def carries_redis(server: Server) -> bool:
    """Tell whether the server carries what speaks with Redis."""
    return server.serving is not None and "redis" in server.serving.modules


def is_of(server: Server, name: str) -> bool:
    """Tell whether something of the server is written in a format that has its own parts of the runtime."""
    return name in dict(server.settings)


def reads_files(server: Server) -> bool:
    """Tell whether the server reads files of the machine that it runs on."""
    return any(isinstance(one.content, Root) for one in server.readable)


def bindings(server: Server) -> frozenset[str]:
    """Return the ways in which functions of the server want their arguments."""
    handlers = [definition.handler for definition in server.definitions]
    return frozenset(one.binding[0] for one in handlers if isinstance(one, PythonFunction) and one.binding)


def author_code(module: Module) -> CodeType | None:
    """Return the code of an author's file, None if it has none: beside the handlers may lie what Python cannot read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return code_of(module.data, label(module.name), strip=False)
        except NO_PYTHON:
            return None


def is_ours(module: Module) -> bool:
    """Tell whether a module is generated code, which is compiled without what only readers want."""
    return module.python and module.name.startswith("mcpc_app/")


def label(name: str) -> str:
    """Return what tracebacks call a file of the archive: the same wherever it was built."""
    return f"server.pyz/{name}"


def bundled(codes: Mapping[str, CodeType]) -> CodeType:
    """Return the start module's code with the bundle in the place of its constant."""
    start = codes[START]
    *path, main = START_PATH
    more = (name for name in BEFORE_SERVING if file_of(name, codes) in codes)
    bundle = tuple(bundle_row(name, codes) for name in (*path, *more, main))
    constants = tuple(bundle if constant == "BUNDLE" else constant for constant in start.co_consts)
    return start.replace(co_consts=constants)


def file_of(name: str, codes: Mapping[str, CodeType]) -> str:
    """Return the source file of a module or package."""
    path = name.replace(".", "/")
    return f"{path}/__init__.py" if f"{path}/__init__.py" in codes else f"{path}.py"


def bundle_row(name: str, codes: Mapping[str, CodeType]) -> tuple[str, bool, CodeType]:
    """Return a module's name, whether it is a package, and its code."""
    file = file_of(name, codes)
    return name, file.endswith("/__init__.py"), codes[file]
