"""The parts of the stand-in of the SDK; `mcp_modules.py` says which modules they are in."""
