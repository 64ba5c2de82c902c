"""The server of decorated functions under the SDK's version 2."""

from decorated import mcp

if __name__ == "__main__":
    mcp.run()
