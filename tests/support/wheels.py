"""Wheels made on the spot, and uv told to look for wheels nowhere else."""

import base64
import hashlib
import io
import re
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

Files = "Mapping[str, str | bytes]"
EXTRA = re.compile(r"extra == [\"'](\w+)[\"']")


def wheel(
    folder: Path, name: str, version: str, files: Mapping[str, str | bytes], *, needs: Sequence[str] = (), tag: str = ""
) -> Path:
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
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def variables(folder: Path) -> dict[str, str]:
    """Return the environment in which uv finds the wheels of a folder and nothing else."""
    empty = (folder / "no-registry").as_uri()
    return {"UV_DEFAULT_INDEX": empty, "UV_FIND_LINKS": str(folder), "UV_NO_CONFIG": "1", "UV_HTTP_RETRIES": "0"}


def only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have uv find the wheels of a folder and nothing else, and keep what is staged below it."""
    for name, value in {**variables(folder), "MCPC_CACHE_DIR": str(folder / "cache")}.items():
        monkeypatch.setenv(name, value)


BACKEND = '''
import os, zipfile

def get_requires_for_build_wheel(settings=None):
    return []

def build_wheel(folder, settings=None, metadata=None):
    exec(open("during.py").read() if os.path.exists("during.py") else "")
    with zipfile.ZipFile(os.path.join(folder, "{stem}-py3-none-any.whl"), "w") as made:
        rows = []
        files = {{"{module}.py": open("{module}.py").read(), "{stem}.dist-info/METADATA": """{metadata}""",
                 "{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: x\\nTag: py3-none-any\\n"}}
        import base64, hashlib
        for path, text in files.items():
            made.writestr(path, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            rows.append(f"{{path}},sha256={{digest}},{{len(text.encode())}}")
        made.writestr("{stem}.dist-info/RECORD", "\\n".join((*rows, "{stem}.dist-info/RECORD,,", "")))
    return "{stem}-py3-none-any.whl"
'''
"""A build backend that is part of the sources, so that a build requires nothing."""
SYSTEM = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


def sources(name: str, version: str, files: Mapping[str, str], *, needs: Sequence[str] = ()) -> dict[str, str]:
    """Return the sources of a package of one module, with the backend that builds its wheel."""
    stem = f"{name.replace('-', '_')}-{version}"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    metadata = "\n".join((*lines, *(f"Requires-Dist: {need}" for need in needs), "", ""))
    backend = BACKEND.format(stem=stem, module=name.replace("-", "_"), metadata=metadata)
    project = f"[project]\nname = '{name}'\nversion = '{version}'\ndependencies = {list(needs)!r}\n"
    return {"backend.py": backend, "pyproject.toml": project + SYSTEM, **files}


def sdist(folder: Path, name: str, version: str, files: Mapping[str, str], *, needs: Sequence[str] = ()) -> Path:
    """Write a source distribution of a package of one module, and return its path."""
    stem = f"{name.replace('-', '_')}-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{stem}.tar.gz"
    with tarfile.open(target, "w:gz") as archive:
        for path, text in sources(name, version, files, needs=needs).items():
            entry = tarfile.TarInfo(f"{stem}/{path}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return target
