"""A root folder with nothing but BusyBox, as Alpine's container images have it, and programs run in it."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from support.needs import needs
from support.processes import run_program

LINKS = ("bin/sh", "bin/cat", "bin/ls", "usr/bin/env")
LEFT_OUT = ("test", "tests", "site-packages", "idlelib", "ensurepip", "tkinter", "lib2to3", "__pycache__", "config-*")
"""Parts of the standard library that no server imports."""


def new_root(folder: Path) -> Path:
    """Return a new root folder; skip the test without BusyBox or the right to change the root."""
    needs("busybox")
    busybox = Path(str(shutil.which("busybox"))).resolve()
    if any(shared_libraries(busybox)):
        pytest.skip("BusyBox is not linked statically (Debian's package is busybox-static)")
    for name in ("bin/busybox", *LINKS):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(busybox, folder / "bin/busybox")
    for name in LINKS:
        (folder / name).symlink_to("/bin/busybox")
    for name in ("dev", "tmp", "proc"):
        (folder / name).mkdir()
    (folder / "dev/null").touch()
    if os.geteuid() != 0 or run_in(folder, ["/bin/sh", "-c", ":"], {}).returncode != 0:
        pytest.skip("changing the root folder needs to be root")
    return folder


def run_in(
    root: Path, argv: list[str], environment: Mapping[str, str], lines: bytes = b"", cwd: str = "/"
) -> subprocess.CompletedProcess[bytes]:
    """Run a program below a root folder, in a folder of that."""

    def enter() -> None:
        os.chroot(root)
        os.chdir(cwd)

    try:
        return run_program(argv, input=lines, env=dict(environment), preexec_fn=enter, text=False)
    except (PermissionError, subprocess.SubprocessError) as problem:
        return subprocess.CompletedProcess(argv, 127, b"", str(problem).encode())


def shared_libraries(program: Path) -> Iterator[Path]:
    """Yield the libraries that a program is linked with, and the loader."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    for found in re.findall(r"(/\S+) \(0x", said):
        yield Path(found)


def put_python(root: Path, place: str) -> None:
    """Copy the running Python into a root folder, its command at `place`; its files keep their paths."""
    executable = Path(sys._base_executable).resolve()  # type: ignore[attr-defined]
    library = Path(sysconfig.get_path("stdlib"))
    modules = [*library.glob("lib-dynload/*.so")]
    needed = {path for program in (executable, *modules) for path in shared_libraries(program)}
    for path in (executable, *needed):
        target = root / str(path).lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    left_out = shutil.ignore_patterns(*LEFT_OUT)
    shutil.copytree(library, root / str(library).lstrip("/"), ignore=left_out, dirs_exist_ok=True)
    command = root / place.lstrip("/")
    command.parent.mkdir(parents=True, exist_ok=True)
    if not command.exists():
        command.symlink_to(executable)
