"""Addresses that a request must not reach: where only the machine itself, or its cloud, should be asked."""

from __future__ import annotations

from ipaddress import ip_address

METADATA = ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192")
"""Where clouds answer with the credentials of the machine."""


class AddressRefused(OSError):  # noqa: N818 - it is a refusal, and no fault
    """A request would reach such an address."""


def refuse_address(text: str, host: str, named: bool) -> None:
    """Raise AddressRefused for such an address of a host, unless the operator named the address itself."""
    if is_internal(text) and not (named and same_address(text, host)):
        raise AddressRefused(f"`{host}` has the address {text}, which requests must not reach")


def is_internal(text: str) -> bool:
    """Tell whether an address is of the local link, of a cloud's metadata, or none of one machine."""
    address = ip_address(text.partition("%")[0])
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_link_local or address.is_multicast or address.is_unspecified or str(address) in METADATA


def same_address(text: str, host: str) -> bool:
    """Tell whether a host is written as this address."""
    try:
        return ip_address(text.partition("%")[0]) == ip_address(host.partition("%")[0])
    except ValueError:
        return False
