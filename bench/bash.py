"""Measure calls of Bash tools as multiples of `posix_spawn` of /bin/true with two pipes, in the same rounds.

    python bench/bash.py [--functions 1,30,300,1000] [--rounds N]

Rows: a call of a trivial function in a warm server; the same with `isolated`, in a separate shell; a fresh `bash -c :`.
Then the calls per second with WINDOW calls in progress, a 4 MiB argument, and the resident memory of all processes.
Exits with status 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from typing import TYPE_CHECKING

import places
import wire

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WINDOW = 8
FLOOD = 400
MEBIBYTE = 1 << 20
LARGE_SECONDS = 1.0
GOALS = {300: 1.5, 1000: 2.0}
"""A call of a trivial function as a multiple of the unit, by the number of functions in the library."""
FILLER = """helper_{number}() {{
  local first=$1 second=${{2:-}} line
  if [[ -z $first ]]; then printf 'nothing to do\\n' >&2; return 1; fi
  while read -r line; do
    case $line in
      "$first"*) printf '%s: %s\\n' "$first" "${{line#"$first"}}" ;;
      *) [[ -n $second ]] && printf '%s\\n' "$second" ;;
    esac
  done <<<"$first"
}}
"""
TOOLS = """tool_echo() { printf '%s' hi; }
tool_alone() { printf '%s' hi; }
tool_size() { printf '%s' "${#1}"; }
"""


def project(functions: int) -> Path:
    """Return a project whose library has `functions` functions."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    tools = [{"name": name, "description": "Answer.", "inputSchema": schema} for name in ("echo", "alone", "size")]
    tools[1]["_meta"] = {"mcpc/handler": {"isolated": True}}
    folder = places.CACHE / f"bash/{functions}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "server.json").write_text(json.dumps({"serverInfo": {"name": "bash", "version": "1.0.0"}}))
    (folder / "tools.json").write_text(json.dumps({"tools": tools}))
    fillers = "".join(FILLER.format(number=number) for number in range(functions - 1))
    (folder / "tools.bash").write_text(fillers + TOOLS)
    return folder


def spawned(argv: list[str]) -> float:
    """Return the seconds of a process with two pipes, both read to their ends, in a new process group."""
    began = time.perf_counter()
    output, their_output = os.pipe()
    errors, their_errors = os.pipe()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, their_output, 1),
        (os.POSIX_SPAWN_DUP2, their_errors, 2),
    ]
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=actions, setpgroup=0)
    for end in (their_output, their_errors):
        os.close(end)
    for end in (output, errors):
        while os.read(end, 1 << 16):
            pass
        os.close(end)
    os.waitpid(pid, 0)
    return time.perf_counter() - began


def large(server: wire.Server) -> float:
    """Return the seconds of a call with an argument of 4 MiB."""
    began = time.perf_counter()
    server.ask("tools/call", {"name": "size", "arguments": {"text": "x" * (4 * MEBIBYTE)}})
    return time.perf_counter() - began


def resident(server: wire.Server) -> float:
    """Return the resident memory in MB, after all children of the last calls have ended."""
    while True:
        try:
            return server.memory()
        except (FileNotFoundError, ProcessLookupError):
            time.sleep(0.01)


def measure(functions: int, rounds: int) -> bool:
    """Measure a library with `functions` functions, print the rows, and tell whether the goals are met."""
    folder, target = project(functions), places.CACHE / f"bash-{functions}.pyz"
    places.build(folder, target, places.CACHE / "builds")
    server = wire.Server([str(target)], places.environment())
    server.start()
    true, bash = shutil.which("true") or "/bin/true", shutil.which("bash") or "/bin/bash"
    rows: dict[str, Callable[[], float]] = {
        "posix_spawn /bin/true": lambda: spawned([true]),
        "posix_spawn bash -c :": lambda: spawned([bash, "-c", ":"]),
        "call": lambda: server.call("echo"),
        "call, isolated": lambda: server.call("alone"),
    }
    times: dict[str, list[float]] = {name: [] for name in rows}
    for number in range(rounds + 3):
        for name in list(rows)[:: -1 if number % 2 else 1]:
            taken = rows[name]()
            if number >= 3:
                times[name].append(taken)
    unit = times["posix_spawn /bin/true"]
    print(f"{functions} functions, {(folder / 'tools.bash').stat().st_size / 1000:.0f} KB")
    met = True
    for name, taken in times.items():
        ratio, least = statistics.median(taken) / statistics.median(unit), min(taken) / min(unit)
        limit = GOALS.get(functions) if name == "call" else None
        verdict = "" if limit is None else f"  <= {limit:g}x {'met' if ratio <= limit else 'MISSED'}"
        met = met and (limit is None or ratio <= limit)
        milliseconds = f"{statistics.median(taken) * 1e3:.2f} ms, least {min(taken) * 1e3:.2f}"
        print(f"  {name:<24}{ratio:>6.2f}x, least over least {least:.2f}x  ({milliseconds}){verdict}")
    rate = 1 / server.flood("echo", FLOOD, WINDOW)
    took = large(server)
    met = met and took <= LARGE_SECONDS
    print(f"  {rate:,.0f} calls/s with {WINDOW} under way; 4 MiB in {took:.2f} s; {resident(server):.1f} MB in all")
    server.close()
    return met


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", default="1,30,300,1000")
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    results = [measure(functions, options.rounds) for functions in map(int, options.functions.split(","))]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
