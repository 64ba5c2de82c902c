"""Which lists of a server its program makes anew for each request, and why.  For the build only.

`dynamic_lists` asks a server of the adapter; `original/described_process.py` asks the frameworks' own,
by the same rules.

A list that the framework makes of registered components is static, and compiled.  One that code of the project makes,
or changes, may be another one at run time, unless that code always returns the same.  What looks static and changes
while the server runs is noticed then (`program.py`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from inspect import isfunction
from typing import Any, TypeGuard

from mcpc_runtime.artifact.build_time.raised import relative
from mcpc_runtime.systems.fastmcp.engine.mounts import HOOKS
from mcpc_runtime.systems.fastmcp.engine.server import place_of
from mcpc_runtime.systems.fastmcp.interfaces import Function, Note, Object, ProgramServer
from mcpc_runtime.systems.fastmcp.project_code import (
    changed_names,
    names_in,
    plain_function,
    project_functions,
    reached_functions,
    syntax_of,
    why_varying,
)

REGISTERING = {
    "tools": frozenset({"add_tool", "remove_tool", "tool", "add_tool_transformation"}),
    "prompts": frozenset({"add_prompt", "remove_prompt", "prompt"}),
    "resources": frozenset({"add_resource", "add_resource_fn", "add_template", "remove_resource", "resource"}),
}
"""The methods of servers that register components of a kind."""
COMBINING = frozenset({"mount", "import_server", "add_provider"})
"""Methods that add components of all kinds."""

Reason = tuple[str, Note]
"""A list, and why it is made at run time."""


def registering(lifespan: object, folder: str) -> Iterator[Reason]:
    """Yield the lists to which a lifespan adds: it is entered at run time only."""
    for function in project_functions(lifespan, folder):
        for each in reached_functions(function, folder):
            names = {*names_in(each.__code__)}
            for kind, methods in REGISTERING.items():
                used = sorted(names & (methods | COMBINING))
                if used:
                    text = f"the list of {kind} is made after the lifespan, which calls `{used[0]}`"
                    yield kind, Note(text, *place_of(each))


def making(kind: str, handler: object, folder: str, changed: frozenset[str]) -> Iterator[Reason]:
    """Yield why the project's function in a list handler may return another list each time.

    `changed`: the names that functions of the project change.
    """
    for function in project_functions(handler, folder):
        why = why_varying(function, folder, changed)
        if why is not None:
            text = f"the list of {kind} is made by `{function.__name__}`, which {why[0]}"
            yield kind, Note(text, *place_of(function))


def list_row(kind: str, reason: Note, folder: str) -> Object:
    """Return a list and why it is made at run time as plain data."""
    return {"kind": kind, "text": reason.text, "path": relative(reason.file, folder), "line": reason.line}


KINDS = ("tools", "prompts", "resources")
METHODS = {
    "list_tools": "tools",
    "list_prompts": "prompts",
    "list_resources": "resources",
    "list_resource_templates": "resources",
}
"""The list of each method of a server."""
NAMES = "{}", "_{}", "_{}_mcp", "_mcp_{}"
"""What the method of a list is called in the versions of FastMCP; `{}` is the public one."""
REQUESTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resources",
}
FRAMEWORKS = ("mcpc_runtime", "fastmcp", "mcp")
"""The packages whose code makes lists of what is registered."""


def dynamic_lists(server: ProgramServer, folder: str) -> dict[str, Note]:
    """Return the lists (`tools`, `prompts`, `resources`) that are made at run time, each with the first reason."""
    found: dict[str, Note] = {}
    for kind, note in reasons(server, folder):
        found.setdefault(kind, note)
    return found


def unhandled_lists(server: object) -> list[str]:
    """Return the lists for which a low-level server has no handler: no client sees those."""
    find = getattr(server, "mcpc_list_function", None)
    if find is None:
        return []
    handled = {kind for method, kind in REQUESTS.items() if find(method) is not None}
    return [kind for kind in KINDS if kind not in handled]


def reasons(server: ProgramServer, folder: str) -> Iterator[Reason]:
    """Yield why lists of a server, and of those in it, are made at run time."""
    yield from overriding(type(server))
    yield from wrapping(getattr(getattr(server, "inner", server), "middleware", ()))
    yield from registering(given_lifespan(server), folder)
    yield from low_level_lists(server, folder)
    for part in server.mcpc_parts():
        # The inner server was looked at with the one around it.
        if part is not getattr(server, "inner", None):
            yield from reasons(part, folder)


def of_another_server(kinds: Iterable[str]) -> Iterator[Reason]:
    """Yield lists that are those of another server."""
    for kind in kinds:
        yield kind, Note(f"the list of {kind} is that of another server")


def is_of_project(function: object) -> TypeGuard[Function]:
    return function is not None and function.__module__.partition(".")[0] not in FRAMEWORKS


def overriding(owner: type) -> Iterator[Reason]:
    """Yield the lists whose method a class of the project overrides."""
    for method, kind in METHODS.items():
        for name in (each.format(method) for each in NAMES):
            function = getattr(owner, name, None)
            if is_of_project(function):
                yield kind, Note(f"the list of {kind} is made by `{name}` of the project", *place_of(function))


def wrapping(middleware: Iterable[object]) -> Iterator[Reason]:
    """Yield the lists that middleware of the project may change."""
    for each in middleware:
        if isfunction(each):
            yield from wrapping_all(each)
        else:
            yield from wrapping_hooks(type(each))


def wrapping_hooks(owner: type) -> Iterator[Reason]:
    """Yield the lists that a class of middleware may change."""
    for request, kind in REQUESTS.items():
        function = getattr(owner, HOOKS[request], None)
        if is_of_project(function) and not passes_on(function):
            name = f"{owner.__name__}.{HOOKS[request]}"
            yield kind, Note(f"the list of {kind} is changed by `{name}` of the project", *place_of(function))
    for name in ("__call__", "on_message", "on_request"):
        function = getattr(owner, name, None)
        if is_of_project(function):
            yield from wrapping_all(function, f"{owner.__name__}.{name}")


def wrapping_all(function: Any, name: str = "") -> Iterator[Reason]:
    """Yield all lists, if a function around requests may change their results."""
    if not passes_on(function):
        for kind in KINDS:
            text = f"the list of {kind} may be changed by `{name or function.__name__}` of the project"
            yield kind, Note(text, *place_of(function))


def passes_on(found: object) -> bool:
    """Tell whether middleware returns what is within it, and refuses nothing."""
    function = plain_function(found)
    syntax = None if function is None else syntax_of(function)
    if syntax is None or not syntax.args.args:
        return False
    # The last parameter is what middleware calls to go on, `call_next` in FastMCP.
    inner = [each.arg for each in (*syntax.args.args, *syntax.args.kwonlyargs)][-1]
    results = {
        node.targets[0].id
        for node in ast.walk(syntax)
        if isinstance(node, ast.Assign) and is_result(node.value, inner) and isinstance(node.targets[0], ast.Name)
    }
    returned = [node.value for node in ast.walk(syntax) if isinstance(node, ast.Return)]
    kept = all(is_result(value, inner) or (isinstance(value, ast.Name) and value.id in results) for value in returned)
    return (
        kept
        and bool(returned)
        and not any(refuses(node) for node in ast.walk(syntax))
        and not sets_again(syntax, results, inner)
    )


def is_result(node: ast.AST | None, inner: str) -> bool:
    """Tell whether this is `await inner(…)`."""
    called = node.value if isinstance(node, ast.Await) else None
    return isinstance(called, ast.Call) and isinstance(called.func, ast.Name) and called.func.id == inner


def refuses(node: ast.AST) -> bool:
    """Tell whether this raises an exception where none was raised."""
    return isinstance(node, ast.Raise) and node.exc is not None


def sets_again(syntax: ast.AST, results: set[str], inner: str) -> bool:
    """Tell whether a variable with a result is set to, or changed into, anything else."""
    for node in ast.walk(syntax):
        changed: list[ast.AST] = []
        if isinstance(node, ast.Assign) and not is_result(node.value, inner):
            changed = [*node.targets]
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            changed = [node.value]
        if any(isinstance(target, ast.Name) and target.id in results for target in changed):
            return True
    return False


def given_lifespan(server: object) -> object:
    given = getattr(server, "mcpc_given_lifespan", None) or getattr(getattr(server, "settings", None), "lifespan", None)
    return given or getattr(server, "lifespan", None)


def lists_after_lifespan(server: object, folder: str) -> dict[str, Note]:
    """Return all lists, of a server that offers nothing before the project's lifespan, whatever that calls."""
    for function in project_functions(given_lifespan(server), folder):
        return {kind: Note(f"the list of {kind} is empty before the lifespan", *place_of(function)) for kind in KINDS}
    return {}


def low_level_lists(server: object, folder: str) -> Iterator[Reason]:
    """Yield the lists of low-level handlers that may return another one each time."""
    low = getattr(server, "inner", server)
    find = getattr(low, "mcpc_list_function", None)
    if find is None:
        return
    changed = changed_names(folder)
    for method, kind in REQUESTS.items():
        yield from making(kind, find(method), folder, changed)
