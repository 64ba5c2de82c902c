"""The adapter for POSIX systems."""
