"""Emit what the runtime needs for lists that are made at run time: their handler, and what each revision hides.

{"kinds": those made at run time from the start, "by_arguments": those that are if the program gets arguments,
 "forwards": there if it answers the methods of extensions, "record": the handler's, "hidden": rows of all revisions}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.emit.bytecode import dump_data
from mcpc.emit.records import environments, handled_record
from mcpc.model.revisions import REVISIONS
from mcpc_runtime.protocol.run_time_lists import KEYS

if TYPE_CHECKING:
    from mcpc.emit.blob import Blob
    from mcpc.model.ir import RunTimeDefinitions, Server
    from mcpc.model.ir.handlers import PlainData
    from mcpc.model.revisions import Revision

FIELDS = {
    "tool": "tool",
    "prompt": "prompt",
    "argument": "prompt_argument",
    "resource": "resource",
    "template": "resource_template",
}
"""The fields that a revision shows of each kind of item, by their names in `Revision`."""
NEVER_SHOWN = {"tool": ("execution",)}
"""Whether a call is a task is agreed between client and server."""


def add_run_time(definitions: RunTimeDefinitions, server: Server, blob: Blob) -> dict[str, PlainData]:
    """Add the handler's record and the hidden fields to the blob; return the row of the index."""
    return {
        "kinds": tuple(sorted(definitions.kinds)),
        "lists": tuple(method for method in KEYS if method.partition("/")[0] in definitions.kinds),
        **({"by_arguments": tuple(sorted(definitions.by_arguments))} if definitions.by_arguments else {}),
        **({"forwards": True} if definitions.forwards else {}),
        "record": blob.add(handled_record(definitions, environments(server))),
        "hidden": blob.add(dump_data({revision.version: hidden_fields(revision) for revision in REVISIONS})),
    }


def hidden_fields(revision: Revision) -> dict[str, PlainData]:
    """Return the fields that other revisions define and this one does not (see `run_time_lists.Hidden`)."""
    hidden: dict[str, PlainData] = {}
    for kind, field in FIELDS.items():
        known = {name for other in REVISIONS for name in getattr(other, field)} - {*getattr(revision, field)}
        hidden[kind] = tuple(sorted({*known, *NEVER_SHOWN.get(kind, ())}))
    return {**hidden, "boolean": not revision.boolean_properties, "output": not revision.any_output_schema}
