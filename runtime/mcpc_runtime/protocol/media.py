"""Media types of files by suffix, from a fixed table that does not depend on the machine; and which types are text."""

from __future__ import annotations

TEXTS = {
    "bash": "text/x-shellscript",
    "c": "text/x-c",
    "cfg": "text/plain",
    "css": "text/css",
    "csv": "text/csv",
    "go": "text/x-go",
    "htm": "text/html",
    "html": "text/html",
    "ini": "text/plain",
    "java": "text/x-java",
    "js": "text/javascript",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "log": "text/plain",
    "md": "text/markdown",
    "mjs": "text/javascript",
    "py": "text/x-python",
    "rb": "text/x-ruby",
    "rs": "text/x-rust",
    "rst": "text/x-rst",
    "sh": "text/x-shellscript",
    "sql": "application/sql",
    "svg": "image/svg+xml",
    "toml": "application/toml",
    "ts": "text/x-typescript",
    "tsv": "text/tab-separated-values",
    "txt": "text/plain",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
}
BINARIES = {
    "avif": "image/avif",
    "bin": "application/octet-stream",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "gif": "image/gif",
    "gz": "application/gzip",
    "ico": "image/vnd.microsoft.icon",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "ogg": "audio/ogg",
    "otf": "font/otf",
    "pdf": "application/pdf",
    "png": "image/png",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "tar": "application/x-tar",
    "ttf": "font/ttf",
    "wasm": "application/wasm",
    "wav": "audio/wav",
    "webm": "video/webm",
    "webp": "image/webp",
    "woff": "font/woff",
    "woff2": "font/woff2",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "zip": "application/zip",
}
TEXT, BINARY = "text/plain", "application/octet-stream"


def media_type(path: str, data: bytes | None = None) -> str:
    """Return the media type of a file; without a known suffix, text if its `data` is UTF-8 without NUL."""
    suffix = path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""
    known = TEXTS.get(suffix) or BINARIES.get(suffix)
    return known or (TEXT if data is None or is_text(data) else BINARY)


def is_text(data: bytes) -> bool:
    """Tell whether bytes are UTF-8 without NUL."""
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


def is_textual(mime: str) -> bool:
    """Tell whether content of this media type is sent as text if it is UTF-8; also true for an empty type."""
    kind = mime.partition(";")[0].strip().lower()
    return not kind or kind.startswith("text/") or kind in TEXTUAL or kind.endswith(("+json", "+xml", "+yaml"))


TEXTUAL = frozenset(kind for kind in TEXTS.values() if not kind.startswith("text/")) | {
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/x-ndjson",
    "application/x-sh",
    "application/x-yaml",
    "application/xhtml+xml",
}
