"""The description of the server, in the file that `MCP_CONFIG_FILE` names: what the SDK answers to `initialize`.

Other members are the script's own, which reads the file when it runs; the SDK shows them to clients, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose
from mcpc.model.definitions import ServerDefinition, kind_mismatch
from mcpc.reading import Member
from mcpc.reading.json_tree import fields_of, implied_member, object_node

if TYPE_CHECKING:
    from mcpc.diagnostics import Diagnostics
    from mcpc.reading import Node

FIELDS = ("serverInfo", "capabilities", "instructions", "_meta")
"""The revision (`protocolVersion`) is negotiated with each client; the SDK has one for all of them."""
UNNAMED = {"name": "BashMCPServer", "version": "0.0.0"}
"""The SDK's name for a server that has none."""
PROMISE = "listChanged"
"""A notification that the SDK never sends."""


def described_server(node: Node) -> tuple[ServerDefinition | None, Diagnostics]:
    """Return the server that a file describes; the script needs the file, and a `server.json` takes precedence."""
    if node.kind != "object":
        return None, (diagnose("MCP101", node.span, kind_mismatch(f"`{node.path}`", "object", node)),)
    fields = {key: member for key, member in fields_of(node).items() if key in FIELDS}
    if "capabilities" in fields:
        fields["capabilities"] = _without_promises(fields["capabilities"])
    fields.setdefault("serverInfo", implied_member("serverInfo", dict(UNNAMED), node.span))
    return ServerDefinition(object_node(fields.values(), node.span), implied=True), ()


def _without_promises(member: Member) -> Member:
    """Return the capabilities without notifications that are never sent."""
    node = member.node
    if node.kind != "object":
        return member
    kept = []
    for capability in node.members:
        found = capability.node
        if found.kind == "object":
            rest = [item for item in found.members if item.key != PROMISE]
            found = object_node(rest, found.span)
        kept.append(Member(capability.key, capability.key_start, capability.key_end, found))
    return Member(member.key, member.key_start, member.key_end, object_node(kept, node.span))
