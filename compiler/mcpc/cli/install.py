"""`mcpc install`, `uninstall` and `clients`: servers in the configuration of MCP clients."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import command_options, messages
from mcpc.cli.artifact import built_artifact, require_artifact
from mcpc.cli.build_steps import build_project, output_path, write_artifact
from mcpc.cli.built_contents import artifact_contents
from mcpc_runtime.tools.clients.commands import ACCEPTED, OPTIONS, run
from mcpc_runtime.tools.clients.installing import targets_of
from mcpc_runtime.tools.clients.request import ALL, Artifact, InvalidRequestError, Options, artifact_of, chosen_name
from mcpc_runtime.tools.clients.table import CLIENTS, SCOPES, servers_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

OF_PRINTED = ("link", "badge", "command")
"""Options of entries that are printed."""


TARGET_ARGUMENT = click.argument("target", type=command_options.TARGET, required=False)
JSON = "--json"
"""The option of built files in place of `--format json`."""
NOT_OF_MCPC = (("uninstall", "--name"), ("install", "--in-place"))
"""Options that only built files have: `mcpc` leaves a file where it is."""
OF_CLIENTS = ("clients", "link", "badge")
"""Fields of options whose values are names of clients."""


def client_options(*commands: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options that a built file has for commands about clients."""
    accepted = {name: command for command in commands for name in ACCEPTED[command]}
    names = [name for name, command in accepted.items() if (command, name) not in NOT_OF_MCPC]

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        if JSON in names:
            function = command_options.JSON_OPTION(function)
        for name in reversed(names):
            if name != JSON:
                function = click_option(name)(function)
        return function

    return add


def click_option(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return an option of the table for click."""
    option = OPTIONS[name]
    if not option.takes_value:
        return click.option(name, option.field, is_flag=True, help=option.help)
    if option.field == "scope":
        return click.option(name, type=click.Choice(SCOPES), default=SCOPES[0], show_default=True, help=option.help)
    return click.option(
        name,
        option.field,
        multiple=option.is_repeated,
        default=None if option.is_repeated else "",
        metavar=option.metavar,
        help=option.help,
        shell_complete=matching_clients if option.field in OF_CLIENTS else None,
    )


def matching_clients(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the clients whose names begin as what is typed, for a shell."""
    return [name for name in (*CLIENTS, ALL) if name.startswith(incomplete)]


@command_options.command(command_options.WordsCommand, epilog=f"Clients: {', '.join(CLIENTS)}")
@TARGET_ARGUMENT
@click.option("--print", "prints", is_flag=True, help="Print the entry and where it goes, and write nothing.")
@client_options("install", "config")
@command_options.build_options
def install(target: Path | None, prints: bool, output: str, **given: Any) -> None:
    """Add TARGET, a built file or a project, to the configuration of MCP clients.

    A project is built, and the file is written into the folder of this user's servers. What else a client's file has
    stays as it is, and each change leaves a backup. Entries of other servers with the same name are not replaced.
    WORDS are for the program of a server for FastMCP or the SDK: clients start it with them.

    `--link` and `--badge` print what adds a server with one click: one at a URL, or one with a command that is the
    same on every machine.
    """
    is_link = bool(given["link"] or given["badge"])
    if not (prints or is_link) and given["command"]:
        raise click.UsageError(messages.PRINT_EXPECTED)
    if not is_link:
        require_clients(given)
    if prints or is_link:
        with artifact_for_url(target, given) or described_artifact(target, given) as artifact:
            run_client_command("config", artifact, given, "text")
        return
    with artifact_for_url(target, given) or installable_artifact(target, given) as artifact:
        run_client_command("install", artifact, given, output)


@command_options.command()
@click.argument("name")
@client_options("uninstall")
def uninstall(name: str, output: str, **given: Any) -> None:
    """Remove the entry NAME from the configuration of MCP clients.

    A file that nothing else has changed since the entry was added becomes what it was, byte for byte.
    """
    given["name"] = name
    run_client_command("uninstall", None, given, output)


@command_options.command()
@client_options("clients")
def clients(output: str, **given: Any) -> None:
    """List the MCP clients on this machine, the servers that each has, and what is missing of them."""
    run_client_command("clients", None, given, output)


def take_options(given: dict[str, Any]) -> Options:
    """Return the options about clients, without which `given` has the build options alone."""
    return Options(**{field: given.pop(field) for field in Options._fields if field in given})


def run_client_command(command: str, artifact: Artifact | None, given: dict[str, Any], output: str) -> None:
    """Run a command about clients, and exit with its status."""
    options = take_options({**given})._replace(is_json=output == "json", in_place=True)
    try:
        status = run(command, artifact, options)
    except InvalidRequestError as problem:
        raise click.UsageError(str(problem)) from None
    if status:
        raise click.exceptions.Exit(status)


def require_clients(given: dict[str, Any]) -> None:
    """Refuse clients that are not known, before a project is built for them."""
    try:
        # On a copy: the options are taken again when the command runs.
        targets_of(take_options({**given}))
    except InvalidRequestError as problem:
        raise click.UsageError(str(problem)) from None


def artifact_for_url(target: Path | None, given: dict[str, Any]) -> AbstractContextManager[None] | None:
    """Return an empty context if the command is about a URL or a command, which replaces a file; else None."""
    replaces = given.get("url") or given.get("command")
    if replaces and target is not None:
        raise click.UsageError(messages.FILE_OR_URL)
    return nullcontext() if replaces else None


@contextmanager
def described_artifact(target: Path | None, given: dict[str, Any]) -> Iterator[Artifact]:
    """Yield a built file; of a project the file that `mcpc install` would write."""
    project = target or Path()
    build = {name: value for name, value in given.items() if name not in Options._fields}
    with built_artifact(project, build) as path:
        artifact = facts_of(path)
        yield artifact if project.is_file() else artifact._replace(path=str(server_path(artifact, given)))


@contextmanager
def installable_artifact(target: Path | None, given: dict[str, Any]) -> Iterator[Artifact]:
    """Yield a built file that stays; a project is built into the folder of this user's servers."""
    project = target or Path()
    if project.is_file() or given["dry_run"]:
        with described_artifact(target, given) as artifact:
            yield artifact
        return
    build_options = {name: value for name, value in given.items() if name not in Options._fields}
    build = build_project(project, command_options.read_options({**build_options, "every_python": True}), "text")
    place = server_path(Artifact("", build.name), given)
    write_artifact(build, output_path(place))
    yield facts_of(place)


def facts_of(path: Path) -> Artifact:
    """Return what entries need of a built file."""
    require_artifact(path)
    facts = artifact_contents(path)
    tools = facts.get("tools", ())
    return artifact_of(str(path), facts, [tool["name"] for tool in tools] if isinstance(tools, list) else ())


def server_path(artifact: Artifact, given: dict[str, Any]) -> Path:
    """Return the path of a project's file in the folder of this user's servers."""
    try:
        name = chosen_name(Options(name=given.get("name", "")), artifact.name)
    except InvalidRequestError as problem:
        raise click.UsageError(str(problem)) from None
    return Path(servers_folder(), f"{name}.pyz")
