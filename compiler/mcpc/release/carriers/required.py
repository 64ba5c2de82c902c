"""What carriers demand of a project's metadata; each text is what is missing, and its line; empty if it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpc.release.carriers.built_server import BuiltServer

WHERE = "in `[project]` of `pyproject.toml`; a file that is built already does not get it, so build it again"
"""The end of a message about missing metadata."""


def required_author(server: BuiltServer) -> str:
    """Return that an author is missing."""
    is_there = any(author.name for author in server.project.authors)
    return "" if is_there else 'an author (`authors = [{name = "…"}]`)'


def required_description(server: BuiltServer) -> str:
    """Return that a description is missing."""
    return "" if server.summary else 'a description (`description = "…"`)'
