"""Python source to bytecode that depends on nothing but the source and the interpreter.

What only type checkers and readers want (annotations, `if TYPE_CHECKING`, docstrings) is left out of the bytecode; the
source, which lies beside it, keeps it.  Marshal marks an object as shared if anything else in the compiling process
holds it, and so would not write the same bytes in every build; here everything is held while it is written.
"""

from __future__ import annotations

import ast
import importlib.util
import marshal
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

    def visit_If(self, node: ast.If) -> ast.AST:
        """Drop `if TYPE_CHECKING`."""
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return ast.copy_location(ast.Pass(), node)
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
    held = list(parts(value))
    data = marshal.dumps(value)  # type: ignore[arg-type]
    del held
    return data


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
