"""Compile the runtime from its sources, for a Python that the file has no bytecode for, and cache the result.

It is run from its source when nothing is cached: by `__main__` for the start, by RuntimeFinder for the other modules.
What is cached has the form of the file's own bytecode, so that later starts do what a file built for that Python does.

A file is written beside its place and renamed, so that starts at the same time do not disturb each other, and one that
is ended leaves nothing that is used.  Failures are silent: the next start tries again, or compiles what it needs.  The
cache is bounded in number and size; what was written first is removed first.
"""

import marshal
import sys
import time
from _frozen_importlib_external import MAGIC_NUMBER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import CodeType
    from typing import Any, TypedDict
    from zipimport import zipimporter

    class Facts(TypedDict):
        """The entry OTHER_PYTHONS: the digest of what is compiled, the modules of the start path, and sources.

        `cache` and `folders`: the sources of `bytecode_cache` and `bytecode_folders` by the name of the system, empty
        for POSIX; `compilation`: this one.
        """

        digest: str
        path: tuple[str, ...]
        cache: dict[str, str]
        folders: dict[str, str]
        compilation: str

    Table = dict[str, tuple[bool, int, int]]
    Cache = dict[str, Any]
    """The names of `bytecode_cache` of this system, and then of `bytecode_folders`."""

SOURCES = "mcpc_runtime/sources.zip"
START_FILE = "__start__.py"
BESIDE = ("mcpc_runtime/__init__.py", "mcpc_app/__init__.py", "mcpc_app/index.py", START_FILE)
"""Sources of the start that are not in SOURCES."""
UNFINISHED_PREFIX, ABANDONED_SECONDS = ".new-", 3600
MAX_FILES, MAX_BYTES = 64, 64 << 20
WRITABLE = 2
"""`W_OK` of every system."""


def compile_start(loader: "zipimporter", facts: "Facts", cache: "Cache") -> "CodeType":
    """Return the code of the start, with the modules of the start path in it, and cache it."""
    beside = {name: loader.get_data(loader.archive + "/" + name) for name in BESIDE}
    sources = {**runtime_sources(loader), **beside}
    rows = []
    for module in facts["path"]:
        path = module.replace(".", "/")
        is_package = path + "/__init__.py" in sources
        file = path + ("/__init__.py" if is_package else ".py")
        rows.append((module, is_package, compile_source(sources[file], file)))
    start = compile_source(sources[START_FILE], START_FILE)
    code = start.replace(co_consts=tuple(tuple(rows) if item == "BUNDLE" else item for item in start.co_consts))
    folder = usable_folder(facts, cache)
    if folder:
        write_cached(cache, folder, cache["file_name"](facts["digest"], "start"), marshal.dumps(code))
    return code


def compile_modules(loader: "zipimporter", facts: "Facts", cache: "Cache") -> "tuple[bytes, bool]":
    """Return the modules of the runtime in the form of the entry of bytecode, and cache them.

    Without a usable folder the second value is True, and they are sources: a process compiles those that it imports.
    """
    sources = runtime_sources(loader)
    folder = usable_folder(facts, cache)
    if not folder:
        return modules_entry(MAGIC_NUMBER, sources), True
    data = modules_entry(
        MAGIC_NUMBER, {file: marshal.dumps(compile_source(source, file)) for file, source in sources.items()}
    )
    write_cached(cache, folder, cache["file_name"](facts["digest"], "modules"), data)
    return data, False


def runtime_sources(loader: "zipimporter") -> "dict[str, bytes]":
    """Return the runtime's sources by their names in the archive."""
    archive = __import__("io").BytesIO(loader.get_data(loader.archive + "/" + SOURCES))
    with __import__("zipfile").ZipFile(archive) as sources:
        return {file: sources.read(file) for file in sources.namelist()}


def compile_source(source: bytes, file: str) -> "CodeType":
    """Compile a module without its docstrings and assertions."""
    code: CodeType = compile(source, "server.pyz/" + file, "exec", dont_inherit=True, optimize=2)
    return code


def modules_entry(magic: bytes, bodies: "Mapping[str, bytes]") -> bytes:
    """Return modules as one entry of bytecode (see `mcpc_runtime.RuntimeFinder`); the compiler writes it so, too."""
    # The table's length does not depend on the offsets: marshal writes every number in five bytes.
    # Version 2 of marshal, because later ones write references, which depend on who else holds an object.
    length = len(marshal.dumps(modules_table(bodies, 0), 2))
    table = marshal.dumps(modules_table(bodies, len(magic) + 4 + length), 2)
    return b"".join((magic, length.to_bytes(4, "little"), table, *bodies.values()))


def modules_table(bodies: "Mapping[str, bytes]", start: int) -> "Table":
    """Return each module's row: whether it is a package, its offset, and its length."""
    rows = {}
    for file, body in bodies.items():
        name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        rows[name] = file.endswith("/__init__.py"), start, len(body)
        start += len(body)
    return rows


def usable_folder(facts: "Facts", cache: "Cache") -> "Any":
    """Return the first folder in which bytecode can be cached, created if missing; None if there is none."""
    if sys.dont_write_bytecode:
        return None
    exec(facts["folders"].get(sys.platform) or facts["folders"][""], cache)  # noqa: S102 - code of the archive itself
    for folder in cache["candidate_folders"]():
        try:
            if cache["make_folder"](folder) and cache["system"].access(folder, WRITABLE):
                return folder
        except (OSError, ValueError):
            continue
    return None


def write_cached(cache: "Cache", folder: "Any", name: str, data: bytes) -> None:
    """Write a cached file; a failure leaves nothing."""
    system = cache["system"]
    new = cache["join"](folder, f"{UNFINISHED_PREFIX}{system.getpid()}-{system.urandom(8).hex()}")
    try:
        remove_surplus(cache, folder)
        descriptor = system.open(new, system.O_WRONLY | system.O_CREAT | system.O_EXCL | cache["FLAGS"], 0o600)
        try:
            rest = memoryview(cache["content_hash"](data) + data)
            while rest:
                rest = rest[system.write(descriptor, rest) :]
        finally:
            system.close(descriptor)
        system.replace(new, cache["join"](folder, name))
    except OSError:
        try:
            system.unlink(new)
        except OSError:
            return


def remove_surplus(cache: "Cache", folder: "Any") -> None:
    """Remove what was written first, so that there is room for one more file, and what was never finished."""
    count = size = 0
    # The newest first: what exceeds the bounds is then what was written first.
    for written, length, path, is_finished in sorted(cached_files(cache, folder), reverse=True):
        count, size = count + 1, size + length
        is_abandoned = not is_finished and written < time.time() - ABANDONED_SECONDS
        if count >= MAX_FILES or size > MAX_BYTES or is_abandoned:
            try:
                cache["system"].unlink(path)
            except OSError:
                continue


def cached_files(cache: "Cache", folder: "Any") -> "Iterator[tuple[float, int, Any, bool]]":
    """Yield of each file: when it was written, its length, its path, and whether it was finished."""
    for name in cache["system"].listdir(cache["join"](folder, "")):
        text = name if isinstance(name, str) else name.decode("utf-8", "replace")
        path = cache["join"](folder, text)
        try:
            status = cache["system"].lstat(path)
        except OSError:
            continue
        yield status.st_mtime, status.st_size, path, not text.startswith(UNFINISHED_PREFIX)
