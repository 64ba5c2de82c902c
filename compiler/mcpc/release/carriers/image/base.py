"""The base of an image, read on this machine: an OCI layout (a folder or an archive), or an archive of `docker save`.

Every blob is verified by its digest, and a base may be required to have a certain digest.  Nothing is fetched.
"""

from __future__ import annotations

import json
import re
import tarfile
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mcpc.release.carriers.built_server import sha256
from mcpc.release.carriers.errors import UnusableFileError
from mcpc.release.carriers.image.blobs import INDEX, LAYER, MANIFEST, REF_NAME, descriptor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Item = dict[str, Any]

DIGEST = re.compile(r"sha256:[a-f0-9]{64}")
MAX_JSON = 4 << 20
DOCKER = "application/vnd.docker."
INDEXES = (INDEX, f"{DOCKER}distribution.manifest.list.v2+json")
MANIFESTS = (MANIFEST, f"{DOCKER}distribution.manifest.v2+json")
LAYERS = {
    LAYER: LAYER,
    f"{LAYER}+gzip": f"{LAYER}+gzip",
    f"{LAYER}+zstd": f"{LAYER}+zstd",
    f"{DOCKER}image.rootfs.diff.tar": LAYER,
    f"{DOCKER}image.rootfs.diff.tar.gzip": f"{LAYER}+gzip",
}
"""Media types of layers, and those of OCI for the same bytes."""


@dataclass(frozen=True, slots=True)
class BaseImage:
    """The base for one processor: its configuration, and its layers with their descriptors.

    `digest`: that of its manifest; empty for an archive of `docker save`, which has none.
    """

    config: Item
    layers: tuple[tuple[Item, bytes], ...]
    digest: str = ""

    @property
    def machine(self) -> str:
        """The processor, as `amd64`."""
        return str(self.config.get("architecture", ""))


class BlobStore(Protocol):
    """Files of a base by path."""

    def read(self, path: str) -> bytes | None:
        """Return a file; None if there is none."""
        ...


@dataclass(frozen=True, slots=True)
class FolderStore:
    """The files of a layout in a folder."""

    folder: Path

    def read(self, path: str) -> bytes | None:
        """Return a file; None if there is none."""
        place = self.folder / path
        return place.read_bytes() if place.is_file() else None


@dataclass(frozen=True, slots=True)
class ArchiveStore:
    """The files of an archive; layers may be links to others in it."""

    archive: tarfile.TarFile

    def read(self, path: str) -> bytes | None:
        """Return a file; None if there is none."""
        for name in (path, f"./{path}"):
            try:
                member = self.archive.extractfile(name)
            except KeyError:
                continue
            if member is not None:
                with closing(member):
                    return member.read()
        return None


def read_base(path: Path, digest: str = "") -> tuple[BaseImage, ...]:
    """Return the images of a base, one for each processor; raise UnusableFileError if it cannot be used."""
    if digest and not DIGEST.fullmatch(digest):
        raise UnusableFileError(f"`{digest}` is not a digest; expected `sha256:` and 64 hexadecimal digits")
    with blob_store(path) as store:
        try:
            images = tuple(images_of_layout(store, digest) if store.read("oci-layout") else saved_images(store, digest))
        except (ValueError, LookupError, TypeError, AttributeError, tarfile.TarError) as problem:
            if isinstance(problem, UnusableFileError):
                raise UnusableFileError(f"{path}: {problem}") from None
            raise UnusableFileError(f"{path} is neither an OCI layout nor an archive of `docker save`") from None
    if not images:
        raise UnusableFileError(f"{path} has no image for Linux")
    return images


@contextmanager
def blob_store(path: Path) -> Iterator[BlobStore]:
    """Yield the files of a base."""
    if path.is_dir():
        yield FolderStore(path)
        return
    try:
        archive = tarfile.open(path)  # noqa: SIM115
    except tarfile.TarError:
        raise UnusableFileError(f"{path} is neither a folder nor an archive") from None
    with archive:
        yield ArchiveStore(archive)


def images_of_layout(store: BlobStore, digest: str) -> Iterator[BaseImage]:
    """Yield the images of a layout: of the entry with this digest, or of its only one."""
    entries = json_object(store.read("index.json"))["manifests"]
    chosen = [entry for entry in entries if not digest or entry["digest"] == digest]
    if digest and not chosen:
        found = ", ".join(f"{entry['digest']} {name_of(entry)}".strip() for entry in entries)
        raise UnusableFileError(f"it has no image with the digest {digest}; it has {found}")
    if len(chosen) > 1 and len({name_of(entry) for entry in chosen}) > 1:
        found = ", ".join(f"{entry['digest']} ({name_of(entry)})" for entry in chosen)
        raise UnusableFileError(f"it has several images; choose one with `--base-digest`: {found}")
    for entry in chosen:
        yield from images_of_entry(store, entry)


def name_of(entry: Item) -> str:
    """Return the name of an entry in a layout."""
    return str((entry.get("annotations") or {}).get(REF_NAME, ""))


def images_of_entry(store: BlobStore, entry: Item) -> Iterator[BaseImage]:
    """Yield the images of an entry: one, or those of an index; attestations are not images."""
    data = verified_blob(store, entry)
    if entry["mediaType"] in INDEXES:
        for inner in json_object(data)["manifests"]:
            is_linux = (inner.get("platform") or {}).get("os", "linux") == "linux"
            if is_linux and store.read(blob_path(inner["digest"])) is not None:  # others may have been left out
                yield from images_of_entry(store, inner)
        return
    if entry["mediaType"] not in MANIFESTS:
        return
    manifest = json_object(data)
    config = json_object(verified_blob(store, manifest["config"]))
    if config.get("os") == "linux":
        layers = tuple((oci_layer(layer), verified_blob(store, layer)) for layer in manifest["layers"])
        yield BaseImage(config, layers, entry["digest"])


def oci_layer(layer: Item) -> Item:
    """Return the descriptor of a layer with the media type of OCI."""
    if layer["mediaType"] not in LAYERS:
        raise UnusableFileError(f"a layer has the type `{layer['mediaType']}`, which is not distributed with images")
    return {"mediaType": LAYERS[layer["mediaType"]], "digest": layer["digest"], "size": layer["size"]}


def verified_blob(store: BlobStore, entry: Item) -> bytes:
    """Return the blob of a descriptor, if it is what the descriptor says."""
    digest = entry["digest"]
    data = store.read(blob_path(digest))
    if data is None:
        raise UnusableFileError(f"the blob {digest} is missing")
    if sha256(data) != digest or len(data) != entry["size"]:
        raise UnusableFileError(f"the blob {digest} is damaged")
    return data


def blob_path(digest: str) -> str:
    """Return the path of a blob; any other text could lead anywhere."""
    if not DIGEST.fullmatch(digest):
        raise UnusableFileError(f"`{digest}` is not a digest of SHA-256")
    return f"blobs/sha256/{digest.removeprefix('sha256:')}"


def saved_images(store: BlobStore, digest: str) -> Iterator[BaseImage]:
    """Yield the image of an archive that `docker save` wrote; its digest is that of its configuration."""
    rows = json.loads(store.read("manifest.json") or b"")
    rows = [row for row in rows if not digest or config_digest(store, row) == digest]
    if len(rows) != 1:
        raise UnusableFileError(f"it has {len(rows)} images{' with this digest' if digest else ''}; expected one")
    config = json_object(store.read(rows[0]["Config"]))
    layers = [store.read(path) or b"" for path in rows[0]["Layers"]]
    expected = config["rootfs"]["diff_ids"]
    described = [descriptor(LAYER, layer) for layer in layers]
    if [layer["digest"] for layer in described] != expected:
        raise UnusableFileError("a layer is damaged: it is not what the configuration says")
    if config.get("os") == "linux":
        yield BaseImage(config, tuple(zip(described, layers, strict=True)))


def config_digest(store: BlobStore, row: Item) -> str:
    """Return the digest of the configuration of a saved image, by which Docker names it."""
    return sha256(store.read(row["Config"]) or b"")


def json_object(data: bytes | None) -> Item:
    """Return a JSON object; raise ValueError for anything else."""
    if data is None or len(data) > MAX_JSON:
        raise ValueError("a file is missing or too large")
    found = json.loads(data)
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return found
