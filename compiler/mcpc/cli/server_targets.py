"""Targets of commands that compare or check servers: a project, a built file, a snapshot, an address, or a command.

A built file is read and not run; a project is built into a temporary file; a server that runs is asked for its lists.
"""

from __future__ import annotations

import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mcpc.cli import command_options, messages
from mcpc.cli.artifact import built_artifact
from mcpc.cli.built_contents import artifact_contents
from mcpc.client.client import SECONDS, ConversationError, read_server
from mcpc.client.contents import read_server_contents
from mcpc.client.http import UnsafeAddressError, connected, is_address
from mcpc.client.model import SnapshotError, lists_from_json, read_snapshot
from mcpc.client.processes import started_server

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcpc.client import ServerLists
    from mcpc.client.contents import ServerContents

Answer = TypeVar("Answer")
NO_ANSWER = 4
THIS_FOLDER = "."
"""The target of a command if none is given."""
COMMAND_KEY = "mcpc.server_command"


class CommandWithServer(command_options.Command):
    """A command whose words after `--` are the command line of a server."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words after `--` apart."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[COMMAND_KEY] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)


def server_command() -> tuple[str, ...] | None:
    """Return the words after `--`; None if there is no `--`."""
    words: tuple[str, ...] | None = click.get_current_context().meta.get(COMMAND_KEY)
    if words == ():
        raise click.UsageError(messages.SERVER_COMMAND_EXPECTED)
    return words


class UnansweredError(click.ClickException):
    """A server did not start or answer."""

    exit_code = NO_ANSWER


CONNECTION_OPTIONS = (
    click.option("--header", "headers", multiple=True, metavar="'NAME: VALUE'", help="Send this header to an address."),
    click.option(
        "--token-file",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Send the content of this file to an address, as a bearer token.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=SECONDS,
        show_default=True,
        metavar="SECONDS",
        help="How long a running server may take for all its answers.",
    ),
)


def connection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of connections to running servers to a command."""
    for option in reversed(CONNECTION_OPTIONS):
        command = option(command)
    return command


def request_headers(headers: Sequence[str], token_file: Path | None) -> dict[str, str]:
    """Return the headers of the options; raise a usage error that does not repeat a secret."""
    found = {}
    for number, text in enumerate(headers, 1):
        name, sign, value = text.partition(":")
        if not sign or not name.strip().replace("-", "").isalnum() or not value.strip().isprintable():
            # By its number: the text may be a secret, or contain one before the colon that is missing.
            raise click.UsageError(messages.HEADER_EXPECTED.format(number=number))
        found[name.strip()] = value.strip()
    if token_file is not None:
        token = token_file.read_text("utf-8", "replace").strip()
        if not token or not token.isprintable() or " " in token:
            raise click.UsageError(messages.TOKEN_EXPECTED.format(path=token_file))
        found["Authorization"] = f"Bearer {token}"
    return found


def read_target(
    target: str, given: Mapping[str, Any], headers: Mapping[str, str], seconds: float, *, warns: bool = True
) -> ServerLists:
    """Return what a target offers; exit with a message if it cannot be read.

    `given`: build options.  `warns`: warnings of a project are reported.
    """
    if is_address(target):
        return answered(target, lambda: read_server(partial(connected, target, headers), seconds))
    path = Path(target)
    if not path.exists():
        raise click.UsageError(messages.SERVER_TARGET_EXPECTED.format(target=target))
    # A built file is an archive, whatever stands before it; a snapshot is JSON.
    if path.is_file() and not zipfile.is_zipfile(path):
        try:
            return read_snapshot(path)
        except SnapshotError as problem:
            raise click.UsageError(messages.NOT_A_SNAPSHOT.format(path=path, problem=problem)) from None
    with built_artifact(path, dict(given), warns=warns) as artifact:
        return artifact_lists(artifact)


def read_server_target(target: str, given: dict[str, Any]) -> ServerLists:
    """Return what a target offers, or a command after `--`; `given`: options of connections, then build options."""
    headers = request_headers(given.pop("headers"), given.pop("token_file"))
    seconds = given.pop("timeout")
    words = server_command()
    # A `.` that is written cannot be told from the default.
    if words and target != THIS_FOLDER:
        raise click.UsageError(messages.TARGET_OR_COMMAND)
    return read_command(words, seconds) if words else read_target(target, given, headers, seconds)


def read_address_contents(url: str, headers: Mapping[str, str], seconds: float) -> tuple[ServerLists, ServerContents]:
    """Return what a server at an address offers and says; exit with a message if it does not answer."""
    return answered(url, lambda: read_server_contents(partial(connected, url, headers), seconds))


def read_command_contents(words: Sequence[str], seconds: float) -> tuple[ServerLists, ServerContents]:
    """Return what a server offers and says that a command line starts; exit with a message if it does not answer."""
    return answered(words[0], lambda: read_server_contents(partial(started_server, words), seconds))


def read_command(words: Sequence[str], seconds: float) -> ServerLists:
    """Return what a server offers that a command line starts; exit with a message if it does not answer."""
    return answered(words[0], lambda: read_server(partial(started_server, words), seconds))


def artifact_lists(path: Path) -> ServerLists:
    """Return what a built file offers, without running it."""
    try:
        return lists_from_json(artifact_contents(path), is_built=True)
    except SnapshotError:
        raise click.UsageError(messages.DAMAGED.format(path=path)) from None


def answered(name: str, ask: Callable[[], Answer]) -> Answer:
    """Return what a running server answers; exit with a message if it does not."""
    try:
        return ask()
    except UnsafeAddressError:
        raise click.UsageError(messages.ENCRYPTION_EXPECTED.format(address=name)) from None
    except ConversationError as problem:
        raise UnansweredError(messages.SERVER_DID_NOT_ANSWER.format(name=name, problem=problem)) from None
