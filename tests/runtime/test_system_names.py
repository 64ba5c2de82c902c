"""No system is named in the runtime's code outside its own folder, except in the tables listed here."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from support.needs import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNTIME = ROOT / "runtime/mcpc_runtime"
SYSTEMS = {
    "bash_sdk": r"bash[_-]?sdk",
    "blueprints": r"blueprints",
    "bx": r"(?<![A-Za-z])(?:bx|Bx|BX)(?:mcp)?(?![a-z])|bxmcp",
    "mcbox": r"mcbox",
    "mcp_bash": r"mcp[_-]?bash",
    "toolbox": r"toolbox",
}
TABLES = {
    ("cli/self_check.py", "CONTRACT_REQUIREMENTS"): "the programs that contracts need",
    ("handlers/contracts.py", "CONTRACTS"): "the table of contracts",
    ("cli/self_check.py", "PROGRAM_CONTRACTS"): "the contracts whose handlers are programs",
    ("handlers/python/bindings/__init__.py", "BEFORE_EXIT"): "what bindings do before a worker ends",
    ("handlers/python/bindings/__init__.py", "BINDINGS"): "the table of bindings",
    ("handlers/python/bindings/__init__.py", "FUNCTIONS"): "the functions of bindings that handlers import",
    ("http/settings.py", "bx_path"): "an option of the HTTP server",
    ("http/variables.py", "READ"): "the variables that mean something",
    ("platforms/secret_variables.py", "SECRETS"): "the variables that handlers do not receive",
    ("systems/contract_types.py", ""): "type checks of the table of contracts",
}
"""The tables whose rows may name a system: a module, and the name that is assigned; a whole module without one."""


def systems_in(text: str) -> set[str]:
    """Return the systems that a name or string mentions."""
    return {name for name, pattern in SYSTEMS.items() if re.search(pattern, text, 0 if name == "bx" else re.IGNORECASE)}


def texts_of(node: ast.AST) -> Iterator[str]:
    """Yield the identifiers and strings of one node."""
    if isinstance(node, ast.Constant):
        value = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
        found: list[object] = [value]
    elif isinstance(node, ast.ImportFrom):
        found = [node.module]
    else:
        found = [getattr(node, field, None) for field in ("id", "attr", "arg", "name", "asname")]
    yield from (text for text in found if isinstance(text, str))


def assigned(node: ast.AST) -> str:
    """Return the name that a statement assigns to, if it is such a statement."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def named_systems(source: str) -> Iterator[tuple[str, str, str]]:
    """Yield each mention of a system: the innermost assignment around it, the system, and the identifier or string.

    Docstrings and comments do not count, because only people read them.
    """

    def visit(node: ast.AST, table: str) -> Iterator[tuple[str, str, str]]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        table = assigned(node) or table
        for text in texts_of(node):
            yield from ((table, system, text) for system in sorted(systems_in(text)))
        for child in ast.iter_child_nodes(node):
            yield from visit(child, table)

    yield from visit(ast.parse(source), "")


def foreign_names(path: str, source: str) -> Iterator[tuple[str, str]]:
    """Yield the mentions of systems other than the module's own, each with its table."""
    own = re.match(r"systems/(\w+)/", path)
    for table, system, text in named_systems(source):
        if own is None or own[1] != system:
            yield ("" if (path, "") in TABLES else table), text


def modules() -> list[str]:
    return sorted(path.relative_to(RUNTIME).as_posix() for path in RUNTIME.rglob("*.py"))


@pytest.mark.parametrize("path", modules())
def test_no_foreign_system_is_named(path: str) -> None:
    found = foreign_names(path, (RUNTIME / path).read_text(encoding="utf-8"))
    assert [text for table, text in found if (path, table) not in TABLES] == []


@pytest.mark.parametrize(("path", "table"), TABLES)
def test_every_listed_table_names_a_system(path: str, table: str) -> None:
    found = foreign_names(path, (RUNTIME / path).read_text(encoding="utf-8"))
    assert [text for name, text in found if name == table] != []


@pytest.mark.parametrize(
    ("path", "source", "names"),
    [
        ("server/x.py", "'a mcp-bash server'", []),
        ("server/x.py", "X = 'a mcp-bash server'", ["a mcp-bash server"]),
        ("server/x.py", "X = b'MCPBASH_TOKEN'", ["MCPBASH_TOKEN"]),
        ("server/x.py", "from mcpc_runtime.systems.toolbox import contract as a", ["mcpc_runtime.systems.toolbox"]),
        ("server/x.py", "class BxOptions: pass\ndef bx_path(): pass\nbox = xbx = 1", ["BxOptions", "bx_path"]),
        ("systems/toolbox/x.py", "X = 'toolbox', 'mcbox'", ["mcbox"]),
        ("systems/bx/x.py", "bx = blueprints", ["blueprints"]),
    ],
)
def test_names_are_found(path: str, source: str, names: list[str]) -> None:
    assert [text for _, text in foreign_names(path, source)] == names
