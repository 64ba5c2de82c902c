"""No system is named in code outside its own folder, except in the tables listed here, each of which names one.

A mention is an identifier, an imported module or a string; docstrings and comments do not count, because only people read
them.  A table is a module and the name that is assigned in it; a whole module without one.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SYSTEMS = {
    "bash_sdk": r"bash[_-]?sdk",
    "blueprints": r"blueprints",
    "bx": r"(?<![A-Za-z])(?:bx|Bx|BX)(?:mcp)?(?![a-z])|bxmcp",
    "mcbox": r"mcbox",
    "mcp_bash": r"mcp[_-]?bash",
    "toolbox": r"toolbox",
}
OWN = re.compile(
    r"runtime/mcpc_runtime/systems/(\w+)/|compiler/mcpc/frontends/(bash_sdk|mcp_bash|toolbox|bx|blueprints)/"
)
RUNTIME, COMPILER = "runtime/mcpc_runtime/", "compiler/mcpc/"
TABLES = {
    (RUNTIME + "tools/cli/self_check.py", "CONTRACT_REQUIREMENTS"): "the programs that contracts need",
    (RUNTIME + "handlers/contracts.py", "CONTRACTS"): "the table of contracts",
    (RUNTIME + "tools/cli/self_check.py", "PROGRAM_CONTRACTS"): "the contracts whose handlers are programs",
    (RUNTIME + "handlers/python/bindings/__init__.py", "BEFORE_EXIT"): "what bindings do before a worker ends",
    (RUNTIME + "handlers/python/bindings/__init__.py", "BINDINGS"): "the table of bindings",
    (RUNTIME + "handlers/python/bindings/__init__.py", "FUNCTIONS"): "the functions of bindings that handlers import",
    (RUNTIME + "http/settings.py", "bx_path"): "an option of the HTTP server",
    (RUNTIME + "http/settings.py", "READ"): "the variables that mean something",
    (RUNTIME + "transports/platforms/secret_variables.py", "SECRETS"): "the variables that handlers do not receive",
    (RUNTIME + "systems/contract_types.py", ""): "type checks of the table of contracts",
    (COMPILER + "languages/bundling/node.py", ""): "the folder of templates for bundles",
    (COMPILER + "cli/command_options.py", ""): "the help of options",
    (COMPILER + "diagnostics/codes.py", ""): "the titles of problems",
    (COMPILER + "emit/static_answers.py", ""): "how each dialect words a refusal",
    (COMPILER + "emit/templates.py", ""): "the names of templates",
    (COMPILER + "workbench/file_schemas/__init__.py", ""): "the table of files with a schema",
    (
        COMPILER + "workbench/file_schemas/other_systems.py",
        "",
    ): "the schemas of other systems' files, from their front ends",
    (COMPILER + "frontends/__init__.py", ""): "the table of front ends",
    (COMPILER + "frontends/native.py", ""): "the front end of two systems",
    (COMPILER + "frontends/introspection/keyword_decorators.py", ""): "what a marker of handlers is called",
    (COMPILER + "languages/bash/programs.py", ""): "the functions that Bash libraries find",
    (COMPILER + "options.py", ""): "the dialects, and variables that mean options",
    (COMPILER + "interpreters/selfcontained/import_closure.py", ""): "the modules of systems that run only with a text",
}


def check(root: Path) -> Iterator[str]:
    """Yield the mentions outside the tables, and the tables without one."""
    named = set()
    for file in sorted([*(root / RUNTIME).rglob("*.py"), *(root / COMPILER).rglob("*.py")]):
        path = file.relative_to(root).as_posix()
        for table, text in foreign_names(path, file.read_text(encoding="utf-8")):
            if (path, table) in TABLES:
                named.add((path, table))
            else:
                yield f"{path}: names a system: {text!r}"
    yield from (f"{path}: {table or 'it'} names no system" for path, table in TABLES if (path, table) not in named)


def foreign_names(path: str, source: str) -> Iterator[tuple[str, str]]:
    """Yield the mentions of systems other than the module's own, each with its table."""
    own = OWN.match(path)
    for table, system, text in named_systems(source):
        if own is None or system not in (own[1], own[2]):
            yield ("" if (path, "") in TABLES else table), text


def named_systems(source: str) -> Iterator[tuple[str, str, str]]:
    """Yield each mention of a system: the innermost assignment around it, the system, and the identifier or string."""

    def visit(node: ast.AST, table: str) -> Iterator[tuple[str, str, str]]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        table = assigned(node) or table
        for text in texts_of(node):
            yield from ((table, system, text) for system in sorted(systems_in(text)))
        for child in ast.iter_child_nodes(node):
            yield from visit(child, table)

    yield from visit(ast.parse(source), "")


def assigned(node: ast.AST) -> str:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def texts_of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        value = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
        texts: list[object] = [value]
    elif isinstance(node, ast.ImportFrom):
        texts = [node.module]
    else:
        texts = [getattr(node, field, None) for field in ("id", "attr", "arg", "name", "asname")]
    yield from (text for text in texts if isinstance(text, str))


def systems_in(text: str) -> set[str]:
    return {name for name, pattern in SYSTEMS.items() if re.search(pattern, text, 0 if name == "bx" else re.IGNORECASE)}
