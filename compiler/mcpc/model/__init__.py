"""Definitions, the server that is compiled from them, and the revisions of the protocol."""
