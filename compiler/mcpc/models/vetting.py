"""What of a generated module is admitted: classes of models with annotated fields, and nothing that does anything else.

The generator writes source text from the words of whoever wrote the schema.  Here it is parsed, and every expression
that is no constant, no known name and no call of `Field` or `ConfigDict` with constants is refused.
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


class VettingError(Exception):
    """A generated module has something in it that no model needs."""


class Class(NamedTuple):
    """A generated class: its source, what of `pydantic` and `typing` it uses, whether it must be completed later."""

    source: str
    words: tuple[str, ...]
    rebuilt: bool = False


Classes = dict[str, Class]
Result = Classes | str
"""The classes of a view, or why there are none."""
Template = tuple[str, str | None]
"""The source of a head or a root, or of a field's annotation; and of a field's default, None if it has none."""


def classes(text: str, wanted: Collection[str]) -> Classes:
    """Return the classes of a generated module, in its order; raise VettingError for anything but those `wanted`."""
    if "\r" in text or "\f" in text or "\0" in text:
        raise VettingError("it has lines that end otherwise than lines do")
    lines = text.split("\n")
    made: Classes = {}
    for node in ast.parse(text).body:
        match node:
            case ast.ClassDef() if node.name in wanted and node.name not in made:
                words = Reading(wanted).definition(node)
                made[node.name] = Class("\n".join(lines[node.lineno - 1 : node.end_lineno]), words)
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "model_rebuild"), [], [])) if name in made:
                made[name] = made[name]._replace(rebuilt=True)
            case ast.ImportFrom(module, names, 0) if _is_known(module, names):
                continue
            case _:
                raise refusal(node)
    return made


def _is_known(module: str | None, names: list[ast.alias]) -> bool:
    return all(not alias.asname and alias.name in IMPORTS.get(module or "", ()) for alias in names)


def refusal(node: ast.AST) -> VettingError:
    """Return the refusal of a piece of a module."""
    return VettingError(f"it has {type(node).__name__} in line {getattr(node, 'lineno', 0)}")


class Reading:
    """One class being read; `words`: the imported names it uses."""

    def __init__(self, classes: Collection[str]) -> None:
        self._classes = classes
        self._words: set[str] = set()

    def definition(self, node: ast.ClassDef) -> tuple[str, ...]:
        """Read a class; return the imported names that it uses, in order."""
        if node.decorator_list or node.keywords or len(node.bases) != 1:
            raise refusal(node)
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
            case ast.AnnAssign(ast.Name(name), annotation, value) if is_field(name):
                self._annotation(annotation)
                if value is not None:
                    constant(value)
            case _:
                raise refusal(node)

    def _annotation(self, node: ast.expr) -> None:
        match node:
            case ast.Constant(None):
                return
            case ast.Name(name) | ast.Constant(str() as name):
                self._name(node, name)
            case ast.BinOp(left, ast.BitOr(), right):
                self._annotation(left)
                self._annotation(right)
            case ast.Subscript(ast.Name("Literal"), values):
                self._words.add("Literal")
                constant(values)
            case ast.Subscript(ast.Name("Annotated"), ast.Tuple([annotation, ast.Call() as call])):
                self._words.add("Annotated")
                self._annotation(annotation)
                self._call(call, "Field", FIELD)
            case ast.Subscript(ast.Name(name), inner) if name in GENERIC:
                self._words.update({name} & IMPORTED)
                for one in inner.elts if isinstance(inner, ast.Tuple) else [inner]:
                    self._annotation(one)
            case _:
                raise refusal(node)

    def _name(self, node: ast.expr, name: str) -> None:
        if name not in TYPES and name not in self._classes:
            raise refusal(node)
        self._words.update({name} & IMPORTED)

    def _word(self, node: ast.expr, word: str) -> None:
        if not isinstance(node, ast.Name) or node.id != word:
            raise refusal(node)
        self._words.add(word)

    def _call(self, node: ast.Call, word: str, keywords: Collection[str]) -> None:
        self._word(node.func, word)
        for one in node.args:
            constant(one)
        for argument in node.keywords:
            if argument.arg not in keywords:
                raise refusal(node)
            constant(argument.value)


IMPORTED = IMPORTS["pydantic"] | IMPORTS["typing"]


def is_field(name: str) -> bool:
    """Say whether a name is one that a field has."""
    return name.isidentifier() and not name.startswith("_") and not keyword.iskeyword(name)


def constant(node: ast.expr) -> None:
    """Read what has to be a value written out."""
    match node:
        case ast.Constant() | ast.UnaryOp(ast.USub(), ast.Constant(int() | float())):
            return
        case ast.List(items) | ast.Tuple(items):
            for item in items:
                constant(item)
        case ast.Dict([], []):
            return
        case _:
            raise refusal(node)
