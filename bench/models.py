"""Measure models: 1,000 distinct schemas, built with all models, and the models module of all.

    python bench/models.py [--rounds N] [--tools N]

Measured in alternation: compiling all schemas and creating their models alone, a whole build without caches, the same
without models, the same with cached models, and `mcpc generate models` without caches. A build with models bundles
pydantic, which the first build installs and which is not measured. Exits with status 1 if schemas and models alone
take longer than their goal.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

GOAL_SECONDS = 3.0
FOLDER = places.CACHE / "models"
TYPED = "def {name}(args: {model}) -> object:\n    return args\n\n\n"
PLAIN = "def {name}(**given: object) -> object:\n    return given\n\n\n"


def schema(number: int) -> dict[str, object]:
    """Return a distinct schema per number: limits, a choice, a list, a nested object, a nullable value."""
    options = {
        "deep": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": number + 1},
    }
    return {
        "type": "object",
        "properties": {
            f"path_{number}": {"type": "string", "description": f"Path {number} of a file to read"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 1000 + number, "default": 10},
            "mode": {"type": "string", "enum": ["text", "binary", f"mode-{number}"]},
            "options": {"type": "object", "properties": options, "required": ["deep"], "additionalProperties": False},
            "note": {"type": ["string", "null"], "maxLength": number + 5},
        },
        "required": [f"path_{number}"],
        "additionalProperties": False,
    }


def project(name: str, tools: int, *, typed: bool) -> Path:
    """Write a project with `tools` tools, whose handlers take models or not."""
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    numbers = range(tools)
    listed = [
        {"name": f"tool_{number}", "description": f"Tool {number}.", "inputSchema": schema(number)}
        for number in numbers
    ]
    functions = (
        (TYPED if typed else PLAIN).format(name=f"tool_{number}", model=f"Tool{number}Input") for number in numbers
    )
    files = {
        "server.json": json.dumps({"serverInfo": {"name": "models", "version": "1.0.0"}}),
        "tools.json": json.dumps({"tools": listed}),
        "tools.py": "from __future__ import annotations\n\n\n" + "".join(functions),
    }
    for file, text in files.items():
        (folder / file).write_text(text)
    return folder


def built(folder: Path, *, keep_models: bool = False) -> float:
    """Return the seconds of a build with only packages cached, and generated models if `keep_models`."""
    cache = FOLDER / "cache"
    for kept in ("builds",) if keep_models else ("builds", "models"):
        shutil.rmtree(cache / kept, ignore_errors=True)
    return places.build(folder, FOLDER / "server.pyz", cache)


def written(folder: Path) -> float:
    """Return the seconds of `mcpc generate models` without caches."""
    shutil.rmtree(FOLDER / "cache/models", ignore_errors=True)
    sources = os.pathsep.join((str(places.ROOT / "compiler"), str(places.ROOT / "runtime")))
    variables = {**os.environ, "PYTHONPATH": sources, "MCPC_CACHE_DIR": str(FOLDER / "cache")}
    argv = [sys.executable, "-m", "mcpc", "generate", "models", str(folder), "-o", str(FOLDER / "models.py")]
    began = time.perf_counter()
    subprocess.run(argv, check=True, env=variables)
    return time.perf_counter() - began


def compiled(folder: Path) -> float:
    """Return the seconds in which a new process compiles all schemas and creates their models, without caches."""
    shutil.rmtree(FOLDER / "cache/models", ignore_errors=True)
    sources = os.pathsep.join((str(places.ROOT / "compiler"), str(places.ROOT / "runtime")))
    variables = {**os.environ, "PYTHONPATH": sources, "MCPC_CACHE_DIR": str(FOLDER / "cache")}
    argv = [sys.executable, str(places.ROOT / "bench/peers/cold_compilation.py"), str(folder)]
    run = subprocess.run(argv, check=True, env=variables, capture_output=True, text=True)
    return sum(map(float, run.stdout.split()))


def measured(tools: int, rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Yield each measurement with its times."""
    typed, plain = project("typed", tools, typed=True), project("plain", tools, typed=False)
    built(typed)
    measures: dict[str, Callable[[], float]] = {
        "schemas and models alone, cold": lambda: compiled(typed),
        "build with models, cold": lambda: built(typed),
        "build with models, models kept": lambda: built(typed, keep_models=True),
        "build without models, cold": lambda: built(plain),
        "mcpc generate models, cold": lambda: written(typed),
    }
    times: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            times[name].append(measure())
    yield from times.items()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tools", type=int, default=1000)
    given = parser.parse_args()
    print(f"{given.tools:,} tools, each with a schema of its own; load {os.getloadavg()[0]:.1f}")
    found = dict(measured(given.tools, given.rounds))
    for name, times in found.items():
        print(f"  {name:<36}{statistics.median(times):.2f} s, least {min(times):.2f}")
    taken = statistics.median(found["schemas and models alone, cold"])
    print(f"  goal of the first: at most {GOAL_SECONDS:g} s: {'met' if taken <= GOAL_SECONDS else 'MISSED'}")
    return int(taken > GOAL_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
