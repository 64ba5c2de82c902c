"""The command line of a built server."""
