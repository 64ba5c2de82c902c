"""Container images as OCI layouts, made without a daemon and without a network.

blobs.py    blobs by digest, and the layout of a folder or an archive
base.py     the base image: a layout or an archive of `docker save`, on this machine
labels.py   how an image describes itself
build.py    the layer with the server, and the image of each processor
"""

from mcpc.release.carriers.image.base import BaseImage, read_base
from mcpc.release.carriers.image.build import ImageOptions, image_layout, missing_in_image

__all__ = ["BaseImage", "ImageOptions", "image_layout", "missing_in_image", "read_base"]
