"""The archive of a built server, opened for reading: the blob and the bytecode are uncompressed, read in place."""

from __future__ import annotations

from _frozen_importlib_external import MAGIC_NUMBER
from zipimport import zipimporter

from mcpc_runtime.protocol.image import Image, Index
from mcpc_runtime.transports.platforms import system
from mcpc_runtime.transports.platforms.artifact_file import entry_reader, watch_archive


def open_image(loader: zipimporter, index: Index) -> Image:
    """Return the image of an archive; `loader` is the zip importer that loaded this module."""
    archive = loader.archive
    # One descriptor for all reads: a file that takes the name later is another server.
    descriptor = system.open(archive, system.O_RDONLY)
    known = watch_archive(archive)

    def entry(name: str) -> bytes:
        return loader.get_data(f"{archive}/{name}")

    image = Image(index, lambda name: entry_reader(descriptor, known, loader, name), entry, MAGIC_NUMBER)
    image.archive = archive
    return image
