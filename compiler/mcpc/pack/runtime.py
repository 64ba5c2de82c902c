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
from mcpc.ir import BashFunction, Executable, PythonFunction
from mcpc.pack.archive import Entry, archive
from mcpc_runtime import BYTECODE, SOURCES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from importlib.resources.abc import Traversable
    from types import CodeType

    from mcpc.emit import Module
    from mcpc.ir import Server

START = "__main__.py"
ONLY_FOR_TYPE_CHECKERS = frozenset({"mcpc_runtime/protocol/ports.py"})
START_PATH = (
    "mcpc_app",
    "mcpc_app.index",
    "mcpc_runtime",
    "mcpc_runtime.protocol",
    "mcpc_runtime.protocol.facts",
    "mcpc_runtime.protocol.rows",
    "mcpc_runtime.protocol.jsonrpc",
    "mcpc_runtime.protocol.effects",
    "mcpc_runtime.protocol.session",
    "mcpc_runtime.image",
    "mcpc_runtime.transports",
    "mcpc_runtime.transports.stdio",
    "mcpc_runtime.engine",
    "mcpc_runtime.main",
)
"""What every start imports, each after what it needs."""
FOR_PYTHON = ("context.py", "contracts/python.py", "runners/worker.py", "worker/")
FOR_BASH = ("contracts/mcbox.py", "runners/shell.py", "shells/")
FOR_INLINE = ("runners/inline.py", "straight.py")
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
    "mcpc_runtime/layer/": lambda _, modules: any(module.name.startswith("site/") for module in modules),
    "mcpc_runtime/contracts/executable.py": lambda server, _: has(server, Executable),
    "mcpc_runtime/unpacking.py": lambda server, _: has(server, Executable) or server.unpack,
    **{f"mcpc_runtime/{name}": lambda server, _: has(server, BashFunction) for name in FOR_BASH},
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
    return tuple(Entry(name, data) for name, data in sorted(entries.items()))


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


def has(server: Server, kind: type) -> bool:
    """Tell whether the server has a handler of this kind."""
    return any(isinstance(definition.handler, kind) for definition in server.definitions)


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
    bundle = tuple(bundle_row(name, codes) for name in START_PATH)
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
