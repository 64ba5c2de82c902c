"""Serve a project during development: build, serve, watch, and replace the served build after each change."""
