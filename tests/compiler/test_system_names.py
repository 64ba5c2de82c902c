"""No system is named in the compiler's code outside its own front end, and the tables that list systems."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from support.needs import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMPILER = ROOT / "compiler/mcpc"
NAMES = re.compile(r"mcp[_-]?bash|bash[_-]?sdk|toolbox|(?<![a-z])bx(?![a-z])|blueprints|mcbox", re.IGNORECASE)
FRONT_ENDS = (
    "frontends/bash_sdk/",
    "frontends/mcp_bash/",
    "frontends/toolbox/",
    "frontends/bx/",
    "frontends/blueprints/",
    "frontends/native.py",
)
TABLES = {
    "bundling/node.py": "the folder of templates for bundles",
    "cli/command_options.py": "the help of options",
    "diagnostics/codes.py": "the titles of problems",
    "emit/dialects.py": "how each dialect words a refusal",
    "emit/templates.py": "the names of templates",
    "file_schemas/files.py": "the table of files with a schema",
    "file_schemas/other_systems.py": "the schemas of other systems' files, from their front ends",
    "frontends/__init__.py": "the table of front ends",
    "languages/bash/programs.py": "the functions that Bash libraries find",
    "options.py": "the dialects, and variables that mean options",
    "selfcontained/conditional_modules.py": "the modules of systems that run only with a text in a project",
}


def named(path: Path) -> Iterator[str]:
    """Yield the identifiers and strings of a module that name a system; what is only read by people does not count."""
    tree = ast.parse(path.read_bytes())
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        found: list[str | None] = []
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            found = [node.value]
        elif isinstance(node, ast.alias):
            found = [node.name, node.asname]
        elif isinstance(node, ast.ImportFrom):
            found = [node.module]
        else:
            found = [getattr(node, field, None) for field in ("id", "attr", "arg", "name")]
        yield from (text for text in found if isinstance(text, str) and NAMES.search(text))


def modules() -> list[str]:
    paths = (path.relative_to(COMPILER).as_posix() for path in COMPILER.rglob("*.py"))
    return sorted(path for path in paths if not path.startswith(FRONT_ENDS))


@pytest.mark.parametrize("path", [path for path in modules() if path not in TABLES])
def test_no_system_is_named(path: str) -> None:
    assert list(named(COMPILER / path)) == []


@pytest.mark.parametrize("path", TABLES)
def test_every_table_names_a_system(path: str) -> None:
    assert list(named(COMPILER / path)) != []
