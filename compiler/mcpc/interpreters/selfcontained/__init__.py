"""Self-contained files: the interpreter, the standard library and a server in one file, for machines without Python.

A target is a module here and a row in TARGETS. It makes the file from the finished archive of a server.
"""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING

from mcpc.interpreters.selfcontained import linux, relocatable_file, windows
from mcpc.interpreters.selfcontained.request import CannotEmbedError, EmbeddingRequest

if TYPE_CHECKING:
    from collections.abc import Callable

TARGETS: dict[str, Callable[[EmbeddingRequest], bytes]] = {
    "linux_x86_64": linux.embed_server,
    "linux_aarch64": linux.embed_server,
    "macosx_arm64": relocatable_file.embed_server,
    "macosx_x86_64": relocatable_file.embed_server,
    "win_amd64": windows.embed_server,
    "win_arm64": windows.embed_server,
}

__all__ = ["TARGETS", "CannotEmbedError", "EmbeddingRequest", "embed_server", "this_machine"]


def this_machine() -> str:
    """Return the name of the target that this machine runs; it may have no row."""
    names = {"AMD64": "amd64", "ARM64": "arm64", "arm64": "arm64"}
    system = {"win32": "win", "darwin": "macosx"}.get(sys.platform, sys.platform)
    return f"{system}_{names.get(platform.machine(), platform.machine())}"


def embed_server(request: EmbeddingRequest) -> bytes:
    """Return the self-contained file; raise CannotEmbedError if it cannot be made here."""
    build = TARGETS.get(request.target)
    if build is None:
        hint = f"the targets are {', '.join(TARGETS)}"
        raise CannotEmbedError("MCP430", f"a self-contained file for {request.target} is not supported", hint)
    return build(request)
