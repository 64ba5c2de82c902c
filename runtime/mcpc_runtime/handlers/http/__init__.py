"""Handlers that are HTTP requests: a plan of places for values, interpreted in the server's process."""
