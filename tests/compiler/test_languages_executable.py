"""First lines of files: which system runs them, which interpreter they name, and why none does."""

from __future__ import annotations

import pytest

from mcpc.languages.executable import (
    FIXES,
    MARKED,
    MENDED,
    WINDOWS,
    binary_system,
    how_to_fix,
    interpreter_of,
    is_binary,
    not_runnable,
)
from mcpc.sources import Source

SHORT = "#!/" + "x" * 252
# Path, data, the system that a binary is for, the interpreter, how the reason ends that it cannot be run.
FILES: list[tuple[str, bytes, str, str, str]] = [
    ("a", b"#!/bin/sh\n", "", "sh", ""),
    ("a", b"#! /usr/bin/env bash -e\nx", "", "bash", ""),
    ("a", b"#!\t/usr/bin/env -S FOO=1 -u X python3.11 -I", "", "X", ""),
    ("a", b"#!/usr/bin/env\n", "", "", ""),
    ("a", b"#!/bin/env X=1\n", "", "", ""),
    ("a", b"#!/opt/env/tool env\n", "", "tool", ""),
    ("a", b"", "", "", "it is empty"),
    ("a", b"echo", "", "", "it does not begin with `#!`"),
    ("a", b" #!/bin/sh", "", "", "it does not begin with `#!`"),
    ("a", b"\xef\xbb\xbf#!/bin/sh\n", "", "", MARKED),
    ("a", b"\xef\xbb\xbf x", "", "", "it does not begin with `#!`"),
    ("a", b"#!/bin/sh\r\nx\n", "", "sh", WINDOWS),
    ("a", b"#!/bin/sh\nx\r\n", "", "sh", ""),
    ("a", b"#!sh\n/", "", "sh", "its first line names no interpreter by an absolute path"),
    ("a", b"#!\n", "", "", "its first line names no interpreter by an absolute path"),
    ("a", SHORT.encode(), "", "x" * 252, ""),
    ("a", SHORT.encode() + b"\n" + b"y" * 99, "", "x" * 252, ""),
    ("a", SHORT.encode() + b"x", "", "x" * 253, "its first line is longer than 255 bytes"),
    ("a", b"\x7fELF\0", "linux", "", ""),
    ("a", b"\xcf\xfa\xed\xfe", "darwin", "", ""),
    ("a", b"\xca\xfe\xba\xbe", "darwin", "", ""),
    ("a", b"MZ\x90", "win32", "", ""),
    ("a.sh", b"\x7fEL", "", "", "it does not begin with `#!`"),
    ("A.BAT", b"", "win32", "", ""),
    ("a.cmd", b"#!/bin/sh", "win32", "sh", ""),
    ("cmd", b"#!/bin/sh", "", "sh", ""),
]


@pytest.mark.parametrize(("path", "data", "system", "interpreter", "reason"), FILES)
def test_what_runs_a_file(path: str, data: bytes, system: str, interpreter: str, reason: str) -> None:
    source = Source(path, data)
    assert (binary_system(source), is_binary(source), interpreter_of(source)) == (system, bool(system), interpreter)
    found = not_runnable(source)
    assert found.endswith(reason)
    assert bool(found) is bool(reason)
    if reason:
        assert how_to_fix(found) == FIXES.get(reason, MENDED)
