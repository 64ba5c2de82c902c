"""Run a project's program once, confined, under stand-ins of its framework, and read what its server offers.

The process sees a copy of the project's files, its packages and this compiler's runtime, and nothing of the packages
that the compiler itself uses.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import mcpc_runtime
from mcpc.frontends.causes import Raised, parse_raised
from mcpc.model.ir.project import texts
from mcpc.sandbox import confinement
from mcpc.sandbox.confinement import REPLIES, ConfinedProgram
from mcpc.sandbox.programs import NETWORK, variables_like

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.frontends.fastmcp.entry_points import EntryPoint
    from mcpc.frontends.fastmcp.packages import ProgramPackages
    from mcpc.reading import Source
    from mcpc.sandbox.confinement import ProgramOutcome

SECONDS = 120
"""How long a program may take until it serves."""
GRACE_SECONDS = 10
RESOLVER = "/etc/resolv.conf"
"""Where a system says who resolves names; often a link into a folder that a confined program does not see."""
BOOT = (
    "import sys;sys.path+=sys.argv[4:];from mcpc_runtime.systems.fastmcp.description import main;main(*sys.argv[1:4])"
)
BOOT_ORIGINAL = (
    "import sys;sys.path+=sys.argv[4:];"
    "from mcpc_runtime.systems.fastmcp.original.description import main;main(*sys.argv[1:])"
)
"""With the original framework: the program runs in another process, which gets the paths, too."""
CALLS, CALLS_ORIGINAL = "mcpc_runtime.systems.fastmcp.calls", "mcpc_runtime.systems.fastmcp.original.calls"
"""The module that handles calls in the worker, with stand-ins and with the original framework."""
ISOLATED = ("-P", "-s", "-S", "-B", "-W", "ignore")
"""As `-I`, but with the variables of `environment`, and without the packages of this interpreter."""
HUNG, CRASHED = "Timeout (", "Fatal Python error: "
"""Beginnings of the traceback that `faulthandler` dumps after a timeout or a crash."""
LISTS = ("tools", "prompts", "resources", "templates")
KINDS = ("tools", "prompts", "resources")
"""The lists that may be made at run time; that of templates is made with that of resources."""
MAX_OUTPUT_LINES = 12
PLACES = ("/build", "/another-build")
"""What is written for the temporary folder of a description, and of one as on another machine."""


@dataclass(frozen=True, slots=True)
class ProgramFailure:
    """Why a program has no description: a kind, its text, and the last place in the project.

    `output`: the end of what it printed; `raised`: the exception; `hosts`: those that it tried to reach;
    `demonstrates`: the name of the server that its file made and asked itself; `settings`: what it reads of its
    environment, as of a description.
    """

    kind: str
    message: str
    path: str = ""
    line: int = 0
    type: str = ""
    missing: str = ""
    names: tuple[str, ...] = ()
    output: str = ""
    raised: Raised | None = None
    hosts: tuple[str, ...] = ()
    demonstrates: str = ""
    settings: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Offered:
    """One row of a list: the protocol's object, and the place of its function."""

    entry: dict[str, Any]
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class ProgramNote:
    """A part of the program that has no effect in a built server, or another one, and its place.

    `kind`: `duplicate` for a component that takes the place of another one.
    """

    text: str
    path: str = ""
    line: int = 0
    kind: str = ""


@dataclass(frozen=True, slots=True)
class DynamicList:
    """A list that the program makes at run time (`tools`, `prompts` or `resources`), and why; empty if a note says."""

    kind: str
    reason: str = ""
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class LackingName:
    """A name of the framework without a stand-in, and where the project names it, if it does."""

    name: str
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class ProgramDescription:
    """What a program's server offers.  `arguments`: what checks those of its tools, as `ExternalHandler.arguments`.

    `unhandled`: the lists (`tools`, `prompts`, `resources`) that the server has no handler for.
    `lacking`: what it names that has no stand-in.
    `extensions`: what the original framework says of extensions of the protocol.  `settings`: what it reads of its
    environment (`mcpc_runtime.artifact.build_time.settings`).
    `imported`: the program's files that were imported; `demonstrates`: the name of the server that its file made and
    asked itself, without serving it.
    """

    server: dict[str, Any]
    lists: Mapping[str, tuple[Offered, ...]]
    completes: bool = False
    routes: tuple[str, ...] = ()
    notes: tuple[ProgramNote, ...] = ()
    arguments: Literal["schema", "handler"] = "handler"
    dynamic: tuple[DynamicList, ...] = ()
    unhandled: tuple[str, ...] = ()
    imported: tuple[str, ...] = ()
    demonstrates: str = ""
    extensions: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    lacking: tuple[LackingName, ...] = ()
    settings: tuple[Mapping[str, Any], ...] = ()


def entry_row(entry: EntryPoint, packages: ProgramPackages) -> dict[str, Any]:
    """Return an entry as the runtime reads it (`mcpc_runtime.systems.fastmcp.program`)."""
    framework = packages.framework
    return {
        "kind": entry.kind,
        "target": entry.target,
        "arguments": [*entry.arguments],
        "paths": [*entry.paths],
        "generation": framework.generation,
        "version": framework.version,
        "chosen": framework.chosen,
        "calls": CALLS_ORIGINAL if packages.has_framework else CALLS,
        "web": packages.web and packages.has_framework,
    }


def describe_program(
    row: Mapping[str, Any],
    sources: Sequence[Source],
    packages: str,
    environment: Mapping[str, str],
    *,
    network: bool = False,
) -> ProgramDescription | ProgramFailure:
    """Return what the program with this entry offers.

    `packages`: the folder of its packages, or empty; `network`: whether it may use one.
    """
    with tempfile.TemporaryDirectory(prefix="mcpc-", ignore_cleanup_errors=True) as name:
        root = Path(name).resolve()
        folder = root / "project"
        write_sources(sources, folder)
        request = root / "request.json"
        request.write_text(json.dumps({**row, "seconds": SECONDS}), encoding="utf-8")
        own = str(Path(mcpc_runtime.__file__).parent.parent)
        paths = [path for path in (packages, own) if path]
        boot = BOOT_ORIGINAL if row["calls"] == CALLS_ORIGINAL else BOOT
        words = [sys.executable, *ISOLATED, "-c", boot, str(folder), str(REPLIES), str(request), *paths]
        connecting = variables_like(NETWORK) if network else {}
        # A list that is made of a set has the same order in every build.
        variables = {**connecting, **environment, "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"}
        job = ConfinedProgram(
            words,
            root,
            folder,
            # The process itself reports when its time is over, for which it gets some more.
            SECONDS + GRACE_SECONDS,
            variables,
            [str(request), *paths, *([os.path.realpath(RESOLVER)] if network and Path(RESOLVER).exists() else [])],
            network=network,
            is_whole=lambda data: data.endswith(b"\n"),
        )
        outcome = confinement.run_confined(job)
        # The temporary folder has another name in each build, and a description may contain it, as JSON writes it.
        written, place = (json.dumps(text)[1:-1].encode() for text in (str(root), PLACES["elsewhere" in row]))
        answer = outcome.answer.replace(written, place)
        return parse_outcome(replace(outcome, answer=answer), folder)


def write_sources(sources: Sequence[Source], folder: Path) -> None:
    """Write the files of the program."""
    folder.mkdir()
    for source in sources:
        place = folder / source.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(source.data)


def parse_outcome(outcome: ProgramOutcome, folder: Path) -> ProgramDescription | ProgramFailure:
    """Return the description in a program's answer; what it wrote is not trusted."""
    line = confinement.parse_object(outcome.answer.split(b"\n", 1)[0])
    printed = last_lines(outcome.output, folder)
    if line is None:
        return process_failure(outcome, folder, printed)
    if isinstance(line.get("failure"), dict):
        return parsed_failure(line["failure"], printed)
    description = parsed_description(line)
    return description if description is not None else ProgramFailure("ended", "what it answers is not a description")


def parsed_failure(row: Mapping[str, Any], printed: str) -> ProgramFailure:
    """Return a failure that the process reported."""
    return ProgramFailure(
        kind=text_of(row, "kind") or "raised",
        message=text_of(row, "message"),
        path=text_of(row, "path"),
        line=line_of(row),
        type=text_of(row, "type"),
        missing=text_of(row, "missing"),
        names=texts(row.get("names")),
        output=printed,
        raised=parse_raised(row.get("raised")),
        hosts=texts(row.get("hosts")),
        demonstrates=text_of(row, "demonstrates"),
        settings=tuple(objects(row.get("settings"))),
    )


def parsed_description(line: Mapping[str, Any]) -> ProgramDescription | None:
    """Return a description, None if a part of it has another shape."""
    server = line.get("server")
    lists = {kind: parsed_rows(line.get(kind)) for kind in LISTS}
    if not isinstance(server, dict) or any(rows is None for rows in lists.values()):
        return None
    notes = [
        ProgramNote(text_of(row, "text"), text_of(row, "path"), line_of(row), text_of(row, "kind"))
        for row in objects(line.get("notes"))
    ]
    extensions = line["extensions"] if isinstance(line.get("extensions"), dict) else {}
    return ProgramDescription(
        server=server,
        lists={kind: rows or () for kind, rows in lists.items()},
        completes=line.get("completions") is True,
        routes=texts(line.get("routes")),
        notes=tuple(dict.fromkeys(notes)),
        arguments="schema" if line.get("arguments") == "schema" else "handler",
        dynamic=tuple(parsed_dynamic(line.get("dynamic"))),
        unhandled=texts(line.get("unhandled")),
        imported=texts(line.get("imported")),
        demonstrates=text_of(line, "demonstrates"),
        lacking=tuple(
            LackingName(text_of(row, "name"), text_of(row, "path"), line_of(row))
            for row in objects(line.get("lacking"))
        ),
        settings=tuple(objects(line.get("settings"))),
        extensions={name: value for name, value in extensions.items() if isinstance(value, dict)},
    )


def parsed_dynamic(rows: object) -> Iterator[DynamicList]:
    """Yield the lists that are made at run time."""
    for row in objects(rows):
        kind = text_of(row, "kind")
        if kind in KINDS:
            yield DynamicList(kind, text_of(row, "text"), text_of(row, "path"), line_of(row))


def parsed_rows(rows: object) -> tuple[Offered, ...] | None:
    """Return the rows of a list, None if one has another shape."""
    if not isinstance(rows, list):
        return None
    entries = objects(rows)
    if len(entries) < len(rows) or not all(isinstance(row.get("entry"), dict) for row in entries):
        return None
    return tuple(Offered(row["entry"], text_of(row, "path"), line_of(row)) for row in entries)


def objects(rows: object) -> list[dict[str, Any]]:
    """Return the objects of a list."""
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def text_of(row: Mapping[str, Any], name: str) -> str:
    """Return a string of an object, an empty one for anything else."""
    value = row.get(name)
    return value if isinstance(value, str) else ""


def line_of(row: Mapping[str, Any]) -> int:
    """Return the line number of an object, 0 for none."""
    value = row.get("line")
    # Not `isinstance`: for Python True is an int.
    return value if type(value) is int and 0 <= value < 1 << 31 else 0


def process_failure(outcome: ProgramOutcome, folder: Path, printed: str) -> ProgramFailure:
    """Return why a process wrote no answer, and the last line of the project in its dump, if there is one."""
    dump = outcome.output.decode("utf-8", "replace")
    # The last one: the program may have printed such a line before.
    begin = max(dump.rfind(sign) for sign in (HUNG, CRASHED))
    place = re.search(rf'File "{re.escape(f"{folder}{os.sep}")}([^"\n]+)", line (\d+)', dump[max(begin, 0) :])
    is_late = begin >= 0 and dump.startswith(HUNG, begin)
    kind = "late" if is_late or "did not end within" in outcome.how else "process"
    path, line = (place[1].replace(os.sep, "/"), int(place[2])) if begin >= 0 and place else ("", 0)
    return ProgramFailure(kind, outcome.how, path, line, output="" if begin >= 0 else printed)


def last_lines(output: bytes, folder: Path) -> str:
    """Return the end of what a program printed, without the path of its copy."""
    text = output.decode("utf-8", "replace").replace(f"{folder}{os.sep}", "").rstrip()
    return "\n".join(text.splitlines()[-MAX_OUTPUT_LINES:])
