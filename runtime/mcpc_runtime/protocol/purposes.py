"""Purposes of signed tokens: a kind of state, of one server at one path; a token is not valid for another purpose.

A server is identified by its name and the path of its endpoint, not by its file: replicas, and the builds of a rolling
upgrade, continue with each other's state; another server with the same keys does not.
"""

from __future__ import annotations

from mcpc_runtime.protocol.image import Image


def token_purpose(kind: str, image: Image) -> str:
    """Return the purpose for which a kind of state is signed."""
    return f"{kind} {image.endpoint} {image.server_name}"
