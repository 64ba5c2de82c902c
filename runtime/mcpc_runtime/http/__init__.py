"""Serving over HTTP: an ASGI application of the protocol core, and what starts it.  stdio imports nothing of it."""
