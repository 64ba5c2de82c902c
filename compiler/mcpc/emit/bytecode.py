"""Compile Python source to bytecode that depends only on the source and the interpreter.

This file is also run by other interpreters, for bytecode of their version (`mcpc.emit.interpreters`): it imports only
the standard library.

Annotations, `if TYPE_CHECKING` and docstrings are left out of the bytecode; the source beside it keeps them.

Marshal output depends on three properties of the process: whether a string is interned, whether two equal objects are
identical, and whether an object has other references. So values are copied first: names are interned, as are the
constants that look like names, and no other strings; equal strings and bytes of a module become one object; and all
objects are referenced while they are written.
"""

from __future__ import annotations

import _imp
import ast
import importlib.util
import marshal
import re
import sys
import warnings
from types import CodeType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Module = tuple[bytes, str, bool]
    """A source, its file name in tracebacks, and whether it is stripped."""
    BundleRow = tuple[str, bool, int]
    """A module of the start path: its name, whether it is a package, and its number."""

SOURCE = b"#"
"""`mcpc_runtime.SOURCE`: other interpreters run this file without the runtime."""
MAGIC = importlib.util.MAGIC_NUMBER
UNCHECKED_HASH = (1).to_bytes(4, "little")
NO_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
"""Exceptions for a text that the interpreter cannot compile: invalid, undecodable, or nested too deeply."""


FIELD_READERS = frozenset({"NamedTuple", "dataclass"})
"""The bases and decorators of classes whose fields are their annotations."""


class RuntimeStripper(ast.NodeTransformer):
    """Removes syntax without effect at run time that costs time to load."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Remove the annotations of a signature."""
        return self._signature(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        """Remove the annotations of a signature."""
        return self._signature(node)

    def _signature(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        given = node.args
        for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
            if argument is not None:
                argument.annotation = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Keep an annotated assignment without its annotation; remove a bare annotation."""
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(ast.copy_location(ast.Assign([node.target], node.value), node))

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Keep the annotations of a named tuple or a dataclass, which are its fields, without their types."""
        if not any(
            name.partition("(")[0] in FIELD_READERS for name in map(ast.unparse, node.bases + node.decorator_list)
        ):
            return self.generic_visit(node)
        fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
        for field in fields:
            field.annotation = ast.copy_location(ast.Constant(None), field)
        node.body = [each if each in fields else self.visit(each) for each in node.body]
        return node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """Remove `if TYPE_CHECKING`, and keep its `else` branch."""
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            otherwise = ast.Module(node.orelse, [])
            self.generic_visit(otherwise)
            return otherwise.body or ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """Remove `from __future__ import annotations`, which has no effect any more."""
        return ast.copy_location(ast.Pass(), node) if node.module == "__future__" else node


class DocstringStripper(ast.NodeTransformer):
    """Removes what only readers need: texts that stand alone."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Replace a text."""
        return ast.copy_location(ast.Pass(), node) if isinstance(node.value, ast.Constant) else node


def stripped_source(source: bytes) -> bytes:
    """Return a module's source without annotations and docstrings, for `mcpc_runtime.RuntimeFinder`."""
    tree = DocstringStripper().visit(RuntimeStripper().visit(ast.parse(source)))
    return SOURCE + b"\n" + ast.unparse(ast.fix_missing_locations(tree)).encode()


def code_of(source: bytes, label: str, *, strip: bool) -> CodeType:
    """Compile a module; `label` is its file name in tracebacks."""
    code: bytes | ast.Module = source  # without a tree of Python's objects, which takes twice as long as the rest
    if strip:
        code = ast.fix_missing_locations(RuntimeStripper().visit(ast.parse(source, label)))
    # `dont_inherit`: the `__future__` of this file must not change what other sources mean.
    return without_columns(compile(code, sys.intern(label), "exec", dont_inherit=True, optimize=2 if strip else 0))


def without_columns(code: CodeType) -> CodeType:
    """Return code with lines but no columns, which take half of its tables and are optional in Python."""
    constants = tuple(without_columns(item) if isinstance(item, CodeType) else item for item in code.co_consts)
    return code.replace(co_consts=constants, co_linetable=line_table(code))


def line_table(code: CodeType) -> bytes:
    """Return the location table (CPython's Objects/locations.md) with the line of every instruction and no column."""
    table = bytearray()
    last = code.co_firstlineno
    for start, end, line in code.co_lines():
        # A code unit has two bytes.
        units = (end - start) // 2
        for place in range(0, units, MAX_UNITS):
            length = min(MAX_UNITS, units - place)
            if line is None:
                table.append(0x80 | NO_LOCATION << 3 | length - 1)
            else:
                table.append(0x80 | NO_COLUMNS << 3 | length - 1)
                rest = (last - line) << 1 | 1 if line < last else (line - last) << 1
                while rest > 63:  # six bits a byte, the lowest first, the sign in the lowest bit
                    table.append(0x40 | rest & 63)
                    rest >>= 6
                table.append(rest)
                last = line
    return bytes(table)


NO_COLUMNS, NO_LOCATION = 13, 15
MAX_UNITS = 8
"""Code units that one entry of the location table can cover."""


def dump_code(value: object) -> bytes:
    """Return a marshalled value, usually code: the same bytes for the same content, independent of the process."""
    fresh = ObjectCopier().of(value)
    # Marshal marks what has several owners as shared; with this list everything has, in every process.
    held = list(shareable_parts(fresh))
    data = marshal.dumps(fresh)  # type: ignore[arg-type]
    del held
    return data


class ObjectCopier:
    """Copies values, so that no object is shared with, or interned by, the rest of this process.

    Two equal strings, bytes or sets become one object; other objects keep their identity relations.  CPython copies a
    set for each function if one of its strings is interned already, which depends on what was imported before.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._bytes: dict[bytes, bytes] = {}
        self._sets: dict[frozenset[str], object] = {}
        self._others: dict[int, tuple[object, object]] = {}

    def of(self, value: object) -> object:
        """Return a copy of a value."""
        if type(value) is str:
            return self._text(value)
        if type(value) is bytes:
            return self._bytes.setdefault(value, value)
        if not isinstance(value, CodeType | tuple | frozenset):
            return value
        _, made = self._others.get(id(value), (None, None))
        if made is None:
            made = self._code(value) if isinstance(value, CodeType) else type(value)(map(self.of, value))
            if isinstance(made, frozenset):
                made = self._sets.setdefault(frozenset(map(repr, made)), made)  # 1 and True are not equal by `repr`
            self._others[id(value)] = value, made  # the original is referenced, so that its id stays unique
        return made

    def _text(self, text: str) -> str:
        """Return a string as the interpreter would have it in code: interned if it looks like a name."""
        if len(text) < 2 or NAME_LIKE.fullmatch(text):
            return self._name(text)
        # A slice is a new text, which nothing else in this process refers to.
        return self._texts.setdefault(text, f"{text}\0"[:-1])

    def _name(self, text: str) -> str:
        """Return a string interned: the first of its kind, since "<module>" of Python 3.12 can be interned twice."""
        return self._names.setdefault(text, sys.intern(text))

    def _code(self, code: CodeType) -> CodeType:
        return code.replace(
            co_consts=tuple(map(self.of, code.co_consts)),
            co_names=tuple(map(self._name, code.co_names)),
            co_name=self._name(code.co_name),
            co_qualname=self._name(code.co_qualname),
            co_filename=self._name(code.co_filename),
            co_linetable=bytes(bytearray(code.co_linetable)),  # never shared: with PYTHONNODEBUGRANGES Python copies it
            co_exceptiontable=self._bytes.setdefault(code.co_exceptiontable, code.co_exceptiontable),
        )


NAME_LIKE = re.compile(r"[A-Za-z0-9_]*")
"""The constants that CPython interns as names (`all_name_chars` of Objects/codeobject.c)."""


def dump_data(value: object) -> bytes:
    """Return a marshalled value without code, the same for every Python: version 2 has no references."""
    return marshal.dumps(value, 2)  # type: ignore[arg-type]


def shareable_parts(value: object) -> Iterator[object]:
    """Yield all parts of a value whose identity affects marshal."""
    yield value
    if isinstance(value, CodeType):
        inner = (getattr(value, name) for name in CODE_PARTS)
        yield from (part for whole in inner for part in shareable_parts(whole))
    elif isinstance(value, tuple | frozenset):
        yield from (part for item in value for part in shareable_parts(item))


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


def pyc_header(magic: bytes, source: bytes) -> bytes:
    """Return the header of a bytecode file: hash-based and unchecked, since an archive does not change."""
    # PEP 552: the second word has bit 0 for a hash in place of a time, and bit 1, which is not set, for checking it.
    return magic + UNCHECKED_HASH + _imp.source_hash(int.from_bytes(magic, "little"), source)


def pyc(code: CodeType, source: bytes) -> bytes:
    """Return the bytecode file for a source."""
    return pyc_header(MAGIC, source) + dump_code(code)


def compile_modules(
    modules: Sequence[Module], bundle: Sequence[BundleRow], start: int, known: Mapping[Module, bytes]
) -> tuple[bytes, list[bytes | None]]:
    """Return this Python's magic number and the marshalled code of modules, None for what it cannot compile.

    The module with the number `start` gets the modules of `bundle` in the place of its constant "BUNDLE".  `known`:
    marshalled code of some of the modules, which are not compiled again.
    """
    # None also stands for a module whose code is known: below, `known` is asked for it.
    codes = [None if module in known else compile_or_none(*module) for module in modules]
    if bundle:
        inner = [codes[number] or loaded(known.get(modules[number])) for _, _, number in bundle]
        code = codes[start]
        if code is None or None in inner:
            raise ValueError("a module of the start path does not compile")
        rows = tuple((name, is_package, item) for (name, is_package, _), item in zip(bundle, inner, strict=True))
        codes[start] = code.replace(co_consts=tuple(rows if item == "BUNDLE" else item for item in code.co_consts))
    pairs = zip(modules, codes, strict=True)
    return MAGIC, [known.get(module) if code is None else dump_code(code) for module, code in pairs]


def loaded(data: bytes | None) -> CodeType | None:
    """Return marshalled code, if there is any."""
    code: CodeType | None = None if data is None else marshal.loads(data)
    return code


def compile_or_none(source: bytes, label: str, strip: bool) -> CodeType | None:
    """Return the code of a module, None if this Python cannot compile it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return code_of(source, label, strip=strip)
        except NO_PYTHON:
            return None
