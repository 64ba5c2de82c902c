"""Description of bundled tools by Node in a confined process, with a time limit and an empty environment.

A module must run to be described.  It is confined (`mcpc.sandbox.confinement`); its output is discarded.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpc.languages.bundling.node import mcpc_program, node_path
from mcpc.sandbox import confinement
from mcpc.sandbox.confinement import REPLIES, ConfinedProgram
from mcpc.sandbox.confinement.model import IMPORT_GRACE_SECONDS, IMPORT_SECONDS, TIME_LIMIT_MESSAGE

if TYPE_CHECKING:
    from collections.abc import Mapping

LAST_LINE = b'{"end":true}\n'
PLACE = re.compile(r"[( ](?:file://)?[^\s():]*?/(src/[^\s():]+):(\d+):(\d+)\)?")
"""A line of a stack trace that is in the project's sources."""


@dataclass(frozen=True, slots=True)
class Description:
    """The description of one module: the type of its default export, all exports, its schema, its prompts.

    `failure`: why it could not be imported, and at which file, line and column of the project, if known.
    """

    handler: str = "undefined"
    exported: tuple[str, ...] = ()
    schema: Any = None
    unwritten: str = ""
    prompts: tuple[Any, ...] = ()
    failure: str = ""
    place: tuple[str, int, int] = ("", 0, 0)


@dataclass(slots=True)
class _Inspection:
    """Modules that are still to be described, and descriptions so far."""

    tools: dict[str, str]
    others: dict[str, str]
    found: dict[str, Description] = field(default_factory=dict)

    def open(self) -> dict[str, str]:
        """Return the modules without a description."""
        return {name: path for name, path in {**self.tools, **self.others}.items() if name not in self.found}


def describe_modules(
    modules: Mapping[str, bytes], maps: Mapping[str, bytes], tools: Mapping[str, str], others: Mapping[str, str]
) -> dict[str, Description]:
    """Return descriptions of modules, by name: of `tools`, and of the `others` that have prompts and resources.

    A module that ends the process is not run again, and the modules after it run in another one.
    """
    # NUL is in no path, so that no tool has the name of a handler.
    asked = _Inspection(dict(tools), {f"\0{kind}": path for kind, path in others.items()})
    with tempfile.TemporaryDirectory(prefix="mcpc-") as made:
        folder = Path(made).resolve()
        write_modules(folder / "modules", modules, maps)
        while asked.open():
            before = len(asked.found)
            ended = describe_remaining(folder, asked)
            if len(asked.found) == before:
                raise RuntimeError(f"no module was asked: {ended}")
    return {name.removeprefix("\0"): description for name, description in asked.found.items()}


def write_modules(folder: Path, modules: Mapping[str, bytes], maps: Mapping[str, bytes]) -> None:
    """Write the modules, each with a reference to its source map, and mcpc's modules beside them."""
    folder.mkdir()
    for path, data in {**modules, **maps}.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        note = f"\n//# sourceMappingURL={place.name}.map\n" if f"{path}.map" in maps else ""
        place.write_bytes(data + note.encode())
    for name in ("inspect.mjs", "surroundings.mjs"):
        (folder / name).write_bytes(mcpc_program(name))


def describe_remaining(folder: Path, asked: _Inspection) -> str:
    """Describe the remaining modules in one process; return how it ended."""
    still = asked.open()
    question = {
        "tools": {name: path for name, path in still.items() if name in asked.tools},
        **{name.removeprefix("\0"): path for name, path in still.items() if name in asked.others},
        "seconds": IMPORT_SECONDS,
    }
    # A new one for each process, since the one before may have left files.
    home = folder / f"home-{len(asked.found)}"
    home.mkdir()
    data, how = run_process(folder, home, json.dumps(question), IMPORT_SECONDS * len(still) + IMPORT_GRACE_SECONDS)
    begun = ""
    for row in filter(None, map(confinement.parse_object, data.split(b"\n")[:-1])):
        if "begins" in row:
            begun = str(row["begins"]) if str(row["begins"]) in still else f"\0{row['begins']}"
        elif "end" not in row and begun in still:
            asked.found[begun] = checked_description(row)
            begun = ""
    # What began without an answer has ended the process; if nothing began, the first one counts, so that this ends.
    begun = begun if begun in still else next((name for name in still if name not in asked.found), "")
    if begun:
        asked.found[begun] = Description(failure=how)
    return how


def run_process(root: Path, home: Path, question: str, seconds: int) -> tuple[bytes, str]:
    """Return the output of the process, and how it ended."""
    words = [node_path(), "--enable-source-maps", "inspect.mjs", str(REPLIES), str(home), question]
    job = ConfinedProgram(words, root, root / "modules", seconds, {"HOME": str(home)}, is_whole=has_last_line)
    outcome = confinement.run_confined(job)
    late = outcome.why.startswith("it did not end")
    return outcome.answer, TIME_LIMIT_MESSAGE if late else outcome.how


def has_last_line(data: bytearray) -> bool:
    """Tell whether the process has written its last line."""
    return data.endswith(LAST_LINE)


def checked_description(row: dict[str, Any]) -> Description:
    """Return the description of one module, if it has the expected form: a module can write to its descriptor, too."""
    try:
        description = parse_description(row)
        json.dumps([description.schema, description.prompts])
        texts = (description.handler, description.unwritten, description.failure, *description.exported)
        is_answer = all(isinstance(text, str) for text in texts)
    except (TypeError, KeyError, ValueError, OverflowError, RecursionError):
        is_answer = False
    return description if is_answer else Description(failure="what it answers is not an answer")


def parse_description(row: dict[str, Any]) -> Description:
    """Return the description of one module."""
    failure = row.get("failure")
    if failure:
        match = PLACE.search(str(failure["stack"]))
        return Description(
            failure=str(failure["message"]), place=(match[1], int(match[2]), int(match[3])) if match else ("", 0, 0)
        )
    return Description(
        handler=row.get("handler", "undefined"),
        exported=tuple(row.get("exported", ())),
        schema=row.get("schema"),
        unwritten=row.get("unwritten", ""),
        prompts=tuple(row.get("prompts", ())),
    )
