"""FastMCP with one tool, `echo`."""

from fastmcp import FastMCP

server = FastMCP("fastmcp")


@server.tool(description="Return the text.")
def echo(text: str) -> str:
    return text


if __name__ == "__main__":
    server.run(show_banner=False)
