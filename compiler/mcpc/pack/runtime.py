"""The runtime as entries: its sources and its bytecode, an entry each, and the start path as one bundle.

The bundle is in the bytecode of `__main__`: looking a module up in an archive costs more than running it, and the dozen
modules between the first line and the first answer are always the same.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from mcpc.emit.bytecode import MAGIC, code_of, dump, dump_data, pyc
from mcpc.emit.templates import text
from mcpc.pack.archive import Entry, archive
from mcpc.pack.carried import START_PATH, carried
from mcpc.pack.serving import nested
from mcpc_runtime import BYTECODE, SOURCES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import CodeType

    from mcpc.emit import Module
    from mcpc.ir import Server

START = "__main__.py"
BEFORE_SERVING = (
    "mcpc_runtime.mcp_bash",
    *(f"mcpc_runtime.mcp_bash.{name}" for name in ("policy", "settings", "starting")),
)
"""What the start of a server of mcp-bash imports besides."""
RUNTIME = "mcpc_runtime"
PACKAGE = "mcpc_runtime/__init__.py"
GENERATED_IN_BUNDLE = frozenset({"mcpc_app/__init__.py", "mcpc_app/index.py"})
"""Whose bytecode only the bundle has: a second copy beside the source would only be read past."""
NO_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
"""How the interpreter says that it cannot compile a text: wrong, no text, nested too deeply for one of its stacks."""


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
