"""Programs with the original framework: it runs in a separate process that speaks MCP, and calls are forwarded to it.

Only the lists of such a server are compiled.  Only `process.py` imports a framework; it runs in
that process.
"""
