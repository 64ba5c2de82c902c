"""Providers of mcp-bash resources: files, web pages, Git repositories, and scripts of the project."""
