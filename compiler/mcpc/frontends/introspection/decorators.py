"""Search for functions that are decorated as definitions, in the syntax tree of a file, without running it.

A decorator is followed at the top level of its file (as a decorator, or as `mcp.tool(function)`): a call can find such
a function by its name.  Any other use is reported, because it would be ignored silently.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span, diagnose
from mcpc.diagnostics.model import did_you_mean, nearest, quoted
from mcpc.frontends.introspection.model import (
    FIELD_KEYWORDS,
    REFUSED_BY_PYDANTIC,
    DecoratedFile,
    Decorator,
    DescribedParameter,
    check_field_keywords,
    check_keywords,
)
from mcpc.frontends.introspection.name_resolution import (
    DECORATING_METHODS,
    KEYWORD_KINDS,
    KINDS,
    REQUIRED_OPTIONS,
    SERVER,
    NameResolver,
    keyword_spans,
    last_name,
    module_level,
    option_spans,
    resolve_names,
)
from mcpc.languages import LANGUAGES
from mcpc.languages.python import parse_python, python_text
from mcpc_runtime.handlers.python.authoring import Context

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic
    from mcpc.frontends.introspection.name_resolution import Defined
    from mcpc.languages.python import PythonText
    from mcpc.reading import Source

MENTION = re.compile(rb"\bmcpc\b")
LIBRARY_IMPORT = re.compile(rb"(?:^|[\r\n])(?:from|import)\s+mcpc\b")
LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
CONTEXT_ATTRIBUTES = frozenset(name for name in dir(Context) if not name.startswith("_"))
"""The public attributes of a call's context."""
SERVER_ATTRIBUTES = frozenset({*DECORATING_METHODS, "instructions", "name", "run"})


def find_decorated(
    source: Source, shared: Mapping[str, frozenset[str]], kinds: Mapping[str, tuple[str, ...]] = KINDS
) -> DecoratedFile | None:
    """Return the functions in a file that are decorated with one of `kinds`, or None if there are none.

    `shared` are the names of other modules' servers.
    """
    if not source.path.endswith(".py") or not (shared or MENTION.search(source.data)):
        return None
    tree = parse_python(source)
    if tree is None:
        # Nobody knows what it marks; that it wants to is known, and why it cannot be read.
        wants = LIBRARY_IMPORT.search(source.data) is not None or source.path == "server.py"
        return DecoratedFile(source, (), (), LANGUAGES["python"](source)[1], frozenset(), runs=False) if wants else None
    reader = NameResolver(source, python_text(source), tree, kinds)
    resolve_names(reader, shared)
    if not reader.meanings and not reader.problems:
        return None
    _visit(reader)
    _check_redefinitions(reader)
    if not reader.marks and not reader.servers and not reader.problems:
        return None
    problems = tuple(reader.problems)
    seen = frozenset(reader.seen)
    marks, servers, unknown = tuple(reader.marks), tuple(reader.servers), frozenset(reader.unknown)
    return DecoratedFile(source, marks, servers, problems, seen, runs=not reader.fails, unknown=unknown)


def server_names(source: Source) -> frozenset[str]:
    """Return the names of a file's `Server` objects."""
    decorated = find_decorated(source, {})
    return frozenset(server.name for server in decorated.servers) if decorated else frozenset()


def _visit(reader: NameResolver) -> None:
    """Find every use of a decorator, in the order of the file."""
    waiting: list[tuple[ast.AST, str]] = [(reader.tree, "")]
    known = {id(node.value) for node in module_level(reader.tree) if isinstance(node, ast.Assign | ast.AnnAssign)}
    while waiting:
        node, inside = waiting.pop()
        decorators: list[ast.expr] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            decorators = node.decorator_list
            _decorated_definition(reader, node, inside)
            inside = f"the class `{node.name}`" if isinstance(node, ast.ClassDef) else f"the function `{node.name}`"
        elif isinstance(node, LOOPS):
            inside = "a loop"
        elif isinstance(node, ast.Call):
            _decorating_call(reader, node, inside)
            if reader.meaning(node.func) == "Field" and not isinstance(node.func, ast.Call):
                written = keyword_spans(reader, node)
                reader.problems += check_field_keywords(written)
                reader.unknown |= written.keys() - FIELD_KEYWORDS
                reader.fails |= not written.keys().isdisjoint(REFUSED_BY_PYDANTIC)
            if reader.meaning(node.func) == SERVER and id(node) not in known:
                hint = "assign it at the top level of the file: `mcp = Server(...)`"
                reader.report("MCP220", reader.text.node_span(node), "this `Server` is not assigned to a name", hint)
        elif isinstance(node, ast.Attribute):
            _check_attribute(reader, node)
        # A decorator such as `tool(name="x")` is a call, too; it was looked at with its function.
        skipped = {id(decorator) for decorator in decorators}
        children = [child for child in ast.iter_child_nodes(node) if id(child) not in skipped]
        # Of a stack the last one comes first: reversed, the nodes come in the order of the file.
        waiting += [(child, inside) for child in reversed(children)]


def _decorated_definition(reader: NameResolver, node: Defined | ast.ClassDef, inside: str) -> None:
    for decorator in node.decorator_list:
        kind, span = reader.meaning(decorator), reader.text.node_span(decorator)
        if kind in reader.kinds:
            reader.seen.add(node.name)
        if kind in reader.kinds and isinstance(node, ast.ClassDef):
            reader.report("MCP220", span, f"`{node.name}` is a class, and only a function can be a {kind}")
        elif kind in reader.kinds and inside:
            hint = f"define the {kind} at the top level of the file, where it is called by its name"
            reader.report("MCP220", span, f"`{node.name}` is defined in {inside}", hint)
        elif kind in reader.kinds and not isinstance(node, ast.ClassDef):
            options = option_spans(reader, decorator, reader.kinds[kind]) if isinstance(decorator, ast.Call) else {}
            if _has_required_arguments(reader, kind, span, options):
                reader.problems += check_keywords(kind, keyword_spans(reader, decorator))
                _add(reader, _decorator_of_function(reader, kind, node, options), node)
                _check_context_use(reader, node)
        elif isinstance(decorator, ast.Call | ast.Attribute):
            _check_attribute(reader, decorator.func if isinstance(decorator, ast.Call) else decorator)
            _add_meant(reader, decorator, node, inside)


def _add_meant(
    reader: NameResolver, decorator: ast.Call | ast.Attribute, node: Defined | ast.ClassDef, inside: str
) -> None:
    """Record a function with a misspelt decorator of a server, so that the rest of it is checked, too."""
    used = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not isinstance(used, ast.Attribute) or not reader.meaning(used.value).endswith(".") or inside:
        return
    kind = nearest(used.attr, reader.kinds)
    if not kind or isinstance(node, ast.ClassDef):
        return
    options = option_spans(reader, decorator, reader.kinds[kind]) if isinstance(decorator, ast.Call) else {}
    if all(name in options for name in reader.kinds[kind] if name in REQUIRED_OPTIONS):
        reader.seen.add(node.name)
        _add(reader, _decorator_of_function(reader, kind, node, options), node)
        _check_context_use(reader, node)


def _has_required_arguments(reader: NameResolver, kind: str, span: Span, options: Mapping[str, Span]) -> bool:
    """Tell whether a decorator has the arguments that its kind requires; without them, the file would fail."""
    missing = [name for name in reader.kinds[kind] if name in REQUIRED_OPTIONS and name not in options]
    if missing:
        written = {"resource": '`@resource("config://app")`', "completion": '`@completion("prompt", "argument")`'}[kind]
        reader.report_failing("MCP220", span, f"`{kind}` lacks the argument `{missing[0]}`", f"write {written}")
    return not missing


def _decorating_call(reader: NameResolver, call: ast.Call, inside: str) -> None:
    """Handle `mcp.tool(function)`, and `mcp.tool(name="x")(function)`, as decorators."""
    kind = reader.meaning(call.func)
    target = call.args[0] if call.args else None
    # `tool("name")` makes a decorator, and an object has its options; anything else would be the function.
    says = (ast.Constant, ast.Dict) if reader.kinds is KEYWORD_KINDS else (ast.Constant,)
    if kind not in reader.kinds or target is None or isinstance(target, says):
        return
    is_second = isinstance(call.func, ast.Call)
    if reader.kinds[kind][0] in REQUIRED_OPTIONS and not is_second:
        return  # `resource(URI)` only makes the mark
    if (
        reader.kinds[kind][0] not in REQUIRED_OPTIONS
        and isinstance(call.func, ast.Call)
        and call.func.args
        and not isinstance(call.func.args[0], says)
    ):
        return  # `tool(function)(argument)` is a call of the function
    span = reader.text.node_span(target)
    reader.seen.add("<lambda>" if isinstance(target, ast.Lambda) else last_name(target))
    if inside or not isinstance(target, ast.Name):
        what = f"`{reader.source_text(target)}`" if not isinstance(target, ast.Lambda) else "a lambda"
        where = f"is decorated in {inside}" if inside else f"cannot be a {kind}"
        hint = f"define a function at the top level of the file, and decorate it as a {kind} there"
        reader.report("MCP220", span, f"{what} {where}", hint)
        reader.fails |= isinstance(target, ast.Attribute)  # a bound method takes no mark
        return
    marking = call.func if isinstance(call.func, ast.Call) else call
    options = option_spans(reader, marking, ("",) if marking is call else reader.kinds[kind])
    options.pop("", None)
    if not _has_required_arguments(reader, kind, span, options):
        return
    reader.problems += check_keywords(kind, keyword_spans(reader, marking))
    node = reader.functions.get(target.id)
    mark = (
        Decorator(kind, target.id, span, options)
        if node is None
        else _decorator_of_function(reader, kind, node, options)
    )
    _add(reader, mark, node)


def _check_attribute(reader: NameResolver, node: ast.expr) -> None:
    """Report unknown attributes of a server."""
    if (
        isinstance(node, ast.Attribute)
        and reader.meaning(node.value).endswith(".")
        and node.attr not in SERVER_ATTRIBUTES
    ):
        end = reader.text.node_span(node).end
        # An attribute's name has no place of its own in the syntax tree, but it is the end of the node.
        span = Span(reader.source.path, end - len(node.attr), end)
        hint = did_you_mean(node.attr, sorted(SERVER_ATTRIBUTES), "a server has " + quoted(sorted(SERVER_ATTRIBUTES)))
        reader.report_failing("MCP219", span, f"unknown attribute `{node.attr}` of a `Server` of mcpc", hint)


def _add(reader: NameResolver, mark: Decorator, node: Defined | None) -> None:
    """Record a decorator, unless its function has a parameter that no client can provide."""
    unfillable = list(_unfillable(reader, node.args, mark)) if node else []
    reader.problems += unfillable
    if not unfillable:
        reader.marks.append(mark)
        reader.owners.append((mark, node))


def _unfillable(reader: NameResolver, arguments: ast.arguments, mark: Decorator) -> Iterator[Diagnostic]:
    for stars, argument in (("*", arguments.vararg), ("**", arguments.kwarg)):
        if argument is not None:
            span, label = reader.text.name_span(argument), f"`{stars}{argument.arg}`"
            hint = f"name the parameters of the {mark.kind}: clients are shown each with its type"
            yield diagnose("MCP218", span, f"{label} of `{mark.function}` cannot be described to clients", "", hint)
    for argument in arguments.posonlyargs:
        message = f"`{mark.function}` takes `{argument.arg}` only by position, but arguments are passed by name"
        yield diagnose("MCP218", reader.text.name_span(argument), message, "", "remove the `/` from the signature")


def _check_context_use(reader: NameResolver, node: Defined) -> None:
    """Report unknown attributes of the context in a function."""
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    contexts = {
        argument.arg for argument in arguments if argument.annotation and _is_context(reader, argument.annotation)
    }
    for part in ast.walk(node):
        if not isinstance(part, ast.Attribute) or not isinstance(part.value, ast.Name) or part.value.id not in contexts:
            continue
        if part.attr not in CONTEXT_ATTRIBUTES:
            end = reader.text.node_span(part).end
            known = sorted(CONTEXT_ATTRIBUTES)
            hint = did_you_mean(part.attr, known, "it has " + quoted(known))
            span = Span(reader.source.path, end - len(part.attr), end)
            reader.report("MCP248", span, f"unknown attribute `{part.attr}` of the context", hint)


def _is_context(reader: NameResolver, annotation: ast.expr) -> bool:
    """Tell whether an annotation is `Context`, or a union with it."""
    return any(isinstance(part, ast.expr) and reader.meaning(part) == "Context" for part in ast.walk(annotation))


def _decorator_of_function(reader: NameResolver, kind: str, node: Defined, options: Mapping[str, Span]) -> Decorator:
    documented = ast.get_docstring(node, clean=False) is not None
    return Decorator(
        kind=kind,
        function=node.name,
        span=reader.text.name_span(node),
        options=options,
        parameters=dict(_parameters(reader.text, node.args)),
        docstring=reader.text.node_span(node.body[0]) if documented else None,
        returns=reader.text.node_span(node.returns) if node.returns else None,
    )


def _parameters(text: PythonText, arguments: ast.arguments) -> Iterator[tuple[str, DescribedParameter]]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    for argument, default in zip(
        (*positional, *arguments.kwonlyargs), (*defaults, *arguments.kw_defaults), strict=True
    ):
        annotation = text.node_span(argument.annotation) if argument.annotation else None
        written = text.node_span(default) if default else None
        yield argument.arg, DescribedParameter(text.name_span(argument), annotation, written)


def _check_redefinitions(reader: NameResolver) -> None:
    """Report decorated functions whose name is defined again: only the last one can be called."""
    for mark, node in reader.owners:
        last = reader.functions.get(mark.function)
        if node is None or last is None or last is node:
            continue
        line = reader.source.position(reader.text.offset(last.lineno, last.col_offset))[0]
        hint = f"line {line} defines it again; rename one, and use `name=` for its public name"
        reader.report("MCP220", mark.span, f"this `{mark.function}` cannot be called: its name is defined again", hint)
        reader.marks.remove(mark)
