"""Projects of tests, written to disk."""

import json
from collections.abc import Mapping
from pathlib import Path


def write_files(folder: Path, files: Mapping[str, object]) -> Path:
    """Write files below a folder, and return it: texts and bytes as they are, objects as JSON; scripts can be run."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, (str, bytes)) else json.dumps(content)
        data = text.encode() if isinstance(text, str) else text
        path.write_bytes(data)
        path.chmod(0o755 if data.startswith(b"#!") or name.endswith(".sh") else 0o644)
    return folder
