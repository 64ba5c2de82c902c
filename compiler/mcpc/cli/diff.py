"""`mcpc diff`: what has changed between two versions of a server, and a gate for pipelines."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.server_targets import (
    CommandWithServer,
    connection_options,
    read_command,
    read_target,
    request_headers,
    server_command,
)
from mcpc.client.model import ServerLists, snapshot_text
from mcpc.reading.toml import parse_toml
from mcpc.release.comparison import Impact, Policy, compare, read_policy
from mcpc.release.comparison.reports import FORMATS, as_changelog, fails

GATES = {
    "breaking": (Impact.BREAKING,),
    "undecided": (Impact.BREAKING, Impact.UNDECIDED),
    "routing": (Impact.BREAKING, Impact.ROUTING),
}
"""What each value of `--fail-on` fails on."""
GATE_FAILED = 7


@click.command(cls=CommandWithServer)
@click.argument("old", metavar="A")
@click.argument("new", metavar="[B]", required=False)
@click.option("--fail-on", multiple=True, type=click.Choice(list(GATES)), help="Exit with 7 on such changes.")
@click.option("--format", "output", type=click.Choice(list(FORMATS)), default="text", help="Format of the report.")
@click.option(
    "--ignore",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Accepted changes and other verdicts (TOML).",
)
@click.option("--notes", is_flag=True, help="Write release notes in Markdown in place of the report.")
@click.option("--title", default="", metavar="TEXT", help="With --notes: their heading (the version of B).")
@click.option("--snapshot", type=click.Path(path_type=Path), metavar="FILE", help="Write what A offers to FILE.")
@connection_options
@command_options.build_options
def command(old: str, new: str | None, **given: Any) -> None:
    """Compare version A of a server with version B.

    Each is a project's folder, a built file, a snapshot, or the address of a server (https://…/mcp); B may be a command
    after `--` that starts a server. A built file is read, not run.

    With --snapshot and without B, only the snapshot is written.  In --notes, breaking changes come first, then what is
    new, changed and gone.
    """
    fail_on, output, ignore, snapshot = (given.pop(name) for name in ("fail_on", "output", "ignore", "snapshot"))
    notes, title = given.pop("notes"), given.pop("title")
    policy = project_policy(ignore, (new, old))
    lists = read_versions(old, new, given, is_single=snapshot is not None)
    if snapshot is not None:
        write_text_file(snapshot, snapshot_text(lists[0]))
    if len(lists) < 2:
        return
    comparison = compare(lists[0], lists[1], policy)
    failing = frozenset(verdict for name in fail_on for verdict in GATES[name])
    click.echo(as_changelog(comparison, title) if notes else FORMATS[output](comparison, failing), nl=False)
    if any(fails(each, failing) for each in comparison.changes):
        raise click.exceptions.Exit(GATE_FAILED)


def read_versions(old: str, new: str | None, given: dict[str, Any], *, is_single: bool = False) -> list[ServerLists]:
    """Return what both versions offer; only the first if there is no second and `is_single`."""
    headers = request_headers(given.pop("headers"), given.pop("token_file"))
    seconds = given.pop("timeout")
    words = server_command()
    if (new is None) == (words is None) and not (new is None and is_single):
        raise click.UsageError(messages.TWO_VERSIONS_EXPECTED)
    is_earlier = new is not None or words is not None  # whose warnings are those of a version that is being replaced
    found = [read_target(old, given, headers, seconds, warns=not is_earlier)]
    if words is not None:
        found.append(read_command(words, seconds))
    elif new is not None:
        found.append(read_target(new, given, headers, seconds))
    return found


def project_policy(ignore: Path | None, targets: tuple[str | None, ...]) -> Policy:
    """Return the policy of a file, or of the `pyproject.toml` of the first project, or of this folder."""
    if ignore is not None:
        return _policy(ignore, ())
    folders = [Path(each) for each in targets if each is not None and Path(each).is_dir()]
    path = (folders or [Path()])[0] / "pyproject.toml"
    return _policy(path, ("tool", "mcpc", "diff")) if path.is_file() else Policy()


def _policy(path: Path, place: tuple[str, ...]) -> Policy:
    try:
        table: Any = parse_toml(path.read_text("utf-8"))
        for name in place:
            table = table.get(name, {}) if isinstance(table, dict) else {}
        return read_policy(table if isinstance(table, dict) else {})
    except (ValueError, OSError) as problem:
        raise click.UsageError(messages.WRONG_POLICY.format(path=path, problem=problem)) from None


def write_text_file(path: Path, text: str) -> None:
    """Write a file, whole or not at all."""
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as stream:
            stream.write(text)
        # A temporary file is its owner's alone.
        Path(stream.name).chmod(0o644)
        Path(stream.name).replace(path)
    except OSError as problem:
        raise click.UsageError(messages.CANNOT_WRITE.format(path=path, problem=problem.strerror)) from None
