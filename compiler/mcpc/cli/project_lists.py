"""What a project offers, for shells: its tools, prompts and resources by name.

What was read once is kept in the cache while no file of the project changes, so that the next key is answered without
the compiler's stages, which are imported only to read a project.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from typing import TYPE_CHECKING, Any

import mcpc
from mcpc.cli.built_contents import archive_contents
from mcpc.options import Options, options_from_environment
from mcpc.sandbox.cache_dir import load_entry, store_entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

KIND = "completions"
LISTS = {"tools": ("name", "inputSchema"), "prompts": ("name", "arguments"), "resources": ("name", "uri")}
"""What is kept of each list."""
MAX_FILES = 5_000
"""Of a project with more files nothing is kept."""
NOT_READ = ("__pycache__", "node_modules")


def project_lists(project: Path) -> Mapping[str, Any]:
    """Return what a project offers: as it was read last, of its last build, or of what can be read of it now."""
    name = _state_of(project)
    kept = load_entry(KIND, name) if name else None
    if kept is not None:
        found: Mapping[str, Any] = json.loads(kept)
        return found
    read = _read(project)
    lists = {
        kind: [{key: item[key] for key in keys if key in item} for item in items]
        for kind, keys in LISTS.items()
        for items in [read.get(kind, ())]
    }
    if name:
        store_entry(KIND, name, json.dumps(lists).encode())
    return lists


def _state_of(project: Path) -> str:
    """Return a name for the state of a project's files, empty for one with very many."""
    digest = hashlib.sha256(f"{mcpc.__version__} {project.resolve()} {sorted(_variables())}".encode())
    for count, (path, found) in enumerate(_files(project)):
        if count >= MAX_FILES:
            return ""
        digest.update(f"{path} {found.st_size} {found.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _variables() -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in os.environ.items() if name.startswith("MCPC_"))


def _files(project: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the paths of a project's files, sorted, without those of hidden folders."""
    for folder, below, names in os.walk(project):
        below[:] = sorted(name for name in below if not name.startswith(".") and name not in NOT_READ)
        for name in sorted(names):
            path = os.path.join(folder, name)  # noqa: PTH118 - of thousands of files
            yield path, os.lstat(path)


def _read(project: Path) -> Mapping[str, Any]:
    """Return the lists of a project's last build, or what can be read of it without running its code."""
    from mcpc import pipeline  # noqa: PLC0415 - the stages are only imported to read a project
    from mcpc.frontends import parse_project  # noqa: PLC0415
    from mcpc.lower import lower  # noqa: PLC0415
    from mcpc.pack import cache  # noqa: PLC0415

    tree, problems = pipeline.read_project(project)
    options = Options(**options_from_environment(os.environ))  # type: ignore[arg-type]
    build = cache.load_build(cache.cache_key(tree, problems, options))
    if build is not None:
        with zipfile.ZipFile(io.BytesIO(build.data)) as archive:
            return archive_contents(archive)
    definition, _ = parse_project(tree, Options(imports=False))
    server = lower(definition, Options(imports=False))[0] if definition else None
    if server is None:
        return {}
    return {
        "tools": [{"name": tool.name, "inputSchema": tool.input.value} for tool in server.tools],
        "prompts": [
            {"name": prompt.name, "arguments": [{"name": argument.name} for argument in prompt.arguments]}
            for prompt in server.prompts
        ],
        "resources": [{"name": each.name, "uri": each.uri} for each in server.resources],
    }
