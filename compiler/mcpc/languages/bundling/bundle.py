"""Bundling of a project's modules and the packages they import into self-contained modules.

The project is copied to a new folder, with replacements of ToolBox's own modules, and bundled there: every path that
could be part of the output is the same for the same sources.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpc.languages.bundling.node import (
    MODULES,
    NodeError,
    OutsidePackagesError,
    copy_with_requirements,
    esbuild_module,
    has_packages,
    install_possible,
    mcpc_program,
    package_name,
    run_node,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpc.reading import SourceTree

SCRIPTS = (".ts", ".js", ".mts", ".mjs", ".cts", ".cjs", ".tsx", ".jsx", ".json")
"""Files of a project that can be bundled."""
REPLACED_MODULES = {
    "src/handler/ToolHandler": "ToolHandler.mjs",
    "src/config": "config.mjs",
    "src/logService": "logService.mjs",
}
"""ToolBox's own modules, by their paths without a suffix, and their replacements."""
EXPORTED = re.compile(r"^[^\S\n]*export\s+(?:async\s+)?(?:const|let|var|function\*?|class)\s+([\w$]+)", re.MULTILINE)
ORIGINAL_SUFFIX = ".own"
ENDINGS = (".ts", ".js", ".mts", ".mjs")
PACKAGE_PATH = re.compile(r"node_modules/((?:@[^/]+/)?[^/]+)/(?!.*node_modules/)")


@dataclass(frozen=True, slots=True)
class BundleError:
    """Why an entry cannot be bundled: the message, and the file, line and column of the project, if known.

    `package`: the package that it is about.
    """

    message: str
    path: str = ""
    line: int = 0
    column: int = 0
    package: str = ""
    native_packages: bool = False


@dataclass(frozen=True, slots=True)
class Bundle:
    """The modules by path, their source maps, and errors of entries that could not be bundled.

    `lacking`: unavailable packages, with the reason; `unlocked`: packages without fixed versions; `native_packages`: by
    entry, its imported packages with machine code.
    """

    modules: Mapping[str, bytes]
    maps: Mapping[str, bytes]
    faults: Mapping[str, tuple[BundleError, ...]]
    lacking: Mapping[str, str] = field(default_factory=dict)
    unlocked: tuple[str, ...] = ()
    native: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def bundle_modules(tree: SourceTree, entries: Sequence[str]) -> Bundle:
    """Return the modules of a project's `entries`; raise NodeError if the bundler is not available."""
    with tempfile.TemporaryDirectory(prefix="mcpc-") as made:
        folder = Path(made).resolve()
        write_project(tree, folder)
        bundler = esbuild_module(offline=tree.options.offline)
        # The first run leaves packages outside: it shows which of them the modules import.
        scanned = run_esbuild(folder, entries, bundler, external=True)
        # Node's built-in modules and files are not packages.
        paths = {
            item["path"]
            for entry in scanned["metafile"]["inputs"].values()
            for item in entry["imports"]
            if item.get("external")
        }
        names = {package_name(path) for path in paths if not path.startswith((".", "/", "node:", "<"))}
        wanted = tuple(sorted(name for name in names if name not in BUILTIN_MODULES))
        lacking, unlocked = supply_packages(tree, wanted, folder)
        said = run_esbuild(folder, entries, bundler, external=False)
        compiled = native_packages(folder)
    outputs = {path: text.encode() for path, text in said["outputs"]}
    faults = {entry: tuple(parse_error(error) for error in errors) for entry, errors in said["failed"].items()}
    return Bundle(
        modules={path: data for path, data in sorted(outputs.items()) if not path.endswith(".map")},
        maps={path: data for path, data in sorted(outputs.items()) if path.endswith(".map")},
        faults=faults,
        lacking=lacking,
        unlocked=unlocked,
        native={entry: packages_in_module(entry, said["metafile"], compiled) for entry in entries},
    )


def write_project(tree: SourceTree, folder: Path) -> None:
    """Write the files of a project that can be bundled, and the replacements of ToolBox's own modules."""
    for path, source in tree.files.items():
        if path.endswith(SCRIPTS):
            stem, ending = split_suffix(path)
            place = folder / (f"{stem}{ORIGINAL_SUFFIX}{ending}" if stem in REPLACED_MODULES else path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(source.data)
    for stem, name in REPLACED_MODULES.items():
        place = folder / f"{stem}.js"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(mcpc_program(name) + further_exports(tree, stem, mcpc_program(name)))


def split_suffix(path: str) -> tuple[str, str]:
    """Return a path without its suffix, and the suffix."""
    stem, dot, ending = path.rpartition(".")
    return stem, dot + ending


def further_exports(tree: SourceTree, stem: str, ours: bytes) -> bytes:
    """Return code that exports the rest of a project's own version of a module, if it has more than the replacement."""
    for ending in ENDINGS:
        own = tree.get(stem + ending)
        names = set(EXPORTED.findall(own.text)) if own is not None else set()
        if any(re.search(rf"\b{re.escape(name)}\b", ours.decode()) is None for name in names):
            return f'\nexport * from "./{stem.rpartition("/")[2]}{ORIGINAL_SUFFIX}.js";\n'.encode()
    return b""


def run_esbuild(folder: Path, entries: Sequence[str], bundler: Path, *, external: bool) -> dict[str, Any]:
    """Return esbuild's output for the entries, and its errors."""
    (folder / "bundle.mjs").write_bytes(mcpc_program("bundle.mjs"))
    question = {"entries": [*entries], "external": external, "esbuild": str(bundler)}
    try:
        said: dict[str, Any] = json.loads(run_node(["bundle.mjs"], folder, json.dumps(question).encode()))
    except NodeError as problem:
        raise NodeError(f"esbuild failed: {problem}") from None
    return said


def supply_packages(tree: SourceTree, wanted: Sequence[str], folder: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """Copy the required packages beside the bundled files: from the project, else installed by npm.

    Return the unavailable packages, with the reasons, and those without a fixed version.
    """
    root = Path(tree.root) if tree.root else None
    if root is not None and has_packages(root, wanted):
        return copy_packages(root, wanted, folder), ()
    specs = dict(declared_packages(tree))
    asked = {name: specs[name] for name in wanted if name in specs}
    lock = tree.get("package-lock.json")
    place, lacking = install_possible(asked, lock.data if lock else b"", offline=tree.options.offline)
    lacking |= {name: "`package.json` does not name it" for name in wanted if name not in specs}
    if place is not None:
        lacking |= copy_packages(place, [name for name in asked if name not in lacking], folder)
    return lacking, tuple(asked) if place is not None and lock is None else ()


def copy_packages(root: Path, wanted: Sequence[str], folder: Path) -> dict[str, str]:
    """Copy packages beside the bundled files; return those that cannot be copied, with the reasons."""
    try:
        copy_with_requirements(root, wanted, folder)
    except OutsidePackagesError as problem:
        return dict.fromkeys(wanted, str(problem))
    return {}


def declared_packages(tree: SourceTree) -> Iterator[tuple[str, str]]:
    """Yield the packages that a project declares, each with the allowed versions."""
    source = tree.get("package.json")
    try:
        said = json.loads(source.data) if source else {}
    except ValueError:
        return
    # In a dictionary the last row of a package counts, that of `dependencies`.
    for key in ("devDependencies", "optionalDependencies", "dependencies"):
        rows = said.get(key) if isinstance(said, dict) else None
        for name, spec in (rows if isinstance(rows, dict) else {}).items():
            if isinstance(spec, str):
                yield name, spec


def parse_error(error: dict[str, Any]) -> BundleError:
    """Return an error of esbuild about an entry."""
    where = error["location"] or {}
    path = str(where.get("file", "")).replace(f"{ORIGINAL_SUFFIX}.", ".")
    unresolved = re.match(r'Could not resolve "([^"./][^"]*)"', error["text"])
    package = package_name(unresolved[1]) if unresolved else package_of(path)
    # esbuild counts columns from 0.
    line, column = int(where.get("line", 0)), int(where.get("column", 0)) + 1
    return BundleError(error["text"], path, line, column, package)


def native_packages(folder: Path) -> frozenset[str]:
    """Return the copied packages that have machine code, or are compiled at installation."""
    places = (path.parent for path in (folder / MODULES).rglob("package.json"))
    native = (place for place in places if (place / "binding.gyp").exists() or any(place.rglob("*.node")))
    return frozenset(package_of(f"{place.relative_to(folder).as_posix()}/") for place in native)


def package_of(path: str) -> str:
    """Return the package that a file belongs to, an empty string for the project's files."""
    match = PACKAGE_PATH.search(path)
    return match[1] if match else ""


def packages_in_module(entry: str, metafile: dict[str, Any], packages: frozenset[str]) -> tuple[str, ...]:
    """Return those of the packages whose code is part of a module."""
    seen: set[str] = set()
    todo = [entry]
    while todo:
        path = todo.pop()
        if path not in seen:
            seen.add(path)
            imports = metafile["inputs"].get(path, {}).get("imports", ())
            todo += [item["path"] for item in imports if not item.get("external")]
    return tuple(sorted({package_of(path) for path in seen} & packages))


BUILTIN_MODULES = frozenset(
    """assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain
    events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl stream
    string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib""".split()  # noqa: SIM905
)
"""Built-in modules of Node."""
