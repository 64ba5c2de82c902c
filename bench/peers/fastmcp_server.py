"""FastMCP with one tool, `echo`; over HTTP if a port is named."""

import sys

from fastmcp import FastMCP

server = FastMCP("fastmcp")


@server.tool(description="Return the text.")
def echo(text: str) -> str:
    return text


if __name__ == "__main__":
    if sys.argv[1:]:
        port = int(sys.argv[1])
        server.run("http", host="127.0.0.1", port=port, show_banner=False, json_response=True, stateless_http=True)
    else:
        server.run(show_banner=False)
