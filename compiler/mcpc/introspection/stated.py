"""What bx-mcp's marks say, in the words of ours: an object may say it all, and a uri is the function's name if need be.

Runs in the process of the project.
"""

from __future__ import annotations

from typing import Any, Protocol

BEGINNING = "mcp_"
SPELLED = {"mimeType": "mime_type"}
VERSION = "bxmcp/version"
"""The key in `_meta` under which clients find the version of one definition."""


class Subject(Protocol):
    """What is told of a function that is described."""

    name: str
    options: dict[str, Any]

    def report(self, code: str, where: str, message: str, hint: str = "") -> None:
        """Report what is wrong."""


def kind_of(kind: str) -> str:
    """Return the kind of definition that a kind of mark makes."""
    return kind.removeprefix(BEGINNING)


def options_of(kind: str, name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a mark on the function `name`, as marks of ours have them."""
    if not kind.startswith(BEGINNING):
        return options
    said = {SPELLED.get(key, key): value for key, value in options.items()}
    version, meta = said.pop("version", None), said.get("meta", {})
    if version is not None and isinstance(meta, dict):
        said["meta"] = {**meta, VERSION: version}
    if kind_of(kind) == "resource":
        said.setdefault("uri", f"resource://{name}")
    return said


def with_stated(subject: Subject, arguments: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the arguments of a prompt with what its mark says of them; the function decides which there are."""
    given = subject.options.get("arguments", [])
    if not isinstance(given, list) or not all(isinstance(row, dict) and type(row.get("name")) is str for row in given):
        subject.report("MCP221", "option arguments", "`arguments` are a list of objects, each with a `name`")
        return arguments
    rows = {row["name"]: row for row in given}
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
