"""What a self-contained file is made of, and the error if it cannot be made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpc.diagnostics import diagnose

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """The archive of a server, the target, and the options of the command.

    `interpreter`: the folder or archive of a relocatable Python; None for the one that runs this compiler.
    `minimal`: include only the modules of the standard library that the handlers and the runtime import.
    """

    archive: bytes
    target: str
    interpreter: Path | None = None
    minimal: bool = False


class CannotEmbedError(Exception):
    """A self-contained file cannot be made here; `diagnostic` has the reason and what to do."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.diagnostic = diagnose(code, None, message, hint=hint)
