"""Warn of files that Python code opens beside itself and that the built file lacks.

Only what is certain counts: a path of literal names that begins at `__file__` (or at the files of a package), of which
every use in the project's code reads, where nothing is prepared for its absence.
"""

from __future__ import annotations

import ast
import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import did_you_mean
from mcpc.languages.python import parse_python, python_text
from mcpc.reading.selection import PYPROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcpc.diagnostics import Diagnostic
    from mcpc.model.ir import Server
    from mcpc.reading import Source, SourceTree

SAME = frozenset({"Path", "PurePath", "abspath", "absolute", "expanduser", "fspath", "realpath", "resolve", "str"})
"""Functions and methods that return the path that they are given."""
READS = frozenset({"iterdir", "read_bytes", "read_text"})
"""Methods that fail without the file, or the folder."""
READ_MODES = frozenset({"r", "rb", "rt"})
MENTIONS = (b"__file__", b"resources")
MAX_DEPTH = 40
"""How many steps from a path to `__file__` are followed."""


def missing_files(server: Server, tree: SourceTree) -> Iterator[Diagnostic]:
    """Yield the files and folders that imported files of a project read beside themselves, and that are not packed."""
    imported = frozenset(server.imported)
    paths = {file.source.path for file in server.files}
    paths |= {folder for path in paths for folder in _folders(path)}
    uses: dict[str, list[_Use]] = {}
    for file in server.files:
        if file.source.path in imported and any(word in file.source.data for word in MENTIONS):
            parsed = parse_python(file.source)
            for use in () if parsed is None else _FileUses(file.source, parsed, paths).uses():
                uses.setdefault(use.path, []).append(use)
    for path, file_uses in sorted(uses.items()):
        if path not in paths and all(use.reads for use in file_uses):
            span = python_text(file_uses[0].source).node_span(file_uses[0].node)
            message, hint = _explained(path, paths, tree)
            yield diagnose("MCP229", span, f"{message}, and this code reads it", "", hint)


@dataclass(frozen=True, slots=True)
class _Use:
    """A path that code names; `reads`: it is opened for reading there, and has to exist."""

    path: str
    source: Source
    node: ast.expr
    reads: bool


def _folders(path: str) -> Iterator[str]:
    while path:
        path = posixpath.dirname(path)
        yield path


def _explained(path: str, paths: set[str], tree: SourceTree) -> tuple[str, str]:
    """Return what is wrong with a path that is not packed, and what to do."""
    if path.startswith("../"):
        return (
            f"`{path}` is outside of the project's folder",
            "move the file into the project: only its files are packed",
        )
    why = next((why for left, why in tree.left_out if path == left or f"{path}/".startswith(left)), "")
    if why:
        hint = f'write `include = ["{path}"]` in `[tool.mcpc]` of `{PYPROJECT}`'
        return f"`{path}` is not in the built file ({why})", hint
    if path in tree.files:
        return f"`{path}` has definitions, and is not in the built file", "read what it needs from a file of its own"
    return f"the project has no file `{path}`", did_you_mean(path, paths) or "add it, or correct its name"


class _FileUses:
    """The paths that the code of one file names; `folders`: all paths of the project, for those of its packages."""

    def __init__(self, source: Source, parsed: ast.Module, folders: set[str]) -> None:
        self._source = source
        self._tree = parsed
        self._folders = folders
        self._parents = {child: node for node in ast.walk(parsed) for child in ast.iter_child_nodes(node)}
        self._bound: dict[str, list[ast.expr | None]] = {}
        for node in ast.walk(parsed):
            for name, value in _bindings(node):
                self._bound.setdefault(name, []).append(value)

    def uses(self) -> Iterator[_Use]:
        """Yield the uses of paths."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.expr) and self._is_whole(node) and not self._is_bound(node):
                path = self._value(node, 0)
                if path is not None:
                    yield _Use(path, self._source, node, self._reads(node))

    def _is_bound(self, node: ast.expr) -> bool:
        """Tell whether a path is the value of a name: where the name is used decides."""
        above = self._parents.get(node)
        return isinstance(above, ast.Assign | ast.AnnAssign) and above.value is node

    def _is_whole(self, node: ast.expr) -> bool:
        """Tell whether an expression is not a part of a longer path."""
        above = self._parents.get(node)
        return not isinstance(above, ast.expr) or self._value(above, 0) is None

    def _value(self, node: ast.AST, depth: int) -> str | None:
        """Return the path that an expression is, relative to the project; None if it is not known to be one."""
        if depth > MAX_DEPTH:
            return None
        for read in (self._name, self._attribute, self._call, self._division):
            value = read(node, depth + 1)
            if value is not None:
                return posixpath.normpath(value)
        return None

    def _name(self, node: ast.AST, depth: int) -> str | None:
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            return None
        if node.id == "__file__":
            return self._source.path
        # A name that is bound twice, or by anything but an expression, may have any value.
        values = self._bound.get(node.id, [])
        return self._value(values[0], depth) if len(values) == 1 and values[0] is not None else None

    def _attribute(self, node: ast.AST, depth: int) -> str | None:
        if isinstance(node, ast.Attribute) and node.attr == "parent":
            return self._above(node.value, 1, depth)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "parents":
            number = node.slice.value if isinstance(node.slice, ast.Constant) else None
            # By `type`, because `True` is an `int`, too.
            return self._above(node.value.value, number + 1, depth) if type(number) is int and number >= 0 else None
        return None

    def _above(self, node: ast.AST, count: int, depth: int) -> str | None:
        path = self._value(node, depth)
        return None if path is None else posixpath.join(path, *[".."] * count)

    def _call(self, node: ast.AST, depth: int) -> str | None:
        if not isinstance(node, ast.Call):
            return None
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        words = [word.value for word in node.args if isinstance(word, ast.Constant) and isinstance(word.value, str)]
        if len(node.args) == 1 and name in ONE_ARGUMENT:
            return ONE_ARGUMENT[name](self, node.args[0], depth)
        if name == "join" and node.args and len(words) == len(node.args) - 1:
            return self._joined(node.args[0], words, depth)
        is_joined = name == "joinpath" or (name in SAME and not node.args)
        if isinstance(node.func, ast.Attribute) and is_joined and len(words) == len(node.args):
            return self._joined(node.func.value, words, depth)
        return None

    def _package(self, node: ast.expr, _depth: int) -> str | None:
        """Return the folder of a package of the project, as `importlib.resources.files` does."""
        if isinstance(node, ast.Name):
            return posixpath.dirname(self._source.path) if node.id == "__package__" else None
        name = str(node.value).replace(".", "/") if isinstance(node, ast.Constant) else ""
        # A package may be in `src` or another folder, so that only the end of its path is known.
        folders = [path for path in self._folders if name and f"/{path}".endswith(f"/{name}")]
        return folders[0] if len(folders) == 1 else None

    def _division(self, node: ast.AST, depth: int) -> str | None:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
            return None
        right = node.right
        is_text = isinstance(right, ast.Constant) and isinstance(right.value, str)
        return self._joined(node.left, [str(right.value)], depth) if is_text else None  # type: ignore[attr-defined]

    def _joined(self, node: ast.AST, words: list[str], depth: int) -> str | None:
        path = self._value(node, depth)
        # An absolute part would discard what is before it.
        return None if path is None or any(word.startswith("/") for word in words) else posixpath.join(path, *words)

    def _reads(self, node: ast.expr) -> bool:
        """Tell whether an expression's path is opened for reading, where nothing is prepared for its absence."""
        above = self._parents.get(node)
        if isinstance(above, ast.Attribute):
            call = self._parents.get(above)
            is_call = isinstance(call, ast.Call) and call.func is above
            opens = is_call and (above.attr in READS or (above.attr == "open" and _mode(call, 0) in READ_MODES))
        else:
            is_open = (
                isinstance(above, ast.Call) and getattr(above.func, "id", "") == "open" and above.args[:1] == [node]
            )
            opens = is_open and _mode(above, 1) in READ_MODES
        return opens and not self._is_prepared(node)

    def _is_prepared(self, node: ast.AST) -> bool:
        while node in self._parents:
            node = self._parents[node]
            # Code in any of these may deal with a file that is missing.
            if isinstance(node, ast.Try | ast.TryStar | ast.If | ast.IfExp | ast.BoolOp | ast.While):
                return True
        return False


ONE_ARGUMENT: dict[str, Callable[[_FileUses, ast.expr, int], str | None]] = {
    **dict.fromkeys(SAME, _FileUses._value),
    "dirname": lambda uses, node, depth: uses._above(node, 1, depth),
    "files": _FileUses._package,
}
"""What functions of one argument make of it."""


def _mode(call: ast.AST | None, position: int) -> str:
    """Return the mode of a call of `open`, empty if it is not a literal."""
    if not isinstance(call, ast.Call):
        return ""
    given = [*call.args[position : position + 1], *(word.value for word in call.keywords if word.arg == "mode")]
    if not given:
        return "r"
    return str(given[0].value) if isinstance(given[0], ast.Constant) else ""


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the names that a node binds, each with its value; None for one that is not an expression."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        yield node.targets[0].id, node.value
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, node.value
    elif isinstance(node, ast.Assign | ast.AugAssign | ast.For | ast.AsyncFor | ast.comprehension | ast.withitem):
        parts = [child for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)]
        yield from ((part.id, None) for part in parts)
    elif isinstance(node, ast.arg):
        yield node.arg, None
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name, None
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0], None
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from ((name, None) for name in node.names)
