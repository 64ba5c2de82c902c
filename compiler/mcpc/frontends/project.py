"""What `[project]` of `pyproject.toml` says of the server: its name and version, where nothing nearer says them."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING

from mcpc.definitions import ServerDefinition
from mcpc.sources import Member, Node

if TYPE_CHECKING:
    from mcpc.sources import Json, SourceTree

PYPROJECT = "pyproject.toml"
INFO = "serverInfo"


def project_info(tree: SourceTree) -> dict[str, str]:
    """Return the name and the version of a project, as far as they are written; wrong ones are for other tools."""
    source = tree.get(PYPROJECT)
    if source is None:
        return {}
    try:
        table = tomllib.loads(source.text.removeprefix("\ufeff")).get("project")
    except (tomllib.TOMLDecodeError, UnicodeEncodeError):
        return {}
    written = table if isinstance(table, dict) else {}
    return {name: written[name] for name in ("name", "version") if isinstance(written.get(name), str)}


def with_project(server: ServerDefinition | None, tree: SourceTree) -> ServerDefinition | None:
    """Return a server with what it does not say of itself, and the project does."""
    info = project_info(tree)
    if server is None or not info or not isinstance(server.node.value, dict):
        return server
    said = server.node.get(INFO)
    if said is None:
        place = server.node.span
        said = Node({}, place.path, place.start, place.start)
    if not isinstance(said.value, dict):
        return server
    missing = {name: value for name, value in info.items() if name not in said.value}
    return replace(server, node=_with(server.node, INFO, _filled(said, missing))) if missing else server


def _filled(node: Node, values: dict[str, str]) -> Node:
    """Return an object with more members, at the beginning of the file that says them."""
    for name, value in values.items():
        node = _with(node, name, Node(value, PYPROJECT, 0, 0))
    return node


def _with(node: Node, key: str, part: Node) -> Node:
    """Return an object in which a member has another value."""
    value: dict[str, Json] = {**node.value, key: part.value} if isinstance(node.value, dict) else {key: part.value}
    others = tuple(member for member in node.members if member.key != key)
    found = next((member for member in node.members if member.key == key), None)
    member = Member(key, node.start, node.start, part) if found is None else replace(found, node=part)
    return replace(node, value=value, members=(*others, member))


def project_server(tree: SourceTree) -> ServerDefinition | None:
    """Return the server that a project describes which nothing else describes."""
    info = project_info(tree)
    if len(info) < 2:
        return None
    node = Node({}, PYPROJECT, 0, 0)
    return ServerDefinition(_with(node, INFO, _filled(node, info)), implied=True)
