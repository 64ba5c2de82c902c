"""The official Python SDK with one tool, `echo`."""

from mcp.server import MCPServer

server = MCPServer("python-sdk")


@server.tool(description="Return the text.")
def echo(text: str) -> str:
    return text


if __name__ == "__main__":
    server.run()
