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
OBJECT, FUNCTION, MODULE = "os.environ", "os.getenv", "os"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that is read.  `function`: the one at the top of the file that does, nothing for the file itself."""

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


def _walk(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield every node with the function at the top of the file that it is in; a default belongs to the file."""
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, function = waiting.pop()
        yield node, function
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += [(child, function) for child in (node.args, *node.decorator_list)]
            waiting += [(child, function or node.name) for child in node.body]
        else:
            waiting += [(child, function) for child in ast.iter_child_nodes(node)]


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
