"""Which variables of the environment a Python file reads, as far as it names them: nothing is run to know."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.introspection.marks import parsed
from mcpc.introspection.places import whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.diagnostics import Span
    from mcpc.sources import Source

MENTION = re.compile(rb"\b(?:environb?|getenvb?)\b")
INITIALIZERS = frozenset({"__init__", "__new__", "__post_init__"})
"""The methods that run when an instance is made."""
OBJECT, FUNCTION, MODULE = "os.environ", "os.getenv", "os"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that is read.

    `function`: the function at the top of the file that does, the class of whose methods one does, or what makes its
    instances (`Class.__init__`); nothing for the file itself.
    """

    name: str
    span: Span
    function: str


def variables(source: Source) -> tuple[Variable, ...]:
    """Return the variables a file reads and does not set itself, in the order of the file."""
    if not MENTION.search(source.data):
        return ()
    tree = parsed(source)
    if tree is None:
        return ()
    meanings = dict(_meanings(tree))
    found: list[Variable] = []
    own: set[str] = set()
    for node, function in _walk(tree):
        read, name = _named(node, meanings)
        if name is not None and read:
            found.append(Variable(str(name.value), whole(source, name), function))
        elif name is not None:
            own.add(str(name.value))
    return tuple(sorted((one for one in found if one.name not in own), key=lambda one: one.span))


def _meanings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield what the names mean that the file imports of `os`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or "os", MODULE) for alias in node.names if alias.name == "os")
        elif isinstance(node, ast.ImportFrom) and node.module == "os" and not node.level:
            wanted = ((alias.asname or alias.name, f"os.{alias.name}") for alias in node.names)
            yield from ((name, meaning) for name, meaning in wanted if meaning in (OBJECT, FUNCTION))


def initializer(name: str) -> str:
    """Return what stands for the making of a class's instances."""
    return f"{name}.__init__"


def _walk(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield every node with what runs it at the top of the file (see `Variable`); a default belongs to the file."""
    waiting: list[tuple[ast.AST, str, str]] = [(tree, "", "")]
    while waiting:
        node, function, owner = waiting.pop()
        yield node, function
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += [(child, function, owner) for child in (node.args, *node.decorator_list)]
            runs = initializer(owner) if node.name in INITIALIZERS else owner
            waiting += [(child, function or (runs if owner else node.name), owner) for child in node.body]
        else:
            owner = owner or (node.name if isinstance(node, ast.ClassDef) else "")
            waiting += [(child, function, owner) for child in ast.iter_child_nodes(node)]


def _named(node: ast.AST, meanings: dict[str, str]) -> tuple[bool, ast.Constant | None]:
    """Return the text that names a variable, and whether it is read there, not set."""
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
