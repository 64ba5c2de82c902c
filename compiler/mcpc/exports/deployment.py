"""What is known of a server and of the place it is to run in.  What gets into a text was found fit for it here."""

from __future__ import annotations

import re
from dataclasses import dataclass

LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?")
"""RFC 1123, and room for what is put behind it."""
HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*")
IMAGE = re.compile(r"[a-z0-9][a-z0-9._/:@-]{0,254}")
UPSTREAM = re.compile(r"(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\]):[0-9]{1,5}")
PATH = re.compile(r"/[A-Za-z0-9._~/-]{0,200}")


class UnfitError(ValueError):
    """A value cannot stand where it is meant to; the message says which, and what could."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """A server, and how it is to run.

    `upstreams` are the addresses of its replicas, where they are known; `base` is the image that its own is made from.
    """

    name: str
    version: str
    host: str = "mcp.example.com"
    image: str = ""
    base: str = "python:3.13-slim"
    path: str = "/mcp"
    replicas: int = 3
    port: int = 8000
    valkey: bool = False
    upstreams: tuple[str, ...] = ("127.0.0.1:8001", "127.0.0.1:8002", "127.0.0.1:8003")

    @property
    def label(self) -> str:
        """The server's name as systems want names."""
        found = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")[:42].strip("-")
        return found or "mcp-server"

    def checked(self) -> Deployment:
        """Return this, if every value can stand where it will."""
        rows = [(self.host, HOST, "a host such as mcp.example.com"), (self.path, PATH, "a path such as /mcp")]
        rows += [(one, UPSTREAM, "HOST:PORT") for one in self.upstreams]
        rows += [(self.image, IMAGE, "an image such as registry.example.com/server:1")] if self.image else []
        for value, pattern, expected in rows:
            if not pattern.fullmatch(value):
                raise UnfitError(f"{value!r} cannot be used; expected {expected}")
        return self
