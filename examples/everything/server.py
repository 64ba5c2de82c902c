"""A resource that changes while the server runs, and the tool that changes it: clients that subscribed are told."""

from __future__ import annotations

from mcpc import Context, resource, tool

WATCHED = "test://watched-resource"
written = ["Nobody has changed this yet."]


@resource(WATCHED, name="watched", mime_type="text/plain")
def watched() -> str:
    """A text that changes."""
    return written[-1]


@tool
def change_watched_resource(text: str, context: Context) -> str:
    """Change the watched resource."""
    written[:] = [text]
    context.resource_updated(WATCHED)
    return "changed"
