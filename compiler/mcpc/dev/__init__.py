"""Serve a project while it is written: build, serve, watch, and put the next build in the place of the last."""
