"""What bundled tools offer, asked of Node in a process of its own, with a time to answer in and nothing of the caller.

What a tool's module says is known only when it has run.  It is confined (`mcpc.confinement`); what it prints is lost.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpc import confinement
from mcpc.asked import GRACE_SECONDS, LATE, SECONDS
from mcpc.bundling.node import node, program
from mcpc.confinement import REPLIES, Job

if TYPE_CHECKING:
    from collections.abc import Mapping

LAST = b'{"end":true}\n'
PLACE = re.compile(r"[( ](?:file://)?[^\s():]*?/(src/[^\s():]+):(\d+):(\d+)\)?")
"""A line of a stack that is in the project's own sources."""


@dataclass(frozen=True, slots=True)
class Description:
    """What one module says: the type of its default export, all that it exports, its schema, its prompts.

    `failure`: why it could not be imported, and at which file, line and column of the project, if that is known.
    """

    handler: str = "undefined"
    exported: tuple[str, ...] = ()
    schema: Any = None
    unwritten: str = ""
    prompts: tuple[Any, ...] = ()
    failure: str = ""
    place: tuple[str, int, int] = ("", 0, 0)


@dataclass(slots=True)
class _Asked:
    """What is still to be asked, and what was answered."""

    tools: dict[str, str]
    others: dict[str, str]
    found: dict[str, Description] = field(default_factory=dict)

    def open(self) -> dict[str, str]:
        """Return what has not answered, nor kept others from answering."""
        return {name: path for name, path in {**self.tools, **self.others}.items() if name not in self.found}


def describe(
    modules: Mapping[str, bytes], maps: Mapping[str, bytes], tools: Mapping[str, str], others: Mapping[str, str]
) -> dict[str, Description]:
    """Return what modules offer, by name: `tools`, and the `others` that have prompts and resources, with their paths.

    A module that ends the process is asked no more, and those after it are asked in another one.
    """
    asked = _Asked(dict(tools), {f"\0{kind}": path for kind, path in others.items()})
    with tempfile.TemporaryDirectory(prefix="mcpc-") as made:
        folder = Path(made).resolve()
        write(folder / "modules", modules, maps)
        while asked.open():
            before = len(asked.found)
            ended = once(folder, asked)
            if len(asked.found) == before:
                raise RuntimeError(f"no module was asked: {ended}")
    return {name.removeprefix("\0"): found for name, found in asked.found.items()}


def write(folder: Path, modules: Mapping[str, bytes], maps: Mapping[str, bytes]) -> None:
    """Write the modules, each with where its map is, and our own beside them."""
    folder.mkdir()
    for path, data in {**modules, **maps}.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        note = f"\n//# sourceMappingURL={place.name}.map\n" if f"{path}.map" in maps else ""
        place.write_bytes(data + note.encode())
    for name in ("inspect.mjs", "surroundings.mjs"):
        (folder / name).write_bytes(program(name))


def once(folder: Path, asked: _Asked) -> str:
    """Ask what has not answered yet; return why not all of that did."""
    still = asked.open()
    question = {
        "tools": {name: path for name, path in still.items() if name in asked.tools},
        **{name.removeprefix("\0"): path for name, path in still.items() if name in asked.others},
        "seconds": SECONDS,
    }
    home = folder / f"home-{len(asked.found)}"
    home.mkdir()
    data, how = run(folder, home, json.dumps(question), SECONDS * len(still) + GRACE_SECONDS)
    begun = ""
    for row in filter(None, map(confinement.parsed, data.split(b"\n")[:-1])):
        if "begins" in row:
            begun = str(row["begins"]) if str(row["begins"]) in still else f"\0{row['begins']}"
        elif "end" not in row and begun in still:
            asked.found[begun] = believed(row)
            begun = ""
    begun = begun if begun in still else next((name for name in still if name not in asked.found), "")
    if begun:
        asked.found[begun] = Description(failure=how)
    return how


def run(root: Path, home: Path, question: str, seconds: int) -> tuple[bytes, str]:
    """Return what the process says, and how it ended."""
    words = [node(), "--enable-source-maps", "inspect.mjs", str(REPLIES), str(home), question]
    job = Job(words, root, root / "modules", seconds, {"HOME": str(home)}, is_whole=is_whole)
    outcome = confinement.run(job)
    late = outcome.why.startswith("it did not end")
    return outcome.answer, LATE if late else outcome.how


def is_whole(data: bytearray) -> bool:
    """Tell whether the process has said its last line."""
    return data.endswith(LAST)


def believed(row: dict[str, Any]) -> Description:
    """Return what one module said, if it is what our program says: a module can write to its descriptor, too."""
    try:
        found = described(row)
        json.dumps([found.schema, found.prompts])
        texts = (found.handler, found.unwritten, found.failure, *found.exported)
        is_answer = all(isinstance(text, str) for text in texts)
    except (TypeError, KeyError, ValueError, OverflowError, RecursionError):
        is_answer = False
    return found if is_answer else Description(failure="what it answers is not an answer")


def described(row: dict[str, Any]) -> Description:
    """Return what one module said."""
    failure = row.get("failure")
    if failure:
        return Description(failure=str(failure["message"]), place=place_in(str(failure["stack"])))
    return Description(
        handler=row.get("handler", "undefined"),
        exported=tuple(row.get("exported", ())),
        schema=row.get("schema"),
        unwritten=row.get("unwritten", ""),
        prompts=tuple(row.get("prompts", ())),
    )


def place_in(stack: str) -> tuple[str, int, int]:
    """Return the first place of a stack that is in the project's own sources."""
    match = PLACE.search(stack)
    return (match[1], int(match[2]), int(match[3])) if match else ("", 0, 0)
