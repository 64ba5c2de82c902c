"""Python in a file, and what starts a file where none is installed."""
