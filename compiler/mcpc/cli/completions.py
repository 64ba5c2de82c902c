"""What a shell offers while a command line is typed: names of a server's definitions, of clients, and of codes.

A built file is read and not run; a project is read without running its code, or its last build is.  Only plain names
are offered, because a shell may insert them as they are; a failure offers nothing.  A shell waits for the answer, so
nothing here imports the compiler's stages.

What was read once is kept in the cache while no file of the project changes, so that the next key is answered without
the compiler's stages, which are imported only to read a project.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcpc
from mcpc.cli.built_contents import archive_contents, artifact_contents
from mcpc.options import Options, options_from_environment
from mcpc.sandbox.cache_dir import load_entry, store_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import click

if TYPE_CHECKING:
    Item = Mapping[str, Any]

PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]+")
MOST = 1_000
"""How many names are offered."""


def offered(names: Iterable[str], incomplete: str) -> list[str]:
    """Return the plain names that begin as what is typed."""
    return [name for name in names if name.startswith(incomplete) and PLAIN.fullmatch(name)][:MOST]


def names_of(kind: str, key: str = "name") -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return the completion of the names in a list of the target: `tools`, `prompts`, `resources`."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        return offered((str(item[key]) for item in definitions(ctx.params.get("target"), kind)), incomplete)

    return complete


KINDS = {"read": ("resources", "uri"), "prompt": ("prompts", "name")}


def names_of_kind(ctx: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    """Complete the NAME of `mcpc call`: a tool's, or what its options say."""
    return names_of(*KINDS.get(ctx.params.get("kind") or "", ("tools", "name")))(ctx, option, incomplete)


def arguments_of_kind(ctx: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
    """Complete the arguments of `mcpc call`."""
    kind = ctx.params.get("kind")
    return [] if kind == "read" else (prompt_arguments if kind else tool_arguments)(ctx, option, incomplete)


def tool_arguments(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete `NAME=VALUE` of a tool: names of its arguments, and values of an enumeration.

    Bash gives `NAME=VALUE` as three words.
    """
    tools = definitions(ctx.params.get("target"), "tools")
    tool: Item = next((item for item in tools if item["name"] == ctx.params.get("name")), {})
    properties = tool.get("inputSchema", {}).get("properties", {})
    given = [str(word) for word in ctx.params.get("arguments") or () if word != "="]
    if given and given[-1] in properties:
        return offered(values_of(properties[given[-1]]), incomplete)
    name, sign, _value = incomplete.partition("=")
    if sign and name in properties:
        return offered((f"{name}={value}" for value in values_of(properties[name])), incomplete)
    used = {word.partition("=")[0] for word in given}
    return offered((f"{name}=" for name in properties if name not in used), incomplete)


def values_of(schema: Any) -> list[str]:
    """Return the values of an enumeration as words."""
    if not isinstance(schema, dict):
        return []
    values = schema.get("enum", [True, False] if schema.get("type") == "boolean" else [])
    return [value if isinstance(value, str) else str(value).lower() for value in values if value is not None]


def prompt_arguments(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete names of a prompt's arguments."""
    prompts = definitions(ctx.params.get("target"), "prompts")
    prompt: Item = next((item for item in prompts if item["name"] == ctx.params.get("name")), {})
    return offered((f"{item['name']}=" for item in prompt.get("arguments", ())), incomplete)


def definitions(target: object, kind: str) -> list[Item]:
    """Return the items of a list that a target offers; an empty list if they are not known."""
    path = Path(str(target)) if target else Path()
    with suppress(Exception):  # whatever is wrong with a target, a shell has nothing to offer
        found = artifact_contents(path) if path.is_file() else project_lists(path)
        items = found.get(kind)
        return [*items] if isinstance(items, list) else []
    return []


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
        # Not the contents: reading all files at each key would cost what the cache is to spare.
        digest.update(f"{path} {found.st_size} {found.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _variables() -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in os.environ.items() if name.startswith("MCPC_"))


def _files(project: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the paths of a project's files, sorted, without those of hidden folders."""
    for folder, below, names in os.walk(project):
        # In place: `os.walk` goes into the folders that are left in its list.
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
    # No code of a project is run because a key was pressed.
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
