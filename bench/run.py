"""Measure built servers against a bare Python and other servers, all in one run: `make bench`.

    python bench/run.py [--quick] [--save] [SECTION ...]

Sections: start, memory, calls, scale, builds, validators, instructions; all by default. Measurements alternate round by
round, so that the machine's load affects all equally; a ratio is one of medians, and a start meets its goal only if the
ratio of minimums does too. Milliseconds are this machine's; only ratios are comparable elsewhere. Peers are measured if
their packages are installed. `--save` writes figures into `bench/results.json`, and the charts of the documentation.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import charts
import places
import startup_instructions
import validation
import wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

PEERS = Path(__file__).resolve().parent / "peers"
PYTHON_PEERS = {"Python SDK": ("mcp", "python_sdk.py"), "FastMCP": ("fastmcp", "fastmcp_server.py")}
NODE_PEERS = {"TypeScript SDK 1": "typescript_v1.mjs", "TypeScript SDK 2": "typescript_v2.mjs"}
OURS = "mcpc"
WARM_UP = 20
WINDOW = 64


@dataclass(frozen=True, slots=True)
class Effort:
    """How often each measurement is repeated."""

    starts: int
    peer_starts: int
    calls: int
    flood: int
    bash_calls: int
    sizes: tuple[int, ...]
    builds: tuple[int, ...]
    judgements: int


FULL = Effort(41, 7, 2000, 20000, 100, (10, 1000, 10000), (1000, 10000), 25)
QUICK = Effort(11, 3, 300, 3000, 20, (10, 1000), (1000,), 5)


class Figure(NamedTuple):
    """A measured value of `results.json`: the key of its figure, the server, the value in the figure's unit."""

    key: str
    server: str
    value: float


@dataclass(frozen=True, slots=True)
class Row:
    """A result with its goal, if it has one."""

    name: str
    value: str
    goal: str = ""
    met: bool | None = None
    figures: tuple[Figure, ...] = ()

    def __str__(self) -> str:
        """Return the row in printed form."""
        verdict = {None: "", True: "met", False: "MISSED"}[self.met]
        return f"  {self.name:<50}{self.value:<62}{self.goal:<10}{verdict}".rstrip()


def goal(name: str, value: float, limit: float, unit: str, more: str = "") -> Row:
    """Return a row with an upper limit."""
    text = f"{value:.2f}{unit}" + (f"  ({more})" if more else "")
    return Row(name, text, f"<= {limit:g}{unit}", value <= limit)


def middle(times: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(times)


def milliseconds(times: Sequence[float]) -> str:
    """Return the median and the minimum of some times."""
    return f"{middle(times) * 1e3:.1f} ms, least {min(times) * 1e3:.1f}"


class Bench:
    """Shared state of all sections: the servers under test, the available peers, the effort."""

    def __init__(self, effort: Effort) -> None:
        self.effort = effort
        self.environment = places.environment()
        self.python = str(places.clean_python())
        self.server = str(self.built(1))
        self.peers = dict(installed_peers())

    def built(self, tools: int, *, inline: bool = False) -> Path:
        """Return a server with `tools` tools, built now unless an up-to-date build exists."""
        name = f"inline-{tools}" if inline else f"{tools}"
        target = places.CACHE / f"server-{name}.pyz"
        project = places.write_project(places.CACHE / f"projects/{name}", tools, inline=inline)
        places.build(project, target, places.CACHE / "builds")
        return target

    def spawn(self, argv: Sequence[str]) -> wire.Server:
        """Start a server."""
        return wire.Server(argv, self.environment)

    def start(self, argv: Sequence[str]) -> float:
        """Return the seconds from a server's spawn to its reply to `initialize`."""
        server = self.spawn(argv)
        took = server.start()
        server.close()
        return took

    def alternate(self, measures: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
        """Run every measurement once per round, every second round in reverse order."""
        times: dict[str, list[float]] = {name: [] for name in measures}
        for number in range(rounds):
            for name in list(measures)[:: -1 if number % 2 else 1]:
                times[name].append(measures[name]())
        return times


def installed_peers() -> Iterator[tuple[str, list[str]]]:
    """Yield the peers that are installed here, with their commands."""
    for name, (package, file) in PYTHON_PEERS.items():
        if importlib.util.find_spec(package):
            yield name, [sys.executable, str(PEERS / file)]
        else:
            print(Row(name, f"skipped: the package {package} is not installed"))
    modules = node_modules()
    if modules is not None:
        for name, file in NODE_PEERS.items():
            yield name, ["node", str(shutil.copy(PEERS / file, modules))]


def node_modules() -> Path | None:
    """Return a folder with the packages of the TypeScript peers, installed from their lock file."""
    if not (shutil.which("node") and shutil.which("npm")):
        print(Row("TypeScript SDKs", "skipped: node and npm are not installed"))
        return None
    folder = places.CACHE / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    lock = (PEERS / "package-lock.json").read_bytes()
    done = folder / "node_modules/.from-lock"
    if not done.exists() or done.read_bytes() != lock:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(PEERS / name, folder)
        argv = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        if subprocess.run(argv, cwd=folder, capture_output=True, check=False).returncode:
            print(Row("TypeScript SDKs", "skipped: npm could not install them"))
            return None
        done.write_bytes(lock)
    return folder


def start(bench: Bench) -> Iterator[Row]:
    """From the spawn to the reply to `initialize`, over the whole life of an idle Python.

    `python3 ARCHIVE` imports Python's own modules for running archives: an empty archive measures their cost.
    """
    ours = {"./server.pyz": ([bench.server], 1.0), "python3 server.pyz": ([bench.python, bench.server], 1.35)}
    pass_argv = [bench.python, "-I", "-c", "pass"]
    empty_argv = [bench.python, str(empty_archive())]
    measures: dict[str, Callable[[], float]] = {
        "python": lambda: wire.lifetime(pass_argv, bench.environment),
        "empty": lambda: wire.lifetime(empty_argv, bench.environment),
    }
    measures |= {name: lambda argv=argv: bench.start(argv) for name, (argv, _) in ours.items()}  # type: ignore[misc]
    times = bench.alternate(measures, bench.effort.starts)
    python = times["python"]
    yield Row("python3 -I -c pass", f"{milliseconds(python)}: the unit")
    value = f"{middle(times['empty']) / middle(python):.2f}x  ({milliseconds(times['empty'])})"
    yield Row("python3 of an empty archive", value)
    for name, (_, limit) in ours.items():
        ratio, least = middle(times[name]) / middle(python), min(times[name]) / min(python)
        value = f"{ratio:.2f}x, least over least {least:.2f}x  ({milliseconds(times[name])})"
        figures = (Figure("start", OURS, ratio),) if name == "./server.pyz" else ()
        yield Row(name, value, f"<= {limit:g}x", max(ratio, least) <= limit, figures)
    measures = {name: lambda argv=argv: bench.start(argv) for name, argv in bench.peers.items()}  # type: ignore[misc]
    for name, taken in bench.alternate(measures, bench.effort.peer_starts).items():
        ratio = middle(taken) / middle(python)
        yield Row(name, f"{ratio:.1f}x  ({milliseconds(taken)})", figures=(Figure("start", name, ratio),))


def empty_archive() -> Path:
    """Return an archive that Python can run, and that does nothing."""
    target = places.CACHE / "empty.pyz"
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("__main__.py", "")
    return target


def memory(bench: Bench) -> Iterator[Row]:
    """Resident memory of the server's processes after tools/list."""
    idle = bench.spawn([bench.python, "-I", "-S", "-c", "print(flush=True); input()"])
    idle.line()
    floor = idle.memory()
    idle.write(b"\n")
    idle.close()
    yield Row("python3 -I -S, idle", f"{floor:.1f} MB: the unit")
    for name, argv in {"server.pyz": [bench.server], **bench.peers}.items():
        server = bench.spawn(argv)
        server.start()
        server.ask("tools/list", {})
        used = server.memory()
        server.close()
        ratio = f"{used / floor:.2f}x"
        if name == "server.pyz":
            yield replace(goal(name, used, 12, " MB", ratio), figures=(Figure("memory", OURS, used),))
        else:
            yield Row(name, f"{used:.1f} MB  ({ratio})", figures=(Figure("memory", name, used),))


def calls(bench: Bench) -> Iterator[Row]:
    """Sequential calls, and calls with 64 in progress, over the same bytes through `cat`."""
    cat = round_trips(bench.spawn(["cat"]), bench.effort.calls)
    flooded = echoed(bench.spawn(["cat"]), bench.effort.flood)
    yield Row("cat", f"{cat * 1e6:.0f} us one by one, {1 / flooded:,.0f}/s with {WINDOW} under way: the unit")
    rows = {
        "Python tool": ([bench.server], places.PYTHON_ECHO),
        "Python tool, inline": ([str(bench.built(1, inline=True))], places.PYTHON_ECHO),
        "Bash tool": ([bench.server], places.BASH_ECHO),
    }
    rows |= {name: (argv, places.PYTHON_ECHO) for name, argv in bench.peers.items()}
    rates = {}
    for name, (argv, tool) in rows.items():
        few = tool == places.BASH_ECHO
        count, flood = (bench.effort.bash_calls,) * 2 if few else (bench.effort.calls, bench.effort.flood)
        if name in bench.peers:
            count, flood = count // 4, flood // 10
        one, many = called(bench.spawn(argv), tool, count, flood)
        rates[name] = 1 / many
        value = f"{one / cat:.2f}x ({one * 1e6:,.0f} us), {many / flooded:.1f}x ({rates[name]:,.0f}/s)"
        limit = CALL_GOALS.get(name)
        server = OURS if name == "Python tool" else name
        figures = (Figure("call", server, one / cat), Figure("rate", server, rates[name]))
        yield Row(name, value, f"<= {limit}x" if limit else "", one / cat <= limit if limit else None, figures)
    for name, least in RATE_GOALS.items():
        if "FastMCP" in rates:
            ratio = rates[name] / rates["FastMCP"]
            yield Row(f"{name}, {WINDOW} under way, over FastMCP", f"{ratio:.0f}x", f">= {least}x", ratio >= least)


CALL_GOALS = {"Python tool": 2.5, "Python tool, inline": 1.3}
"""Sequential calls, over `cat`."""
RATE_GOALS = {"Python tool": 20, "Python tool, inline": 100}
"""Calls per second over FastMCP's."""


def called(server: wire.Server, tool: str, count: int, flood: int) -> tuple[float, float]:
    """Return the median seconds of a call, and the seconds per call with many in progress."""
    server.start()
    for _ in range(min(WARM_UP, count)):
        server.call(tool)
    one = middle([server.call(tool) for _ in range(count)])
    many = server.flood(tool, flood, WINDOW)
    server.close()
    return one, many


def round_trips(cat: wire.Server, count: int) -> float:
    """Return the median seconds in which `cat` returns a request."""
    taken = []
    for number in range(WARM_UP + count):
        taken.append(cat_trip(cat, number))
    cat.close()
    return middle(taken[WARM_UP:])


def cat_trip(cat: wire.Server, number: int) -> float:
    """Return the seconds in which `cat` returns one request."""
    line = wire.request(wire.FIRST_ID + number, "tools/call", {"name": "echo", "arguments": {"text": "hi"}})
    began = time.perf_counter()
    cat.write(line)
    cat.line()
    return time.perf_counter() - began


def echoed(cat: wire.Server, count: int) -> float:
    """Return the seconds per request with many in progress through `cat`."""
    taken = cat.flood("echo", count, WINDOW)
    cat.close()
    return taken


def scale(bench: Bench) -> Iterator[Row]:
    """The cost of more tools: at the start, in the list, and at the first call of one of them."""
    servers = {tools: str(bench.built(tools)) for tools in bench.effort.sizes}
    measures = {str(tools): lambda path=path: bench.start([path]) for tools, path in servers.items()}
    times = bench.alternate(measures, bench.effort.starts)
    least = middle(times[str(bench.effort.sizes[0])])
    for tools, path in servers.items():
        ratio = middle(times[str(tools)]) / least
        yield goal(f"{tools:,} tools: start, over 10 tools", ratio, 1.1, "x", milliseconds(times[str(tools)]))
        first, warm = first_call(bench, path, tools)
        yield goal(
            f"{tools:,} tools: first call less a warm one", (first - warm) * 1e3, 2, " ms", f"warm {warm * 1e3:.2f}"
        )


def first_call(bench: Bench, path: str, tools: int) -> tuple[float, float]:
    """Return the median seconds of a tool's first call, and of later ones, in a warm server."""
    names = places.tool_names(tools)
    first, warm = [], []
    server = bench.spawn([path])
    server.start()
    for _ in range(WARM_UP):
        server.call(names[0])
    for name in names[1 : 1 + WARM_UP]:
        first.append(server.call(name))
        warm.append(server.call(name))
    server.close()
    return middle(first), middle(warm)


def builds(bench: Bench) -> Iterator[Row]:
    """The whole `mcpc build` command, without cache and with nothing changed."""
    for tools in bench.effort.builds:
        project = places.write_project(places.CACHE / f"projects/{tools}", tools)
        with tempfile.TemporaryDirectory() as folder:
            target, cache = Path(folder) / "server.pyz", Path(folder) / "cache"
            cold = places.build(project, target, cache)
            unchanged = middle([places.build(project, target, cache) for _ in range(3)])
            size = f"{target.stat().st_size / 1e6:.1f} MB"
        rows = ((f"{tools:,} tools, cold", cold, 5), (f"{tools:,} tools, unchanged", unchanged, 1))
        for name, taken, limit in rows:
            yield (
                goal(name, taken, limit, " s", size)
                if tools == bench.effort.builds[0]
                else Row(name, f"{taken:.2f} s  ({size})")
            )


def validators(bench: Bench) -> Iterator[Row]:
    """Validating arguments, over a plain compiled validator; and loading the validators of real tools."""
    for figure in validation.hot(bench.effort.judgements):
        least = validation.MIN_RATIOS.get(figure.name)
        wanted = "" if least is None else f">= {least:g}x"
        yield Row(f"{figure.case}: {figure.name}", validation.told(figure), wanted, figure.is_met)
    found = validation.cold(bench.effort.judgements)
    if found is None:
        yield Row("real tools", "skipped: their definitions are not here")
        return
    detail = f"found in {found.find:.2f} ms, {found.kib:.0f} KiB"
    yield goal(f"{found.tools} real validators loaded", found.load, validation.IMPORT_MS, " ms", detail)
    yield goal("their slowest first validation", found.slowest_first, validation.FIRST_MS, " ms")


def instructions(bench: Bench) -> Iterator[Row]:
    """Instructions of start, initialize, tools/list and the end, over those of `python3 -I -S -c pass`."""
    if shutil.which("valgrind") is None:
        yield Row("instructions", "skipped: valgrind is not installed")
        return
    found, served, bare = startup_instructions.ratio(Path(bench.server))
    counts = f"{served / 1e6:.1f} M over {bare / 1e6:.1f} M"
    yield goal("start, initialize, tools/list, end", found, startup_instructions.LIMIT, "x", counts)


SECTIONS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "start": start,
    "memory": memory,
    "calls": calls,
    "scale": scale,
    "builds": builds,
    "validators": validators,
    "instructions": instructions,
}


def main() -> None:
    """Measure, and print each row as soon as it is available."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--save", action="store_true", help="write figures into bench/results.json, and the charts")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, and no server of 10,000 tools")
    options = parser.parse_args()
    unknown = [name for name in options.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"there is no section {unknown[0]}; sections: {', '.join(SECTIONS)}")
    load = os.getloadavg()[0]
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, load {load:.1f}", flush=True)
    bench = Bench(QUICK if options.quick else FULL)
    figures: list[Figure] = []
    for name in options.sections or SECTIONS:
        print(f"\n{name}: {(SECTIONS[name].__doc__ or '').strip()}", flush=True)
        for row in SECTIONS[name](bench):
            print(row, flush=True)
            figures += row.figures
    if options.save:
        charts.save(figures)


if __name__ == "__main__":
    main()
