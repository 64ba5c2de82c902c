"""Self-contained files: the interpreter, the standard library and a server in one file, for machines without Python.

A target is a module here and a row in TARGETS, imported for such a file only. It makes the file from the finished
archive of a server.
"""

from __future__ import annotations

import platform
import sys
from pkgutil import resolve_name

from mcpc.interpreters.selfcontained.request import CannotEmbedError, EmbeddingRequest

TARGETS = {
    "linux_x86_64": "linux",
    "linux_aarch64": "linux",
    "macosx_arm64": "relocatable_file",
    "macosx_x86_64": "relocatable_file",
    "win_amd64": "windows",
    "win_arm64": "windows",
}
"""The targets, and the module of each, whose `embed_server` makes its files."""

__all__ = ["TARGETS", "CannotEmbedError", "EmbeddingRequest", "embed_server", "this_machine"]


def this_machine() -> str:
    """Return the name of the target that this machine runs; it may have no row."""
    names = {"AMD64": "amd64", "ARM64": "arm64", "arm64": "arm64"}
    system = {"win32": "win", "darwin": "macosx"}.get(sys.platform, sys.platform)
    return f"{system}_{names.get(platform.machine(), platform.machine())}"


def embed_server(request: EmbeddingRequest) -> bytes:
    """Return the self-contained file; raise CannotEmbedError if it cannot be made here."""
    module = TARGETS.get(request.target)
    if module is None:
        hint = f"the targets are {', '.join(TARGETS)}"
        raise CannotEmbedError("MCP430", f"a self-contained file for {request.target} is not supported", hint)
    built: bytes = resolve_name(f"{__name__}.{module}:embed_server")(request)
    return built
