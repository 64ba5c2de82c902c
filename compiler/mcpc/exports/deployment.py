"""A server and its deployment target; all values are validated before they are written to a file."""

from __future__ import annotations

import re
from dataclasses import dataclass

LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?")
"""RFC 1123, with room for suffixes."""
HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*")
IMAGE = re.compile(r"[a-z0-9][a-z0-9._/:@-]{0,254}")
UPSTREAM = re.compile(r"(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\]):[0-9]{1,5}")
PATH = re.compile(r"/[A-Za-z0-9._~/-]{0,200}")


class UnusableValueError(ValueError):
    """A value is invalid in its place; the message names it and what is allowed."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """A server, and how it is to run.

    `upstreams` are the addresses of its replicas, where they are known; `base` is the base image of its container.
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
        """The server's name as a valid label."""
        found = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")[:42].strip("-")
        return found or "mcp-server"

    def checked(self) -> Deployment:
        """Return this deployment, or raise UnusableValueError for an invalid value."""
        rows = [(self.host, HOST, "a host such as mcp.example.com"), (self.path, PATH, "a path such as /mcp")]
        rows += [(item, UPSTREAM, "HOST:PORT") for item in self.upstreams]
        rows += [(self.image, IMAGE, "an image such as registry.example.com/server:1")] if self.image else []
        for value, pattern, expected in rows:
            if not pattern.fullmatch(value):
                raise UnusableValueError(f"{value!r} cannot be used; expected {expected}")
        return self
