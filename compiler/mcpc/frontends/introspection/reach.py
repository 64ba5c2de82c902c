"""Call graph of a project's functions, by the names they mention, read from the syntax without running it.

A place is a file and a name at its top level (a function, a class, a value, an import).  The name "" is the file as it
runs when it is imported; `Class.__init__` runs when an instance is created, and `name()` is a call of the name, which
for a class is only that.  Dynamic access (`getattr`, an object passed on) is not followed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.frontends.introspection.name_resolution import module_level
from mcpc.frontends.introspection.variables import INITIALIZERS, initializer_name
from mcpc.languages.python import parse_python

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.reading import Source

    Place = tuple[str, str]


@dataclass(slots=True)
class Users:
    """The places that mention each place."""

    of: dict[Place, set[Place]] = field(default_factory=dict)

    def add(self, user: Place, used: Place) -> None:
        """Record that a place mentions another."""
        self.of.setdefault(used, set()).add(user)

    def leading_to(self, place: Place) -> set[Place]:
        """Return every place from which a place can be reached, itself among them: O(mentions)."""
        found = {place}
        waiting = [place]
        while waiting:
            new = self.of.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found


def find_users(sources: Mapping[str, Source]) -> Users:
    """Return which places mention each other in the Python files of a project."""
    found = Users()
    for path, source in sources.items():
        tree = parse_python(source)
        if tree is not None:
            _read(found, _PythonFile(path, tree, sources))
    return found


class _PythonFile:
    """A file, and the modules of the project that its names mean."""

    def __init__(self, path: str, tree: ast.Module, sources: Mapping[str, Source]) -> None:
        self.path = path
        self.tree = tree
        self.sources = sources
        self.modules: dict[str, str] = {}
        self.imported: dict[str, tuple[str, str]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                self._plain(node)
            elif isinstance(node, ast.ImportFrom):
                self._names(node)

    def _plain(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            self.modules[alias.asname or name] = name

    def _names(self, node: ast.ImportFrom) -> None:
        base = _absolute(self.path, node.module or "", node.level)
        for alias in node.names:
            bound = alias.asname or alias.name
            module = f"{base}.{alias.name}".lstrip(".")
            if self.file_of(module):
                self.modules[bound] = module
            elif file := self.file_of(base):
                self.imported[bound] = (file, alias.name)

    def file_of(self, module: str) -> str:
        """Return the file of a module of the project, nothing for any other."""
        path = module.replace(".", "/")
        return next((file for file in (f"{path}.py", f"{path}/__init__.py") if file in self.sources), "")

    def used(self, node: ast.expr) -> Place | None:
        """Return the place that an expression names: `helper`, `module.helper`, `package.module.helper`."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        module = self.modules.get(node.id)
        if module is None:
            return (self.path, node.id)
        for number, name in enumerate(names):
            file = self.file_of(".".join((module, *names[:number])))
            if file and not self.file_of(".".join((module, *names[: number + 1]))):
                return (file, name)
        return None


def _absolute(path: str, module: str, level: int) -> str:
    """Return the name of the module that `from ..module import name` means in a file."""
    parents = path.split("/")[:-level] if level else []
    return ".".join((*parents, *([module] if module else [])))


def _read(found: Users, file: _PythonFile) -> None:
    path = file.path
    for name, (other, original) in file.imported.items():
        found.add((path, name), (other, original))
        found.add((path, _call_of(name)), (other, _call_of(original)))
    for node in module_level(file.tree):
        if isinstance(node, ast.ClassDef):
            _read_class(found, file, node)
        for name, part in _named(node):
            found.add((path, _call_of(name)), (path, name))
            _add_mentions(found, file, (path, name), part)
        if isinstance(node, ast.Call) and (place := file.used(node.func)):
            found.add((path, ""), (place[0], _call_of(place[1])))


def _read_class(found: Users, file: _PythonFile, node: ast.ClassDef) -> None:
    made = initializer_name(node.name)
    found.add((file.path, _call_of(node.name)), (file.path, made))
    found.add((file.path, node.name), (file.path, made))
    for part in (*node.bases, *node.decorator_list, *node.body):
        is_initializer = isinstance(part, ast.FunctionDef) and part.name in INITIALIZERS
        _add_mentions(found, file, (file.path, made if is_initializer else node.name), part)


def _call_of(name: str) -> str:
    return f"{name}()"


def _named(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names that a statement gives to a function or a value, and that."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name, node
    elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value


def _add_mentions(found: Users, file: _PythonFile, user: Place, part: ast.AST) -> None:
    for node in ast.walk(part):
        place = file.used(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if place is not None:
            found.add(user, place)
