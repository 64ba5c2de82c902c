"""What a project's own files say of its program: its name and version, commands, entry and build variables.

    [project.scripts]                       commands, `name = "package.module:function"`
    [tool.mcpc]
    entry = "server.py:mcp"                 as `--entry`
    build-environment = { API_KEY = "x" }   as `--build-env`
    lists = "static"                        lists are those of the build; "dynamic": made at run time
    framework = "original"                  as `--framework`

`fastmcp.json` names the file and the object of the server (`source`).
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span, diagnose
from mcpc.options import WAYS
from mcpc.packages.pep508 import normalised_name
from mcpc.reading.toml import parse_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpc.diagnostics import Diagnostic
    from mcpc.reading import SourceTree

PYPROJECT, FASTMCP_JSON = "pyproject.toml", "fastmcp.json"
ENTRY, ENVIRONMENT, LISTS, FRAMEWORK = "entry", "build-environment", "lists", "framework"
LIST_CHOICES = ("static", "dynamic")
VERSION_LINE = re.compile(r"^__version__\s*(?::\s*\w+\s*)?=\s*[\"']([^\"']+)[\"']", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """The settings; empty where a project does not say them.

    `name` as written, `scripts` by name; `entry`, `environment`, `lists`, `framework`: of `[tool.mcpc]`; `source`: of
    `fastmcp.json`, as an entry.
    """

    name: str = ""
    version: str = ""
    description: str = ""
    scripts: Mapping[str, str] = field(default_factory=dict)
    entry: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    lists: str = ""
    framework: str = ""
    problems: tuple[Diagnostic, ...] = ()


def read_project_settings(tree: SourceTree) -> ProjectSettings:
    """Return the settings of a project; a file that is not valid is reported by what reads it otherwise."""
    table = _toml(tree)
    project, tool = _table(table, "project"), _table(table, "tool")
    poetry, own = _table(tool, "poetry"), _table(tool, "mcpc")
    name = _text(project, "name") or _text(poetry, "name")
    scripts = {**_texts(_table(poetry, "scripts")), **_texts(_table(project, "scripts"))}
    return ProjectSettings(
        name=name,
        version=_text(project, "version") or _text(poetry, "version") or (_dynamic_version(tree, name) if name else ""),
        description=_text(project, "description") or _text(poetry, "description"),
        scripts=scripts,
        entry=_text(own, ENTRY),
        environment=_texts(_table(own, ENVIRONMENT)),
        source=_source_of_json(tree),
        lists=_text(own, LISTS),
        framework=_text(own, FRAMEWORK),
        problems=tuple(_wrong_settings(own)),
    )


def _toml(tree: SourceTree) -> dict[str, Any]:
    source = tree.get(PYPROJECT)
    try:
        return {} if source is None else parse_toml(source.text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, UnicodeEncodeError):
        return {}


def _table(table: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = table.get(name)
    return found if isinstance(found, dict) else {}


def _text(table: Mapping[str, Any], name: str) -> str:
    found = table.get(name)
    return found if isinstance(found, str) else ""


def _texts(table: Mapping[str, Any]) -> dict[str, str]:
    """Return the members that are texts; a command of Poetry may be a table with `reference`."""
    named = {key: value.get("reference") if isinstance(value, dict) else value for key, value in table.items()}
    return {key: value for key, value in named.items() if isinstance(value, str)}


def _wrong_settings(own: Mapping[str, Any]) -> list[Diagnostic]:
    problems = []
    if not isinstance(own.get(ENTRY, ""), str):
        problems.append(diagnose("MCP282", Span(PYPROJECT), f"`{ENTRY}` is not a text", 'a text such as `"server.py"`'))
    if own.get(LISTS, "static") not in LIST_CHOICES:
        expected = '`"static"` or `"dynamic"`'
        problems.append(diagnose("MCP282", Span(PYPROJECT), f"`{LISTS}` is not a way to make lists", expected))
    if own.get(FRAMEWORK, "auto") not in WAYS:
        expected = ", ".join(f'`"{way}"`' for way in WAYS)
        problems.append(diagnose("MCP282", Span(PYPROJECT), f"`{FRAMEWORK}` does not say what handles calls", expected))
    found = own.get(ENVIRONMENT, {})
    if not isinstance(found, dict) or any(not isinstance(value, str) for value in found.values()):
        message = f"`{ENVIRONMENT}` is not a table of texts"
        problems.append(diagnose("MCP282", Span(PYPROJECT), message, 'a table such as `{ API_KEY = "x" }`'))
    return problems


def _dynamic_version(tree: SourceTree, name: str) -> str:
    """Return the version that a file of the project's package states, as build systems read it."""
    package = normalised_name(name).replace("-", "_")
    for path, source in tree.files.items():
        parts = path.split("/")
        if parts[-1] in ("__init__.py", "_version.py", "version.py", "__about__.py") and package in parts:
            found = VERSION_LINE.search(source.text)
            if found:
                return found[1]
    return ""


def _source_of_json(tree: SourceTree) -> str:
    """Return the file and the object that `fastmcp.json` names, as an entry."""
    source = tree.get(FASTMCP_JSON)
    try:
        value = None if source is None else json.loads(source.text)
    except ValueError:
        return ""
    named = value.get("source", value.get("entrypoint")) if isinstance(value, dict) else None
    if isinstance(named, str):
        return named
    if not isinstance(named, dict):
        return ""
    path, name = _text(named, "path") or _text(named, "file"), _text(named, "entrypoint") or _text(named, "object")
    return f"{path}:{name}" if path and name and ":" not in path else path
