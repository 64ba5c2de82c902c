"""Which of FastMCP's own tests apply to mcpc's stand-ins: those of the public API of servers.

A test does not apply if it, a fixture or a function of its file that it uses, or the file itself,

- uses a private name of the framework (an import or an attribute `_name`, or its module's names by a patch); the
  methods by which providers, transforms and middleware are subclassed are public,
- uses modules of the framework that its documentation does not tell authors of servers to import (`INNER`),
- is about proxies or OpenAPI, authorization, HTTP, or tasks and extensions of other processes (`ABOUT`),
- needs a part of the client that has nothing to do with servers: `framework_client.py` says so when it runs.

The rule reads the tests' sources, never what becomes of them, but for the last one.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from mcpc.frontends.fastmcp.late_imports import names_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOOKS = frozenset(
    f"_{verb}_{kind}{plural}"
    for verb, plural in (("list", "s"), ("get", ""))
    for kind in ("tool", "prompt", "resource", "resource_template")
)
"""The methods that subclasses of Provider define: public for them, whatever they are called."""
PRIVATE = "uses a private name"
INNER = {
    r"fastmcp\.utilities\.(?!types\b|logging\b|lifespan\b)": "uses inner modules",
    r"fastmcp\.(server\.(low_level|mixins|http|telemetry|event_store)|telemetry|cli)\b": "uses inner modules",
    r"fastmcp\.server\.(providers\.(addressing|prefab\w*)|extensions)\b": "uses inner modules",
    r"fastmcp\.server\.providers\.skills\._common|fastmcp\.server\.completions": "uses inner modules",
    r"fastmcp\.server\.(providers\.)?(proxy|openapi)|fastmcp\.utilities\.openapi": "proxies and OpenAPI",
    r"fastmcp\.client\.(transports|auth|oauth|messages|tasks)|mcp\.client": "needs more of a client",
    r"fastmcp\.server\.auth|mcp\.server\.auth": "authorization",
    r"starlette|httpx2?|fastapi|uvicorn": "HTTP",
    r"fastmcp_tasks|docket|fastmcp\.server\.tasks": "tasks",
}
"""Modules, by the reason why tests that use them do not apply."""
ABOUT = {
    "proxies and OpenAPI": r"create_proxy|as_proxy|from_(openapi|fastapi|client)|\w*Proxy\w*|\w*OpenAPI\w*|RouteMap",
    "authorization": r"auth|AuthContext|AuthMiddleware|AccessToken|require_scopes|restrict_tag|auth_context_var",
    "HTTP": r"http_app|run_http_async|asgi_(server|client)|custom_route|get_http_(headers|request)|streamable_http_app",
    "tasks": r"add_extension|docket|Docket|task_meta|ServerExtension|FastMCPApp",
}
"""Names of functions, classes, attributes and options, by the same reasons."""
FILES = {"openapi": "proxies and OpenAPI", "proxy": "proxies and OpenAPI", "auth": "authorization"}
"""Parts of the names of files and folders, by the same reasons."""
CLIENT = r"NeedsClientError|`fastmcp\.client\.\w+"
OWN_CLIENT = r"fastmcp\.(Client|client)\b"
PATCHED = re.compile(r"fastmcp(\.\w+)*\._\w+")


def why_not(checkout: Path, test: str, said: str) -> str:
    """Return why a test does not apply, or nothing.  `said`: the end of its traceback with the stand-ins."""
    name, _, inner = test.partition("::")
    words = set(re.split(r"[/_.]", name))
    for part, reason in FILES.items():
        if part in words:
            return reason
    names = [part.partition("[")[0] for part in inner.split("::")]
    return module_of(checkout / name).reason(names) or (
        "needs more of a client" if re.search(CLIENT, said[-2500:]) else ""
    )


def names_of(checkout: Path, test: str) -> list[str]:
    """Return the names of the framework that a test uses, and that its file imports, as a build would find them.

    The suite has its own client.
    """
    name, _, inner = test.partition("::")
    module = module_of(checkout / name)
    used = module.used([part.partition("[")[0] for part in inner.split("::")])
    wanted = {name for node in used for name in mentioned(node)}
    imported = [node for node in module.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    imported += [statement for node in used for each in ast.walk(node) for statement in narrowed(each, wanted)]
    found = {name for name, _ in names_in(ast.Module([*imported, *used], []))}
    return sorted(name for name in found if not re.match(OWN_CLIENT, name))


def narrowed(node: ast.AST, wanted: set[str]) -> Iterator[ast.stmt]:
    """Yield an import of only those names that are wanted, if there are any."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [each for each in node.names if (each.asname or each.name.partition(".")[0]) in wanted]
        if names:
            where = {"lineno": node.lineno, "col_offset": 0}
            yield (
                ast.ImportFrom(node.module, names, node.level, **where)
                if isinstance(node, ast.ImportFrom)
                else (ast.Import(names, **where))
            )


@lru_cache(256)
def module_of(path: Path) -> TestModule:
    """Return a test module."""
    return TestModule(path)


class TestModule:
    """The source of a file with tests."""

    __test__ = False

    def __init__(self, path: Path) -> None:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        self.tree = tree
        self.imported = {name: source for node in ast.walk(tree) for name, source in imports(node)}
        self.functions = {node.name: node for node in tree.body if isinstance(node, DEFINITIONS)}
        self.always = [node for node in ast.walk(tree) if isinstance(node, DEFINITIONS) and is_automatic(node)]

    def reason(self, names: list[str]) -> str:
        """Return why a test of the file does not apply, or nothing."""
        return next((found for node in self.used(names) for found in self.reasons(node)), "")

    def used(self, names: list[str]) -> list[ast.AST]:
        """Return the definitions that a test is made of: itself, and what it uses of the file."""
        body: dict[str, ast.AST] = dict(self.functions)
        found: list[ast.AST] = [*self.always]
        for name in names:
            node = body.get(name)
            if node is None:
                break
            body = {each.name: each for each in getattr(node, "body", ()) if isinstance(each, DEFINITIONS)} | body
            if not isinstance(node, ast.ClassDef):
                found.append(node)
        seen: set[int] = set()
        for node in found:
            for each in mentioned(node):
                other = body.get(each)
                if other is not None and id(other) not in seen and other not in found:
                    seen.add(id(other))
                    found.append(other)
        return found

    def reasons(self, node: ast.AST) -> Iterator[str]:
        """Yield why what a definition uses is not of the public API of servers."""
        for each in ast.walk(node):
            if isinstance(each, ast.Attribute) and is_private(each.attr) and not is_own(each):
                yield PRIVATE
            if isinstance(each, ast.Constant) and isinstance(each.value, str) and PATCHED.search(each.value):
                yield PRIVATE
            for name, source in imports(each):
                yield from reasons_of(source, name)
        for name in mentioned(node):
            yield from reasons_of(self.imported.get(name, ""), name)


DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def imports(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the names that an import binds, each with what it is in the packages."""
    if isinstance(node, ast.ImportFrom):
        for each in node.names:
            yield each.asname or each.name, f"{node.module}.{each.name}"
    if isinstance(node, ast.Import):
        for each in node.names:
            yield (each.asname or each.name).partition(".")[0], each.name


def reasons_of(source: str, name: str) -> Iterator[str]:
    """Yield why a name is not of the public API of servers."""
    if source.startswith("fastmcp") and is_private(source.rpartition(".")[2]):
        yield PRIVATE
    for pattern, reason in INNER.items():
        if source and re.match(pattern, source):
            yield reason
    for reason, pattern in ABOUT.items():
        if re.fullmatch(pattern, name):
            yield reason


def is_private(name: str) -> bool:
    """Tell whether a name is private."""
    return name.startswith("_") and not name.startswith("__") and name not in HOOKS and name != "_meta"


def is_own(node: ast.Attribute) -> bool:
    """Tell whether an attribute is one of the test's own object."""
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def is_automatic(node: ast.AST) -> bool:
    """Tell whether a function is a fixture of all tests."""
    return any("autouse" in ast.dump(each) for each in getattr(node, "decorator_list", ()))


def mentioned(node: ast.AST) -> set[str]:
    """Return the names that a definition uses: variables, attributes, options of calls, fixtures."""
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            found.add(each.id)
        elif isinstance(each, ast.Attribute):
            found.add(each.attr)
        elif isinstance(each, ast.keyword | ast.arg) and each.arg:
            found.add(each.arg)
    return found
