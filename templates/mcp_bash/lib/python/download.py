"""Fetches a file over https for a script: download.py URL OUT ALLOWED DENIED MOST SECONDS AGENT ATTEMPTS DELAY.

Its law: the address that was looked at is the one connected to, and it is a public one; no redirect is followed; a host
has to be allowed; OUT is there as a whole or not touched.  Prints one JSON object; the status is always 0.
"""

import http.client
import ipaddress
import json
import os
import pathlib
import random
import re
import socket
import ssl
import sys
import tempfile
import time
import urllib.parse

CHUNK = 1 << 16


class FailedError(Exception):
    """What became of it instead: a type, a message, and whether it may work another time."""

    def __init__(self, kind, message, passes=False, **more):
        super().__init__(message)
        self.error = {"type": kind, "message": message, **more}
        self.passes = passes


class Pinned(http.client.HTTPSConnection):
    """A connection to an address that was looked at before, for the host that it is the address of."""

    def __init__(self, host, port, address, seconds, context):
        super().__init__(host, port, timeout=seconds, context=context)
        self.address = address
        self.tls = context

    def connect(self):
        plain = socket.create_connection((self.address, self.port), self.timeout)
        self.sock = self.tls.wrap_socket(plain, server_hostname=self.host)


def is_public(address):
    found = ipaddress.ip_address(address.partition("%")[0])
    found = getattr(found, "ipv4_mapped", None) or found
    return found.is_global and not found.is_multicast


def listed(hosts):
    return [host.strip().strip("[]").lower() for host in re.split(r"[,\s]+", hosts) if host.strip()]


def checked_host(url, allowed, denied):
    """Return the host and the port of a URL that may be fetched."""
    try:
        parts = urllib.parse.urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port or 443
    except ValueError:
        raise FailedError("invalid_url", "URL cannot be read") from None
    if parts.scheme != "https" or not host or re.search(r"[\x00-\x20\x7f]", url):
        raise FailedError("invalid_url", "URL must use https:// and name a host")
    is_number = re.fullmatch(r"\d+|0x[0-9a-f]+", host) or re.search(r"(^|\.)0\d+(\.|$)", host)
    everything = os.environ.get("MCPBASH_HTTPS_ALLOW_ALL", "") in ("true", "1", "yes", "on")
    names = listed(allowed or os.environ.get("MCPBASH_HTTPS_ALLOW_HOSTS", ""))
    is_allowed = host in names if names else everything
    if is_number or not is_allowed or host in listed(denied or os.environ.get("MCPBASH_HTTPS_DENY_HOSTS", "")):
        raise FailedError("host_blocked", "Host blocked by policy")
    return host, port


def addresses(host, port):
    """Return the addresses of a host, all of them public."""
    try:
        found = {row[4][0]: None for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        raise FailedError("network_error", "Network request failed: the host has no address", True) from None
    if not all(is_public(address) for address in found):
        raise FailedError("host_blocked", "Host blocked by policy")
    return list(found)


def fetch(connection, url, agent, most, deadline):
    """Yield the pieces of what a URL has."""
    parts = urllib.parse.urlsplit(url)
    target = urllib.parse.urlunsplit(
        ("", "", urllib.parse.quote(parts.path or "/", "/%:@!$&'()*+,;=~-._"), parts.query, "")
    )
    connection.request("GET", target, headers={"User-Agent": agent, "Accept": "*/*", "Accept-Encoding": "identity"})
    answer = connection.getresponse()
    if 300 <= answer.status < 400:
        place = answer.getheader("Location")
        more = {"location": place} if place else {}
        raise FailedError("redirect", "URL redirects, and redirects are not followed", **more)
    if answer.status >= 400:
        raise FailedError("network_error", f"Network request failed: HTTP error: {answer.status}", True)
    size = 0
    while piece := answer.read1(CHUNK):
        size += len(piece)
        if size > most:
            raise FailedError("size_exceeded", "Response exceeds max-bytes limit")
        if time.monotonic() > deadline:
            raise FailedError("network_error", "Network request failed: it took too long", True)
        yield piece
    if answer.length:
        raise FailedError("network_error", "Network request failed: it ended too early", True)


def attempt(url, place, out, options):
    """Fetch a URL into a file, and return how many bytes it has."""
    host, port = place
    deadline = time.monotonic() + options["seconds"]
    problem = "no address answers"
    for address in addresses(host, port):
        connection = Pinned(host, port, address, options["seconds"], ssl.create_default_context())
        try:
            return keep(fetch(connection, url, options["agent"], options["most"], deadline), out)
        except (OSError, http.client.HTTPException) as found:
            problem = str(found) or type(found).__name__
        finally:
            connection.close()
    raise FailedError("network_error", f"Network request failed: {problem}", True)


def keep(pieces, out):
    """Write pieces to a file that takes the place of `out` when all are there."""
    first = next(pieces, b"")
    try:
        end, name = tempfile.mkstemp(prefix=".mcp-download-", dir=pathlib.Path(out).parent)
    except OSError:
        raise FailedError("write_error", "Could not write to output path") from None
    try:
        with os.fdopen(end, "wb") as file:
            file.write(first)
            for piece in pieces:
                file.write(piece)
            size = file.tell()
        replace(name, out)
    except BaseException:
        pathlib.Path(name).unlink()
        raise
    return size


def replace(name, out):
    try:
        pathlib.Path(name).replace(out)
    except OSError:
        raise FailedError("write_error", "Could not write to output path") from None


def download(url, out, allowed, denied, options):
    """Return what became of it, as mcp_download_safe prints it."""
    delay = options["delay"]
    for number in range(options["attempts"], 0, -1):
        try:
            size = attempt(url, checked_host(url, allowed, denied), out, options)
            return {"success": True, "bytes": size, "path": out}
        except FailedError as failed:
            if not failed.passes or number == 1:
                return {"success": False, "error": failed.error}
        time.sleep(delay * random.uniform(1, 1.5))
        delay *= 2
    raise AssertionError("there is at least one attempt")


def main(words):
    url, out, allowed, denied, most, seconds, agent, attempts, delay = words
    options = {
        "most": min(int(most), 20 << 20),
        "seconds": min(int(seconds), 60),
        "agent": agent,
        "attempts": int(attempts),
        "delay": float(delay),
    }
    sys.stdout.write(json.dumps(download(url, out, allowed, denied, options), separators=(",", ":")))


if __name__ == "__main__":
    main(sys.argv[1:])
