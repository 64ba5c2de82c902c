"""The tables of the pages say what the adapter has: every name in them is found there, or has no stand-in."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"`((?:fastmcp|mcp)\.[\w.]+)`")
LOOK = """
import json, sys
from mcpc_runtime.systems.fastmcp import standins
standins.install(sys.argv[1])
replies = sys.stdout
from mcpc_runtime.systems.fastmcp.description import is_there
replies.write(json.dumps({name: is_there(name) for name in sys.argv[2:]}))
"""
PAGES = [("from-fastmcp.md", "fastmcp4"), ("from-python-sdk.md", "sdk1")]


@pytest.mark.parametrize(("page", "generation"), PAGES)
def test_the_adapter_has_what_its_page_says(page, generation):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*) \| (adapter|(?:framework|SDK) itself) \|$", text, re.MULTILINE)
    said = {name: way == "adapter" for names, way in rows for name in NAME.findall(names)}
    assert set(said.values()) == {True, False}
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "runtime")}
    command = [sys.executable, "-c", LOOK, generation, *said]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
    assert json.loads(done.stdout) == said


def test_attributes_of_classes_are_looked_for_too():
    said = {
        "fastmcp.FastMCP.tool": True, "fastmcp.FastMCP.as_proxy": False, "fastmcp.FastMCP.from_openapi": False,
        "mcp.types.Tool.model_validate": True, "fastmcp.settings.port": True, "fastmcp.nothing": False,
    }  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "runtime")}
    command = [sys.executable, "-c", LOOK, "fastmcp4", *said]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
    assert json.loads(done.stdout) == said
