"""2026-07-28: no handshake; every request carries its version, every result its type; any JSON as structured output."""

from dataclasses import replace

from mcpc.revisions.r2025_11_25 import REVISION as PREVIOUS

REVISION = replace(
    PREVIOUS,
    version="2026-07-28",
    stateless=True,
    structured="any",
    boolean_properties=True,
    any_output_schema=True,
)
