"""`server.pyz update`: replace this file by a newer one of the same server, if the key that it names has signed that.

Until its signature is verified the new file is bytes that only ssh-keygen reads.  Then its facts are read, and it is
started once to list what it offers.  Whatever fails, the file stays as it is, and serves on.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from mcpc_runtime.protocol.image import Image
from mcpc_runtime.tools.cli.artifact_info import update_key
from mcpc_runtime.tools.cli.printing import SUCCESS, UsageError, printable
from mcpc_runtime.tools.cli.signed_file import RefusedError, check_signature, fetch, fingerprint
from mcpc_runtime.tools.clients.copies import PREVIOUS, UNREADABLE, contents_of, file_facts, keep_previous, let_go
from mcpc_runtime.tools.clients.files import lock_of, written_beside
from mcpc_runtime.tools.clients.request import needs_python
from mcpc_runtime.tools.clients.text_edits import CannotEditError
from mcpc_runtime.transports.platforms.files import refusal_of_file, replace_file

HELP = """Usage: {file} update [--dry-run] FILE|URL
       {file} update --rollback

Replace this file by a newer one of the same server. It must have a signature,
FILE.sig or URL.sig, by the key that this file names: `info` shows that key.
A URL is https.

  --dry-run   verify the new file and print what changes, and replace nothing
  --rollback  bring back the file before the last update
"""
WRONG_FILE = 6
MOST_BYTES = 256 << 20
SIGNATURE_END, MOST_SIGNATURE = ".sig", 1 << 16
START_SECONDS = 60
SHOWN_PROBLEM = 300
VERSION = re.compile(r"v?(\d{1,9}(?:\.\d{1,9}){0,9})(?:[-_.]?([A-Za-z][\w.-]*)|-(\d[\w.-]*))?(?:\+.*)?")
"""Numbers, then what is before a release, or after it (`post`)."""
Offers = dict[tuple[str, str], dict[str, Any]]
"""What a file offers and needs, by kind and name."""
ITEMS = {"tools": "name", "prompts": "name", "resources": "uri", "resourceTemplates": "uriTemplate"}


def update(image: Image, archive: str, arguments: list[str]) -> int:
    """Replace the file, or bring back the one before."""
    options = [word for word in arguments if word.startswith("-")]
    sources = [word for word in arguments if word not in options]
    if {"-h", "--help"}.intersection(options):
        sys.stdout.write(HELP.format(file=archive))
        return SUCCESS
    if (options, len(sources)) not in (([], 1), (["--dry-run"], 1), (["--rollback"], 0)):
        raise UsageError("update needs a file or a URL, or --rollback alone; see `update --help`")
    place = os.path.realpath(archive)
    try:
        with lock_of(place):
            lines = replace(place, sources[0], dry_run=bool(options)) if sources else roll_back(place)
    except (RefusedError, CannotEditError, OSError, subprocess.SubprocessError) as problem:
        why = problem.strerror or problem if isinstance(problem, OSError) else problem
        sys.stderr.write(f"error: {printable(str(why))}\n{printable(place)} is what it was\n")
        return WRONG_FILE
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))
    return SUCCESS


def replace(place: str, source: str, *, dry_run: bool) -> list[str]:
    """Replace a file by a newer one, and return what that means in lines."""
    status, before, own = os.stat(place), contents_of(place), facts_of(place)
    key, refusal = update_key(own), refusal_of_file(status)
    if refusal or before is None:
        raise RefusedError(refusal)
    data = fetch(source, "", MOST_BYTES)
    try:
        signature = fetch(source, SIGNATURE_END, MOST_SIGNATURE)
    except RefusedError as problem:
        raise RefusedError(f"it has no signature ({problem})") from None
    with written_beside(place, data, status) as new:
        check_signature(new, signature, key)
        facts = facts_of(new)
        check_successor(own, facts)
        # Clients have the command that starts the file, which would not fit the other kind.
        if needs_python(new) != needs_python(place):
            raise RefusedError("one of both files includes Python, and the other one does not")
        title = f"{own['name']} {own['version']} -> {facts['version']}, signed by {fingerprint(key)}"
        lines = [title, *(f"  {line}" for line in changes(offers(place, own), offers(new, facts)))]
        if dry_run:
            return lines
        keep_previous(place, before, status)
        let_go(place)
        replace_file(new, place)  # from here on nothing is imported: it would be read from the new file
    return [*lines, f"updated {place}; restart the client", f"`update --rollback` brings back {own['version']}"]


def roll_back(place: str) -> list[str]:
    """Give the file before the last update its name back."""
    if not os.path.exists(place + PREVIOUS):
        raise RefusedError("there is no file from before an update")
    own, earlier = facts_of(place), facts_of(place + PREVIOUS)
    let_go(place)
    replace_file(place + PREVIOUS, place)
    return [f"{own['name']} {own['version']} -> {earlier['version']}", f"restored {place}; restart the client"]


def facts_of(path: str) -> dict[str, Any]:
    """Return the facts of a file; refuse one that has none."""
    try:
        return file_facts(path)
    except UNREADABLE:
        raise RefusedError("it is not a built file, or a damaged one") from None


def check_successor(own: dict[str, Any], facts: dict[str, Any]) -> None:
    """Refuse another server, and a version that is not newer."""
    if facts["name"] != own["name"]:
        raise RefusedError(f"it is {facts['name']}, and not {own['name']}")
    earlier, later = version_key(str(own["version"])), version_key(str(facts["version"]))
    if earlier is None or later is None or later <= earlier:
        raise RefusedError(f"its version {facts['version']} is not newer than {own['version']}")


def version_key(version: str) -> tuple[object, ...] | None:
    """Return what orders versions, as SemVer and Python's packages do; None for other texts."""
    match = VERSION.fullmatch(version)
    if match is None:
        return None
    numbers, more = match[1].split("."), (match[2] or match[3] or "").lower()
    stage = 1 if not more else 2 if more.startswith("post") else 0
    # Numbers come before words and are compared as numbers, as in SemVer, section 11.
    parts = [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.findall(r"\d{1,9}|[a-z]+", more)]
    return (*[*map(int, numbers), *([0] * 10)][:10], stage, parts)


def offers(path: str, facts: dict[str, Any]) -> Offers:
    """Return what a file offers and needs; start it for that."""
    command = [sys.executable, "-I", path] if needs_python(path) else [path]
    try:
        done = subprocess.run(
            [*command, "list", "--json"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=START_SECONDS,
            check=False,
        )
        lists = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise RefusedError(f"version {facts['version']} does not list its tools within {START_SECONDS} s") from None
    except ValueError:
        problem = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-SHOWN_PROBLEM:]
        raise RefusedError(f"version {facts['version']} does not list its tools here: {problem}") from None
    items: Offers = {(kind[:-1], item[key]): item for kind, key in ITEMS.items() for item in lists.get(kind, ())}
    items |= {("setting", row["name"]): row for row in facts.get("settings", ())}
    programs = [program for group in facts.get("running", ()) for program in group.get("requires", ())]
    return items | {("program", program): {} for program in programs}


def changes(before: Offers, after: Offers) -> Iterator[str]:
    """Yield what is gone, what is other than before, and what is new."""
    yield from (f"removed  {named(each)}" for each in sorted(before.keys() - after.keys()))
    for each in sorted(before.keys() & after.keys()):
        members = before[each].keys() | after[each].keys()
        changed = sorted(name for name in members if before[each].get(name) != after[each].get(name))
        if changed:
            yield f"changed  {named(each)}: {', '.join(changed)}"
    yield from (f"added    {named(each)}" for each in sorted(after.keys() - before.keys()))
    if before == after:
        yield "offers what it offered before"


def named(words: Sequence[str]) -> str:
    """Return a kind and a name as words."""
    return " ".join(words)
