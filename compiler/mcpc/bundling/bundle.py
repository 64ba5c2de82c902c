"""A project's modules and the packages they import become modules that need nothing beside them.

The project is written down anew, with what ToolBox's own modules are replaced by in their places, and bundled there:
every path that could be part of what is made is the same for the same sources.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpc.bundling.node import MODULES, NodeError, program, run
from mcpc.bundling.npm import esbuild, obtainable
from mcpc.bundling.packages import OutsideError, has_all, name_of, put

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.sources import SourceTree

SCRIPTS = (".ts", ".js", ".mts", ".mjs", ".cts", ".cjs", ".tsx", ".jsx", ".json")
"""What can be bundled of a project."""
VIRTUAL = {
    "src/handler/ToolHandler": "ToolHandler.mjs",
    "src/config": "config.mjs",
    "src/logService": "logService.mjs",
}
"""ToolBox's own modules, by their paths without an ending, and what stands for them."""
EXPORTED = re.compile(r"^[^\S\n]*export\s+(?:async\s+)?(?:const|let|var|function\*?|class)\s+([\w$]+)", re.MULTILINE)
OWN = ".own"
ENDINGS = (".ts", ".js", ".mts", ".mjs")
INSIDE = re.compile(r"node_modules/((?:@[^/]+/)?[^/]+)/(?!.*node_modules/)")


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an entry cannot be bundled: what is wrong, and at which file, line and column of the project, if there.

    `package`: the one that it is about.
    """

    message: str
    path: str = ""
    line: int = 0
    column: int = 0
    package: str = ""
    native: bool = False


@dataclass(frozen=True, slots=True)
class Bundle:
    """The modules by their paths, the maps of their lines beside them, and why some entries are not among them.

    `lacking`: packages that cannot be had, with the reason; `unlocked`: those whose versions nobody wrote down;
    `native`: by entry, those it imports that were made for one kind of machine.
    """

    modules: Mapping[str, bytes]
    maps: Mapping[str, bytes]
    faults: Mapping[str, tuple[Fault, ...]]
    lacking: Mapping[str, str] = field(default_factory=dict)
    unlocked: tuple[str, ...] = ()
    native: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def bundle(tree: SourceTree, entries: Sequence[str]) -> Bundle:
    """Return the modules of a project's `entries`; raise NodeError if there is nothing here that could make them."""
    with tempfile.TemporaryDirectory(prefix="mcpc-") as made:
        folder = Path(made).resolve()
        write(tree, folder)
        bundler = esbuild()
        scanned = ask(folder, entries, bundler, external=True)
        wanted = imported(scanned["metafile"])
        lacking, unlocked = supply(tree, wanted, folder)
        said = ask(folder, entries, bundler, external=False)
        compiled = native(folder)
    outputs = {path: text.encode() for path, text in said["outputs"]}
    faults = {entry: tuple(fault(error) for error in errors) for entry, errors in said["failed"].items()}
    return Bundle(
        modules={path: data for path, data in sorted(outputs.items()) if not path.endswith(".map")},
        maps={path: data for path, data in sorted(outputs.items()) if path.endswith(".map")},
        faults=faults,
        lacking=lacking,
        unlocked=unlocked,
        native={entry: needed(entry, said["metafile"], compiled) for entry in entries},
    )


def write(tree: SourceTree, folder: Path) -> None:
    """Write down what may be bundled of a project, and what stands for ToolBox's own modules."""
    for path, source in tree.files.items():
        if path.endswith(SCRIPTS):
            stem, ending = split(path)
            place = folder / (f"{stem}{OWN}{ending}" if stem in VIRTUAL else path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(source.data)
    for stem, name in VIRTUAL.items():
        place = folder / f"{stem}.js"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(program(name) + more_of(tree, stem, program(name)))


def split(path: str) -> tuple[str, str]:
    """Return a path without its ending, and that."""
    stem, dot, ending = path.rpartition(".")
    return stem, dot + ending


def more_of(tree: SourceTree, stem: str, ours: bytes) -> bytes:
    """Return what has a module export the rest of a project's own version, if that has more than ours."""
    for ending in ENDINGS:
        own = tree.get(stem + ending)
        names = set(EXPORTED.findall(own.text)) if own is not None else set()
        if any(re.search(rf"\b{re.escape(name)}\b", ours.decode()) is None for name in names):
            return f'\nexport * from "./{stem.rpartition("/")[2]}{OWN}.js";\n'.encode()
    return b""


def ask(folder: Path, entries: Sequence[str], bundler: Path, *, external: bool) -> dict[str, Any]:
    """Return what esbuild made of the entries, and what it has against some of them."""
    (folder / "bundle.mjs").write_bytes(program("bundle.mjs"))
    question = {"entries": [*entries], "external": external, "esbuild": str(bundler)}
    try:
        said: dict[str, Any] = json.loads(run(["bundle.mjs"], folder, json.dumps(question).encode()))
    except NodeError as problem:
        raise NodeError(f"esbuild failed: {problem}") from None
    return said


def imported(metafile: dict[str, Any]) -> tuple[str, ...]:
    """Return the packages that a project's own modules import; what begins otherwise is Node's own, or a file."""
    paths = {one["path"] for entry in metafile["inputs"].values() for one in entry["imports"] if one.get("external")}
    names = {name_of(path) for path in paths if not path.startswith((".", "/", "node:", "<"))}
    return tuple(sorted(name for name in names if name not in BUILTIN))


def supply(tree: SourceTree, wanted: Sequence[str], folder: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """Put the packages that are wanted beside what is bundled: the project's own, else what npm can install.

    Return what cannot be had, with the reasons, and what has no version that was written down.
    """
    root = Path(tree.root) if tree.root else None
    if root is not None and has_all(root, wanted):
        return outside(root, wanted, folder), ()
    specs = dict(declared(tree))
    asked = {name: specs[name] for name in wanted if name in specs}
    lock = tree.get("package-lock.json")
    place, lacking = obtainable(asked, lock.data if lock else b"")
    lacking |= {name: "`package.json` does not name it" for name in wanted if name not in specs}
    if place is not None:
        lacking |= outside(place, [name for name in asked if name not in lacking], folder)
    return lacking, tuple(asked) if place is not None and lock is None else ()


def outside(root: Path, wanted: Sequence[str], folder: Path) -> dict[str, str]:
    """Put packages beside what is bundled; return those that cannot be, with the reasons."""
    try:
        put(root, wanted, folder)
    except OutsideError as problem:
        return dict.fromkeys(wanted, str(problem))
    return {}


def declared(tree: SourceTree) -> Iterator[tuple[str, str]]:
    """Yield the packages that a project names, each with the versions that will do."""
    source = tree.get("package.json")
    try:
        said = json.loads(source.data) if source else {}
    except ValueError:
        return
    for key in ("devDependencies", "optionalDependencies", "dependencies"):
        rows = said.get(key) if isinstance(said, dict) else None
        for name, spec in (rows if isinstance(rows, dict) else {}).items():
            if isinstance(spec, str):
                yield name, spec


def fault(error: dict[str, Any]) -> Fault:
    """Return what esbuild has against an entry."""
    where = error["location"] or {}
    path = str(where.get("file", "")).replace(f"{OWN}.", ".")
    unresolved = re.match(r'Could not resolve "([^"./][^"]*)"', error["text"])
    package = name_of(unresolved[1]) if unresolved else package_of(path)
    line, column = int(where.get("line", 0)), int(where.get("column", 0)) + 1
    return Fault(error["text"], path, line, column, package)


def native(folder: Path) -> frozenset[str]:
    """Return the packages beside what was bundled that have machine code, or are to be compiled."""
    places = (path.parent for path in (folder / MODULES).rglob("package.json"))
    found = (place for place in places if (place / "binding.gyp").exists() or any(place.rglob("*.node")))
    return frozenset(package_of(f"{place.relative_to(folder).as_posix()}/") for place in found)


def package_of(path: str) -> str:
    """Return the package that a file belongs to, nothing if it is the project's own."""
    match = INSIDE.search(path)
    return match[1] if match else ""


def needed(entry: str, metafile: dict[str, Any], packages: frozenset[str]) -> tuple[str, ...]:
    """Return those of the packages that a module is made of, in part."""
    seen: set[str] = set()
    todo = [entry]
    while todo:
        path = todo.pop()
        if path not in seen:
            seen.add(path)
            imports = metafile["inputs"].get(path, {}).get("imports", ())
            todo += [one["path"] for one in imports if not one.get("external")]
    return tuple(sorted({package_of(path) for path in seen} & packages))


BUILTIN = frozenset(
    """assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain
    events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream
    string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib""".split()  # noqa: SIM905
)
"""What Node has itself."""
