"""Why a list of a server is made at run time, whatever its framework: what its lifespan adds, and list functions.

For the build only.  `dynamic_lists.py` asks for servers of the stand-ins, `original/described_process.py` for those of
the frameworks themselves.
"""

from __future__ import annotations

from mcpc_runtime.build_time.raised import relative
from mcpc_runtime.systems.fastmcp.constant_lists import why_varying
from mcpc_runtime.systems.fastmcp.engine.notes import Note, place_of
from mcpc_runtime.systems.fastmcp.project_code import names_in, project_functions, reached_functions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

REGISTERING = {
    "tools": frozenset({"add_tool", "remove_tool", "tool", "add_tool_transformation"}),
    "prompts": frozenset({"add_prompt", "remove_prompt", "prompt"}),
    "resources": frozenset({"add_resource", "add_resource_fn", "add_template", "remove_resource", "resource"}),
}
"""The methods of servers that register components of a kind."""
COMBINING = frozenset({"mount", "import_server", "add_provider"})
"""Methods that add components of all kinds."""

Reason = tuple[str, Note]
"""A list, and why it is made at run time."""


def registering(lifespan: object, folder: str) -> Iterator[Reason]:
    """Yield the lists to which a lifespan adds: it is entered at run time only."""
    for function in project_functions(lifespan, folder):
        for each in reached_functions(function, folder):
            names = {*names_in(each.__code__)}
            for kind, methods in REGISTERING.items():
                used = sorted(names & (methods | COMBINING))
                if used:
                    text = f"the list of {kind} is made after the lifespan, which calls `{used[0]}`"
                    yield kind, Note(text, *place_of(each))


def making(kind: str, handler: object, folder: str, changed: frozenset[str]) -> Iterator[Reason]:
    """Yield why the project's function in a list handler may return another list each time.

    `changed`: the names that functions of the project change.
    """
    for function in project_functions(handler, folder):
        why = why_varying(function, folder, changed)
        if why is not None:
            text = f"the list of {kind} is made by `{function.__name__}`, which {why[0]}"
            yield kind, Note(text, *place_of(function))


def list_row(kind: str, reason: Note, folder: str) -> dict[str, Any]:
    """Return a list and why it is made at run time as plain data."""
    return {"kind": kind, "text": reason.text, "path": relative(reason.file, folder), "line": reason.line}
