"""Small projects of mcp-bash for tests, and what the front end makes of them."""

from dataclasses import replace
from types import MappingProxyType
from typing import Any

from mcpc.diagnostics import Diagnostics, Severity
from mcpc.frontends import mcp_bash
from mcpc.model.definitions import Definition
from mcpc.options import Options
from mcpc.reading import SourceTree
from support.projects import Files, tree

SH = "#!/usr/bin/env bash\necho hi\n"
NAMED = '{"name": "t", "description": "d"}'
ABOUT = '{"name": "demo", "version": "1.0"}'
HEADER = '#!/bin/sh\n# mcp: {"name": "inline", "description": "d", "timeoutSecs": 1}\n'
PROJECT: Files = {"server.d/server.meta.json": ABOUT, "tools/t/tool.sh": SH, "tools/t/tool.meta.json": NAMED}


def with_modes(files: Files, modes: dict[str, int], name: str = "") -> SourceTree:
    sources = tree(files).files
    return SourceTree(
        MappingProxyType({path: replace(source, mode=modes.get(path, 0o644)) for path, source in sources.items()}), name
    )


def read(files: Files, modes: dict[str, int] | None = None, name: str = "", **chosen: Any) -> tuple[Any, Diagnostics]:
    return mcp_bash.parse(with_modes(files, modes or {}, name), Options(**chosen))


def sound(files: Files, modes: dict[str, int] | None = None, name: str = "", **chosen: Any) -> Any:
    """Return the definition of a project that has no fault."""
    definition, problems = read(files, modes, name, **chosen)
    assert [problem for problem in problems if problem.severity is not Severity.NOTE] == []
    return definition


def values(definition: Definition, kind: str) -> list[Any]:
    return [one.node.value for one in getattr(definition, kind)]


def facts(tool: Any) -> dict[str, Any]:
    return dict(tool.handler.facts[0])


def codes(problems: Diagnostics) -> list[str]:
    return sorted(problem.code for problem in problems if problem.severity is not Severity.NOTE)
