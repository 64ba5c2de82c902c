"""The server's side of ToolBox's tools: the process that runs them, their places on disk, what their answers mean."""
