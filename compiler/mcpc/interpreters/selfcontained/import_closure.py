"""The part of the standard library that a server can import: `--minimal-library`.

What such a module imports is left out of the library where no file has that text.

Every import statement counts, wherever it is, but for those that only type checkers and a module's own command line
run. In the project and the runtime, so does a row `module:name`, and a text by which a function imports (`lazy`). What
a handler imports by a name that it computes is not found.

An import that a library module can do without (`try`, `except ImportError`) is followed to extension modules that need
no other library: `asyncio` alone does not include OpenSSL.
"""

from __future__ import annotations

import ast
import io
import re
import zipfile
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path

ONLY_WITH = {"mcpc_runtime/handlers/python/worker/coroutines.py": re.compile(rb"async|await|coroutine")}
"""Modules of the runtime that run only if handlers or packages have such a text."""
REMOTE_RESOURCE = re.compile(rb"https:|MCPBASH_(?:ENABLE_GIT|HTTPS)|[\"'](?:git|https)[\"']")
MCP_BASH, MCP_BASH_PROVIDERS = ".mcpc/mcp-bash/", "mcpc_runtime/systems/mcp_bash/providers/"
ONLY_WITH_FILES = {
    f"{MCP_BASH}lib/python/download.py": re.compile(rb"mcp_download"),
    f"{MCP_BASH_PROVIDERS}https_provider.py": REMOTE_RESOURCE,
    f"{MCP_BASH_PROVIDERS}ssrf_guard.py": REMOTE_RESOURCE,
    "mcpc_runtime/server/tasks/sqlite.py": re.compile(rb"sqlite"),
}
"""Modules that run only if a file of the project, of any kind, has such a text: OpenSSL and SQLite are large."""
NOT_THE_PROJECT = ("mcpc_runtime/", "mcpc_app/", "META-INF/", "__main__", MCP_BASH)
"""How entries of an archive begin that are no files of the project."""


ALWAYS = (
    "copyreg",
    "encodings.ascii",
    "encodings.cp437",
    "encodings.latin_1",
    "encodings.unicode_escape",
    "encodings.utf_8_sig",
    "runpy",
    "traceback",
    "warnings",
    "zlib",
)
"""Modules that the interpreter imports by itself: codecs, what prints tracebacks, inflates, and runs `-m`."""
NOT_RUN = ("TYPE_CHECKING", "__main__")
OWN_COMMAND = frozenset({"_main", "_test", "_test_generator", "main", "test"})
"""Functions of library modules that their own command line calls."""
IMPLIED = {
    "_asyncio": ("asyncio", "inspect", "traceback", "weakref"),
    "_datetime": ("_strptime",),
    "_decimal": ("collections.abc", "numbers"),
    "_elementtree": ("copy", "pyexpat", "xml.etree.ElementPath"),
    "_json": ("json.decoder",),
    "_lsprof": ("cProfile",),
    "_pickle": ("_compat_pickle", "codecs", "copyreg", "functools"),
    "_sqlite3": ("functools", "sqlite3.dump"),
    "_ssl": ("_socket",),
    "_zoneinfo": ("weakref", "zoneinfo._common", "zoneinfo._tzpath"),
    "array": ("collections.abc",),
    **dict.fromkeys(("_codecs_cn", "_codecs_hk", "_codecs_iso2022", "_codecs_jp", "_codecs_kr"), ("_multibytecodec",)),
    "_codecs_tw": ("_multibytecodec",),
}
"""Modules that machine code imports by their names, by the module that has it."""
SYSTEM_FACTS = "_sysconfigdata_"
"""How the module begins whose name `sysconfig` computes."""
HOST_NAMES = "encodings.idna"
"""The codec of host names, with a table of characters: for what looks up hosts."""
SOCKETS_ONLY = "asyncio."
"""Modules that import `socket` and look up a host only when a project asks them to."""
ON_USE = frozenset(
    {
        ("ast", "inspect"),
        ("concurrent.futures", "concurrent.futures.process"),
        ("hashlib", "logging"),
        ("importlib._bootstrap_external", "importlib.metadata"),
        ("importlib._bootstrap_external", "importlib.readers"),
        ("logging", "pickle"),
        ("pkgutil", "inspect"),
        ("re._parser", "unicodedata"),
        ("shutil", "tarfile"),
        ("traceback", "ast"),
        ("traceback", "unicodedata"),
        ("urllib.parse", "unicodedata"),
        ("warnings", "inspect"),
        ("warnings", "tracemalloc"),
        ("zipfile", "py_compile"),
        ("zipimport", "importlib.readers"),
    }
)
"""Imports of library modules (importer, imported) that happen only when a project uses what it names itself.

Some are for what cannot be here (an algorithm without machine code), or improve a message (marks below a part of a
line): those modules do without them.
"""
NAMED_BY = {
    r"ProcessPoolExecutor": "concurrent.futures.process",
    r"PyZipFile": "py_compile",
    r"\bdeprecated|get_docstring|iter_modules|walk_packages": "inspect",
    r"create_datagram|(?:create|open)_connection|(?:create|start)_server|sock_connect": HOST_NAMES,
    r"getaddrinfo|gethostby|(?:from|import) socket|['\"]idna['\"]": HOST_NAMES,
    r"importlib\.resources": "importlib.readers",
    r"linecache|namereplace|\\N\{|url(?:defrag|join|open|parse|split)|urllib\.request": "unicodedata",
    r"make_archive|unpack_archive": "tarfile",
    r"strptime": "_strptime",
}
"""Texts in a project or the runtime that include modules: those of ON_USE, and what built-in modules import."""
NAMING = tuple((re.compile(text.encode()), module) for text, module in NAMED_BY.items())
IMPORTING = frozenset({"__import__", "import_module", "lazy"})
IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError", "AttributeError")


def imported_modules(
    entries: Mapping[str, bytes], known: Collection[str], left_out: tuple[str, ...] = ()
) -> frozenset[str]:
    """Return the modules of the library that the Python files of an archive name.

    `left_out`: the folders of the archive whose modules do not run on the target.
    """
    read = [data for name, data in running_files(all_files(entries)) if not name.startswith(left_out)]
    named = {module for text in read for pattern, module in NAMING if pattern.search(text)}
    return frozenset(named) | frozenset(name for text in read for name in named_modules(text, "", known, has_rows=True))


def all_files(entries: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an archive, and those of archives in it."""
    for name, data in entries.items():
        if name.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                yield from ((file, packed.read(file)) for file in packed.namelist())
        else:
            yield name, data


def running_files(files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield the Python files without those that run only with a text that no other file has."""
    listed = [*files]
    python = [(name, data) for name, data in listed if name.endswith(".py")]
    handlers = b"\n".join(data for name, data in python if not name.startswith("mcpc_runtime/"))
    project = b"\n".join(data for name, data in listed if not name.startswith(NOT_THE_PROJECT))
    for name, data in python:
        needs, needs_any = ONLY_WITH.get(name), ONLY_WITH_FILES.get(name)
        if (needs is None or needs.search(handlers)) and (needs_any is None or needs_any.search(project)):
            yield name, data


def library_closure(
    roots: Collection[str], modules: Mapping[str, tuple[bool, Path]], extensions: Mapping[str, bool]
) -> frozenset[str]:
    """Return the modules that are imported with these, with their packages; extension modules, too.

    `extensions`: the extension modules, and whether each needs other libraries.
    """
    known = frozenset({*modules, *extensions})
    waiting = sorted({*roots, *ALWAYS} & known)
    closure: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in closure:
            continue
        closure.add(name)
        parent = name.rpartition(".")[0]
        waiting += [other for other in (parent, *IMPLIED.get(name, ())) if other in known]
        waiting += [other for other in known if name == "sysconfig" and other.startswith(SYSTEM_FACTS)]
        if name in modules:
            is_package, path = modules[name]
            package = name if is_package else parent
            named = named_in_file(path, package, known)
            if "socket" in named and not name.startswith(SOCKETS_ONLY) and HOST_NAMES in known:
                waiting.append(HOST_NAMES)
            waiting += [
                other
                for other, is_optional in named.items()
                if (name, other) not in ON_USE and (not is_optional or extensions.get(other) is False)
            ]
    return frozenset(closure)


@cache
def named_in_file(path: Path, package: str, known: frozenset[str]) -> dict[str, bool]:
    """Return the known modules that a file of the standard library imports, and whether it can do without them."""
    return named_modules(path.read_bytes(), package, known)


def named_modules(source: bytes, package: str, known: Collection[str], *, has_rows: bool = False) -> dict[str, bool]:
    """Return the known modules that a source imports, or names if `has_rows`, and whether it can do without them."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return {}
    modules: dict[str, bool] = {}
    for node, is_optional in running_nodes(tree, skips_commands=not has_rows):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = absolute_name(node, package)
            # What is imported from a package may be a module in it.
            names = [module, *(f"{module}.{alias.name}" for alias in node.names)]
        elif has_rows:
            names = named_by_text(node)
        # A module is optional only if every import of it is.
        modules.update({name: is_optional and modules.get(name, True) for name in names if name in known})
    return modules


def named_by_text(node: ast.AST) -> list[str]:
    """Return the module of a row `module:name`, or of a call that imports by name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        module, colon, _ = node.value.partition(":")
        return [module] if colon else []
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in IMPORTING and node.args:
        first = node.args[0]
        return [first.value] if isinstance(first, ast.Constant) and isinstance(first.value, str) else []
    return []


def running_nodes(tree: ast.AST, *, skips_commands: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Yield the nodes of a module without blocks that no server runs; whether an import there may fail."""
    waiting = [(tree, False)]
    while waiting:
        node, is_optional = waiting.pop()
        yield node, is_optional
        if isinstance(node, ast.FunctionDef) and node.name in OWN_COMMAND and skips_commands:
            continue
        if isinstance(node, ast.If) and any(word in ast.unparse(node.test) for word in NOT_RUN):
            waiting += [(child, is_optional) for child in node.orelse]
        elif isinstance(node, ast.Try) and any(map(catches_import_error, node.handlers)):
            waiting += [(child, True) for child in node.body]
            waiting += [(child, is_optional) for child in (*node.handlers, *node.orelse, *node.finalbody)]
        else:
            waiting += [(child, is_optional) for child in ast.iter_child_nodes(node)]


def catches_import_error(handler: ast.ExceptHandler) -> bool:
    """Tell whether a handler is for a module that is missing."""
    return handler.type is None or any(word in ast.unparse(handler.type) for word in IMPORT_ERRORS)


def absolute_name(node: ast.ImportFrom, package: str) -> str:
    """Return the module from which names are imported."""
    if not node.level:
        return node.module or ""
    # One dot is the package itself, each further one its parent.
    parts = package.split(".")
    base = ".".join(parts[: len(parts) - node.level + 1])
    return f"{base}.{node.module}" if node.module else base
