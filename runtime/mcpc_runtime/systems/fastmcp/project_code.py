"""The project's own code as syntax: functions, the names that they use, and what they change.  For the build only."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from types import CodeType, FunctionType, MethodType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

CHANGING_METHODS = frozenset(
    {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"}
)
"""Methods that change a list, a set or a dictionary."""
MAX_LAYERS = 5
"""How many functions of a framework may be around one of the project."""
MAX_FUNCTIONS = 200
"""How many functions are followed from one at most."""


def plain_function(found: Any) -> FunctionType | None:
    """Return the function of a method, or within decorators; None for anything else."""
    found = inspect.unwrap(found) if callable(found) else found
    found = found.__func__ if isinstance(found, MethodType) else found
    return found if isinstance(found, FunctionType) else None


def is_of_project(found: Any, folder: str) -> bool:
    """Tell whether a function or a class is defined in the project's folder."""
    function = plain_function(found)
    if function is not None:
        return function.__code__.co_filename.startswith(f"{folder}/")
    module = sys.modules.get(getattr(found, "__module__", None) or "")
    return str(getattr(module, "__file__", None) or "").startswith(f"{folder}/")


def project_functions(found: Any, folder: str, depth: int = MAX_LAYERS) -> Iterator[FunctionType]:
    """Yield the project's functions in a value: itself, or those that functions or lifespans of a framework hold."""
    function = plain_function(found)
    if function is not None and is_of_project(function, folder):
        yield function
        return
    held: list[Any] = [content(cell) for cell in getattr(function, "__closure__", None) or ()]
    if isinstance(found, list | tuple):
        held += found
    elif type(found).__name__.endswith("Lifespan"):
        held += vars(found).values()
    for each in held if depth else ():
        yield from project_functions(each, folder, depth - 1)


def syntax_of(function: FunctionType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return a function's definition, with the line numbers of its file; None if it is not to be had."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return None
    found = tree.body[0] if tree.body else None
    if not isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    ast.increment_lineno(found, first - 1)
    return found


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes that code uses, with those of functions in it."""
    yield from code.co_names
    yield from code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


def reached_functions(function: FunctionType, folder: str) -> Iterator[FunctionType]:
    """Yield a function and the project's functions that it may call, as far as names show them."""
    found = {function: None}
    for each in found_while_growing(found):
        yield each
        names = {*names_in(each.__code__)}
        closed = dict(zip(each.__code__.co_freevars, (each.__closure__ or ()), strict=False))
        values = [each.__globals__.get(name) for name in names]
        values += [content(cell) for name, cell in closed.items() if name in names]
        modules = [value for value in values if inspect.ismodule(value)]
        classes = [value for value in values if inspect.isclass(value) and is_of_project(value, folder)]
        values += [vars(module).get(name) for module in modules for name in names]
        values += [vars(owner).get(name) for owner in classes for name in (*names, "__init__")]
        for value in values:
            called = plain_function(value)
            if called is not None and is_of_project(called, folder) and len(found) < MAX_FUNCTIONS:
                found[called] = None


def found_while_growing(found: dict[FunctionType, None]) -> Iterator[FunctionType]:
    """Yield the keys of a dictionary that grows meanwhile."""
    done = 0
    while done < len(found):
        yield list(found)[done]
        done += 1


def content(cell: Any) -> Any:
    """Return the content of a cell, None if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def changed_names(folder: str) -> frozenset[str]:
    """Return the names of all variables and attributes that functions of the project change or set again."""
    found: set[str] = set()
    for module in list(sys.modules.values()):
        path = str(getattr(module, "__file__", None) or "")
        if not path.startswith(f"{folder}/") or not path.endswith(".py"):
            continue
        try:
            with open(path, "rb") as file:
                tree = ast.parse(file.read())
        except (OSError, SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.update(changed_in(node))
    return frozenset(found)


def changed_in(function: ast.AST) -> Iterator[str]:
    """Yield the names that a function changes; its own variables are not changed by what is only set."""
    for node in ast.walk(function):
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in CHANGING_METHODS:
                yield last_name(node.func.value)
        elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.attr if isinstance(node, ast.Attribute) else ""
            yield last_name(node.value)


def last_name(node: ast.AST) -> str:
    """Return the last name of `a`, `a.b` or `a.b[0]`, an empty string for anything else."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
