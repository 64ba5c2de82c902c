"""The runtime as built files have it, in a folder: a program in another Python imports it from there."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from mcpc.pack.carried import runtime_sources
from support.files import write_files


@cache
def packed_runtime() -> Path:
    """Return a folder with the packed sources, which this process's temporary folder keeps."""
    folder = Path(mkdtemp(prefix="packed-runtime-"))
    write_files(folder, {name: data.decode() for name, data in runtime_sources().items()})
    return folder
