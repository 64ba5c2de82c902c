"""Images and sounds that tools return."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

from mcpc_runtime.systems.fastmcp.standins.mcp_types import selected as types

UNKNOWN = "application/octet-stream"


class Media:
    """A file, or bytes, with a media type."""

    kind = ""
    default = ""
    suffixes: dict[str, str] = {}  # noqa: RUF012 - a table

    def __init__(self, path: str | Path | None = None, data: bytes | None = None, format: str | None = None) -> None:
        if (path is None) == (data is None):
            raise ValueError("Either path or data must be provided" if data is None else "Only one of path or data")
        self.path = Path(path) if path else None
        self.data = data
        self._format = format
        self._mime_type = self._get_mime_type()

    def _get_mime_type(self) -> str:
        if self._format:
            return f"{self.kind}/{self._format.lower()}"
        return self.suffixes.get(self.path.suffix.lower(), UNKNOWN) if self.path else self.default

    def _content(self) -> Any:
        data = self.path.read_bytes() if self.path else self.data or b""
        fields = {"type": self.kind, "data": b64encode(data).decode(), "mimeType": self._mime_type}
        return types.find_type(f"{self.kind.title()}Content").model_validate(fields)


class Image(Media):
    """An image."""

    kind = "image"
    default = "image/png"
    suffixes = {  # noqa: RUF012 - a table
        ".png": "image/png",
        ".jpg": "image/jpeg",
        ".jpeg": "image/jpeg",
        ".gif": "image/gif",
        ".webp": "image/webp",
    }

    def to_image_content(self) -> Any:
        """Return the protocol's content."""
        return self._content()


class Audio(Media):
    """A sound."""

    kind = "audio"
    default = "audio/wav"
    suffixes = {  # noqa: RUF012 - a table
        ".wav": "audio/wav",
        ".mp3": "audio/mpeg",
        ".ogg": "audio/ogg",
        ".flac": "audio/flac",
        ".aac": "audio/aac",
        ".m4a": "audio/mp4",
    }

    def to_audio_content(self) -> Any:
        """Return the protocol's content."""
        return self._content()
