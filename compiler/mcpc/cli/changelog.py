"""`mcpc changelog`: what has changed between two versions of a server, as release notes."""

from __future__ import annotations

from typing import Any

import click

from mcpc.cli import command_options
from mcpc.cli.diff import project_policy, read_versions
from mcpc.cli.server_targets import CommandWithServer, connection_options
from mcpc.release.comparison import compare
from mcpc.release.comparison.formats.markdown import as_changelog


@click.command(cls=CommandWithServer)
@click.argument("old", metavar="A")
@click.argument("new", metavar="[B]", required=False)
@click.option("--title", default="", metavar="TEXT", help="Heading of the notes (the version of B).")
@connection_options
@command_options.build_options
def command(old: str, new: str | None, title: str, **given: Any) -> None:
    """Write release notes in Markdown for what has changed from version A of a server to version B.

    A and B are as in `mcpc diff`. Breaking changes come first, then what is new, changed and gone.
    """
    policy = project_policy(None, (new, old))
    before, after = read_versions(old, new, given)
    click.echo(as_changelog(compare(before, after, policy), title), nl=False)
