"""`mcpc inspect`: the contents of a built file, its files with path, size and reason, or the sizes of its parts.

Only the directory of the archive is read, and of the archives inside it, which are stored: nothing is unpacked.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.artifact import EXTRACTED, NESTED_PACKAGES, PACKAGES, built_artifact
from mcpc.cli.built_contents import FACTS, PACKAGE_PATHS, READ_ERRORS, artifact_contents, stored_entry
from mcpc.cli.request_table import show_requests
from mcpc.diagnostics.formats.visible import visible, visible_json
from mcpc.diagnostics.model import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


@command_options.command()
@command_options.TARGET_ARGUMENT
@click.option(
    "--tool",
    metavar="NAME",
    help="Show one tool with its schemas.",
    shell_complete=command_options.complete_later("names_of", "tools"),
)
@click.option(
    "--definitions",
    is_flag=True,
    help="Show how a project is read: definitions, and their functions.",
)
@click.option("--requests", is_flag=True, help="List the request of each tool, and what of an API is left out and why.")
@click.option("--files", is_flag=True, help="List packed files: path, size and reason.")
@click.option("--sizes", is_flag=True, help="Show what the bytes of the file are, biggest first.")
@command_options.build_options
@command_options.JSON_OPTION
def command(target: Path, tool: str | None, files: bool, sizes: bool, output: str, **given: Any) -> None:
    """Show what TARGET, a project's folder (this one by default) or a built file, offers.

    A built file is read, not run.
    """
    shows_definitions, shows_requests = given.pop("definitions"), given.pop("requests")
    if shows_definitions or shows_requests:
        (show_definitions if shows_definitions else show_requests)(target, given, output)
        return
    with built_artifact(target, given) as path:
        if sizes:
            parts = sizes_of_artifact(path)
            click.echo(visible_json(parts) if output == "json" else format_sizes(parts))
            return
        facts = artifact_contents(path)
        packed = packed_files(path) if files else []
    if files:
        click.echo(visible_json(packed) if output == "json" else format_listing(packed))
        return
    if tool is not None:
        facts = find_tool(facts, tool)
    click.echo(visible_json(facts) if output == "json" or tool else summary(facts))


def show_definitions(project: Path, given: dict[str, Any], output: str) -> None:
    """Print a project as mcpc reads it, and what is wrong with it."""
    from mcpc.cli import report  # noqa: PLC0415 - these modules are only imported to read a project
    from mcpc.cli.build_steps import analyse_arguments  # noqa: PLC0415
    from mcpc.diagnostics.formats import relocate_paths  # noqa: PLC0415
    from mcpc.model.ir.printer import print_server  # noqa: PLC0415

    if not project.is_dir():
        raise click.UsageError(messages.PROJECT_EXPECTED.format(path=project))
    analysed, options = analyse_arguments({**given, "project": project})
    server_text = "" if analysed.server is None else print_server(analysed.server)
    if output == "json":
        relocated = relocate_paths(analysed.diagnostics, analysed.sources, report.relative_to_cwd(project))
        facts = json.loads(report.render_machine_format(*relocated, output))
        click.echo(json.dumps({"server": server_text.splitlines(), **facts}, indent=2, ensure_ascii=False))
    else:
        report.report(report.notable_diagnostics(analysed.diagnostics, output), analysed.sources, output, project)
        click.echo(server_text, nl=False)
    report.exit_if_refused(analysed.diagnostics, options)


def find_tool(facts: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the tool with this name, or exit."""
    listed = (*facts.get("tools", ()), *facts.get("operations", ()))
    tools: dict[str, dict[str, Any]] = {tool["name"]: tool for tool in listed}
    if name not in tools:
        raise click.UsageError(messages.UNKNOWN_TOOL.format(name=name, names=quoted([*tools][:8])))
    return tools[name]


def summary(facts: dict[str, Any]) -> str:
    """Return the overview of a built file as text."""
    lines = [f"{facts['name']} {facts['version']}, revisions {', '.join(facts['revisions'])}"]
    lines += [f"  {note}" for note in facts.get("notes", ())]
    running = handler_options_by_name(facts)
    for kind in ("tools", "operations", "prompts"):
        offered = facts.get(kind)
        for item in offered if isinstance(offered, list) else []:
            schema = item.get("inputSchema", {}).get("properties", {})
            names = ", ".join(schema or [argument["name"] for argument in item.get("arguments", [])])
            description = item.get("description", "").partition("\n")[0]
            lines.append(f"  {kind[:-1]:<6} {item['name']}({names})  {description}")
            lines += [f"         {fact}" for fact in running.get(item["name"], ())]
    for kind, (word, key) in RESOURCE_LISTS.items():
        listed = facts.get(kind)
        for item in listed if isinstance(listed, list) else []:
            lines.append(f"  {word} {item[key]}  {(item.get('description') or item['name']).partition(chr(10))[0]}")
            lines += [f"         {fact}" for fact in running.get(item["name"], ())]
    return "\n".join(visible(line) for line in lines)


RESOURCE_LISTS = {"resources": ("resource", "uri"), "resourceTemplates": ("template", "uriTemplate")}
"""Lists of readable items: the name of an item, and the member that identifies it."""


def handler_options_by_name(facts: dict[str, Any]) -> dict[str, list[str]]:
    """Return the options of each handler that differ from the defaults."""
    found: dict[str, list[str]] = {}
    for group in facts.get("running", ()):
        text = [f"{field}: {as_text(value)}" for field, value in group.items() if field != "of"]
        for name in group["of"]:
            found.setdefault(name, []).extend(text)
    return found


def as_text(value: Any) -> str:
    """Return a value as readable text."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value).lower()


NESTED_ARCHIVES = {
    "mcpc_runtime/sources.zip": "",
    "handlers.zip": "handlers/",
    **NESTED_PACKAGES,
}
"""Archives inside a built file, and the folder whose files they contain."""
# In this order: the first beginning that fits counts.
REASONS = (
    ("handlers/.mcpc/", "support file for scripts of another system"),
    ("handlers/", "project file: handlers may read it"),
    ("site/", "package that handlers import, or one of its dependencies"),
    ("serving/", "package that the server needs"),
    ("mcpc_app/", "compiled definitions"),
    ("mcpc_runtime", "runtime"),
    ("mcpc/", "module for `from mcpc import ...`"),
    ("__start__.py", "entry point"),
    ("META-INF/", "digests, build facts, bill of materials"),
    ("__main__", "entry point"),
)
"""Why a file is included, by the beginning of its path."""
GROUPED_PREFIXES = ("site/", "serving/", "mcpc_app/", "mcpc_runtime", "META-INF/", "handlers/.mcpc/")
"""Beginnings of paths below which each folder is shown as one sum."""


def packed_files(path: Path) -> list[dict[str, Any]]:
    """Return every file in a built file, sorted by path."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = [*_files_of(archive, "")]
    except READ_ERRORS as problem:
        raise click.UsageError(
            messages.CANNOT_READ.format(path=path, problem=f"{type(problem).__name__}: {problem}")
        ) from None
    rows = [{"path": name, "size": size, "why": inclusion_reason(name)} for name, size in sorted(found)]
    return [row for row in rows if row["path"] not in NESTED_ARCHIVES]


def _files_of(archive: zipfile.ZipFile, place: str) -> Iterator[tuple[str, int]]:
    for info in archive.infolist():
        if info.is_dir():
            continue
        yield f"{place}{info.filename}", info.file_size
        # At the top only: a file of the project may have such a name.
        if not place and info.filename in NESTED_ARCHIVES:
            with zipfile.ZipFile(io.BytesIO(stored_entry(archive, info.filename))) as inner:
                yield from _files_of(inner, NESTED_ARCHIVES[info.filename])


def inclusion_reason(name: str) -> str:
    """Return why a file is included."""
    return next((why for beginning, why in REASONS if name.startswith(beginning)), "")


def format_listing(rows: Sequence[dict[str, Any]]) -> str:
    """Return the files as text: sizes in bytes, and one line for each package and runtime folder."""
    lines = []
    # The rows are sorted by path, so that those of a folder follow each other.
    for (name, why), group in groupby(rows, key=lambda row: (displayed_name(row["path"]), row["why"])):
        members = [*group]
        size = sum(row["size"] for row in members)
        count = f"  ({len(members)} files)" if len(members) > 1 else ""
        lines.append(f"{size:>12,}  {visible(name)}  {why}{count}")
    total = sum(row["size"] for row in rows)
    return "\n".join([*lines, f"{total:>12,}  {len(rows)} files"])


def displayed_name(path: str) -> str:
    """Return the displayed name of a file: its path, or the folder that it is counted with."""
    if not path.startswith(GROUPED_PREFIXES):
        return path
    parts = path.split("/")
    depth = 2 if path.startswith(("site/", "serving/", "handlers/")) else 1
    return "/".join(parts[:depth]) + ("/" if len(parts) > depth else "")


NESTED = {"handlers.zip": "handlers/", **NESTED_PACKAGES}
"""Archives inside a built file whose entries count for parts of it."""
PARTS = (
    ("handlers/", "project", "the project's files"),
    ("mcpc_app/program", "project", "the project's files"),
    ("mcpc_app/", "generated", "generated code"),
    ("mcpc_runtime", "runtime", "runtime"),
    ("mcpc/", "runtime", "runtime"),
    ("__main__", "runtime", "runtime"),
    ("__start__", "runtime", "runtime"),
    ("META-INF/", "metadata", "digests, build facts, bill of materials"),
)
"""The kind and the name of a part, by the beginning of its paths."""
CACHED = re.compile(r"(?:__pycache__/)?([^/.]+)(?:\.[\w-]+)?\.pyc$")
"""The end of a path of bytecode, with the name of its module."""
BYTECODE = ("mcpc_runtime/bytecode", "mcpc_app/bytecode", "mcpc_app/program")
INDEX = ("packages", "index of packages")
REST = ("archive", "directory of the archive, shell script")
WIDTH = 80
COLUMNS = ("in file", "raw", "bytecode")


@dataclass(slots=True)
class PartSize:
    """The size of a part: its bytes in the file, uncompressed, and of the bytecode in it; `version` of packages only.

    `extracted`: files of the package are extracted into a folder before its import.
    """

    kind: str
    name: str
    version: str = ""
    size: int = 0
    raw: int = 0
    bytecode: int = 0
    files: int = 0
    extracted: bool = False


def sizes_of_artifact(path: Path) -> list[dict[str, Any]]:
    """Return the parts of a built file with their sizes, the biggest first; together they are the whole file."""
    try:
        with zipfile.ZipFile(path) as archive:
            facts: dict[str, Any] = json.loads(stored_entry(archive, FACTS))
            entries = [*_entries(archive, "")]
        # What is in no entry: the prologue, local headers, the directory, and an interpreter.
        rest = path.stat().st_size - sum(size for _, size, _ in entries)
        parts = _parts([*entries, ("", rest, rest)], facts)
    except READ_ERRORS as problem:
        words = f"{type(problem).__name__}: {problem}"
        raise click.UsageError(messages.CANNOT_READ.format(path=path, problem=words)) from None
    return [asdict(part) for part in sorted(parts, key=lambda part: (-part.size, part.kind, part.name))]


def _entries(archive: zipfile.ZipFile, place: str) -> Iterator[tuple[str, int, int]]:
    """Yield path, size in the file and raw size of every entry, and of those of archives inside."""
    for info in archive.infolist():
        if not place and info.filename in NESTED:
            with zipfile.ZipFile(io.BytesIO(stored_entry(archive, info.filename))) as inner:
                yield from _entries(inner, NESTED[info.filename])
        else:
            yield f"{place}{info.filename}", info.compress_size, info.file_size


def _parts(entries: Sequence[tuple[str, int, int]], facts: Mapping[str, Any]) -> list[PartSize]:
    versions = dict(row.rpartition(" ")[::2] for key in ("packages", "serving") for row in facts.get(key, ()))
    owners = {path: name for name, paths in facts.get(PACKAGE_PATHS, {}).items() for path in paths}
    found: dict[tuple[str, str], PartSize] = {}
    for path, size, raw in entries:
        kind, name = _part_of(path, owners)
        version = versions.get(name, "") if kind == "package" else ""
        part = found.setdefault((kind, name), PartSize(kind, name, version))
        part.size += size
        part.raw += raw
        part.files += 1
        part.bytecode += size if path.endswith(".pyc") or path in BYTECODE else 0
        part.extracted |= EXTRACTED in path
    return [*found.values()]


def _part_of(path: str, owners: Mapping[str, str]) -> tuple[str, str]:
    """Return the kind and the name of the part that an entry belongs to."""
    folder = next((folder for folder in PACKAGES if path.startswith(folder)), "")
    if not folder:
        return next((row[1:] for row in PARTS if path.startswith(row[0])), REST)
    inner = path.removeprefix(folder)
    if inner.startswith(EXTRACTED):
        # What is extracted has a folder for each package, in which its paths begin.
        inner = inner.removeprefix(EXTRACTED).partition("/")[2]
    parts = inner.split("/")
    places = ["/".join(parts[:number]) + "/" for number in range(1, len(parts))]
    file = CACHED.sub(r"\1.py", inner)
    name = next((owners[place] for place in (*places, file) if place in owners), "")
    return ("package", name) if name else INDEX


def format_sizes(parts: Sequence[dict[str, Any]]) -> str:
    """Return the parts as a table of at most 80 columns, with a line for the whole file."""
    lines = ["".join(f"{title:>12}" for title in COLUMNS)]
    for part in parts:
        name = " ".join(filter(None, (part["name"], part["version"])))
        lines.append(_row(part, f"{name}, extracted" if part["extracted"] else name))
    total = {key: sum(part[key] for part in parts) for key in ("size", "raw", "bytecode")}
    return "\n".join([*lines, _row(total, "the whole file")])


def _row(part: Mapping[str, Any], name: str) -> str:
    numbers = "".join(f"{part[key]:>12,}" for key in ("size", "raw", "bytecode"))
    shown = visible(name)
    most = WIDTH - len(numbers) - 2
    return f"{numbers}  {shown if len(shown) <= most else shown[: most - 1] + '…'}"
