"""Search for the environment variables that a Python file reads by literal names, without running it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.languages.python import parse_python, python_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Span
    from mcpc.reading import Source

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
    found: list[EnvironmentVariable] = []
    own: set[str] = set()
    for node, function in _nodes_with_owners(tree):
        read, name = _variable_access(node, meanings)
        if name is not None and read:
            found.append(EnvironmentVariable(str(name.value), text.node_span(name), function))
        elif name is not None:
            own.add(str(name.value))
    return tuple(sorted((item for item in found if item.name not in own), key=lambda item: item.span))


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
