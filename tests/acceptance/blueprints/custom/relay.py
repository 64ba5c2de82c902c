from mcpc import Context, tool


@tool(name="relay")
def hand_on(name: str, context: Context) -> str:
    """Call another tool, and say what it said."""
    return repr(context.call_tool(name))
