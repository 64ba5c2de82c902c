"""Targets of `mcpc scan`: what a server offers, with the files and positions that are known of it."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from mcpc import pipeline
from mcpc.cli import command_options, messages, report
from mcpc.cli.artifact import built_artifact
from mcpc.cli.built_contents import READ_ERRORS, stored_entry
from mcpc.cli.server_targets import (
    artifact_lists,
    read_address_contents,
    read_command,
    read_command_contents,
    read_target,
)
from mcpc.client.http import is_address
from mcpc.diagnostics.formats.visible import visible
from mcpc.frontends.project import PYPROJECT
from mcpc.release.scan.model import Role, ScannedFile, ScannedServer
from mcpc.release.scan.scanning import IgnoreError, project_ignored
from mcpc.release.scan.texts import locator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mcpc.client import ServerLists
    from mcpc.client.contents import ServerContents
    from mcpc.release.scan.model import Hit, Position
    from mcpc.release.scan.scanning import Ignored

HANDLERS, HANDLERS_ZIP, SUPPORT = "handlers/", "handlers.zip", "handlers/.mcpc/"
COMPILED = (".pyc", ".so", ".zip", ".png")
MAX_FILE_BYTES = 1 << 20
STATIC = re.compile(rb'\[\{"(?:uri|role|type)":"')
"""The beginning of static contents, messages or results in the blob of a built file."""
MAX_STATIC = 10_000
FIELDS = {"prompt": "messages", "resource": "contents"}
"""Where the texts of a definition's contents are, for reports."""
MAX_UNREAD = 300


class RequestOptions(NamedTuple):
    """How running servers are asked: headers for addresses, for how long, and whether for their lists only."""

    headers: Mapping[str, str]
    seconds: float
    is_lists_only: bool = False


def scanned_target(target: str, given: Mapping[str, Any], request: RequestOptions) -> ScannedServer:
    """Return a target with all that can be scanned of it; exit with a message if it cannot be read."""
    path = Path(target)
    if is_address(target) and not request.is_lists_only:
        return running_server(target, *read_address_contents(target, request.headers, request.seconds))
    if not path.is_dir() and not (path.is_file() and zipfile.is_zipfile(path)):
        lists = read_target(target, given, request.headers, request.seconds)
        return ScannedServer(lists.name, target, lists.as_json())
    with built_artifact(path, dict(given)) as artifact:
        lists, files = artifact_lists(artifact), tuple(artifact_files(artifact))
    locate = located_lazily(path, given) if path.is_dir() else None
    return ScannedServer(lists.name, target, lists.as_json(), files, locate)


def scanned_command(words: Sequence[str], request: RequestOptions) -> ScannedServer:
    """Return the server that a command line starts."""
    target = " ".join(words)[:80]
    if request.is_lists_only:
        lists = read_command(words, request.seconds)
        return ScannedServer(lists.name, target, lists.as_json())
    return running_server(target, *read_command_contents(words, request.seconds))


def running_server(target: str, lists: ServerLists, contents: ServerContents) -> ScannedServer:
    """Return a running server with what its prompts and resources say."""
    files = tuple(ScannedFile(one.name, Role.CONTENTS, one.text, one.kind, FIELDS[one.kind]) for one in contents.found)
    unread = messages.UNREAD.format(unread=contents.unread, total=contents.total, why=contents.why)
    return ScannedServer(
        lists.name, target, lists.as_json(), files, unread=visible(unread, MAX_UNREAD) if contents.unread else ""
    )


def ignored_of_project(target: str) -> tuple[Ignored, ...]:
    """Return what the settings of a project ignore; nothing for other targets."""
    file = Path(target) / PYPROJECT
    if not Path(target).is_dir() or not file.is_file():
        return ()
    try:
        return project_ignored(file.read_text("utf-8", "replace"))
    except IgnoreError as problem:
        raise click.UsageError(messages.WRONG_SETTING.format(path=file, problem=problem)) from None


def located_lazily(project: Path, given: Mapping[str, Any]) -> Callable[[Hit], Position | None]:
    """Return a function that finds hits in a project's files; it reads the project when it is first called."""
    # A list, as a place for one value that `locate` can fill.
    known: list[Callable[[Hit], Position | None]] = []

    def locate(hit: Hit) -> Position | None:
        if not known:
            options = command_options.read_options(given)
            result = pipeline.analyse(*pipeline.read_project(project), options)
            folder = report.relative_to_cwd(project)
            known.append(locator(result.server, result.sources, folder) if result.server else lambda _: None)
        return known[0](hit)

    return locate


def artifact_files(path: Path) -> Iterator[ScannedFile]:
    """Yield the texts in a built file beside its lists: the author's files, and static contents."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield from _author_files(archive)
            yield from _static_contents(stored_entry(archive, "mcpc_app/blob"))
    except READ_ERRORS:
        raise click.UsageError(messages.DAMAGED.format(path=path)) from None


def _author_files(archive: zipfile.ZipFile, prefix: str = HANDLERS) -> Iterator[ScannedFile]:
    for info in sorted(archive.infolist(), key=lambda entry: entry.filename):
        name = info.filename
        if prefix and name == HANDLERS_ZIP:
            with zipfile.ZipFile(io.BytesIO(stored_entry(archive, name))) as inner:
                yield from _author_files(inner, "")
        elif name.startswith(prefix) and not name.startswith(SUPPORT) and not name.endswith((*COMPILED, "/")):
            yield from _text_file(archive, info, name.removeprefix(prefix))


def _text_file(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> Iterator[ScannedFile]:
    if info.file_size > MAX_FILE_BYTES:
        return
    data = archive.read(info)
    if b"\0" not in data:
        yield ScannedFile(name, Role.SOURCE, data.decode("utf-8", "replace"))


def _static_contents(blob: bytes) -> Iterator[ScannedFile]:
    """Yield the texts of static resources, prompts and results, which are JSON arrays in the blob."""
    decoder, position, count = json.JSONDecoder(), 0, 0
    while (found := STATIC.search(blob, position)) and count < MAX_STATIC:
        count += 1
        position = found.end()
        text = blob[found.start() : found.start() + MAX_FILE_BYTES].decode("utf-8", "replace")
        try:
            # Reads one value and ignores what follows it; an array that the limit has cut is no value.
            items, _ = decoder.raw_decode(text)
        except (ValueError, RecursionError):
            continue
        for item in items:
            yield from _contents(item)


def _contents(item: Any) -> Iterator[ScannedFile]:
    if not isinstance(item, dict):
        return
    content = item.get("content")
    text = content.get("text") if isinstance(content, dict) else item.get("text")
    if isinstance(text, str):
        owner = item.get("uri")
        yield ScannedFile(owner if isinstance(owner, str) else "static result", Role.CONTENTS, text)
