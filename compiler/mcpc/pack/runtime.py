"""The runtime as entries: its sources and its bytecode, one entry each, and the start modules as one bundle.

The bundle is in the bytecode of `__main__`: finding a module in an archive costs more than running it, and the first
dozen modules of a start are always the same.

From sources is removed what only readers and type checkers need: comments, texts that stand alone, `if TYPE_CHECKING`
and the annotations of signatures.  Lines keep their numbers, for tracebacks.  A source is edited and not written anew
from its syntax tree, because `ast.unparse` of each Python version writes differently, and the digest of the sources is
the same for all.
"""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from mcpc.emit.bytecode import dump_data, pyc_header
from mcpc.emit.interpreters import compile_for, tag_suffix
from mcpc.emit.templates import template_text
from mcpc.model.ir import Traits
from mcpc.pack.archive import ArchiveEntry, build_archive, nest_entries, sha256_hex
from mcpc.pack.carried import is_within, module_name, runtime_files, start_modules
from mcpc_runtime import BYTECODE, OTHER_PYTHONS, SOURCES
from mcpc_runtime.artifact.bytecode_compilation import modules_entry
from mcpc_runtime.http.page_files import FOLDER, MEDIA_TYPES
from mcpc_runtime.transports.platforms import PLATFORMS, POSIX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from importlib.resources.abc import Traversable

    from mcpc.emit import ArtifactFile
    from mcpc.model.ir import Server
    from mcpc.options import Options


MAIN, START = "__main__.py", "__start__.py"
"""What runs without bytecode, and the start, whose bytecode is that of `__main__`."""
RUNTIME = "mcpc_runtime"
PACKAGE = "mcpc_runtime/__init__.py"
COMPILATION = "mcpc_runtime/artifact/bytecode_compilation.py"
ADAPTED = {"cache": "bytecode_cache.py", "folders": "bytecode_folders.py"}
"""Modules of each adapter that run with another Python only, by their names in OTHER_PYTHONS."""
SELDOM_USED = (
    "mcpc_runtime/handlers/http/curl.py",
    "mcpc_runtime/handlers/shell_words.py",
    "mcpc_runtime/tools/clients/",
    "mcpc_runtime/tools/cli/client_files.py",
    "mcpc_runtime/tools/cli/completion.py",
    "mcpc_runtime/tools/cli/dry_run.py",
    "mcpc_runtime/tools/cli/overview.py",
    "mcpc_runtime/tools/cli/signed_file.py",
    "mcpc_runtime/tools/cli/update.py",
)
"""Modules of commands for people, which have no bytecode: they are compiled from the sources when they are used."""
GENERATED_IN_BUNDLE = frozenset({"mcpc_app/__init__.py", "mcpc_app/index.py"})
"""Generated modules whose bytecode is only in the bundle: a second copy would never be read."""


@dataclass(frozen=True, slots=True)
class CompiledFiles:
    """What is compiled: sources by their names in the archive, those that are stripped, and the start path.

    `compact`: modules of the start path are in the bundle only.
    """

    sources: Mapping[str, bytes]
    stripped: frozenset[str]
    required: frozenset[str]
    path: Sequence[str]
    compact: bool

    def entries(self, minor: str) -> dict[str, bytes]:
        """Return the entries of bytecode for a Python."""
        names = list(self.sources)
        modules = [(data, f"server.pyz/{name}", name in self.stripped) for name, data in self.sources.items()]
        lasting = frozenset(module for name, module in zip(names, modules, strict=True) if is_in_bytecode_entry(name))
        rows = tuple(map(self._bundle_row, self.path))
        bundled = {names[number] for _, _, number in rows} if self.compact else set()
        magic, codes = compile_for(minor, modules, rows, names.index(START), lasting)
        compiled = {name: code for name, code in zip(names, codes, strict=True) if code is not None}
        if missing := sorted(self.required - compiled.keys()):
            raise ValueError(f"{missing[0]} does not compile with Python {minor}")
        runtime = {
            # Without code here a module comes from the bundle, or is compiled from its source when it is used.
            name: b"" if name.startswith(SELDOM_USED) or name in bundled else code
            for name, code in compiled.items()
            if is_in_bytecode_entry(name)
        }
        beside = {
            f"{MAIN if name == START else name}c": pyc_header(magic, self.sources[name]) + code
            for name, code in compiled.items()
            if name not in runtime and name not in GENERATED_IN_BUNDLE
        }
        return {**beside, BYTECODE: modules_entry(magic, dict(sorted(runtime.items())))}

    def _bundle_row(self, module: str) -> tuple[str, bool, int]:
        """Return a module's name, whether it is a package, and its number."""
        path = module.replace(".", "/")
        is_package = f"{path}/__init__.py" in self.sources
        return module, is_package, list(self.sources).index(f"{path}/__init__.py" if is_package else f"{path}.py")


def runtime_entries(
    server: Server, generated: Sequence[ArtifactFile], minors: Sequence[str], *, compact: bool = False
) -> tuple[ArchiveEntry, ...]:
    """Return all entries except the manifest: runtime, generated modules, handlers, both entry points.

    `compact`: nothing twice, and the runtime's sources without what only readers need.
    """
    ours = {
        **runtime_files(server, generated),
        **{module.name: module.data for module in generated if module.python and module.name.startswith("mcpc_app/")},
        START: template_text("start.py"),
    }
    authors = {module.name: module.data for module in generated if module.python and module.name not in ours}
    whole = server.traits.whole_packages
    stripped = frozenset(name for name in ours if not is_within(module_name(name), whole))
    compilable = {name: data for name, data in {**ours, **authors}.items() if not is_for_other_pythons(name)}
    path = start_modules(server)
    compiled = CompiledFiles(compilable, stripped, frozenset(compilable.keys() & ours.keys()), path, compact)
    bytecode = {
        f"{name}{tag_suffix(minor, minors)}": data for minor in minors for name, data in compiled.entries(minor).items()
    }
    brief = {name: without_commentary(ours[name]) for name in stripped if name.endswith(".py")} if compact else {}
    ours = {**ours, **brief}
    sources = {**{module.name: module.data for module in generated}, **ours, MAIN: template_text(MAIN)}
    nested = [ArchiveEntry(name, data) for name, data in sources.items() if is_in_bytecode_entry(name)]
    plain = {name: data for name, data in sources.items() if not is_in_bytecode_entry(name)}
    entries = {**plain, **bytecode, SOURCES: build_archive(nested, ""), OTHER_PYTHONS: other_pythons(ours, path)}
    return tuple(ArchiveEntry(name, data) for name, data in sorted(nest_entries(entries).items()))


def other_pythons(sources: Mapping[str, bytes], path: Sequence[str]) -> bytes:
    """Return what a Python without bytecode starts with (`Facts` of `mcpc_runtime.artifact.bytecode_compilation`)."""
    lines = "".join(f"{sha256_hex(data)}  {name}\n" for name, data in sorted(sources.items()))
    adapters = {system: row[0].replace(".", "/") for system, row in (("", POSIX), *PLATFORMS.items())}
    texts = {
        key: {system: sources[f"{folder}/{file}"].decode() for system, folder in adapters.items()}
        for key, file in ADAPTED.items()
    }
    facts = {"digest": sha256_hex(lines.encode()), "path": tuple(path), "compilation": sources[COMPILATION].decode()}
    return dump_data({**facts, **texts})


def is_for_other_pythons(name: str) -> bool:
    """Tell whether a module runs only from its source, with a Python that the file has no bytecode for."""
    return name == COMPILATION or name.endswith(tuple(f"/{file}" for file in ADAPTED.values()))


def is_in_bytecode_entry(name: str) -> bool:
    """Tell whether a file is a module of the runtime, whose bytecode is in one entry with that of all others."""
    return name.startswith(f"{RUNTIME}/") and name != PACKAGE


PAGE_MODULE = "mcpc_runtime.http.page"
PAGE_HOOKS = (("http_routes", f"{PAGE_MODULE}:page_routes"), ("hidden_paths", f"{PAGE_MODULE}:hidden_paths"))
"""The hooks by which the runtime finds the page, before the routes of a program, and the paths that it would hide."""
UPDATE_HOOK = ("update", "mcpc_runtime.tools.cli.update:update")
"""The hook of the command `update`: only a file that names a key has it, with what fetches over https."""


def with_options(server: Server, options: Options) -> Server:
    """Return a server with the parts of the runtime that options add by hooks."""
    hooks = (*(PAGE_HOOKS if options.ui else ()), *((UPDATE_HOOK,) if options.update_key else ()))
    # In this order: the page's routes come before those of a program.
    return replace(server, traits=Traits(hooks=hooks) | server.traits)


def page_entries() -> tuple[ArchiveEntry, ...]:
    """Return the files of the page, sorted by name."""
    return tuple(ArchiveEntry(FOLDER + name, data) for name, data in sorted(page_sources()))


def page_sources() -> Iterator[tuple[str, bytes]]:
    """Yield the names of the page's files, relative to its folder, and their bytes, without comments and indents."""
    for name, data in _files_of(files("mcpc_runtime.tools") / "page", ""):
        yield name, shortened(data.decode()).encode() if name.endswith((".js", ".css")) else data


def shortened(text: str) -> str:
    """Return a module or a style sheet without indents and without lines that are comments only.

    No template literal of the page's modules has more than one line, so indents mean nothing.
    """
    kept = []
    is_comment = False
    for line in map(str.strip, text.splitlines()):
        is_comment = is_comment or line.startswith("/*")
        if line and not is_comment and not line.startswith("//"):
            kept.append(line)
        is_comment = is_comment and not line.endswith("*/")
    return "\n".join([*kept, ""])


def _files_of(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for child in folder.iterdir():
        if child.is_dir():
            yield from _files_of(child, f"{prefix}{child.name}/")
        elif child.name.endswith(tuple(MEDIA_TYPES)):
            yield prefix + child.name, child.read_bytes()


EMPTY = b"''"
"""Stands for removed statements: valid in any place, even before `from __future__`."""
ARROW = b" ->"


class SourceSpan(NamedTuple):
    """A part of a source, from a line (from 1) and column (from 0, in bytes) to another, and what replaces it."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: bytes = b""


def without_commentary(source: bytes) -> bytes:
    """Return a module's source (UTF-8) without commentary; every remaining token is on the line where it was."""
    tree = ast.parse(source)
    lines = source.split(b"\n")
    removed: list[SourceSpan] = []
    for span in sorted([*statement_spans(tree), *annotation_spans(tree, lines), *comment_spans(source, lines)]):
        if not removed or (span.line, span.column) >= (removed[-1].end_line, removed[-1].end_column):
            removed.append(span)  # not one inside of another, which begins before it
    # From the end, so that the places of those before it stay right.
    for span in reversed(removed):
        first, last = span.line - 1, span.end_line - 1
        joined = lines[first][: span.column] + span.text + lines[last][span.end_column :]
        lines[first : last + 1] = [joined.rstrip(), *[b""] * (last - first)]
    return b"\n".join(lines)


def statement_spans(tree: ast.Module) -> Iterator[SourceSpan]:
    """Yield texts that stand alone, and what only type checkers run."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield span_of([node], EMPTY)
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield span_of(node.body if node.orelse else [node], EMPTY)


def annotation_spans(tree: ast.Module, lines: Sequence[bytes]) -> Iterator[SourceSpan]:
    """Yield the annotations of signatures, with what separates them."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        given = node.args
        for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
            if argument is not None and argument.annotation is not None:
                whole = span_of([argument])
                yield whole._replace(column=whole.column + len(argument.arg.encode()))
        if node.returns is not None:
            whole = span_of([node.returns])
            arrow = lines[whole.line - 1].rfind(ARROW, 0, whole.column)
            if arrow >= 0:
                yield whole._replace(column=arrow)


def comment_spans(source: bytes, lines: Sequence[bytes]) -> Iterator[SourceSpan]:
    """Yield the comments, but not a line that says how the file is run or encoded."""
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        row, column = token.start
        if token.type == tokenize.COMMENT and row > 2:
            # `tokenize` counts characters, a span counts bytes.
            yield SourceSpan(row, len(token.line[:column].encode()), row, len(lines[row - 1]))


def span_of(nodes: Sequence[ast.stmt | ast.expr | ast.arg], text: bytes = b"") -> SourceSpan:
    """Return the span from the first of some nodes to the last."""
    first, last = nodes[0], nodes[-1]
    return SourceSpan(first.lineno, first.col_offset, last.end_lineno or 0, last.end_col_offset or 0, text)
