"""A newer file from a folder or over https, bounded in bytes and time, and the check of its signature by ssh-keygen."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import tempfile
from http.client import HTTPException
from threading import Thread
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.program_search import find_program

NAMESPACE = "mcpc-update"
"""What a signature is for: one that was made for something else does not count."""
KEY = re.compile(r"[a-z0-9@.-]{1,64} [A-Za-z0-9+/]{16,8192}={0,2}")
"""A public key of SSH without its comment."""
PRINCIPAL = "author"
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
LOOPBACK = ("localhost", "127.0.0.1", "::1")
MOST_SECONDS, SOCKET_SECONDS, CHECK_SECONDS = 300.0, 20.0, 60.0
CHUNK_SIZE = 1 << 16


class RefusedError(Exception):
    """A file is not taken; the message says why."""


class OnlyHttps(HTTPRedirectHandler):
    """Follows redirects to https only."""

    def redirect_request(self, *request: Any) -> Request | None:
        """Return the next request; the last argument is its URL."""
        if urlsplit(request[-1]).scheme != "https":
            raise RefusedError(f"it leads to {request[-1]}, which is not https")
        return super().redirect_request(*request)


def fetch(source: str, end: str, most: int) -> bytes:
    """Return the bytes of a file or a URL with this end."""
    if ADDRESS.match(source):
        parts = urlsplit(source)
        return fetch_url(urlunsplit(parts._replace(path=parts.path + end)), most)
    try:
        with open(source + end, "rb") as file:
            data = file.read(most + 1)
    except OSError as problem:
        raise RefusedError(f"{source}{end}: {problem.strerror}") from None
    return within(data, most, source + end)


def within(data: bytes, most: int, name: str) -> bytes:
    """Return data that is not too large."""
    if len(data) > most:
        raise RefusedError(f"{name} has more than {most:,} bytes")
    return data


def fetch_url(url: str, most: int) -> bytes:
    """Return what a URL has, in bounded time also if its host sends a byte now and then."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise RefusedError(f"{url} is not https")
    answers: list[bytes | Exception] = []
    thread = Thread(target=download, args=(url, most, answers), daemon=True)
    thread.start()
    # A socket's timeout is for one operation, so the whole download has a limit of its own.
    thread.join(MOST_SECONDS)
    if not answers:
        raise RefusedError(f"{url} did not arrive within {MOST_SECONDS:g} s")
    if isinstance(answers[0], bytes):
        return answers[0]
    raise RefusedError(f"{url}: {answers[0]}") from None


def download(url: str, most: int, answers: list[bytes | Exception]) -> None:
    """Fetch a URL in a thread."""
    data = bytearray()
    try:
        with build_opener(OnlyHttps).open(Request(url, headers={"User-Agent": "mcpc"}), None, SOCKET_SECONDS) as reply:
            expected = reply.headers.get("Content-Length")
            while len(data) <= most and (chunk := reply.read1(CHUNK_SIZE)):
                data += chunk
        # `read1` does not report a body that is shorter than its declared length.
        if expected is not None and len(data) < min(int(expected), most):
            raise RefusedError(f"it ended after {len(data):,} of {expected} bytes")
        answers.append(within(bytes(data), most, url))
    except (OSError, HTTPException, ValueError, RefusedError) as problem:
        answers.append(problem)


def check_signature(path: str, signature: bytes, key: str) -> None:
    """Refuse a file that the key has not signed."""
    program = find_program("ssh-keygen", system.environ)
    if not KEY.fullmatch(key):
        raise RefusedError("the key that this file names is not a public key of SSH")
    if not program:
        raise RefusedError("the signature cannot be verified without ssh-keygen, which is not on PATH (OpenSSH)")
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder, open(path, "rb") as file:
        signers, signed = os.path.join(folder, "signers"), os.path.join(folder, "sig")
        # The key is a single line of safe characters (KEY), so that it can add no other signer.
        for name, data in ((signers, f"{PRINCIPAL} {key}\n".encode()), (signed, signature)):
            with open(name, "wb") as made:
                made.write(data)
        words = ["-Y", "verify", "-f", signers, "-I", PRINCIPAL, "-n", NAMESPACE, "-s", signed]
        done = subprocess.run([program, *words], stdin=file, capture_output=True, timeout=CHECK_SECONDS, check=False)
    if done.returncode != 0:
        raise RefusedError(f"{fingerprint(key)}, the key of this file, has not signed that, or it is damaged")


def fingerprint(key: str) -> str:
    """Return the short form of a public key, as `ssh-keygen -l` prints it."""
    digest = hashlib.sha256(base64.b64decode(key.split()[1])).digest()
    return f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"
