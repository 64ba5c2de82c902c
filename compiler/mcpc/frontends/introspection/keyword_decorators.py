"""Translation of bx-mcp's decorators to mcpc's: options may be in one object, and a URI has a default.

Runs in the process of the project.
"""

from __future__ import annotations

from typing import Any, Protocol

PREFIX = "mcp_"
RENAMED_OPTIONS = {"mimeType": "mime_type"}
VERSION_KEY = "bxmcp/version"
"""The key in `_meta` under which clients find the version of one definition."""


class DescribedFunction(Protocol):
    """A function that is being described."""

    name: str
    options: dict[str, Any]

    def report(self, code: str, where: str, message: str, hint: str = "") -> None:
        """Report a problem."""


def definition_kind(kind: str) -> str:
    """Return the kind of definition that a kind of decorator defines."""
    return kind.removeprefix(PREFIX)


def native_options(kind: str, name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a decorator on the function `name` in the form of mcpc's decorators."""
    if not kind.startswith(PREFIX):
        return options
    said = {RENAMED_OPTIONS.get(key, key): value for key, value in options.items()}
    version, meta = said.pop("version", None), said.get("meta", {})
    if version is not None and isinstance(meta, dict):
        said["meta"] = {**meta, VERSION_KEY: version}
    if definition_kind(kind) == "resource":
        said.setdefault("uri", f"resource://{name}")
    return said


def with_described_arguments(subject: DescribedFunction, arguments: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a prompt's arguments with the descriptions of its decorator; the function decides which exist."""
    given = subject.options.get("arguments", [])
    if not isinstance(given, list) or not all(isinstance(row, dict) and type(row.get("name")) is str for row in given):
        subject.report("MCP221", "option arguments", "`arguments` must be a list of objects, each with a `name`")
        return arguments
    rows = {row["name"]: row for row in given}
    # The order of this set is the same in each build, since the process has a constant hash seed.
    for name in rows.keys() - {row["name"] for row in arguments}:
        message = f"`{subject.name}` has no parameter `{name}`"
        subject.report("MCP221", "option arguments", message, "the function's parameters are the arguments of a prompt")
    merged = []
    for argument in arguments:
        row = rows.get(argument["name"], {})
        is_needed = argument["required"] or row.get("required") is True
        text = {"description": row["description"]} if row.get("description") else {}
        merged.append({**argument, **text, "required": is_needed})
    return merged
