"""How mcpc itself is installed, for another Python: from where, and with which versions of what it needs."""

from __future__ import annotations

import json
from importlib import metadata
from typing import TYPE_CHECKING

from mcpc import DISTRIBUTION
from mcpc.packages.pep508 import find_closure, normalised_name
from mcpc.packages.platforms import HERE_AND_NOW, marker_values
from mcpc.packages.staging import installed_package

if TYPE_CHECKING:
    from collections.abc import Iterator


def origin() -> tuple[str, bool]:
    """Return the requirement by which this mcpc is installed, and whether that is a checkout.

    It is the name and the version, or the address or folder that it came from.
    """
    place = json.loads(metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    address = str(place.get("url", "")).removeprefix("file://")
    is_editable = place.get("dir_info", {}).get("editable") is True
    return address or f"{DISTRIBUTION}=={metadata.version(DISTRIBUTION)}", is_editable


def pins() -> Iterator[str]:
    """Yield the packages that mcpc needs, each at its version here."""
    packages = find_closure((DISTRIBUTION,), installed_package, marker_values(HERE_AND_NOW)).found
    own = normalised_name(DISTRIBUTION)
    yield from (f"{name}=={packages[name].version}" for name in sorted(packages) if name != own)
