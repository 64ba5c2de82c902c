"""Blobs and descriptors of OCI (image-spec 1.1): everything is found by its SHA-256 and has canonical bytes."""

from __future__ import annotations

import io
import json
import tarfile
from typing import TYPE_CHECKING, Any

from mcpc.release.carriers.built_server import sha256
from mcpc.release.carriers.files import PLAIN, CarrierFile

if TYPE_CHECKING:
    from collections.abc import Iterable

    Item = dict[str, Any]

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"
REF_NAME, CONTAINERD_NAME = "org.opencontainers.image.ref.name", "io.containerd.image.name"


def canonical_json(value: Item) -> bytes:
    """Return JSON with sorted keys and without spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def descriptor(media_type: str, data: bytes, **more: Any) -> Item:
    """Return the descriptor of a blob; members without a value are left out."""
    members = {name: value for name, value in more.items() if value}
    return {"mediaType": media_type, "digest": sha256(data), "size": len(data), **members}


def blob_file(data: bytes) -> CarrierFile:
    """Return a blob as a file of a layout."""
    return CarrierFile(f"blobs/sha256/{sha256(data).removeprefix('sha256:')}", PLAIN, data)


def layout_files(entry: Item, blobs: Iterable[bytes]) -> tuple[CarrierFile, ...]:
    """Return the files of a layout with one entry."""
    index = canonical_json({"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]})
    layout = canonical_json({"imageLayoutVersion": "1.0.0"})
    files = {blob_file(data) for data in blobs}
    return (CarrierFile("index.json", PLAIN, index), CarrierFile("oci-layout", PLAIN, layout), *sorted(files))


def tar_bytes(files: Iterable[CarrierFile], folders: Iterable[tuple[str, int]] = ()) -> bytes:
    """Return an uncompressed archive (USTAR) of files and folders: sorted, of root, at the beginning of time."""
    entries = [(folder, mode, None) for folder, mode in folders] + [(file.path, file.mode, file.data) for file in files]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, mode, data in sorted(entries, key=lambda entry: entry[0]):
            info = tarfile.TarInfo(name)
            info.type, info.mode, info.size = (
                tarfile.DIRTYPE if data is None else tarfile.REGTYPE,
                mode,
                len(data or b""),
            )
            archive.addfile(info, io.BytesIO(data or b""))
    return buffer.getvalue()


def layout_archive(files: tuple[CarrierFile, ...]) -> bytes:
    """Return a layout as an archive, which `docker load` and others read."""
    return tar_bytes(files, (("blobs", 0o755), ("blobs/sha256", 0o755)))
