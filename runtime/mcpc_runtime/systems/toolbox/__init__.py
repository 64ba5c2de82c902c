"""ToolBox: contracts and runners for its tools, prompts and resources."""
