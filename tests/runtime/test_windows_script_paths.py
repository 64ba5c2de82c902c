"""Paths and programs of mcp-bash's scripts on Windows; on every system."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from mcpc_runtime.handlers.invocations import ProcessResult
from mcpc_runtime.systems.mcp_bash.processes import PRINT_ENVIRONMENT, parse_exported
from mcpc_runtime.transports.platforms.windows import script_paths
from mcpc_runtime.transports.platforms.windows.supervision.programs import shell_path
from support.needs import needs

SHELL, OTHER = b"#!/usr/bin/env bash\n", b"#!/usr/bin/env python3\n"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/c/Users/me", "C:/Users/me"),
        ("/c", "C:/"),
        ("/C:/Users/me", "C:/Users/me"),
        ("C:\\Users\\me", "C:/Users/me"),
        ("c:/x", "c:/x"),
        ("//host/share/x", "//host/share/x"),
        ("\\\\host\\share", "//host/share"),
        ("/tmp/x", "/tmp/x"),
        ("data/x", "data/x"),
        ("", ""),
    ],
)
def test_a_path_is_read_however_it_is_written(text: str, path: str) -> None:
    assert script_paths.local_path(text) == path
    assert script_paths.local_path(path) == path


@pytest.mark.parametrize(
    ("path", "is_absolute"),
    [("C:/x", True), ("//host/share", True), ("C:x", False), ("/tmp/x", False), ("x", False), ("", False)],
)
def test_a_path_begins_at_a_drive_or_a_share(path: str, is_absolute: bool) -> None:
    assert script_paths.is_absolute(path) == is_absolute


def test_paths_are_written_for_the_program_that_reads_them() -> None:
    for head, path, both in ((SHELL, "/c/a b/x", "/c/a b/x:/d/y"), (OTHER, "C:\\a b\\x", "C:\\a b\\x;D:\\y")):
        write_path = script_paths.path_writer(head)
        assert write_path("C:/a b/x") == path
        assert script_paths.joined_paths(["C:/a b/x", "D:/y"], write_path) == both
    assert script_paths.path_writer(b"#!/bin/sh -e\n") is shell_path


@pytest.mark.parametrize(
    ("path", "head", "is_program"),
    [
        ("tool.sh", b"#!/bin/sh\n", True),
        ("tool", b"MZ\x90", True),
        ("tool.CMD", b"@echo off", True),
        ("tool.exe", b"", True),
        ("tool.sh", b"echo x\n", False),
        ("tool", b"\x7fELF", False),
    ],
)
def test_programs_are_known_by_their_first_bytes_or_their_extension(path: str, head: bytes, is_program: bool) -> None:
    assert script_paths.begins_as_program(path, head) == is_program


@pytest.mark.parametrize("translates", [False, True])
def test_an_environment_file_exports_what_it_changes(translates: bool, tmp_path: Path) -> None:
    needs("bash")
    bash = shutil.which("bash")
    assert bash is not None
    (tmp_path / "env.sh").write_text('export ONE="a\nb" KEPT=1; OTHER=2; echo noise; PATH="/c/bin:$PATH"')
    if translates:  # as Git and MSYS2 have it
        (tmp_path / "cygpath").write_text('#!/bin/sh\nprintf "windows:%s" "$3"')
        (tmp_path / "cygpath").chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    words = [bash, "--norc", "--noprofile", "-c", PRINT_ENVIRONMENT, "mcp-bash", str(tmp_path / "env.sh")]
    ran = subprocess.run(words, env={"PATH": path, "KEPT": "1"}, capture_output=True, check=True, timeout=60)
    completed = ProcessResult()
    completed.status, completed.printed = ran.returncode, ran.stdout
    expected = f"windows:/c/bin:{path}" if translates else f"/c/bin:{path}"
    assert parse_exported(completed) == {b"ONE": b"a\nb", b"PATH": expected.encode()}
    assert ran.stderr == b"noise\n"
