"""The endpoint of bx-mcp: JSON-RPC by POST without sessions, in addition to MCP's endpoint, with the same tools."""
