"""Handlers that are pipelines: calls of tools, requests and commands, one after the other."""
