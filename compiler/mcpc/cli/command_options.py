"""Options and arguments that commands share.

A Python file stands for its folder, in which it is the entry (`--entry`), if no folder above it is the project's.
"""

from __future__ import annotations

import importlib
import os
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import click

from mcpc.cli import messages
from mcpc.cli.fitting_python import use_fitting_python
from mcpc.diagnostics.formats import FORMATS
from mcpc.options import DIALECTS, WAYS, Options, options_from_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mcpc.reading import SourceTree

ENTRY_KEY = "mcpc.entry"
"""The entry that a path on the command line names, among the data of a command."""
# A Python file, perhaps with an object in it behind a colon, perhaps called: `server.py:factory()`.
PROGRAM = re.compile(r"(?P<file>.+\.py)(?P<object>:[\w.]+(?:\(\))?)?")
SOURCE = ".py"
IS_LOCK_NAME = "mcpc.packages.lock_files:is_lock_name"
# `openapi` or `swagger` with a version 2 or 3: at the beginning of a line (YAML), or behind `{` or `,` (JSON).
DOCUMENT = re.compile(rb"""(?:^|[{,])\s*["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]""", re.MULTILINE)
DOCUMENTS = (".yaml", ".yml", ".json")
PROJECT_FILE = "pyproject.toml"


class ProjectPath(click.Path):
    """The folder of a project, or a file that makes its server."""

    expected = "a project folder"

    def convert(self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the folder; raise a usage error that names what is near."""
        path, program = Path(value), PROGRAM.fullmatch(os.fspath(value))
        option = param.opts[0] if isinstance(param, click.Option) else ""
        if is_document(path):
            return folder_of(path, "", ctx, option)
        if self.is_fit(path):
            return path
        if program is not None and Path(program["file"]).is_file():
            return folder_of(Path(program["file"]), program["object"] or "", ctx, option)
        if path.exists():
            raise click.UsageError(messages.FOLDER_OF_FILE_EXPECTED.format(path=path, folder=path.parent))
        hint = nearest_path(path, self.is_fit)
        raise click.UsageError(messages.PATH_EXPECTED.format(path=path, expected=self.expected, hint=hint))

    def is_fit(self, path: Path) -> bool:
        """Tell whether a path is one of those that are expected."""
        return path.is_dir()


class TargetPath(ProjectPath):
    """The folder of a project, or a built file."""

    expected = "a project folder or a built file"

    def is_fit(self, path: Path) -> bool:
        """Tell whether a path is a folder, or a file that may be a built one."""
        return path.is_dir() or (path.exists() and path.suffix != SOURCE)


PROJECT, TARGET = ProjectPath(), TargetPath()


def is_document(path: Path) -> bool:
    """Tell whether a path is that of an API document."""
    if path.suffix not in DOCUMENTS or not path.is_file():
        return False
    # Programs that sort keys write the version behind `components`, which may be megabytes.
    return DOCUMENT.search(path.read_bytes().lstrip(b"\xef\xbb\xbf \t\r\n")) is not None


def folder_of(file: Path, name: str, ctx: click.Context | None, option: str = "") -> Path:
    """Return the folder of a file that makes a server, and keep it as the entry; refuse one inside of a larger project.

    `option`: the option that names the file, if no argument does.
    """
    root = project_above(file)
    if root != file.resolve().parent:
        path = "build" if ctx is None else ctx.command_path.partition(" ")[2] or ctx.info_name
        command = f"{path} {option}".strip()
        words = {"path": file, "folder": os.path.relpath(root), "entry": file.resolve().relative_to(root).as_posix()}
        raise click.UsageError(messages.ENTRY_EXPECTED.format(command=command, **words))
    if ctx is not None:
        ctx.meta[ENTRY_KEY] = f"{file.name}{name}"
    return file.parent


def project_above(file: Path) -> Path:
    """Return the nearest folder above a file that has a `pyproject.toml`, else its folder."""
    folders = file.resolve().parents
    return next((folder for folder in folders if (folder / PROJECT_FILE).is_file()), folders[0])


def entry_of_path(ctx: click.Context, _: click.Parameter, given: str | None) -> str | None:
    """Return the value of `--entry`, else the entry that the path of the project names."""
    return given if given is not None else ctx.meta.get(ENTRY_KEY)


def nearest_path(path: Path, is_fit: Any) -> str:
    """Return a hint with the path beside a missing one that is most similar, or nothing."""
    from mcpc.diagnostics.model import nearest  # noqa: PLC0415 - a shell that completes does without

    beside: Iterable[Path] = path.parent.iterdir() if path.parent.is_dir() else ()
    fit = (each.name for each in beside if is_fit(each) or each.suffix == SOURCE)
    found = nearest(path.name, sorted(fit))
    return f"; did you mean {path.with_name(found)}?" if found else ""


PROJECT_GROUP, SYSTEMS_GROUP = "Project options", "Options for projects of other systems"
PYTHON_GROUP = "What runs the built file"
PACKAGES_GROUP = "Where packages come from"
ADDRESS = re.compile(r"https?://")


class SharedOption(click.Option):
    """An option of several commands; the help lists it in its group, after the command's own options."""

    group = PROJECT_GROUP


class SystemOption(SharedOption):
    """A shared option for projects of certain systems only."""

    group = SYSTEMS_GROUP


class LockOption(SharedOption):
    """A shared option about where packages come from."""

    group = PACKAGES_GROUP


class PythonOption(click.Option):
    """An option about the Python of a built file."""

    group = PYTHON_GROUP


class Command(click.Command):
    """A command whose help lists its own options only."""

    def __init__(self, name: str | None, context_settings: dict[str, Any] | None = None, **settings: Any) -> None:
        # Of the contexts of a command the first one decides for all what asks for help.
        names = {"help_option_names": ["-h", "--help"]}
        super().__init__(name, names | (context_settings or {}), **settings)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options; those of a build are behind `--help-build`."""
        write_options(self, ctx, formatter, ("Options", PYTHON_GROUP))


def write_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter, titles: Sequence[str]
) -> None:
    """Write options of a command by group."""
    groups: dict[str, list[tuple[str, str]]] = {title: [] for title in titles}
    for option in command.get_params(ctx):
        group = getattr(option, "group", "Options")
        row = option.get_help_record(ctx) if isinstance(option, click.Option) and group in groups else None
        if row is not None:
            groups[group].append(row)
    for title, rows in groups.items():
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def show_build_options(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    """Print the options of a build, and exit."""
    if asked and not ctx.resilient_parsing:
        formatter = ctx.make_formatter()
        write_options(ctx.command, ctx, formatter, (PROJECT_GROUP, PACKAGES_GROUP, SYSTEMS_GROUP))
        click.echo(formatter.getvalue().strip("\n"))
        ctx.exit()


class WordsCommand(Command):
    """A command whose parameter `words` is what follows `--`: arguments of the server's program."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return what may be in a command line."""
        return [*super().collect_usage_pieces(ctx), "[-- WORDS]"]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what is before `--`."""
        place = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:place])
        ctx.params["words"] = tuple(args[place + 1 :])
        return rest


def command(kind: type[Command] = Command, **settings: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """Return a decorator that makes a function a command."""
    return click.command(cls=kind, **settings)


def name_and_value(
    _: click.Context, option: click.Parameter, given: tuple[str, ...]
) -> tuple[tuple[str, str], ...] | None:
    """Return `NAME=VALUE` arguments as pairs; None if there are none."""
    pairs = [text.partition("=") for text in given]
    wrong = next((name for name, sign, _ in pairs if not sign or not name), None)
    if wrong is not None:
        raise click.BadParameter(f"`{wrong}` has no value; expected NAME=VALUE", param=option)
    return tuple((name, value) for name, _, value in pairs) or None


def a_date(_: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """Return a date as it was given; None if there is none."""
    if given is None:
        return None
    from mcpc.packages.downloads import upload_limit  # noqa: PLC0415 - a shell that completes does without

    if upload_limit(given) is None:
        raise click.BadParameter(f"`{given}` is not a date such as `2025-06-30`", param=option)
    return given


def ssh_key(_: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """Return the public key in a file or a text; None if there is none."""
    if given is None:
        return None
    from mcpc.release.trust.signing import public_key  # noqa: PLC0415 - a shell that completes does without

    key = public_key(given)
    if not key:
        raise click.BadParameter("expected a public key of SSH, such as `ssh-ed25519 AAAA…`, or its file", param=option)
    return key


def wheel_places(_: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return folders of wheels as absolute paths, and addresses as they are."""
    return tuple(place if ADDRESS.match(place) else str(Path(place).resolve()) for place in given) or None


shared_option = partial(click.option, cls=SharedOption)
lock_option = partial(click.option, cls=LockOption)
system_option = partial(click.option, cls=SystemOption)
BUILD_OPTIONS = (
    shared_option("--from", "format", default="", metavar="NAME", help="Treat the project as this format."),
    system_option(
        "--dialect",
        type=click.Choice(DIALECTS),
        metavar="NAME",
        help=f"Use the error codes and texts of this system: {', '.join(DIALECTS)}.",
    ),
    shared_option("--strict", is_flag=True, default=None, help="Treat warnings as errors."),
    shared_option("--allow-empty", is_flag=True, default=None, help="Accept a server that offers nothing."),
    system_option("--tools-prefix", metavar="TEXT", help="Prefix of Bash functions for tools (tool_)."),
    system_option("--prompts-prefix", metavar="TEXT", help="Prefix of Bash functions for prompts (prompt_)."),
    shared_option(
        "--tools-page-size", type=click.IntRange(0), metavar="N", help="Tools per page of tools/list; 0 for all."
    ),
    shared_option(
        "--prompts-page-size", type=click.IntRange(0), metavar="N", help="Prompts per page of prompts/list; 0 for all."
    ),
    shared_option("--resources-page-size", type=click.IntRange(0), metavar="N", help="Resources per page; 0 for all."),
    system_option(
        "--validate", is_flag=True, default=None, help="Validate arguments even if the original system does not."
    ),
    shared_option("--assert-formats", is_flag=True, default=None, help="Reject values that do not match `format`."),
    shared_option(
        "--no-defaults", "defaults", flag_value=False, default=None, help="Do not fill in default values of arguments."
    ),
    system_option("--allow", multiple=True, metavar="PATTERN", help="Allow these tools (mcp-bash)."),
    system_option(
        "--hooks", is_flag=True, default=None, help="Run `server.d/register.sh` during the build (mcp-bash)."
    ),
    shared_option(
        "--no-import", "imports", flag_value=False, default=None, help="Do not run project code; read its syntax only."
    ),
    system_option(
        "--entry",
        metavar="ENTRY",
        callback=entry_of_path,
        help="What makes the server: FILE, FILE:OBJECT, MODULE, MODULE:OBJECT (FastMCP, SDK).",
    ),
    shared_option(
        "--build-env",
        "build_environment",
        multiple=True,
        metavar="NAME=VALUE",
        callback=name_and_value,
        help="Set this variable while Python code of the project is run during the build.",
    ),
    system_option(
        "--build-network",
        is_flag=True,
        default=None,
        help="Let the program use the network until it serves, to log in (FastMCP, SDK).",
    ),
    system_option(
        "--framework",
        type=click.Choice(WAYS),
        metavar="WAY",
        help="What handles calls: adapter, the original framework, or auto (FastMCP, SDK).",
    ),
    system_option("--kb", metavar="FOLDER", help="Folder of the knowledge base (MCP Dev Blueprints)."),
    system_option("--script", metavar="FILE", help="Script of the server, if there are several (MCP Server Bash SDK)."),
    shared_option("--http", is_flag=True, default=None, help="Include the HTTP server: `server.pyz serve --http`."),
    shared_option(
        "--ui", is_flag=True, default=None, help="Include --http and a page to call the server: `serve --http --ui`."
    ),
    shared_option(
        "--oauth", is_flag=True, default=None, help="Include OAuth: accept an authorization server's tokens over HTTP."
    ),
    shared_option("--otel", is_flag=True, default=None, help="Include the export of OpenTelemetry spans over HTTP."),
    shared_option(
        "--redis", is_flag=True, default=None, help="Include the Redis client, to store tasks in Redis or Valkey."
    ),
    shared_option(
        "--platform",
        "platforms",
        multiple=True,
        metavar="TAG",
        help="Include native modules for this platform, or for all usual ones: `common`.",
    ),
    shared_option("--extra", "extras", multiple=True, metavar="NAME", help="Include what this extra requires."),
    shared_option(
        "--group", "groups", multiple=True, metavar="NAME", help="Include what this dependency group requires."
    ),
    shared_option(
        "--allow-sdist", is_flag=True, default=None, help="Build packages that have no wheel; this runs their code."
    ),
    shared_option(
        "--exclude-newer",
        metavar="DATE",
        callback=a_date,
        help="Include no version of a package that was uploaded after this date (`2025-06-30`).",
    ),
    lock_option("--lock", metavar="FILE", help="Lock file of the project (default: `pylock.toml`, or `uv.lock`)."),
    lock_option("--locked", is_flag=True, default=None, help="Refuse a lock that is missing, stale or not hashed."),
    lock_option(
        "--offline", is_flag=True, default=None, help="Ask no registry: use the cache and `--find-links` only."
    ),
    lock_option(
        "--find-links",
        multiple=True,
        metavar="FOLDER|URL",
        callback=wheel_places,
        help="Look for wheels in this folder, or on this page, first.",
    ),
    shared_option(
        "--update-key",
        metavar="FILE|KEY",
        callback=ssh_key,
        help="Let `server.pyz update` accept newer files that this SSH key signed.",
    ),
    shared_option(
        "--compact", is_flag=True, default=None, help="Halve the file; its first call takes some milliseconds longer."
    ),
)
HELP_BUILD = click.option(
    "--help-build",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=show_build_options,
    help="Show the options of a build and exit.",
)
FORMAT_OPTION = click.option(
    "--format", "output", type=click.Choice(sorted(FORMATS)), default="text", help="Format of the report."
)
JSON_OPTION = click.option("--format", "output", type=click.Choice(["text", "json"]), default="text")
PROJECT_ARGUMENT = click.argument("project", type=PROJECT, default=Path(), callback=use_fitting_python)
TARGET_ARGUMENT = click.argument("target", type=TARGET, default=Path(), callback=use_fitting_python)


def build_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the build options to a command, and the option that lists them."""
    # As with decorators, the last one that is applied comes first in the help.
    for option in reversed((HELP_BUILD, *BUILD_OPTIONS)):
        command = option(command)
    return command


def read_options(given: Mapping[str, Any]) -> Options:
    """Return the build options: command line first, then environment variables, then defaults."""
    try:
        chosen = options_from_environment(os.environ)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    # None means that the command line does not say it, so that a variable can: flags have no default `False`.
    chosen.update((name, value) for name, value in given.items() if value is not None)
    absent = next((place for place in given.get("find_links") or () if not is_place(place)), None)
    if absent is not None:
        raise click.UsageError(messages.WHEELS_EXPECTED.format(path=absent))
    return replace(Options(), **chosen)  # type: ignore[arg-type]


def is_place(place: str) -> bool:
    """Tell whether wheels can be looked for in a place: a folder that exists, or an address."""
    return ADDRESS.match(place) is not None or Path(place).is_dir()


def with_lock_path(options: Options, project: Path, tree: SourceTree) -> Options:
    """Return options with the path of the lock in the project; refuse a lock that the project does not have."""
    options = with_relative_lock(options, project)
    if options.lock and (tree.get(options.lock) is None or not resolve_name(IS_LOCK_NAME)(options.lock)):
        raise click.UsageError(messages.LOCK_EXPECTED.format(path=options.lock))
    return options


def with_relative_lock(options: Options, project: Path) -> Options:
    """Return options with the path of the lock in the project, wherever this process is."""
    root, named = (Path(os.path.realpath(path)) for path in (project, options.lock or project))
    if named == root:
        return options
    path = named.relative_to(root).as_posix() if named.is_relative_to(root) else Path(options.lock).as_posix()
    return replace(options, lock=path)


def complete_later(name: str, *words: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a function of `mcpc.cli.completions`, which is imported when a shell asks; `words`: its parameters."""

    def complete(ctx: click.Context, option: click.Parameter, incomplete: str) -> list[str]:
        found = getattr(importlib.import_module("mcpc.cli.completions"), name)
        chosen: list[str] = (found(*words) if words else found)(ctx, option, incomplete)
        return chosen

    return complete
