"""The Node side of ToolBox: the process that runs tools, the folder of logs, and the conversion of results."""
