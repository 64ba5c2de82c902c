"""How mcpc itself is installed, for another Python: from where, and with which versions of what it needs."""

from __future__ import annotations

import json
from importlib import metadata
from typing import TYPE_CHECKING

from mcpc import DISTRIBUTION
from mcpc.dependencies.pep508 import find_closure, normalised_name
from mcpc.dependencies.platforms import HERE_AND_NOW, marker_values
from mcpc.dependencies.staging import installed_package

if TYPE_CHECKING:
    from collections.abc import Iterator


def origin() -> str:
    """Return the requirement by which this mcpc is installed: its name and version, or the address it came from."""
    place = json.loads(metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    return str(place.get("url", "")).removeprefix("file://") or f"{DISTRIBUTION}=={metadata.version(DISTRIBUTION)}"


def is_editable() -> bool:
    """Tell whether this mcpc is a checkout."""
    place = json.loads(metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    return place.get("dir_info", {}).get("editable") is True


def pins() -> Iterator[str]:
    """Yield the packages that mcpc needs, each at its version here."""
    found = find_closure((DISTRIBUTION,), installed_package, marker_values(HERE_AND_NOW)).found
    yield from (f"{name}=={found[name].version}" for name in sorted(found) if name != normalised_name(DISTRIBUTION))
