"""Read the metadata of a project from `pyproject.toml`, for every format.

    [project]                                   [tool.mcpc.registry]
    description = "Forecasts."                  name = "io.github.me/weather"
    authors = [{name = "Me"}]                   mcpb = "https://github.com/me/weather/releases/download/v{version}/weather.mcpb"
    license = "MIT"                             oci = "ghcr.io/me/weather:{version}"
    urls = {Repository = "https://…"}           remotes = ["https://weather.example.com/mcp"]
    keywords = ["weather"]

Other tools report invalid values of `[project]`, which are ignored here; `[tool.mcpc.registry]` is ours.

Its form is https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json; a native project has a file
of the same name with `serverInfo`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcpc.diagnostics import Span, diagnose
from mcpc.model.ir.project import Author, ProjectMetadata, RegistryEntry, texts
from mcpc.reading.toml import nested_table, toml_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpc.diagnostics import Diagnostic, Diagnostics
    from mcpc.reading import Json, Source, SourceTree

PYPROJECT = "pyproject.toml"
REGISTRY_KEYS = {"name": "a string such as `io.github.me/weather`"} | dict.fromkeys(
    ("mcpb", "oci", "remotes"), "a string, or an array of strings"
)


def read_project_metadata(tree: SourceTree) -> tuple[ProjectMetadata, Diagnostics]:
    """Return the metadata of a project, and the problems of the part that is mcpc's own."""
    tables = toml_table(tree.get(PYPROJECT))
    registry = nested_table(tables, "tool", "mcpc", "registry")
    problems = tuple(registry_problems(registry))
    return metadata_of(nested_table(tables, "project"), {} if problems else registry), problems


def metadata_of(project: Mapping[str, Any], registry: Mapping[str, Any]) -> ProjectMetadata:
    """Return the metadata that two tables have; invalid values are ignored."""
    authors = project.get("authors")
    return ProjectMetadata(
        description=one_line(project.get("description")),
        authors=tuple(
            author
            for each in (authors if isinstance(authors, list) else ())
            if isinstance(each, dict)
            if (author := Author(one_line(each.get("name")), one_line(each.get("email")))) != Author()
        ),
        license=license_text(project.get("license")),
        urls=tuple((label, url) for label, url in nested_table(project, "urls").items() if one_line(url)),
        keywords=texts(project.get("keywords")),
        registry=RegistryEntry(
            registry.get("name", ""), *(texts(as_array(registry.get(key))) for key in ("mcpb", "oci", "remotes"))
        ),
    )


def license_text(written: object) -> str:
    """Return the licence's expression, or the text of the older form if that is a single line."""
    return one_line(written.get("text") if isinstance(written, dict) else written)


def one_line(written: object) -> str:
    """Return a text without surrounding space; nothing if it has several lines, or is not a text."""
    text = written.strip() if isinstance(written, str) else ""
    return text if text.isprintable() else ""


def as_array(value: Any) -> Any:
    """Return a single string as an array."""
    return [value] if isinstance(value, str) else value


def registry_problems(table: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield the invalid members of `[tool.mcpc.registry]`."""
    where = Span(PYPROJECT)
    for key, expected in REGISTRY_KEYS.items():
        if key in table and not is_registry_value(key, table[key]):
            yield diagnose("MCP440", where, f"`{key}` of `[tool.mcpc.registry]` is not valid", expected)


def is_registry_value(key: str, value: object) -> bool:
    """Tell whether a value of the table has the right type."""
    rows = value if isinstance(value, list) and key != "name" else [value]
    return all(isinstance(row, str) and row.isprintable() and row.strip() for row in rows)


SCHEMA_BEGINNING, SCHEMA_END = "https://static.modelcontextprotocol.io/schemas/", "/server.schema.json"
PUBLISHED_AS = ("packages", "remotes", "repository")
"""Members that only a description for the registry has."""
DESCRIBES_SERVER = ("serverInfo", "capabilities", "protocolVersion")
"""Members that only a description of the server itself has."""


def is_registry_manifest(source: Source) -> bool:
    """Tell whether a file describes a server for the registry; one that is not valid JSON does not."""
    try:
        # `json.loads` refuses a text that begins with a byte order mark.
        said: Json = json.loads(source.text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
    if not isinstance(said, dict) or not isinstance(said.get("name"), str):
        return False
    if any(key in said for key in DESCRIBES_SERVER):
        return False
    schema = said.get("$schema")
    is_named = isinstance(schema, str) and schema.startswith(SCHEMA_BEGINNING) and schema.endswith(SCHEMA_END)
    return is_named or any(key in said for key in PUBLISHED_AS)
