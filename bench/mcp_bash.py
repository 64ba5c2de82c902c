"""Measure a trivial tool of an mcp-bash project as multiples of `posix_spawn` of /bin/true, in the same rounds.

    TESTS_MCP_BASH=FOLDER python bench/mcp_bash.py [--rounds N] [--peer-rounds N]

The tool sources the SDK, reads an argument and answers with mcp_result_success. Rows: a call run by a fork server; the
same tool in a separate process; that process alone; and mcp-bash itself in FOLDER, if it is set. Exits with status 1 if
a goal is missed: at most MAX_RATIO times /bin/true, and MIN_SPEEDUP times as fast as mcp-bash.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
from typing import TYPE_CHECKING

import places
import wire
from bash import spawned

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MAX_RATIO = 4.0
MIN_SPEEDUP = 100.0
WINDOW = 8
FLOOD = 400
TOOL = """#!/usr/bin/env bash
source "${MCP_SDK}/tool-sdk.sh"
name="$(mcp_args_get '.text // "World"')"
mcp_result_success "$(mcp_json_obj message "${name}")"
"""
NAMES = {"hello": TOOL, "alone": TOOL.replace('source "', ': $$\nsource "')}
ALLOWED = {"MCPBASH_TOOL_ALLOW_DEFAULT": "allow"}


def project() -> Path:
    """Return a project of two tools, one of which runs in a separate process."""
    folder = places.CACHE / "mcp-bash/project"
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in NAMES.items():
        place = folder / "tools" / name / "tool.sh"
        place.parent.mkdir(parents=True)
        place.write_text(text)
        place.chmod(0o755)
        meta = {"name": name, "description": "Greet.", "inputSchema": places.SCHEMA}
        place.with_suffix(".meta.json").write_text(json.dumps(meta))
    (folder / "server.d").mkdir()
    (folder / "server.d/server.meta.json").write_text(json.dumps({"name": "bench", "version": "1.0.0"}))
    return folder


def process(folder: Path) -> Callable[[], float]:
    """Return a function that measures the tool's process alone."""
    sdk = places.ROOT / "templates/mcp_bash/sdk"
    os.environ.update(MCP_SDK=str(sdk), MCP_TOOL_ARGS_JSON='{"text":"x"}')
    return lambda: spawned([str(folder / "tools/hello/tool.sh")])


def peer(place: str, folder: Path, rounds: int) -> list[float]:
    """Return the seconds of calls of mcp-bash itself."""
    variables = {**places.environment(), **ALLOWED, "MCPBASH_PROJECT_ROOT": str(folder)}
    server = wire.Server([f"{place}/bin/mcp-bash"], variables)
    server.start()
    taken = [server.call("hello") for _ in range(rounds)]
    server.close()
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--peer-rounds", type=int, default=3)
    options = parser.parse_args()
    folder, target = project(), places.CACHE / "mcp-bash.pyz"
    places.build(folder, target, places.CACHE / "builds")
    server = wire.Server([str(target)], {**places.environment(), **ALLOWED})
    server.start()
    true, bash = shutil.which("true") or "/bin/true", shutil.which("bash") or "/bin/bash"
    rows: dict[str, Callable[[], float]] = {
        "posix_spawn /bin/true": lambda: spawned([true]),
        "posix_spawn bash -c :": lambda: spawned([bash, "-c", ":"]),
        "posix_spawn of the tool": process(folder),
        "call": lambda: server.call("hello"),
        "call, a process of its own": lambda: server.call("alone"),
    }
    times: dict[str, list[float]] = {name: [] for name in rows}
    for number in range(options.rounds + 3):
        for name in list(rows)[:: -1 if number % 2 else 1]:
            taken = rows[name]()
            if number >= 3:
                times[name].append(taken)
    rate = 1 / server.flood("hello", FLOOD, WINDOW)
    server.close()
    place = os.environ.get("TESTS_MCP_BASH", "")
    if place:
        times["mcp-bash"] = peer(place, folder, options.peer_rounds)
    sys.exit(0 if report(times, rate) else 1)


def report(times: dict[str, list[float]], rate: float) -> bool:
    """Print the rows, and tell whether the goals are met."""
    unit = statistics.median(times["posix_spawn /bin/true"])
    for name, taken in times.items():
        middle = statistics.median(taken)
        print(f"  {name:<28}{middle / unit:>9.2f}x  ({middle * 1e3:.2f} ms, least {min(taken) * 1e3:.2f})")
    call = statistics.median(times["call"])
    print(f"  {rate:,.0f} calls/s with {WINDOW} under way")
    met = call / unit <= MAX_RATIO
    print(f"  call <= {MAX_RATIO:g}x /bin/true: {'met' if met else 'MISSED'}")
    if "mcp-bash" not in times:
        print("  mcp-bash: not measured, TESTS_MCP_BASH names no folder")
        return met
    faster = statistics.median(times["mcp-bash"]) / call
    print(f"  {faster:,.0f}x as fast as mcp-bash, goal {MIN_SPEEDUP:g}: {'met' if faster >= MIN_SPEEDUP else 'MISSED'}")
    return met and faster >= MIN_SPEEDUP


if __name__ == "__main__":
    main()
