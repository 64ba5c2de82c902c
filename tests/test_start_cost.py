"""The start is guarded by a count of instructions, which no load of the machine changes, and by what it imports."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support import wheels
from support.artifact import build
from support.files import write_files
from support.needs import ROOT, needs


def test_a_start_costs_hardly_more_than_a_bare_python(files_server: Path) -> None:
    needs("valgrind")
    argv = [sys.executable, ROOT / "bench/startup_instructions.py", files_server, "--limit", "1.08"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_start_and_its_lists_import_only_what_the_first_entry_has(files_server: Path) -> None:
    """Any other module of the runtime would have the whole of them read, and kept in memory."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = [("initialize", client), ("tools/list", {}), ("prompts/list", {}), ("server/discover", {"_meta": meta})]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"
        for number, (method, params) in enumerate(asked)
    ]
    argv = [sys.executable, "-X", "importtime", "-I", "-S", files_server]
    done = subprocess.run(argv, input="".join(lines), capture_output=True, text=True, timeout=60, check=True)
    assert len(done.stdout.splitlines()) == len(asked) and '"error"' not in done.stdout
    imported = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    assert "zipimport" in imported
    assert [name for name in imported if name.startswith("mcpc_")] == []


MANY = 2_000


def test_bundled_packages_cost_the_start_nothing(tmp_path: Path) -> None:
    """However many files they have: a server without packages may take as many instructions."""
    needs("valgrind")
    files = {"many/__init__.py": "value = 1\n", **{f"many/m{number}.py": "" for number in range(MANY)}}
    wheel = wheels.wheel(tmp_path / "wheels", "many", "1.0", files)
    code = 'from mcpc import tool\n{}\n\n@tool\ndef use() -> int:\n    """Use it."""\n    return {}\n'
    tools = {
        "alone": {"tools.py": code.format("", 1)},
        "with": {
            "tools.py": code.format("from many import value", "value"),
            "requirements.txt": f"many @ ./{wheel.name}\n",
            wheel.name: wheel.read_bytes(),
        },
    }
    counts = {}
    for name, project in tools.items():
        described = {"server.json": {"serverInfo": {"name": "start", "version": "1"}}, **project}
        artifact = build(write_files(tmp_path / name, described), tmp_path / f"{name}.pyz")
        argv = [sys.executable, ROOT / "bench/startup_instructions.py", artifact]
        printed = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False).stdout
        counts[name] = float(printed.split(": ")[1].split()[0])
    assert counts["with"] < 1.02 * counts["alone"]


@pytest.mark.slow
def test_a_project_of_mcp_bash_costs_no_more() -> None:
    """However many tools it has, and with a list of all of them."""
    needs("bash", "valgrind")
    argv = [sys.executable, ROOT / "bench/mcp_bash_start.py", "--tools", "100", "--rounds", "1"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every tool listed" in done.stdout
