"""How a Python module is read: its functions and what it imports, from its syntax tree.

Its law: nothing of the module is run.  What only running it could tell (what a factory returns, what another module
holds) is taken to accept anything, so that a handler is never refused for what cannot be known.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import Diagnostic, Diagnostics, Span, diagnose
from mcpc.ir import Parameter
from mcpc.languages.module import Function, Module

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.sources import Source

BYTE_ORDER_MARK = "\ufeff"
LINE_END = re.compile(r"\r\n|\r|\n")
WRONG_BYTES = re.compile("[\udc80-\udcff]+")
COOKIE = re.compile(r"^(?:[^\n]*\n)?[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
DEFINITION = re.compile(r"(?:async(?:\s|\\)+)?def(?:\s|\\)+")
FROM = re.compile(r"from(?:\s|\\)+")
NOTHING = re.compile("")
NAME = re.compile(r"\w+")
QUOTATION = re.compile(r"'([^']+)'")

BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
MAY_BE_CALLED = (ast.Attribute, ast.BoolOp, ast.Call, ast.IfExp, ast.Lambda, ast.Name, ast.NamedExpr, ast.Subscript)
"""The expressions whose value may be a function."""

ABSENCE = frozenset({"BaseException", "Exception", "ImportError", "ModuleNotFoundError"})
"""Who catches one of these is prepared for a module that is not there."""


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a module, and where the lines and columns of a syntax tree (bytes of UTF-8) lie in it."""

    path: str
    text: str
    ascii: bool
    starts: tuple[int, ...]

    def offset(self, line: int, column: int) -> int:
        start = self.starts[min(max(line, 1), len(self.starts)) - 1]
        if start == 0 and self.text.startswith(BYTE_ORDER_MARK):
            start = 1
        if not self.ascii:
            before = self.text[start : start + column].encode("utf-8", "surrogateescape")[: max(column, 0)]
            column = len(before.decode("utf-8", "surrogateescape"))
        return min(start + max(column, 0), len(self.text))

    def name(self, node: ast.stmt | ast.alias, lead: re.Pattern[str] = NOTHING) -> Span:
        """Return the place of the name that stands behind `lead` where `node` begins."""
        start = self.offset(node.lineno, node.col_offset)
        leading = lead.match(self.text, start)
        start = leading.end() if leading else start
        found = NAME.match(self.text, start)
        return Span(self.path, start, found.end() if found else start)

    def whole(self, node: ast.expr) -> Span:
        """Return the place of `node`."""
        end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        return Span(self.path, self.offset(node.lineno, node.col_offset), end)


def read(source: Source) -> tuple[Module, Diagnostics]:
    """Return the functions of the Python module `source` and what is wrong with it."""
    parsed = _parse(source)
    if isinstance(parsed, Diagnostic):
        return Module({}), (parsed,)
    text = _indexed(source)
    return Module({function.name: function for node in _run(parsed) for function in _bound(text, node)}), ()


def imports(source: Source) -> tuple[tuple[str, Span], ...]:
    """Return the top-level name and the place of every module `source` cannot do without; nothing if it is not Python.

    An import that is ready to fail (`try: … except ImportError: …`), one for type checkers only (`if TYPE_CHECKING:`)
    and a relative one are left out.
    """
    parsed = _parse(source)
    if isinstance(parsed, Diagnostic):
        return ()
    text = _indexed(source)
    found = (named for node in _needed(parsed) for named in _imported(text, node))
    return tuple(sorted(found, key=lambda named: named[1]))


def _indexed(source: Source) -> _Text:
    starts = (0, *(match.end() for match in LINE_END.finditer(source.text)))
    return _Text(source.path, source.text, source.text.isascii(), starts)


def _parse(source: Source) -> ast.Module | Diagnostic:
    """Return the syntax tree of `source`, or what keeps Python from compiling it."""
    null = source.text.find("\0")
    if null >= 0:
        return diagnose("MCP205", Span(source.path, null, null + 1), "a null byte, which Python cannot read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source.data, source.path)
            # Some mistakes, as a `return` outside a function, are found by the compiler and not by the parser.
            compile(source.data, source.path, "exec", dont_inherit=True)
    except SyntaxError as problem:
        return _syntax_error(source, problem)
    except (MemoryError, OverflowError, RecursionError, ValueError):
        return diagnose("MCP205", Span(source.path), "Python cannot compile the file: it is nested too deeply")
    return tree


def _syntax_error(source: Source, problem: SyntaxError) -> Diagnostic:
    message = QUOTATION.sub(r"`\1`", problem.msg)
    if not problem.lineno or "'utf-8' codec" in problem.msg:
        return diagnose("MCP205", _encoding_error(source), message)
    text = _indexed(source)
    # Here columns count characters from 1; there may be none, and an end may be missing or lie before the beginning.
    start = text.offset(problem.lineno, 0) + max((problem.offset or 1) - 1, 0)
    end = text.offset(problem.end_lineno or 0, 0) + max((problem.end_offset or 1) - 1, 0)
    start = min(start, len(text.text))
    end = min(max(end, start + 1), len(text.text))
    return diagnose("MCP205", Span(source.path, start, end), message)


def _encoding_error(source: Source) -> Span:
    found = WRONG_BYTES.search(source.text) or COOKIE.search(source.text)
    return Span(source.path, *found.span(found.lastindex or 0)) if found else Span(source.path)


def _run(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the statements that run when the module is imported, in order, those inside `if`, `try` and so on too."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            waiting.extend(reversed([child for block in BLOCKS for child in getattr(node, block, ())]))


def _bound(text: _Text, node: ast.AST) -> Iterator[Function]:
    """Yield the functions to which the statement `node` gives a name."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield _defined(text, node)
    elif isinstance(node, ast.ImportFrom) and not _standard(node):
        for alias in (alias for alias in node.names if alias.name != "*"):
            yield Function(alias.asname or alias.name, text.name(alias), accepts_any=True)
    elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, MAY_BE_CALLED):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for part in (part for target in targets for part in ast.walk(target)):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield Function(part.id, text.whole(part), accepts_any=True)


def _standard(node: ast.ImportFrom) -> bool:
    """Say whether names come from the standard library, which holds no handlers (`from time import sleep`)."""
    return not node.level and (node.module or "").partition(".")[0] in sys.stdlib_module_names


def _defined(text: _Text, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    return Function(
        node.name,
        text.name(node, DEFINITION),
        is_async=isinstance(node, ast.AsyncFunctionDef),
        parameters=tuple(_parameters(node.args)),
        accepts_any=node.args.kwarg is not None,
    )


def _parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    first_optional = len(positional) - len(arguments.defaults)
    for index, argument in enumerate(positional):
        yield Parameter(argument.arg, index < first_optional, index >= len(arguments.posonlyargs))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Parameter(argument.arg, default is None)


def _needed(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes of the whole tree but those that may fail, and those that only type checkers read."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        left_out: Iterable[ast.AST] = ()
        if isinstance(node, ast.Try | ast.TryStar) and _is_prepared(node):
            left_out = (*node.body, *node.handlers, *node.orelse)
        elif isinstance(node, ast.If) and _is_for_types(node):
            left_out = node.body
        skipped = {id(child) for child in left_out}
        waiting.extend(child for child in ast.iter_child_nodes(node) if id(child) not in skipped)


def _is_prepared(node: ast.Try | ast.TryStar) -> bool:
    return any(handler.type is None or not ABSENCE.isdisjoint(_words(handler.type)) for handler in node.handlers)


def _is_for_types(node: ast.If) -> bool:
    return "TYPE_CHECKING" in _words(node.test) and not isinstance(node.test, ast.UnaryOp)


def _words(expression: ast.expr) -> frozenset[str]:
    names = (node.id for node in ast.walk(expression) if isinstance(node, ast.Name))
    attributes = (node.attr for node in ast.walk(expression) if isinstance(node, ast.Attribute))
    return frozenset((*names, *attributes))


def _imported(text: _Text, node: ast.AST) -> Iterator[tuple[str, Span]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name.partition(".")[0], text.name(alias)
    elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
        yield node.module.partition(".")[0], text.name(node, FROM)
