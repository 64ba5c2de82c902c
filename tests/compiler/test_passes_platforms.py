"""Handlers and the platforms that a server is built for: a Bash on Windows, and compiled programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mcpc.dependencies.platforms import marker_values, parse_target, system_of
from mcpc.languages.executable import binary_system, interpreter_of
from mcpc.sources import Source
from support.artifact import mcpc

if TYPE_CHECKING:
    from pathlib import Path

ELF, MACH_O, PE = b"\x7fELF\2\1\1" + b"\0" * 60, b"\xcf\xfa\xed\xfe" + b"\0" * 60, b"MZ" + b"\0" * 60
LINUX, MACOS, WINDOWS, ARM = "manylinux2014_x86_64", "macosx_11_0_arm64", "win_amd64", "win_arm64-cp312"


def project(folder: Path, data: bytes) -> Path:
    """Write a project with a Python tool, a Bash tool and a program."""
    folder.mkdir()
    tools = [
        {"name": name, "description": "It works.", "inputSchema": {"type": "object"}} for name in ("first", "second")
    ]
    meta = {"_meta": {"mcpc/handler": {"command": ["bin/convert"]}}}
    (folder / "server.json").write_text(json.dumps({"serverInfo": {"name": "demo", "version": "1.0.0"}}))
    (folder / "tools.json").write_text(json.dumps({"tools": [*tools, {**tools[0], "name": "third", **meta}]}))
    (folder / "tools.py").write_text('def first():\n    return "x"\n')
    (folder / "tools.bash").write_text("tool_second() { :; }\n")
    (folder / "bin").mkdir()
    (folder / "bin/convert").write_bytes(data)
    (folder / "bin/convert").chmod(0o755)
    return folder


def test_a_build_warns_and_writes_its_file(tmp_path: Path) -> None:
    done = mcpc("build", project(tmp_path / "p", ELF), "-o", tmp_path / "x.pyz", "--platform", WINDOWS)
    assert done.returncode == 0
    assert "MCP503" in done.stderr
    assert "MCP504" in done.stderr
    assert (tmp_path / "x.pyz").exists()


FIRST_LINES = {
    b"#!/bin/sh\n": "sh",
    b"#!/usr/bin/env python3\n": "python3",
    b"#! /usr/bin/env -S A=1 bash -e\n": "bash",
    b"#!/usr/bin/env\n": "",
    b"no\n": "",
    b"": "",
    b"#!\n": "",
}


@pytest.mark.parametrize("data", FIRST_LINES)
def test_the_interpreter_is_the_one_that_is_started(data: bytes) -> None:
    assert interpreter_of(Source("x", data)) == FIRST_LINES[data]
    assert binary_system(Source("x", data)) == ""


def test_tags_of_windows_are_targets_with_its_markers() -> None:
    systems = {tag: system_of(tag) for tag in (LINUX, MACOS, WINDOWS, ARM, "win32", "windows", "")}
    assert [*systems.values()] == ["linux", "darwin", "win32", "win32", "win32", "", ""]
    machines = []
    for tag in (WINDOWS, ARM, "win32"):
        target = parse_target(tag)
        values = marker_values(target)  # type: ignore[arg-type]
        assert (values["sys_platform"], values["os_name"], values["platform_system"]) == ("win32", "nt", "Windows")
        machines.append(values["platform_machine"])
    assert machines == ["AMD64", "ARM64", "x86"]
