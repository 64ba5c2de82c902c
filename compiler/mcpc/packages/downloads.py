"""Single files of packages, where uv has no command for that: sources that are to be built, and files of a lock.

Each is checked by its digests.  Proxies and certificates are those of the environment, a user and a password those of
the registry on the same host, or of netrc.
"""

from __future__ import annotations

import base64
import hashlib
import netrc
import os
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

from mcpc.packages.lock_files import SHA256, LockError

if TYPE_CHECKING:
    from mcpc.model.ir.layer import Origins
    from mcpc.packages.lock_files import LockedFile

SECONDS = 120
MAX_BYTES = 2 << 30
"""Limit of a file; the largest wheels that are published are smaller."""
FIXED_LENGTH = {method for method in hashlib.algorithms_guaranteed if not method.startswith("shake_")}
REGISTRY_VARIABLES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL", "UV_INDEX", "PIP_EXTRA_INDEX_URL")


def fetch(file: LockedFile, root: str, origins: Origins) -> bytes:
    """Return the bytes of a file that a lock or uv names; raise LockError. `root`: what a relative path starts at."""
    place = file_on_disk(file, root, origins)
    if place is not None:
        return checked(file, place.read_bytes(), f"`{place.parent}`")
    if origins.offline or not file.address:
        words = "not in the cache or a folder of `--find-links`" if origins.offline else "it has no address"
        raise LockError("absent", f"{words}: `{file.file}`", file.package)
    try:
        data = _download(file.address, origins)
    except (OSError, ValueError) as problem:  # what urllib raises is one
        reason = str(getattr(problem, "reason", "") or type(problem).__name__)
        raise LockError("absent", f"`{file.file}` cannot be downloaded ({reason})", file.package) from None
    return checked(file, data, "its registry")


def file_on_disk(file: LockedFile, root: str, origins: Origins) -> Path | None:
    """Return the path of a file of the project or of a folder of wheels; None if it is nowhere."""
    address = urlsplit(file.address)
    places = [Path(root, file.path)] if file.path else []
    places += [Path(unquote(address.path))] if address.scheme == "file" else []
    places += [Path(folder, file.file) for folder in origins.find_links if not urlsplit(folder).netloc]
    return next((place for place in places if place.is_file()), None)


def checked(file: LockedFile, data: bytes, where: str) -> bytes:
    """Return the bytes of a file; raise LockError if it is not the one that the lock names."""
    for method, expected in ((SHA256, file.sha256), *file.others):
        digest = hashlib.new(method, data).hexdigest() if expected and method in FIXED_LENGTH else expected
        if digest != expected:
            name = "SHA-256" if method == SHA256 else method
            message = f"`{file.file}` from {where} has {name} {digest}, and the lock says {expected}"
            raise LockError("mismatch", message, file.package)
    return data


def _download(address: str, origins: Origins) -> bytes:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"`{parts.scheme}` is not fetched")
    plain = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, parts.query, ""))
    request = urllib.request.Request(plain, headers={"Accept-Encoding": "identity"})
    known = _credentials(address, origins)
    if known:
        request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(known.encode()).decode()}")
    with urllib.request.urlopen(request, timeout=SECONDS) as reply:
        data: bytes = reply.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError("it is too large")
    return data


def _credentials(address: str, origins: Origins) -> str:
    """Return `user:password` for an address, an empty text if none is known."""
    host = urlsplit(address).netloc.rpartition("@")[2]
    named = [registry.address for registry in origins.registries]
    named += [word for name in REGISTRY_VARIABLES for word in os.environ.get(name, "").split()]
    for place in (address, *named):
        user, at, there = urlsplit(
            place.partition("=")[2] if "=" in place.partition("://")[0] else place
        ).netloc.rpartition("@")
        if at and there == host:
            return unquote(user)
    with suppress(OSError, netrc.NetrcParseError):
        login = netrc.netrc(os.environ.get("NETRC") or None).authenticators(urlsplit(address).hostname or "")
        return f"{login[0]}:{login[2]}" if login else ""
    return ""
