"""A low-level server of SDK 1 in one file, without a description of its project."""

import asyncio

import mcp.types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server

server = Server("notes")
notes = {"first": "Buy nails."}


@server.list_resources()
async def list_resources() -> list[types.Resource]:
    """List the notes."""
    return [types.Resource(uri=f"note://{name}", name=name, mimeType="text/plain") for name in notes]


@server.read_resource()
async def read_resource(uri) -> str:
    """Read a note."""
    return notes[uri.host]


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    """List the tools."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    return [types.Tool(name="add-note", description="Add a note.", inputSchema=schema)]


@server.call_tool()
async def call_tool(name: str, arguments: dict) -> list[types.TextContent]:
    """Add a note."""
    notes[f"n{len(notes)}"] = arguments["text"]
    await server.request_context.session.send_log_message("info", f"{len(notes)} notes")
    return [types.TextContent(type="text", text=f"{name}: {arguments['text']}")]


@server.list_prompts()
async def list_prompts() -> list[types.Prompt]:
    """List the prompts."""
    return [types.Prompt(name="sum", arguments=[types.PromptArgument(name="style", required=False)])]


@server.get_prompt()
async def get_prompt(name: str, arguments: dict | None) -> types.GetPromptResult:
    """Return a prompt."""
    text = types.TextContent(type="text", text=f"{name} {(arguments or {}).get('style')}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])


async def main() -> None:
    """Serve over standard input and output."""
    async with stdio_server() as (reading, writing):
        options = InitializationOptions(
            server_name="notes", server_version="0.3", capabilities=server.get_capabilities(NotificationOptions(), {})
        )
        await server.run(reading, writing, options)


if __name__ == "__main__":
    asyncio.run(main())
