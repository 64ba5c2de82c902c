"""Handlers: one folder per kind of handler, each with a contract and a runner."""
