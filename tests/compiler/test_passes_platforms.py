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
PROGRAMS = {
    "shell": (b"#!/bin/sh\necho\n", "MCP503"),
    "env bash": (b"#!/usr/bin/env -S bash -e\n", "MCP503"),
    "python": (b"#!/usr/bin/env python3\n", ""),
    "node": (b"#!/usr/bin/env node\n", ""),
    "elf": (ELF, "MCP504"),
    "mach-o": (MACH_O, "MCP504"),
    "pe": (PE, ""),
}
"""A program, and what is reported about it for Windows."""


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


def reported(folder: Path, *platforms: str) -> list[tuple[str, str]]:
    """Return the codes and the first words of what `mcpc check` reports about platforms."""
    options = [word for tag in platforms for word in ("--platform", tag)]
    done = mcpc("check", folder, "--format", "json", *options)
    found = json.loads(done.stdout)["diagnostics"]
    assert all(each["severity"] in ("warning", "note") for each in found), found
    return [
        (each["code"], each["message"].split()[0].strip("`,")) for each in found if each["code"] in ("MCP503", "MCP504")
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_windows_runs_neither_shells_nor_programs_of_others(name: str, tmp_path: Path) -> None:
    data, code = PROGRAMS[name]
    folder = project(tmp_path / "p", data)
    subject = {"MCP503": "third", "MCP504": "bin/convert"}
    expected = {("MCP503", "second"), *([(code, subject[code])] if code else [])}
    assert set(reported(folder, WINDOWS)) == expected
    assert set(reported(folder, LINUX, ARM)) == expected | ({("MCP504", "bin/convert")} if name == "pe" else set())


@pytest.mark.parametrize(("first_line", "needs_bash"), [("", True), ("#!/usr/bin/env python3\n", False)])
def test_bash_runs_a_script_of_mcp_bash_that_names_nothing(first_line: str, needs_bash: bool, tmp_path: Path) -> None:
    tool = tmp_path / "tools/greet/tool.sh"
    tool.parent.mkdir(parents=True)
    tool.write_text(f"{first_line}echo\n")
    tool.with_name("tool.meta.json").write_text('{"name": "greet", "description": "Greets."}')
    assert reported(tmp_path, WINDOWS) == ([("MCP503", "greet")] if needs_bash else [])


def test_a_batch_file_is_for_windows(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", b"@echo off\r\n")
    (folder / "bin/convert").rename(folder / "bin/convert.CMD")
    (folder / "tools.json").write_text((folder / "tools.json").read_text().replace("bin/convert", "bin/convert.CMD"))
    assert set(reported(folder, WINDOWS)) == {("MCP503", "second")}
    assert set(reported(folder, LINUX)) == {("MCP504", "bin/convert.CMD")}


@pytest.mark.parametrize(
    ("data", "platforms", "others"),
    [
        (ELF, (LINUX,), ""),
        (ELF, (), ""),
        (ELF, (MACOS,), "is for Linux and cannot run on macOS"),
        (ELF, (LINUX, MACOS, WINDOWS), "is for Linux and cannot run on macOS, Windows"),
        (MACH_O, (MACOS,), ""),
        (MACH_O, (), "is for macOS and cannot run on Linux"),
        (PE, (LINUX,), "is for Windows and cannot run on Linux"),
        (b"#!/bin/sh\n", (LINUX, MACOS), ""),
    ],
)
def test_a_compiled_program_runs_on_its_own_system(
    data: bytes, platforms: tuple[str, ...], others: str, tmp_path: Path
) -> None:
    folder = project(tmp_path / "p", data)
    options = [word for tag in platforms for word in ("--platform", tag)]
    done = mcpc("check", folder, "--format", "json", *options)
    found = [each for each in json.loads(done.stdout)["diagnostics"] if each["code"] == "MCP504"]
    assert [each["message"].partition("`third`, ")[2] for each in found] == ([others] if others else [])
    assert all(each["hint"] for each in found)


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
