"""What has the contents of an mcp-bash project's resources: files, pages, repositories, scripts of the project."""
