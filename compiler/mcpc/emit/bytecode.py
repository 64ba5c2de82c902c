"""Python source to bytecode that depends on nothing but the source and the interpreter.

What only type checkers and readers want (annotations, `if TYPE_CHECKING`, docstrings) is left out of the bytecode; the
source, which lies beside it, keeps it.

Marshal writes down three things that are the process's and not the code's: whether a string is interned, whether two
equal objects are one, and whether anything else holds an object.  So what is written is made anew first: names are
interned, as are the constants that look like names, and no other; equal texts and bytes of a module are one object; and
everything is held while it is written.
"""

from __future__ import annotations

import ast
import importlib.util
import marshal
import re
import sys
from types import CodeType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = importlib.util.MAGIC_NUMBER
UNCHECKED_HASH = (1).to_bytes(4, "little")


class Stripping(ast.NodeTransformer):
    """Takes out what has no effect at run time but costs time to load."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Drop the annotations of a signature."""
        return self._signature(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        """Drop the annotations of a signature."""
        return self._signature(node)

    def _signature(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        given = node.args
        for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
            if argument is not None:
                argument.annotation = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Keep the assignment of an annotated one; a bare annotation does nothing."""
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """Drop `if TYPE_CHECKING`, and keep what is there otherwise."""
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return node.orelse or ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """Drop `from __future__ import annotations`, which has nothing left to act on."""
        return ast.copy_location(ast.Pass(), node) if node.module == "__future__" else node


def code_of(source: bytes, label: str, *, strip: bool) -> CodeType:
    """Compile a module; `label` is what tracebacks call its file."""
    tree = ast.parse(source, label)
    if strip:
        tree = ast.fix_missing_locations(Stripping().visit(tree))
    return without_columns(compile(tree, sys.intern(label), "exec", dont_inherit=True, optimize=2 if strip else 0))


def without_columns(code: CodeType) -> CodeType:
    """Return code that knows its lines and not its columns: they are half of its tables, and not in every build."""
    constants = tuple(without_columns(item) if isinstance(item, CodeType) else item for item in code.co_consts)
    return code.replace(co_consts=constants, co_linetable=line_table(code))


def line_table(code: CodeType) -> bytes:
    """Return the location table (CPython's Objects/locations.md) with the line of every instruction and no column."""
    table = bytearray()
    last = code.co_firstlineno
    for start, end, line in code.co_lines():
        for length in pieces((end - start) // 2):
            if line is None:
                table.append(0x80 | NO_LOCATION << 3 | length - 1)
            else:
                table.append(0x80 | NO_COLUMNS << 3 | length - 1)
                table += signed(line - last)
                last = line
    return bytes(table)


NO_COLUMNS, NO_LOCATION = 13, 15


def pieces(units: int) -> list[int]:
    """Cut a number of code units into what one entry can hold."""
    return [8] * (units // 8) + [units % 8] * bool(units % 8)


def signed(number: int) -> bytes:
    """Return a number as six bits a byte, the lowest first, the sign in the lowest bit."""
    rest = -number << 1 | 1 if number < 0 else number << 1
    data = bytearray()
    while rest > 63:
        data.append(0x40 | rest & 63)
        rest >>= 6
    return bytes((*data, rest))


def dump(value: object) -> bytes:
    """Return a marshalled value, code mostly: the same bytes for the same content, whatever else this process did."""
    fresh = Fresh().of(value)
    held = list(parts(fresh))
    data = marshal.dumps(fresh)  # type: ignore[arg-type]
    del held
    return data


class Fresh:
    """Makes values anew, so that nothing of them is shared with, or interned by, anything else of this process.

    Two equal texts or bytes become one object; of everything else, what was one object stays one.
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._bytes: dict[bytes, bytes] = {}
        self._others: dict[int, tuple[object, object]] = {}

    def of(self, value: object) -> object:
        """Return a value made anew."""
        if type(value) is str:
            return self._text(value)
        if type(value) is bytes:
            return self._bytes.setdefault(value, value)
        if not isinstance(value, CodeType | tuple | frozenset):
            return value
        _, made = self._others.get(id(value), (None, None))
        if made is None:
            made = self._code(value) if isinstance(value, CodeType) else type(value)(map(self.of, value))
            self._others[id(value)] = value, made  # the first is held, so that its number stays its own
        return made

    def _text(self, text: str) -> str:
        """Return a text as the interpreter itself would have it in code: interned if it looks like a name."""
        if len(text) < 2 or NAME_LIKE.fullmatch(text):
            return sys.intern(text)
        return self._texts.setdefault(text, f"{text}\0"[:-1])

    def _code(self, code: CodeType) -> CodeType:
        return code.replace(
            co_consts=tuple(map(self.of, code.co_consts)),
            co_names=tuple(map(sys.intern, code.co_names)),
            co_name=sys.intern(code.co_name),
            co_qualname=sys.intern(code.co_qualname),
            co_filename=sys.intern(code.co_filename),
            co_linetable=bytes(bytearray(code.co_linetable)),  # never shared: PYTHONNODEBUGRANGES has Python copy it
            co_exceptiontable=self._bytes.setdefault(code.co_exceptiontable, code.co_exceptiontable),
        )


NAME_LIKE = re.compile(r"[A-Za-z0-9_]*")
"""What CPython takes for a name among constants (`all_name_chars` of Objects/codeobject.c)."""


def dump_data(value: object) -> bytes:
    """Return a marshalled value without code, the same whichever Python writes it: version 2 has no references."""
    return marshal.dumps(value, 2)  # type: ignore[arg-type]


def parts(value: object) -> Iterator[object]:
    """Yield everything a value is made of that marshal could take for shared or not."""
    yield value
    if isinstance(value, CodeType):
        inner = (getattr(value, name) for name in CODE_PARTS)
        yield from (part for whole in inner for part in parts(whole))
    elif isinstance(value, tuple | frozenset):
        yield from (part for item in value for part in parts(item))


CODE_PARTS = (
    "co_consts",
    "co_names",
    "co_varnames",
    "co_cellvars",
    "co_freevars",
    "co_filename",
    "co_name",
    "co_qualname",
    "co_linetable",
    "co_exceptiontable",
)


def pyc(code: CodeType, source: bytes) -> bytes:
    """Return the file that stands beside a source: hash-based, unchecked, since an archive does not change."""
    return MAGIC + UNCHECKED_HASH + importlib.util.source_hash(source) + dump(code)
