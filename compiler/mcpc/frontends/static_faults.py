"""Faults that a file would raise when it is imported, found in its syntax: all of them, where a run shows the first.

They are looked for only in files whose run has failed: what is found there is an addition to what the run said.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.diagnostics.model import did_you_mean, nearest, quoted
from mcpc.frontends.causes.names import ALWAYS, undefined_help
from mcpc.languages.python import parse_python, python_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Span
    from mcpc.languages.python import PythonText
    from mcpc.reading import Source

HIGH_LEVEL = ("FastMCP", "MCPServer")
DECORATORS = {
    **dict.fromkeys(HIGH_LEVEL, ("completion", "custom_route", "prompt", "resource", "tool")),
    "Server": (
        *("call_tool", "completion", "get_prompt", "list_prompts", "list_resource_templates", "list_resources"),
        *("list_tools", "progress_notification", "read_resource", "set_logging_level", "subscribe_resource"),
        "unsubscribe_resource",
    ),
}
"""The decorators of a server, by its class."""
CERTAIN = 0.75
"""How similar a name must be to a known one: a framework may have others."""
COMPONENT = (
    "annotations",
    "auth",
    "description",
    "enabled",
    "icons",
    "meta",
    "name",
    "tags",
    "task",
    "title",
    "version",
)
SERVER = (
    *("auth", "auth_server_provider", "cache_expiration_seconds", "cache_scope", "cache_ttl", "client_log_level"),
    *("debug", "dependencies", "dereference_schemas", "event_store", "exclude_tags", "experimental_capabilities"),
    *("host", "icons", "include_fastmcp_meta", "include_tags", "instructions", "json_response", "lifespan"),
    *("list_page_size", "log_level", "mask_error_details", "message_path", "middleware", "mount_path", "name"),
    *("on_duplicate", "on_duplicate_prompts", "on_duplicate_resources", "on_duplicate_tools", "port", "providers"),
    *("request_state_security", "resource_prefix_format", "resource_security", "retry_interval", "sampling_handler"),
    *("sampling_handler_behavior", "session_state_store", "sse_path", "stateless_http", "streamable_http_path"),
    *("strict_input_validation", "tasks", "title", "token_verifier", "tool_serializer", "tool_transformations"),
    *("tools", "transforms", "transport_security", "version", "warn_on_duplicate_prompts", "website_url"),
    *("warn_on_duplicate_resources", "warn_on_duplicate_tools", "description"),
)
RUN = (
    *("host", "json_response", "log_level", "middleware", "mount_path", "path", "port", "show_banner", "stateless"),
    *("stateless_http", "transport", "uvicorn_config"),
)
TRANSPORTS = ("http", "sse", "stdio", "streamable-http")
KEYWORDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(HIGH_LEVEL, SERVER),
    **dict.fromkeys(("run", "run_async"), RUN),
    "prompt": COMPONENT,
    "resource": (*COMPONENT, "app", "mime_type", "security", "size", "uri"),
    "tool": (
        *(*COMPONENT, "app", "exclude_args", "name_or_fn", "output_schema", "run_in_thread", "serializer"),
        *("structured_output", "timeout"),
    ),
}
"""The keywords of a server, of its decorators, and of what serves it."""
CLASSES = {
    "fastmcp": ("Client", "Context", "FastMCP"),
    "mcp.server.fastmcp": ("Context", "FastMCP", "Image"),
    "mcp.server.mcpserver": ("Context", "Image", "MCPServer"),
}
"""The classes that programs import from a module."""


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class StaticFault:
    """A fault: the exception that it will be, with its place and what to do about it."""

    type: str
    message: str
    span: Span
    hint: str


def undefined_names(source: Source, *, late: bool = False) -> Iterator[StaticFault]:
    """Yield the names that the import of a file evaluates, and that nothing in the file defines.

    `late`: annotations that are evaluated later (`from __future__ import annotations`) count, too.
    """
    tree = parse_python(source)
    if tree is None:
        return
    text, bound = python_text(source), bound_names(tree)
    if "*" in bound:
        return
    for node in evaluated(tree, late=late):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in bound | ALWAYS:
            hint = undefined_help(node.id, (*sorted(bound), *dir(builtins)), source, node.lineno)
            yield StaticFault("NameError", f"name '{node.id}' is not defined", text.node_span(node), hint)


def misspelt_uses(source: Source) -> Iterator[Diagnostic]:
    """Yield what a program asks of its framework that this does not have, and that looks like what it has.

    The framework raises an exception; its stand-in would ignore the keyword, or fail when the class is used.
    """
    tree = parse_python(source)
    if tree is None:
        return
    text, servers = python_text(source), dict(named_servers(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield from _misspelt_classes(node, text)
        elif isinstance(node, ast.Call):
            yield from _misspelt_keywords(node, text, servers)


def _misspelt_classes(node: ast.ImportFrom, text: PythonText) -> Iterator[Diagnostic]:
    known = CLASSES.get(node.module or "", ())
    for alias in node.names:
        near = nearest(alias.name, known, CERTAIN)
        if near and near != alias.name:
            message = f"`{node.module}` has no `{alias.name}`"
            yield diagnose("MCP219", text.name_span(alias), message, "", f"did you mean `{near}`?")


def _misspelt_keywords(call: ast.Call, text: PythonText, servers: Mapping[str, str]) -> Iterator[Diagnostic]:
    kind, known = called_keywords(call, servers)
    for keyword in call.keywords:
        name = keyword.arg or ""
        near = nearest(name, known, CERTAIN) if name and name not in known else ""
        if near:
            message = f"unknown keyword `{name}` of `{kind}`"
            yield diagnose("MCP221", text.name_span(keyword), message, "", f"did you mean `{near}`?")
        elif name == "transport" and known and isinstance(keyword.value, ast.Constant):
            written = keyword.value.value
            if isinstance(written, str) and written not in TRANSPORTS:
                hint = did_you_mean(written, TRANSPORTS)
                span, expected = text.node_span(keyword.value), "one of " + quoted(TRANSPORTS)
                yield diagnose("MCP221", span, f"unknown transport `{written}`", expected, hint)


def called_keywords(call: ast.Call, servers: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return the name and the keywords of a framework's server or decorator that is called, if it is one."""
    match call.func:
        case ast.Name(name) | ast.Attribute(attr=name) if name in KEYWORDS and name in DECORATORS:
            return name, KEYWORDS[name]
        case ast.Attribute(ast.Name(server), name) if servers.get(server) in HIGH_LEVEL:
            return name, KEYWORDS.get(name, ())
    return "", ()


def misspelt_decorators(source: Source) -> Iterator[StaticFault]:
    """Yield decorators of a framework's server that it does not have."""
    tree = parse_python(source)
    if tree is None:
        return
    text, servers = python_text(source), dict(named_servers(tree))
    for node in evaluated(tree):
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ():
            used = decorator.func if isinstance(decorator, ast.Call) else decorator
            if not isinstance(used, ast.Attribute) or not isinstance(used.value, ast.Name):
                continue
            kind = servers.get(used.value.id, "")
            near = nearest(used.attr, DECORATORS.get(kind, ()), CERTAIN)
            if near and near != used.attr:
                span = text.node_span(used)
                message = f"'{kind}' object has no attribute '{used.attr}'"
                # `Span` itself is imported for annotations only.
                place = type(span)(span.path, span.end - len(used.attr), span.end)
                yield StaticFault("AttributeError", message, place, f"did you mean `{near}`?")


def named_servers(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names of the servers that a file makes, each with its class."""
    for node in evaluated(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
            made = node.value.func
            kind = made.id if isinstance(made, ast.Name) else made.attr if isinstance(made, ast.Attribute) else ""
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if kind in DECORATORS and isinstance(target, ast.Name):
                    yield target.id, kind


def imported_at_once(source: Source) -> frozenset[str]:
    """Return the top-level names of the modules that the import of a file imports."""
    tree = parse_python(source)
    modules: set[str] = set()
    for node in evaluated(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module.partition(".")[0])
    return frozenset(modules)


def evaluated(tree: ast.Module, *, late: bool = False) -> Iterator[ast.AST]:
    """Yield the nodes that an import evaluates, without those that may fail, and those that only type checkers read.

    `late`: annotations that are evaluated later are among them.
    """
    waiting: list[ast.AST] = [tree]
    has_late_annotations = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(a.name == "annotations" for a in node.names)
        for node in tree.body
    )
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed([*evaluated_parts(node, annotations=late or not has_late_annotations)])


def evaluated_parts(node: ast.AST, *, annotations: bool) -> Iterator[ast.AST]:
    """Yield the parts of a node that are evaluated with it."""
    if isinstance(node, FUNCTIONS):
        yield from (part for part in (*node.args.defaults, *node.args.kw_defaults) if part is not None)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from node.decorator_list
        given = node.args
        arguments = (*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg)))
        written = [item.annotation for item in arguments] + [node.returns]
        yield from (part for part in written if part is not None and annotations and not type_parameters(node))
    # What `try` contains may fail, and a handler runs only then.
    elif isinstance(node, ast.Try | ast.TryStar) and node.handlers:
        yield from node.finalbody
    elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        yield from node.orelse
    elif isinstance(node, ast.AnnAssign):
        yield from filter(None, (node.annotation if annotations else None, node.value, node.target))
    elif not isinstance(node, ast.Lambda) and not type_parameters(node):
        yield from ast.iter_child_nodes(node)


def type_parameters(node: ast.AST) -> bool:
    """Tell whether a definition has type parameters, whose names are known in it alone."""
    return bool(getattr(node, "type_params", None))


def bound_names(tree: ast.Module) -> frozenset[str]:
    """Return all names that anything in a file defines, in whatever scope; `*` if it may define any name."""
    return frozenset(name for node in ast.walk(tree) for name in bound_by(node))


def bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node defines; those of keywords of calls, too, which do no harm."""
    match node:
        case ast.Name(name, ast.Store() | ast.Del()):
            yield name
        case ast.alias(name, as_name):
            yield (as_name or name).partition(".")[0]
        case ast.Global(names) | ast.Nonlocal(names):
            yield from names
        case ast.Call(ast.Name("globals" | "exec" | "locals" | "vars")):
            yield "*"
        case _:
            # `name` of definitions, exceptions and patterns; `arg` of parameters; `rest` of a pattern of a mapping.
            named = (getattr(node, field, None) for field in ("name", "arg", "rest"))
            yield from (name for name in named if isinstance(name, str))
