"""The project's own code as syntax: functions, the names that they use, and what they change.  For the build only."""

from __future__ import annotations

import ast
import builtins
import enum
import inspect
import logging
import sys
import textwrap
from collections.abc import Iterable, Iterator
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

CHANGING_METHODS = frozenset(
    {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"}
)
"""Methods that change a list, a set or a dictionary."""
MAX_LAYERS = 5
"""How many functions of a framework may be around one of the project."""
MAX_FUNCTIONS = 200
"""How many functions are followed from one at most."""


def plain_function(found: object) -> FunctionType | None:
    """Return the function of a method, or within decorators; None for anything else."""
    found = inspect.unwrap(found) if callable(found) else found
    found = found.__func__ if isinstance(found, MethodType) else found
    return found if isinstance(found, FunctionType) else None


def is_of_project(found: object, folder: str) -> bool:
    """Tell whether a function or a class is defined in the project's folder."""
    function = plain_function(found)
    if function is not None:
        return function.__code__.co_filename.startswith(f"{folder}/")
    module = sys.modules.get(getattr(found, "__module__", None) or "")
    return str(getattr(module, "__file__", None) or "").startswith(f"{folder}/")


def project_functions(found: object, folder: str, depth: int = MAX_LAYERS) -> Iterator[FunctionType]:
    """Yield the project's functions in a value: itself, or those that functions or lifespans of a framework hold."""
    function = plain_function(found)
    if function is not None and is_of_project(function, folder):
        yield function
        return
    held: list[object] = [content(cell) for cell in getattr(function, "__closure__", None) or ()]
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
        # The lines of a method are indented.
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
        # Quadratic, in a number that MAX_FUNCTIONS bounds.
        yield list(found)[done]
        done += 1


def content(cell: CellType) -> object:
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


BUILTINS = frozenset(
    (all, any, bool, dict, enumerate, filter, float, format, frozenset, getattr, hasattr, int, isinstance, len, list,
     map, max, min, range, repr, reversed, round, set, sorted, str, sum, tuple, type, zip)
)  # fmt: skip
"""Functions whose result depends on their arguments only."""
METHODS = CHANGING_METHODS | frozenset(
    ("capitalize", "copy", "format", "get", "items", "join", "keys", "lower", "lstrip", "model_copy", "model_dump",
     "model_json_schema", "model_validate", "replace", "rstrip", "schema", "split", "splitlines", "strip", "title",
     "upper", "values")
)  # fmt: skip
"""Methods whose result depends on their object and their arguments only."""
MODULES = frozenset({"copy", "inspect", "json", "textwrap", "typing"})
"""Modules whose functions are like that."""
STATEMENTS = (ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.For, ast.If, ast.Pass, ast.Delete)
EXPRESSIONS = (
    ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Starred, ast.BinOp,
    ast.BoolOp, ast.Compare, ast.UnaryOp, ast.IfExp, ast.Subscript, ast.Slice, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.comprehension, ast.keyword, ast.Await, ast.operator, ast.boolop, ast.cmpop, ast.unaryop,
    ast.expr_context,
)  # fmt: skip
UNKNOWN = object()
SETTINGS = "BaseSettings"
"""The class of pydantic's settings."""
MAX_DEPTH = 8
"""How deep functions are followed, and values are looked into."""


class VaryingError(Exception):
    """A function may return another value; the message says why, `line` where."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


def why_varying(found: object, folder: str, changed: frozenset[str]) -> tuple[str, int] | None:
    """Return why a function may return another list each time, and the line; None if it returns the same one.

    `changed`: the names that functions of the project change.
    """
    function = plain_function(found)
    if function is None:
        return "is not a function", 0
    try:
        ConstancyCheck(function, folder, changed, 0).check()
    except VaryingError as problem:
        return str(problem), problem.line
    return None


class ConstancyCheck:
    """Reads a function's syntax; raises VaryingError for the first thing that may vary."""

    def __init__(self, function: FunctionType, folder: str, changed: frozenset[str], depth: int) -> None:
        self._function = function
        self._folder = folder
        self._changed = changed
        self._depth = depth
        self._locals: set[str] = set()

    def check(self, parameters: bool = False) -> None:
        """Read the function; `parameters`: its arguments are known not to vary."""
        syntax = syntax_of(self._function)
        code = self._function.__code__
        if syntax is None or self._depth > MAX_DEPTH:
            raise VaryingError(f"calls `{code.co_name}`, whose source is not known", code.co_firstlineno)
        if parameters:
            self._locals.update(each.arg for each in every_argument(syntax.args))
        self._locals.update(
            node.id for node in ast.walk(syntax) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        self._read_all(syntax.body)

    def _read_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self._read(node)

    def _read(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            self._read_name(node)
        elif isinstance(node, ast.Attribute):
            self._read_attribute(node)
        elif isinstance(node, ast.Call):
            self._read_call(node)
        elif isinstance(node, ast.AnnAssign):
            self._read_all(part for part in (node.target, node.value) if part is not None)
        elif isinstance(node, ast.Delete):
            return
        elif isinstance(node, STATEMENTS + EXPRESSIONS):
            self._read_all(ast.iter_child_nodes(node))
        else:
            raise VaryingError(f"has a `{type(node).__name__.lower()}`", getattr(node, "lineno", 0))

    def _read_name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id not in self._locals and not self._is_fixed(node, node.id):
            raise VaryingError(f"reads `{node.id}`", node.lineno)

    def _read_attribute(self, node: ast.Attribute) -> None:
        value = self._value(node)
        if value is UNKNOWN:
            self._read(node.value)
        elif not self._is_fixed(node, node.attr):
            raise VaryingError(f"reads `{ast.unparse(node)}`", node.lineno)

    def _is_fixed(self, node: ast.AST, name: str) -> bool:
        """Tell whether a variable of a module, or of an outer function, always has the value that it has now."""
        value = self._value(node)
        return name not in self._changed and value is not UNKNOWN and is_fixed(value)

    def _value(self, node: ast.AST) -> object:
        """Return what a dotted name stands for now, UNKNOWN for local names and all else."""
        if isinstance(node, ast.Name):
            return UNKNOWN if node.id in self._locals else self._global(node.id)
        if not isinstance(node, ast.Attribute):
            return UNKNOWN
        owner = self._value(node.value)
        if isinstance(owner, ModuleType | type):
            return (
                inspect.getattr_static(owner, node.attr, UNKNOWN) if isinstance(owner, type) else vars_of(owner, node)
            )
        return UNKNOWN

    def _global(self, name: str) -> object:
        function = self._function
        for each, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
            if each == name:
                return content(cell)
        return function.__globals__.get(name, getattr(builtins, name, UNKNOWN))

    def _read_call(self, node: ast.Call) -> None:
        self._read_all([*node.args, *node.keywords])
        called = self._value(node.func)
        if called is not UNKNOWN and self._is_known(called, node):
            return
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            self._read(node.func.value)
            return
        owner = self._value(node.func.value) if isinstance(node.func, ast.Attribute) else UNKNOWN
        if not isinstance(owner, logging.Logger):
            raise VaryingError(f"calls `{ast.unparse(node.func)}`", node.lineno)

    def _is_known(self, called: Any, node: ast.Call) -> bool:
        """Tell whether a call returns the same for the same arguments; read a function of the project."""
        # What cannot be hashed cannot be looked for in a set.
        if called.__hash__ is not None and called in BUILTINS:
            return True
        if isinstance(called, type):
            return is_plain_class(called)
        if getattr(called, "__module__", None) in MODULES:
            return True
        function = plain_function(called)
        if function is None or not is_of_project(function, self._folder):
            return False
        ConstancyCheck(function, self._folder, self._changed, self._depth + 1).check(parameters=True)
        return True


def every_argument(arguments: ast.arguments) -> list[ast.arg]:
    """Return all parameters of a function."""
    others = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *others]


def vars_of(module: ModuleType, node: ast.Attribute) -> object:
    """Return an attribute of a module; stand-ins have theirs on request."""
    return getattr(module, node.attr, UNKNOWN)


def is_plain_class(found: type) -> bool:
    """Tell whether instances of a class are data: those of pydantic, enumerations and built-in types."""
    return issubclass(found, enum.Enum) or hasattr(found, "model_fields") or found.__module__ == "builtins"


def is_fixed(value: object, depth: int = 0) -> bool:
    """Tell whether a value is data, or a class, a module or a function."""
    if depth > MAX_DEPTH:
        return False
    if isinstance(value, dict):
        return all(is_fixed(each, depth + 1) for each in (*value.keys(), *value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return all(is_fixed(each, depth + 1) for each in value)
    plain = str | bytes | int | float | complex | enum.Enum | type | ModuleType
    if value is None or isinstance(value, plain) or is_model(value):
        return True
    return plain_function(value) is not None or (type(value) is type(len) and value in BUILTINS)


def is_model(value: object) -> bool:
    """Tell whether a value is data of pydantic; settings are not, which it reads from the environment."""
    return hasattr(type(value), "model_fields") and all(base.__name__ != SETTINGS for base in type(value).__mro__)
