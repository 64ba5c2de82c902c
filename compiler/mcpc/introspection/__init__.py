"""Definitions that are Python functions: what they offer is asked of Python itself, in a process of its own."""
