"""Single files of packages, where uv has no command for that: sources that are to be built, and files of a lock.

They are handed to uv as they are written, so that a package comes from the registry that uv takes it from.

A date stands for its whole day in UTC, so that a build is the same everywhere; a time is taken as it is.

Each is checked by its digests.  Proxies and certificates are those of the environment, a user and a password those of
the registry on the same host, or of netrc.
"""

from __future__ import annotations

import base64
import hashlib
import netrc
import os
import re
import urllib.request
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

from mcpc.model.ir.layer import Origins, Registry
from mcpc.packages.lock_files import SHA256, LockError
from mcpc.reading.toml import nested_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpc.model.ir.layer import RequestedPackage
    from mcpc.packages.lock_files import LockedFile
    from mcpc.reading.toml import TomlText


SECONDS = 120
MAX_BYTES = 2 << 30
"""Limit of a file; the largest wheels that are published are smaller."""
# The digests of SHAKE have any length, and `hexdigest` has to be told which.
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
    # urllib would take a user in the address for a part of the host.
    plain = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, parts.query, ""))
    # Digests are those of the file itself, and urllib decodes nothing.
    request = urllib.request.Request(plain, headers={"Accept-Encoding": "identity"})
    known = _credentials(address, origins)
    if known:
        # A redirect may lead to another host, which must not get the password.
        request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(known.encode()).decode()}")
    with urllib.request.urlopen(request, timeout=SECONDS) as reply:
        # One byte more shows that the file is longer.
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
        # An address in UV_INDEX may have a name: `internal=https://…`.
        user, at, there = urlsplit(
            place.partition("=")[2] if "=" in place.partition("://")[0] else place
        ).netloc.rpartition("@")
        if at and there == host:
            return unquote(user)
    with suppress(OSError, netrc.NetrcParseError):
        login = netrc.netrc(os.environ.get("NETRC") or None).authenticators(urlsplit(address).hostname or "")
        return f"{login[0]}:{login[2]}" if login else ""
    return ""


IS_KNOWN = "is-known"
"""The key of a source that tells whether its registry is defined."""
ADDRESS = re.compile(r"(?:https?|file)://\S+")


def named_registries(text: TomlText) -> Iterator[Registry]:
    """Yield the registries that have an address, in their order."""
    rows = nested_table(text.table, "tool", "uv").get("index")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get("url"), str) and ADDRESS.fullmatch(row["url"]):
            name = row.get("name")
            yield Registry(
                row["url"],
                name if isinstance(name, str) else "",
                is_default=row.get("default") is True,
                is_explicit=row.get("explicit") is True,
            )


def all_origins(wanted: Iterable[RequestedPackage]) -> Origins:
    """Return where the packages of all requirements come from."""
    origins = [item.origins for item in wanted]
    return Origins(
        tuple(dict.fromkeys(registry for each in origins for registry in each.registries)),
        tuple(dict.fromkeys(place for each in origins for place in each.find_links)),
        any(each.offline for each in origins),
    )


DATE_LENGTH = len("2025-06-30")


def upload_limit(text: str) -> str | None:
    """Return the moment before which packages count, for uv; None if the text is not a date."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    # So short a text has no time, and its whole day counts.
    if len(text) <= DATE_LENGTH:
        found = datetime.combine(found.date() + timedelta(days=1), time(), UTC)
    moment = found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def earliest(dates: Iterable[str]) -> str:
    """Return the earliest of the dates that are not empty, an empty text if there is none."""
    return min(filter(None, dates), key=lambda date: upload_limit(date) or date, default="")
