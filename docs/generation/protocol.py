"""What clients of each protocol revision see, from the table that the compiler uses."""

from __future__ import annotations

from generation.markdown import code, table
from mcpc.model import revisions as tables
from mcpc.model.revisions import REVISIONS, Revision

FIELDS = (
    ("tool", tables.TOOL),
    ("prompt", tables.PROMPT),
    ("argument of a prompt", tables.PROMPT_ARGUMENT),
    ("resource", tables.RESOURCE),
    ("resource template", tables.RESOURCE_TEMPLATE),
    ("server", tables.IMPLEMENTATION),
    ("content of a result", tables.CONTENT),
)
STRUCTURED = {"none": "no", "objects": "objects", "any": "any JSON"}


def revisions() -> str:
    """Return two tables: what a revision can do, and the fields that it adds."""
    return f"{abilities()}\nFields, in the revision that adds them:\n\n{fields()}"


def abilities() -> str:
    """Return what differs between the revisions."""
    rows = (
        ("era", ["stateless" if each.stateless else "handshake" for each in REVISIONS]),
        ("several messages on one line", [yes(each.batches) for each in REVISIONS]),
        ("structured results", [STRUCTURED[each.structured] for each in REVISIONS]),
        ("message of a progress notification", [yes(each.progress_message) for each in REVISIONS]),
        ("output schemas of any type", [yes(each.any_output_schema) for each in REVISIONS]),
    )
    return table(("", *(each.version for each in REVISIONS)), [(name, *cells) for name, cells in rows])


def fields() -> str:
    """Return the fields that each revision adds to each kind of object."""
    rows = [(kind, *(added(additions, each) for each in REVISIONS)) for kind, additions in FIELDS]
    return table(("", *(each.version for each in REVISIONS)), rows)


def added(additions: tables.Additions, revision: Revision) -> str:
    """Return the fields that a revision adds."""
    return ", ".join(map(code, additions.get(revision.version, ())))


def yes(value: bool) -> str:
    """Return a truth value in words."""
    return "yes" if value else "no"
