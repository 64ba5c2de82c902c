"""The adapter for Windows."""
