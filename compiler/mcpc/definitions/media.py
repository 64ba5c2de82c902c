"""Media types: one table for what is compiled in and for what a built server reads; none is the machine's own."""

from mcpc_runtime.protocol.media import BINARIES, is_text, media_type

__all__ = ["APP", "APP_SCHEME", "BINARIES", "is_text", "media_type"]

APP_SCHEME, APP = "ui://", "text/html;profile=mcp-app"
"""User interfaces (`io.modelcontextprotocol/ui`): how their uris begin, and the one type they have."""
