"""Fetches the metrics of a server.

Rule: a token goes to this machine, or over https, and nowhere else; redirects are not followed.
"""

from __future__ import annotations

import http.client
import os
import ssl
import stat
from typing import NamedTuple
from urllib.parse import urlsplit

from mcpc_runtime.tools.cli.top import messages
from mcpc_runtime.transports.platforms.private_files import access_of_others

PATH = "/metrics"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
MAX_BYTES = 16 << 20
MAX_TOKEN = 4096
SECONDS = 10.0
PORTS = {"http": 80, "https": 443}
REFUSALS = {401: messages.TOKEN_NEEDED, 403: messages.TOKEN_REFUSED, 404: messages.NO_METRICS}


class UnusableAddressError(Exception):
    """The address or the token cannot be used; the message says what was expected."""


class UnreachableError(Exception):
    """The server did not answer with metrics; the message says what it did."""


class Address(NamedTuple):
    """Where metrics are: scheme, host, port and path."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def is_safe(self) -> bool:
        """Whether what is sent there stays on this machine, or is encrypted."""
        return self.scheme == "https" or self.host in LOOPBACK

    @property
    def url(self) -> str:
        """The address as text."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def address_of(text: str) -> Address:
    """Return the address of the metrics: `PORT`, `HOST:PORT`, or a URL of the server; raise UnusableAddressError."""
    if text.isdecimal():
        text = f"127.0.0.1:{text}"
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = parts.port or PORTS[parts.scheme]
    except (ValueError, KeyError):
        raise UnusableAddressError(messages.NO_ADDRESS.format(text=text)) from None
    if not parts.hostname or parts.username is not None:
        raise UnusableAddressError(messages.NO_ADDRESS.format(text=text))
    path = parts.path if parts.path.endswith(PATH) else PATH
    return Address(parts.scheme, parts.hostname, port, path)


def read_token(path: str) -> str:
    """Return the token in a file that only this user can read; raise UnusableAddressError."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            text = file.read(MAX_TOKEN).decode("ascii", "replace").strip()
    except OSError as problem:
        raise UnusableAddressError(messages.NO_TOKEN.format(path=path, why=problem.strerror)) from None
    if access_of_others(status):
        mode = f"{stat.S_IMODE(status.st_mode):04o}"
        raise UnusableAddressError(messages.SHARED_TOKEN.format(path=path, mode=mode))
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise UnusableAddressError(messages.NOT_A_TOKEN.format(path=path))
    return text


class MetricsConnection:
    """A connection to a server, which is opened again where it was closed."""

    def __init__(self, address: Address, token: str = "") -> None:
        if token and not address.is_safe:
            raise UnusableAddressError(messages.UNSAFE.format(host=address.host))
        self._address = address
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http: http.client.HTTPConnection | None = None

    def fetch(self) -> str:
        """Return the text of the metrics; raise UnreachableError."""
        for is_last in (self._http is None, True):
            try:
                return self._fetch()
            except (OSError, http.client.HTTPException) as problem:
                self.close()
                if is_last:
                    why = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
                    raise UnreachableError(messages.UNREACHABLE.format(url=self._address.url, why=why)) from None
        raise AssertionError("the last attempt returns or raises")

    def close(self) -> None:
        """Close the connection."""
        if self._http is not None:
            self._http.close()
            self._http = None

    def _fetch(self) -> str:
        if self._http is None:
            self._http = self._opened()
        self._http.request("GET", self._address.path, headers=self._headers)
        answer = self._http.getresponse()
        body = answer.read(MAX_BYTES + 1)
        if answer.status != http.client.OK or len(body) > MAX_BYTES:
            self.close()
            words = REFUSALS.get(answer.status, messages.OTHER_STATUS)
            raise UnreachableError(words.format(url=self._address.url, status=answer.status))
        return body.decode("utf-8", "replace")

    def _opened(self) -> http.client.HTTPConnection:
        host, port = self._address.host, self._address.port
        if self._address.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=SECONDS, context=ssl.create_default_context())
        return http.client.HTTPConnection(host, port, timeout=SECONDS)
