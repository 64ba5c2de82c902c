"""bx-mcp's endpoint: JSON-RPC by POST, each request by itself, beside MCP's own endpoint and with the same tools."""
