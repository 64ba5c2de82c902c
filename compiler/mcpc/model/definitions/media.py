"""Media types from one table for compiler and runtime; the machine's own table is never used."""

from mcpc_runtime.protocol.media import BINARIES, is_text, media_type

__all__ = ["APP", "APP_SCHEME", "BINARIES", "is_text", "media_type"]

APP_SCHEME, APP = "ui://", "text/html;profile=mcp-app"
"""User interfaces (`io.modelcontextprotocol/ui`): the scheme of their URIs, and their only media type."""
