"""Count and time the start of an mcp-bash project over an idle Python: initialize, tools/list, end of input.

    python bench/mcp_bash_start.py [--tools N] [--rounds N]

Every tool sources the SDK and has a metadata file. Rows: the policy allows everything, lists all tools, or allows
nothing, which is reported on standard error; and a native project with as many tools. Instruction counts need valgrind
and do not depend on the machine's load; times are pairs in the same rounds. Exits with status 1 if a count exceeds the
limit of every start.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import time
from typing import TYPE_CHECKING

import places
import startup_instructions
import wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

TOOL = """#!/usr/bin/env bash
source "${MCP_SDK}/tool-sdk.sh"
mcp_result_success "$(mcp_json_obj message "$(mcp_args_get .text)")"
"""


def names(count: int) -> list[str]:
    """Return the names of `count` tools."""
    return [f"tool-{number:05d}" for number in range(count)]


def write_project(folder: Path, count: int) -> Path:
    """Write a project with `count` tools."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "server.d").mkdir(parents=True)
    (folder / "server.d/server.meta.json").write_text(json.dumps({"name": "bench", "version": "1.0.0"}))
    for name in names(count):
        place = folder / "tools" / name / "tool.sh"
        place.parent.mkdir(parents=True)
        place.write_text(TOOL)
        place.chmod(0o755)
        meta = {"name": name, "description": "Return the text.", "inputSchema": places.SCHEMA, "timeoutSecs": 5}
        place.with_suffix(".meta.json").write_text(json.dumps(meta))
    return folder


def built(name: str, project: Path) -> str:
    """Return the built file of a project."""
    target = places.CACHE / f"{name}.pyz"
    places.build(project, target, places.CACHE / "builds")
    return str(target)


def rows(count: int) -> dict[str, tuple[str, Mapping[str, str]]]:
    """Return each server with its environment variables."""
    native = built("starts-native", places.write_project(places.CACHE / f"projects/{count}", count))
    ours = built("starts-mcp-bash", write_project(places.CACHE / f"projects/mcp-bash-{count}", count))
    return {
        "our own format": (native, {}),
        "everything allowed": (ours, {"MCPBASH_TOOL_ALLOW_DEFAULT": "allow"}),
        "every tool listed": (ours, {"MCPBASH_TOOL_ALLOWLIST": " ".join(names(count))}),
        "nothing allowed": (ours, {}),
    }


def lifetime(server: str, variables: Mapping[str, str]) -> float:
    """Return the seconds from the spawn to the list of tools."""
    process = wire.Server([server], {**places.environment(), **variables})
    took = process.start()
    began = time.perf_counter()
    process.ask("tools/list", {})
    took += time.perf_counter() - began
    process.close()
    return took


def counted(servers: Mapping[str, tuple[str, Mapping[str, str]]]) -> bool:
    """Print the instruction count of each start; tell whether all are within the limit."""
    bare, _ = startup_instructions.instructions([str(places.clean_python()), *startup_instructions.BARE])
    kept = True
    for name, (server, variables) in servers.items():
        count, output = startup_instructions.instructions([server], variables)
        if b'"tools"' not in output:
            raise RuntimeError(f"{server} did not list its tools: {output[:300]!r}")
        ratio = count / bare
        kept = kept and ratio <= startup_instructions.LIMIT
        print(f"{name:<20} {ratio:6.3f}x of python3 {' '.join(startup_instructions.BARE)}  ({count / 1e6:.2f} M)")
    return kept


def timed(servers: Mapping[str, tuple[str, Mapping[str, str]]], rounds: int) -> None:
    """Print the time of each start, in pairs with an idle Python."""
    argv = [str(places.clean_python()), "-I", "-c", "pass"]
    measures: dict[str, Callable[[], float]] = {"python": lambda: wire.lifetime(argv, places.environment())}
    measures |= {name: (lambda row=row: lifetime(*row)) for name, row in servers.items()}  # type: ignore[misc]
    times: dict[str, list[float]] = {name: [] for name in measures}
    for number in range(rounds):
        for name in list(measures)[:: -1 if number % 2 else 1]:
            times[name].append(measures[name]())
    unit = statistics.median(times["python"])
    for name in servers:
        taken = statistics.median(times[name])
        print(f"{name:<20} {taken / unit:6.2f}x of python3 -I -c pass  ({taken * 1000:.1f} ms)")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    servers = rows(options.tools)
    timed(servers, options.rounds)
    if shutil.which("valgrind") is None:
        print("instructions: skipped, valgrind is not installed")
        return 0
    return 0 if counted(servers) else 1


if __name__ == "__main__":
    sys.exit(main())
