"""Which functions of a file are marked as definitions: read from its syntax tree, so that nothing is run to know.

A mark is followed if it stands at the top of its file (a decorator, or `mcp.tool(function)`): there a call can find the
function by its name.  Everywhere else it is reported, because it would be lost in silence.
"""

from __future__ import annotations

import ast
import difflib
import re
import warnings
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.introspection.keywords import judge, judge_field
from mcpc.introspection.meanings import (
    KINDS,
    MARKING,
    NEEDED,
    SERVER,
    STATED,
    Reader,
    keywords,
    last_name,
    module_level,
    options_of,
    resolve,
)
from mcpc.introspection.model import Mark, MarkedFile, Parameter
from mcpc.introspection.places import name, offset, whole
from mcpc.languages import LANGUAGES
from mcpc_runtime.authoring import Context

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic
    from mcpc.introspection.meanings import Defined
    from mcpc.sources import Source

MENTION = re.compile(rb"\b(?:mcpc|fastmcp|FastMCP|MCPServer)\b")
IMPORT = re.compile(rb"(?:^|[\r\n])(?:from|import)\s+(?:mcpc|fastmcp)\b")
LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
CONTEXT = frozenset(name for name in dir(Context) if not name.startswith("_"))
"""What a call's context has."""
ATTRIBUTES = frozenset({*MARKING, "instructions", "name", "run"})


def find(
    source: Source, shared: Mapping[str, frozenset[str]], kinds: Mapping[str, tuple[str, ...]] = KINDS
) -> MarkedFile | None:
    """Return what is marked in a file with one of `kinds`, or None if nothing is.

    `shared` are the names of other modules' servers.
    """
    if not source.path.endswith(".py") or not (shared or MENTION.search(source.data)):
        return None
    tree = parsed(source)
    if tree is None:
        # Nobody knows what it marks; that it wants to is known, and why it cannot be read.
        wants = IMPORT.search(source.data) is not None or source.path == "server.py"
        return MarkedFile(source, (), (), LANGUAGES["python"](source)[1], frozenset(), runs=False) if wants else None
    reader = Reader(source, tree, kinds)
    resolve(reader, shared)
    if not reader.meanings and not reader.problems:
        return None
    _visit(reader)
    _repeated(reader)
    if not reader.marks and not reader.servers and not reader.problems:
        return None
    problems = tuple(reader.problems)
    seen = frozenset(reader.seen)
    return MarkedFile(source, tuple(reader.marks), tuple(reader.servers), problems, seen, runs=not reader.fails)


def servers_of(source: Source) -> frozenset[str]:
    """Return the names a file gives to objects of `Server`."""
    found = find(source, {})
    return frozenset(server.name for server in found.servers) if found else frozenset()


def parsed(source: Source) -> ast.Module | None:
    """Return the syntax tree of a file, None if it is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source.data, source.path)
    except (SyntaxError, MemoryError, OverflowError, RecursionError, ValueError):
        return None


def _visit(reader: Reader) -> None:
    """Find every mark, wherever it stands, in the order of the file."""
    waiting: list[tuple[ast.AST, str]] = [(reader.tree, "")]
    known = {id(node.value) for node in module_level(reader.tree) if isinstance(node, ast.Assign | ast.AnnAssign)}
    while waiting:
        node, inside = waiting.pop()
        decorators: list[ast.expr] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            decorators = node.decorator_list
            _decorated(reader, node, inside)
            inside = f"the class `{node.name}`" if isinstance(node, ast.ClassDef) else f"the function `{node.name}`"
        elif isinstance(node, LOOPS):
            inside = "a loop"
        elif isinstance(node, ast.Call):
            _called(reader, node, inside)
            if reader.meaning(node.func) == "Field" and not isinstance(node.func, ast.Call):
                reader.problems += judge_field(keywords(reader, node))
            _nameless(reader, node, known)
        elif isinstance(node, ast.Attribute):
            _attribute(reader, node)
        skipped = {id(decorator) for decorator in decorators}
        children = [child for child in ast.iter_child_nodes(node) if id(child) not in skipped]
        waiting += [(child, inside) for child in reversed(children)]


def _decorated(reader: Reader, node: Defined | ast.ClassDef, inside: str) -> None:
    for decorator in node.decorator_list:
        kind, span = reader.meaning(decorator), whole(reader.source, decorator)
        if kind in reader.kinds:
            reader.seen.add(node.name)
        if kind in reader.kinds and isinstance(node, ast.ClassDef):
            reader.report("MCP220", span, f"`{node.name}` is a class, and only a function can be a {kind}")
        elif kind in reader.kinds and inside:
            hint = f"a {kind} is called by its name: define it at the top of the file"
            reader.report("MCP220", span, f"`{node.name}` stands in {inside}", hint)
        elif kind in reader.kinds and not isinstance(node, ast.ClassDef):
            options = options_of(reader, decorator, reader.kinds[kind]) if isinstance(decorator, ast.Call) else {}
            if _says_enough(reader, kind, span, options):
                reader.problems += judge(kind, keywords(reader, decorator))
                _add(reader, _of_function(reader, kind, node, options), node)
                _context_misused(reader, node)
        elif isinstance(decorator, ast.Call | ast.Attribute):
            _attribute(reader, decorator.func if isinstance(decorator, ast.Call) else decorator)


def _says_enough(reader: Reader, kind: str, span: Span, options: Mapping[str, Span]) -> bool:
    """Say whether a mark has what its kind needs; without, the file would fail."""
    missing = [name for name in reader.kinds[kind] if name in NEEDED and name not in options]
    if missing:
        written = {"resource": '`@resource("config://app")`', "completion": '`@completion("prompt", "argument")`'}[kind]
        reader.report_failing("MCP220", span, f"`{kind}` is not told its `{missing[0]}`", f"write {written}")
    return not missing


def _called(reader: Reader, call: ast.Call, inside: str) -> None:
    """Take `mcp.tool(function)`, and `mcp.tool(name="x")(function)`, for marks."""
    kind = reader.meaning(call.func)
    target = call.args[0] if call.args else None
    says = (ast.Constant, ast.Dict) if reader.kinds is STATED else (ast.Constant,)
    if kind not in reader.kinds or target is None or isinstance(target, says):
        return
    is_second = isinstance(call.func, ast.Call)
    if reader.kinds[kind][0] in NEEDED and not is_second:
        return  # `resource(URI)` only makes the mark
    if reader.kinds[kind][0] not in NEEDED and isinstance(call.func, ast.Call) and _has_target(call.func, says):
        return  # `tool(function)(argument)` is a call of the function
    span = whole(reader.source, target)
    reader.seen.add("<lambda>" if isinstance(target, ast.Lambda) else last_name(target))
    if inside or not isinstance(target, ast.Name):
        what = f"`{reader.written(target)}`" if not isinstance(target, ast.Lambda) else "a lambda"
        where = f"is marked in {inside}" if inside else f"cannot be a {kind}"
        hint = f"a {kind} is called by its name: define a function at the top of the file, and mark it there"
        reader.report("MCP220", span, f"{what} {where}", hint)
        reader.fails |= isinstance(target, ast.Attribute)  # a bound method takes no mark
        return
    marking = call.func if isinstance(call.func, ast.Call) else call
    options = options_of(reader, marking, ("",) if marking is call else reader.kinds[kind])
    options.pop("", None)
    if not _says_enough(reader, kind, span, options):
        return
    reader.problems += judge(kind, keywords(reader, marking))
    node = reader.functions.get(target.id)
    mark = Mark(kind, target.id, span, options) if node is None else _of_function(reader, kind, node, options)
    _add(reader, mark, node)


def _has_target(call: ast.Call, says: tuple[type, ...]) -> bool:
    return bool(call.args) and not isinstance(call.args[0], says)


def _nameless(reader: Reader, call: ast.Call, known: set[int]) -> None:
    if reader.meaning(call.func) == SERVER and id(call) not in known:
        hint = "give it a name at the top of the file: `mcp = Server(...)`"
        reader.report("MCP220", whole(reader.source, call), "this `Server` cannot be found by a name", hint)


def _attribute(reader: Reader, node: ast.expr) -> None:
    """Report what a server is asked for and has not."""
    if isinstance(node, ast.Attribute) and reader.meaning(node.value).endswith(".") and node.attr not in ATTRIBUTES:
        end = whole(reader.source, node).end
        span = Span(reader.source.path, end - len(node.attr), end)
        hint = "a server has " + ", ".join(f"`{known}`" for known in sorted(ATTRIBUTES))
        reader.report_failing("MCP219", span, f"a server of mcpc has no `{node.attr}`", hint)


def _add(reader: Reader, mark: Mark, node: Defined | None) -> None:
    """Keep a mark, unless its function has a parameter that no client can fill."""
    unfillable = list(_unfillable(reader, node.args, mark)) if node else []
    reader.problems += unfillable
    if not unfillable:
        reader.marks.append(mark)
        reader.owners.append((mark, node))


def _unfillable(reader: Reader, arguments: ast.arguments, mark: Mark) -> Iterator[Diagnostic]:
    for stars, argument in (("*", arguments.vararg), ("**", arguments.kwarg)):
        if argument is not None:
            span, label = name(reader.source, argument), f"`{stars}{argument.arg}`"
            hint = f"name the parameters of the {mark.kind}: clients are shown each with its type"
            yield diagnose("MCP218", span, f"no client can know what {label} of `{mark.function}` takes", "", hint)
    for argument in arguments.posonlyargs:
        message = f"`{mark.function}` takes `{argument.arg}` only by position, and arguments are passed by name"
        yield diagnose("MCP218", name(reader.source, argument), message, "", "take the `/` out of the signature")


def _context_misused(reader: Reader, node: Defined) -> None:
    """Report what the function asks of its context that this does not have."""
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    contexts = {one.arg for one in arguments if one.annotation and _is_context(reader, one.annotation)}
    for part in ast.walk(node):
        if not isinstance(part, ast.Attribute) or not isinstance(part.value, ast.Name) or part.value.id not in contexts:
            continue
        if part.attr not in CONTEXT:
            end = whole(reader.source, part).end
            near = difflib.get_close_matches(part.attr, sorted(CONTEXT), n=1)
            hint = (
                f"did you mean `{near[0]}`?" if near else "it has " + ", ".join(f"`{one}`" for one in sorted(CONTEXT))
            )
            span = Span(reader.source.path, end - len(part.attr), end)
            reader.report("MCP248", span, f"the context has no `{part.attr}`", hint)


def _is_context(reader: Reader, annotation: ast.expr) -> bool:
    """Tell whether an annotation is `Context`, or a choice with it."""
    return any(isinstance(part, ast.expr) and reader.meaning(part) == "Context" for part in ast.walk(annotation))


def _of_function(reader: Reader, kind: str, node: Defined, options: Mapping[str, Span]) -> Mark:
    documented = ast.get_docstring(node, clean=False) is not None
    return Mark(
        kind=kind,
        function=node.name,
        span=name(reader.source, node),
        options=options,
        parameters=dict(_parameters(reader.source, node.args)),
        docstring=whole(reader.source, node.body[0]) if documented else None,
        returns=whole(reader.source, node.returns) if node.returns else None,
    )


def _parameters(source: Source, arguments: ast.arguments) -> Iterator[tuple[str, Parameter]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    for argument, default in zip(
        (*positional, *arguments.kwonlyargs), (*defaults, *arguments.kw_defaults), strict=True
    ):
        annotation = whole(source, argument.annotation) if argument.annotation else None
        written = whole(source, default) if default else None
        yield argument.arg, Parameter(name(source, argument), annotation, written)


def _repeated(reader: Reader) -> None:
    """Report marked functions whose name another one takes: only the last can be called."""
    for mark, node in reader.owners:
        last = reader.functions.get(mark.function)
        if node is None or last is None or last is node:
            continue
        line = reader.source.position(offset(reader.source, last.lineno, last.col_offset))[0]
        hint = f"line {line} defines it again; rename one, and give it the other's name by `name=`"
        reader.report("MCP220", mark.span, f"this `{mark.function}` cannot be called", hint)
        reader.marks.remove(mark)
