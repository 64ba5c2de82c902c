"""Addresses, networks and origins in settings, normalised; empty for an invalid value."""

from __future__ import annotations

import re
from ipaddress import ip_network

ORIGIN = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<wild>\*\.)?(?P<host>\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9-]*)(?:\.[a-z0-9-]+)*)"
    r"(?::(?P<port>[0-9]{1,5}))?/?"
)


def parse_networks(text: str) -> list[str]:
    """Return the networks that a text names; empty if it is invalid."""
    if text.lower() == "localhost":
        return ["127.0.0.1/32", "::1/128"]
    try:
        return [str(ip_network(text, strict=False))]
    except ValueError:
        return []


def parse_origin(text: str) -> str:
    """Return an origin, or a pattern of origins; an empty string if it is invalid."""
    if text == "*":
        return text
    found = ORIGIN.fullmatch(text.lower())
    if found is None or (found["scheme"] is None and not found["wild"]):
        return ""
    port = found["port"]
    if port is not None and not 0 < int(port) <= 0xFFFF:
        return ""
    return text.lower().removesuffix("/")
