"""The SBOM beside a built file: the one inside, with what only is known when the file is finished.

That is the digest of the file, the digest of its content, and, if asked for, the commit of its sources and the time of
SOURCE_DATE_EPOCH. None of them is inside the file, where they would change its bytes without a change of its sources.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from mcpc.pack.archive import ArchiveEntry, content_digest
from mcpc.pack.manifest import SBOM
from mcpc.pack.sbom import sha256_hash, with_serial_number
from mcpc.release.trust.contents import UnreadableArtifactError

if TYPE_CHECKING:
    from mcpc.reading import Json
    from mcpc.release.trust.contents import ArtifactContents

CONTENT_DIGEST = "mcpc:contentDigest"


def inner_bill(contents: ArtifactContents) -> dict[str, Any]:
    """Return the SBOM inside a file; raise UnreadableArtifactError."""
    try:
        bill: Any = json.loads(contents.top[SBOM].data)
    except (KeyError, ValueError, RecursionError):
        raise UnreadableArtifactError(f"{SBOM} is missing or damaged") from None
    component = bill.get("metadata", {}).get("component") if isinstance(bill, dict) else None
    if not isinstance(component, dict) or not isinstance(bill.get("components"), list):
        raise UnreadableArtifactError(f"{SBOM} is not a bill of materials of mcpc")
    return {**bill}


def outer_bill(contents: ArtifactContents, commit: str = "", epoch: str = "") -> dict[str, Json]:
    """Return the SBOM beside a file; `epoch`: the value of SOURCE_DATE_EPOCH, a number of seconds."""
    bill = inner_bill(contents)
    entries = [ArchiveEntry(name, entry.data) for name, entry in contents.top.items()]
    metadata = bill["metadata"]
    component = {
        **metadata["component"],
        "hashes": [sha256_hash(contents.sha256)],
        **({"pedigree": {"commits": [{"uid": commit}]}} if commit else {}),
        "properties": [
            *metadata["component"].get("properties", ()),
            {"name": CONTENT_DIGEST, "value": content_digest(entries)},
        ],
    }
    moment = {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(epoch)))} if epoch else {}
    return with_serial_number({**bill, "metadata": {**moment, **metadata, "component": component}})
