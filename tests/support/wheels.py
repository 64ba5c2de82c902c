"""Wheels made on the spot, and pip told to look for wheels nowhere else."""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pytest

Files = "Mapping[str, str | bytes]"
EXTRA = re.compile(r"extra == [\"'](\w+)[\"']")


def wheel(
    folder: Path, name: str, version: str, files: Mapping[str, str | bytes], *, needs: Sequence[str] = (), tag: str = ""
) -> Path:
    """Write a wheel with these files, and return its path."""
    tag = tag or "py3-none-any"
    stem = f"{name.replace('-', '_')}-{version}"
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", "License-Expression: MIT"]
    lines += [f"Requires-Dist: {need}" for need in needs]
    lines += [f"Provides-Extra: {extra}" for extra in sorted(set(EXTRA.findall(" ".join(needs))))]
    contents = {path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()}
    contents[f"{stem}.dist-info/METADATA"] = "\n".join((*lines, "", "")).encode()
    pure = str(tag.endswith("none-any")).lower()
    contents[f"{stem}.dist-info/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode()
    )
    record = f"{stem}.dist-info/RECORD"
    rows = [f"{path},sha256={checksum(data)},{len(data)}" for path, data in contents.items()]
    contents[record] = "\n".join((*rows, f"{record},,", "")).encode()
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(target, "w") as archive:
        for path, data in contents.items():
            archive.writestr(path, data)
    return target


def checksum(data: bytes) -> str:
    """Return a digest as RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def variables(folder: Path) -> dict[str, str]:
    """Return the environment in which pip finds the wheels of a folder and nothing else."""
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": "/dev/null"}


def only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have pip find the wheels of a folder and nothing else, and keep what is staged below it."""
    for name, value in {**variables(folder), "MCPC_CACHE_DIR": str(folder / "cache")}.items():
        monkeypatch.setenv(name, value)
