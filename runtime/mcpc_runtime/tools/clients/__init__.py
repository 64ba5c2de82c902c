"""Configuration files of MCP clients: entries are written, removed and listed, by commands for people only."""
