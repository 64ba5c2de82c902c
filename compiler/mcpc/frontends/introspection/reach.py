"""Call graph of a project's functions, by the names they mention, read from the syntax without running it.

A place is a file and a name at its top level (a function, a class, a value, an import).  The name "" is the file as it
runs when it is imported; `Class.__init__` runs when an instance is created, and `name()` is a call of the name, which
for a class is only that.  Dynamic access (`getattr`, an object passed on) is not followed.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpc.frontends.introspection.name_resolution import module_level
from mcpc.languages.python import parse_python, python_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Span
    from mcpc.reading import Source


if TYPE_CHECKING:
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
        places = {place}
        waiting = [place]
        while waiting:
            new = self.of.get(waiting.pop(), set()) - places
            places |= new
            waiting += new
        return places


def find_users(sources: Mapping[str, Source]) -> Users:
    """Return which places mention each other in the Python files of a project."""
    users = Users()
    for path, source in sources.items():
        tree = parse_python(source)
        if tree is not None:
            _read(users, _PythonFile(path, tree, sources))
    return users


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
            # At the top of the project, `from . import name` has an empty base.
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
        # The longest beginning that is a module; what follows it is a name in that.
        for number, name in enumerate(names):
            file = self.file_of(".".join((module, *names[:number])))
            if file and not self.file_of(".".join((module, *names[: number + 1]))):
                return (file, name)
        return None


def _absolute(path: str, module: str, level: int) -> str:
    """Return the name of the module that `from ..module import name` means in a file."""
    # One dot takes off the file itself, also where that is an `__init__.py`: what remains is its package.
    parents = path.split("/")[:-level] if level else []
    return ".".join((*parents, *([module] if module else [])))


def _read(users: Users, file: _PythonFile) -> None:
    path = file.path
    for name, (other, original) in file.imported.items():
        users.add((path, name), (other, original))
        users.add((path, _call_of(name)), (other, _call_of(original)))
    for node in module_level(file.tree):
        if isinstance(node, ast.ClassDef):
            _read_class(users, file, node)
        for name, part in _named(node):
            # To call a name is to mention it; of a class only its initializer runs (`_read_class`).
            users.add((path, _call_of(name)), (path, name))
            _add_mentions(users, file, (path, name), part)
        if isinstance(node, ast.Call) and (place := file.used(node.func)):
            users.add((path, ""), (place[0], _call_of(place[1])))


def _read_class(users: Users, file: _PythonFile, node: ast.ClassDef) -> None:
    made = initializer_name(node.name)
    users.add((file.path, _call_of(node.name)), (file.path, made))
    users.add((file.path, node.name), (file.path, made))
    for part in (*node.bases, *node.decorator_list, *node.body):
        is_initializer = isinstance(part, ast.FunctionDef) and part.name in INITIALIZERS
        _add_mentions(users, file, (file.path, made if is_initializer else node.name), part)


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


def _add_mentions(users: Users, file: _PythonFile, user: Place, part: ast.AST) -> None:
    for node in ast.walk(part):
        place = file.used(node) if isinstance(node, ast.Name | ast.Attribute) else None
        if place is not None:
            users.add(user, place)


MENTION = re.compile(rb"\b(?:environb?|getenvb?)\b")
INITIALIZERS = frozenset({"__init__", "__new__", "__post_init__"})
"""The methods that run when an instance is created."""
OBJECT, FUNCTION, MODULE = "os.environ", "os.getenv", "os"


@dataclass(frozen=True, slots=True)
class EnvironmentVariable:
    """A variable that is read.

    `function`: the top-level function that reads it, the class of whose methods one does, or the creation of its
    instances (`Class.__init__`); empty for the file itself.
    """

    name: str
    span: Span
    function: str


def read_variables(source: Source) -> tuple[EnvironmentVariable, ...]:
    """Return the variables that a file reads and does not set itself, in the order of the file."""
    if not MENTION.search(source.data):
        return ()
    tree = parse_python(source)
    if tree is None:
        return ()
    text, meanings = python_text(source), dict(_meanings(tree))
    variables: list[EnvironmentVariable] = []
    own: set[str] = set()
    for node, function in _nodes_with_owners(tree):
        read, name = _variable_access(node, meanings)
        if name is not None and read:
            variables.append(EnvironmentVariable(str(name.value), text.node_span(name), function))
        elif name is not None:
            own.add(str(name.value))
    # The stack of `_nodes_with_owners` yields nodes in another order than the file has them.
    return tuple(sorted((item for item in variables if item.name not in own), key=lambda item: item.span))


def _meanings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the meanings of the names that the file imports from `os`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or "os", MODULE) for alias in node.names if alias.name == "os")
        elif isinstance(node, ast.ImportFrom) and node.module == "os" and not node.level:
            wanted = ((alias.asname or alias.name, f"os.{alias.name}") for alias in node.names)
            yield from ((name, meaning) for name, meaning in wanted if meaning in (OBJECT, FUNCTION))


def initializer_name(name: str) -> str:
    """Return the name that stands for the creation of a class's instances."""
    return f"{name}.__init__"


def _nodes_with_owners(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield every node with what runs it at the top level (`EnvironmentVariable`); defaults belong to the file."""
    waiting: list[tuple[ast.AST, str, str]] = [(tree, "", "")]
    while waiting:
        node, function, owner = waiting.pop()
        yield node, function
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += [(child, function, owner) for child in (node.args, *node.decorator_list)]
            runs = initializer_name(owner) if node.name in INITIALIZERS else owner
            waiting += [(child, function or (runs if owner else node.name), owner) for child in node.body]
        else:
            owner = owner or (node.name if isinstance(node, ast.ClassDef) else "")
            waiting += [(child, function, owner) for child in ast.iter_child_nodes(node)]


def _variable_access(node: ast.AST, meanings: dict[str, str]) -> tuple[bool, ast.Constant | None]:
    """Return the text that names a variable, and whether it is read, not set."""
    match node:
        case ast.Subscript(value, ast.Constant(str()) as name, context) if _meaning(value, meanings) == OBJECT:
            return isinstance(context, ast.Load), name
        case ast.Call(ast.Attribute(value, "get" | "setdefault" as way), [ast.Constant(str()) as name, *_]) if (
            _meaning(value, meanings) == OBJECT
        ):
            return way == "get", name
        case ast.Call(function, [ast.Constant(str()) as name, *_]) if _meaning(function, meanings) == FUNCTION:
            return True, name
    return False, None


def _meaning(node: ast.expr, meanings: dict[str, str]) -> str:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"os.{node.attr}" if meanings.get(node.value.id) == MODULE else ""
    return meanings.get(node.id, "") if isinstance(node, ast.Name) else ""
