"""The copies of built files in the folder of this user's servers, where the entries of clients find them.

A file is replaced whole or not at all, and what it was before stays beside it.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
import zlib
from contextlib import suppress
from typing import Any

from mcpc_runtime.tools.clients import messages
from mcpc_runtime.tools.clients.files import written_beside
from mcpc_runtime.tools.clients.installing import FAILED, ClientOutcome, all_targets, install, starting_names
from mcpc_runtime.tools.clients.request import Artifact, InvalidRequestError, Options, chosen_name
from mcpc_runtime.tools.clients.table import servers_folder
from mcpc_runtime.transports.platforms.files import replace_file

FACTS = "META-INF/build.json"
MOST_FACTS = 4 << 20
UNREADABLE = (OSError, LookupError, ValueError, zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError)
"""Exceptions for what is not a built file."""
PREVIOUS = ".previous"
"""The end of the name of what a file was before it was replaced."""
SUFFIXES = (".pyz", ".exe", "")
MODE = 0o755
FIRST_DESCRIPTOR, LAST_DESCRIPTOR = 3, 64


def file_facts(path: str) -> dict[str, Any]:
    """Return the build facts of a file, without running it; one of UNREADABLE if it has none."""
    with zipfile.ZipFile(path) as archive, archive.open(FACTS) as entry:
        facts = json.loads(entry.read(MOST_FACTS))
    if not (isinstance(facts, dict) and {"name", "version"} <= facts.keys()):
        raise ValueError(FACTS)
    return facts


def server_in(path: str) -> str:
    """Return the name of the server that a file has; an empty text if it is not a built file."""
    try:
        return str(file_facts(path)["name"])
    except UNREADABLE:
        return ""


def contents_of(path: str) -> bytes | None:
    """Return the bytes of a file, or None if it is not there."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def write_file(place: str, data: bytes) -> None:
    """Give a file these bytes; what it had stays beside it."""
    before = contents_of(place)
    status = None if before is None else os.stat(place)
    with written_beside(place, data, status) as new:
        if before is None:
            os.chmod(new, MODE)
        else:
            keep_previous(place, before, status)
        replace_file(new, place)


def let_go(place: str) -> None:
    """Close what this process has open of a file, because Windows replaces and removes none that is open.

    Nothing can be imported from the file then.
    """
    status = os.stat(place)
    # Numbers that are not open raise an error, which is passed over; so few files are open that the last one is enough.
    for descriptor in range(FIRST_DESCRIPTOR, LAST_DESCRIPTOR) if sys.platform == "win32" else ():
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), status):
                os.close(descriptor)


def keep_previous(place: str, data: bytes, status: os.stat_result | None) -> None:
    """Keep what a file has before it is replaced."""
    with written_beside(place + PREVIOUS, data, status) as kept:
        replace_file(kept, place + PREVIOUS)


def install_copy(artifact: Artifact, options: Options) -> list[ClientOutcome]:
    """Copy a built file into the folder of the user's servers, and add the copy to clients.

    If no client takes it, the folder is what it was.
    """
    name = chosen_name(options, artifact.name)
    suffix = os.path.splitext(artifact.path)[1].lower()
    place = os.path.join(servers_folder(), name + (suffix if suffix in SUFFIXES else ""))
    copied = artifact._replace(path=place)
    before, data = contents_of(place), contents_of(artifact.path)
    if data is None or data == before:
        return install(copied, options)
    if before is not None and server_in(place) != artifact.name and not options.replace:
        raise InvalidRequestError(messages.OTHER_FILE.format(path=place))
    if options.dry_run:
        tell_copy("would be copied", place, options)
        return install(copied, options)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    write_file(place, data)
    outcomes: list[ClientOutcome] = []
    try:
        outcomes = install(copied, options)
    finally:
        # After an exception there is no outcome, and of none all have failed: the folder becomes what it was.
        if all(outcome.word == FAILED for outcome in outcomes):
            if before is None:
                os.unlink(place)
            else:
                write_file(place, before)
    if os.path.exists(place):
        tell_copy("copied", place, options)
    return outcomes


def tell_copy(copied: str, place: str, options: Options) -> None:
    """Say where a copy is, or would be."""
    if not options.is_json:
        sys.stdout.write(f"{messages.COPIED.format(copied=copied, path=place)}\n")


def copies_of(name: str, server: str) -> list[str]:
    """Return the copies under the name of an entry; `server`: the name that they must have inside, if it is known."""
    paths = [os.path.join(servers_folder(), name + suffix) for suffix in SUFFIXES]
    servers = [(path, server_in(path)) for path in paths if os.path.isfile(path)]
    return [path for path, inside in servers if inside and server in ("", inside)]


def remove_copy(place: str) -> str:
    """Remove a copy that no client starts any more; return what came of that in words."""
    # The entry of this name may be gone, and one of another name may start the same copy.
    starting = [target.client.title for target in all_targets(os.getcwd()) if starting_names(target, {place})]
    if starting:
        return messages.STAYS.format(path=place, why=f"{', '.join(starting)} starts it")
    try:
        let_go(place)
        with suppress(FileNotFoundError):
            os.unlink(place + PREVIOUS)
        os.unlink(place)
    except OSError as problem:
        return messages.STAYS.format(path=place, why=problem.strerror or problem)
    # The folder is removed with its last copy; while it has others, this fails.
    with suppress(OSError):
        os.rmdir(os.path.dirname(place))
    return messages.REMOVED_COPY.format(path=place)
