"""Check of a generated module by its syntax tree: only model classes with annotated fields are allowed.

The generator writes source text from untrusted schemas.  It is parsed here, and every expression that is not a
constant, a known name, or a call of `Field` or `ConfigDict` with constants is refused.
"""

from __future__ import annotations

import ast
import keyword
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

IMPORTS = {
    "__future__": frozenset(("annotations",)),
    "pydantic": frozenset(("BaseModel", "ConfigDict", "Field", "RootModel")),
    "typing": frozenset(("Annotated", "Any", "Dict", "Literal", "Optional", "Union")),
}
TYPES = frozenset(("Any", "bool", "dict", "float", "int", "list", "str", "tuple"))
GENERIC = frozenset(("Dict", "Optional", "RootModel", "Union", "dict", "list", "tuple"))
FIELD = frozenset(("alias", "description", "ge", "gt", "le", "lt", "max_length", "min_length", "validate_default"))
CONFIGURATION = frozenset(("extra", "validate_by_name"))


class NotAllowedError(Exception):
    """A generated module contains something that no model needs."""


class ModelClass(NamedTuple):
    """A generated class: its source, its names of `pydantic` and `typing`, whether it needs `model_rebuild`."""

    source: str
    words: tuple[str, ...]
    rebuilt: bool = False


Classes = dict[str, ModelClass]
Result = Classes | str
"""The classes of a view, or why there are none."""
Template = tuple[str, str | None]
"""The source of a head or a root, or of a field's annotation; and of a field's default, None if it has none."""


def checked_classes(text: str, wanted: Collection[str]) -> Classes:
    """Return the classes of a generated module, in order; raise NotAllowedError for anything but those `wanted`."""
    # With these, lines as Python counts them could be others than those of `split`.
    if "\r" in text or "\f" in text or "\0" in text:
        raise NotAllowedError("it has unusual line breaks")
    lines = text.split("\n")
    made: Classes = {}
    for node in ast.parse(text).body:
        match node:
            case ast.ClassDef() if node.name in wanted and node.name not in made:
                words = ModuleCheck(wanted).definition(node)
                made[node.name] = ModelClass("\n".join(lines[node.lineno - 1 : node.end_lineno]), words)
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "model_rebuild"), [], [])) if name in made:
                made[name] = made[name]._replace(rebuilt=True)
            case ast.ImportFrom(module, names, 0) if _is_known(module, names):
                continue
            case _:
                raise not_allowed(node)
    return made


def _is_known(module: str | None, names: list[ast.alias]) -> bool:
    return all(not alias.asname and alias.name in IMPORTS.get(module or "", ()) for alias in names)


def not_allowed(node: ast.AST) -> NotAllowedError:
    """Return the refusal of a node of a module."""
    return NotAllowedError(f"it has {type(node).__name__} in line {getattr(node, 'lineno', 0)}")


class ModuleCheck:
    """One class that is being checked; `words`: the imported names it uses."""

    def __init__(self, classes: Collection[str]) -> None:
        self._classes = classes
        self._words: set[str] = set()

    def definition(self, node: ast.ClassDef) -> tuple[str, ...]:
        """Check a class; return the imported names that it uses, in order."""
        if node.decorator_list or node.keywords or len(node.bases) != 1:
            raise not_allowed(node)
        (base,) = node.bases
        if isinstance(base, ast.Name):
            self._word(base, "BaseModel")
        else:
            self._annotation(base)
        for statement in node.body:
            self._statement(statement)
        return tuple(sorted(self._words))

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(ast.Constant(str())) | ast.Pass():
                return
            case ast.Assign([ast.Name("model_config")], ast.Call() as call):
                self._call(call, "ConfigDict", CONFIGURATION)
            case ast.Assign([ast.Name("__annotations__")], ast.Dict([ast.Constant("__pydantic_extra__")], [extra])):
                self._annotation(extra)
            # A name that begins with `_` would be a private attribute of pydantic, and no field.
            case ast.AnnAssign(ast.Name(name), annotation, value) if (
                name.isidentifier() and not name.startswith("_") and not keyword.iskeyword(name)
            ):
                self._annotation(annotation)
                if value is not None:
                    check_constant(value)
            case _:
                raise not_allowed(node)

    def _annotation(self, node: ast.expr) -> None:
        match node:
            case ast.Constant(None):
                return
            # A class that is defined later is named by a string.
            case ast.Name(name) | ast.Constant(str() as name):
                self._name(node, name)
            case ast.BinOp(left, ast.BitOr(), right):
                self._annotation(left)
                self._annotation(right)
            case ast.Subscript(ast.Name("Literal"), values):
                self._words.add("Literal")
                check_constant(values)
            case ast.Subscript(ast.Name("Annotated"), ast.Tuple([annotation, ast.Call() as call])):
                self._words.add("Annotated")
                self._annotation(annotation)
                self._call(call, "Field", FIELD)
            case ast.Subscript(ast.Name(name), inner) if name in GENERIC:
                self._words.update({name} & IMPORTED)
                for item in inner.elts if isinstance(inner, ast.Tuple) else [inner]:
                    self._annotation(item)
            case _:
                raise not_allowed(node)

    def _name(self, node: ast.expr, name: str) -> None:
        if name not in TYPES and name not in self._classes:
            raise not_allowed(node)
        self._words.update({name} & IMPORTED)

    def _word(self, node: ast.expr, word: str) -> None:
        if not isinstance(node, ast.Name) or node.id != word:
            raise not_allowed(node)
        self._words.add(word)

    def _call(self, node: ast.Call, word: str, keywords: Collection[str]) -> None:
        self._word(node.func, word)
        for item in node.args:
            check_constant(item)
        for argument in node.keywords:
            if argument.arg not in keywords:
                raise not_allowed(node)
            check_constant(argument.value)


IMPORTED = IMPORTS["pydantic"] | IMPORTS["typing"]


def check_constant(node: ast.expr) -> None:
    """Check that an expression is a literal value."""
    match node:
        case ast.Constant() | ast.UnaryOp(ast.USub(), ast.Constant(int() | float())):
            return
        case ast.List(items) | ast.Tuple(items):
            for item in items:
                check_constant(item)
        case ast.Dict([], []):
            return
        case _:
            raise not_allowed(node)
