"""`docs/production.md`, followed from a project to two replicas that are restarted while clients ask; none asks again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from docs.production import PAGE
from support.artifact import build, mcpc
from support.files import write_files
from support.needs import ROOT, lacking, needs
from support.scale import scaled
from support.systemctl import STORE

REQUESTS = scaled(5_000, 300)
PROJECT = {
    "server.json": '{"serverInfo": {"name": "files", "version": "1.0.0"}}',
    "tools.py": '''
import time

from mcpc import tool


@tool(readOnlyHint=True)
def add(a: int, b: int, seconds: float = 0.0) -> int:
    """Add two numbers, after a while."""
    time.sleep(seconds)
    return a + b
''',
}
OWN_MACHINE = ["unshare", "--map-root-user", "--mount", "--net"]


@pytest.mark.slow
def test_no_request_is_lost_by_a_restart_as_the_page_says(tmp_path: Path) -> None:
    needs("unshare", "ip", "nginx", "openssl", "curl", "bash")
    if not STORE:
        lacking("neither valkey-server nor redis-server is installed (`make deps` says how to get one)")
    mounted = ["mount", "-t", "tmpfs", "machine", "/opt"]
    if subprocess.run([*OWN_MACHINE, *mounted], capture_output=True, check=False).returncode:
        pytest.skip("this system makes no namespaces, in which the machine of the page would be")
    here = tmp_path / "here"
    write_files(tmp_path / "files", PROJECT)
    build(tmp_path / "files", here / "server.pyz", "--http", "--redis")
    mcpc("ship", "systemd", here / "server.pyz", "--host", "mcp.example.com", "-o", here / "files@.service", status=0)
    mcpc("ship", "nginx", here / "server.pyz", "--host", "mcp.example.com", "-o", here / "files.conf", status=0)
    command = [*OWN_MACHINE, "--pid", "--fork", "--kill-child", "--mount-proc"]
    command += [sys.executable, "-m", "docs.production", str(tmp_path), str(REQUESTS)]
    done = subprocess.run(command, cwd=ROOT / "tests", capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout)
    sys.stdout.write(f"\n{seen['done']} requests, {seen['during']} of them in {seen['restarts']} restarts of both\n")
    assert seen["lost"] == []
    assert seen["done"] >= REQUESTS
    assert seen["during"] > 10, "nobody asked while the replicas were restarted"
    assert (seen["opened"], seen["same"]) == ("files", 0)
    assert (seen["metrics"], seen["logged"]) == ([401, 200] * 2, [True, True])


def test_the_page_makes_what_the_test_makes() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for line in (
        "$ mcpc build examples/files -o server.pyz --http --redis",
        "$ mcpc ship systemd server.pyz --host mcp.example.com -o files@.service",
        "$ mcpc ship nginx server.pyz --host mcp.example.com -o files.conf",
    ):
        assert line in text.splitlines()
