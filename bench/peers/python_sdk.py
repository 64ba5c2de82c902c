"""The official Python SDK with one tool, `echo`; over HTTP if a port is named."""

import sys

from mcp.server import MCPServer

server = MCPServer("python-sdk")


@server.tool(description="Return the text.")
def echo(text: str) -> str:
    return text


if __name__ == "__main__":
    if sys.argv[1:]:
        port = int(sys.argv[1])
        server.run("streamable-http", host="127.0.0.1", port=port, json_response=True, stateless_http=True)
    else:
        server.run()
