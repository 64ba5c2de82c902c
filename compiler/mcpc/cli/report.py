"""What every command has in common: options of a build, the report of problems, the words on standard error."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.diagnostics import Severity, has_errors
from mcpc.diagnostics.formats import FORMATS, located, render_text
from mcpc.diagnostics.formats.blocks import BLOCKS, as_blocks
from mcpc.options import DIALECTS, Options, from_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.diagnostics.formats import SourceText
    from mcpc.sources import Source

SUCCESS, FINDINGS, USAGE, UNREACHABLE, TOOL_ERROR, NOT_RUNNABLE = 0, 1, 2, 4, 5, 8
PATIENCE_SECONDS = 1.0
"""A build that takes longer says what it is doing."""

PROJECT_GROUP, SYSTEMS_GROUP = "Project options", "Options for projects of other systems"


class SharedOption(click.Option):
    """An option that several commands have; their help shows it after their own, in its group."""

    group = PROJECT_GROUP


class SystemOption(SharedOption):
    """One that only projects of certain systems have a use for."""

    group = SYSTEMS_GROUP


class Command(click.Command):
    """A command whose help begins with its own options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups: those of the command, then those that it shares with others."""
        groups: dict[str, list[tuple[str, str]]] = {"Options": [], PROJECT_GROUP: [], SYSTEMS_GROUP: []}
        for option in self.get_params(ctx):
            row = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if row is not None:
                groups[getattr(option, "group", "Options")].append(row)
        for title, rows in groups.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def command(**settings: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of a function."""
    return click.command(cls=Command, **settings)


shared = partial(click.option, cls=SharedOption)
system = partial(click.option, cls=SystemOption)
BUILD_OPTIONS = (
    shared("--from", "format", default="", metavar="NAME", help="Take the project for this format."),
    system(
        "--dialect",
        type=click.Choice(DIALECTS),
        metavar="NAME",
        help=f"Whose words refusals have: {', '.join(DIALECTS)}.",
    ),
    shared("--strict", is_flag=True, default=None, help="Take warnings for errors."),
    system("--tools-prefix", metavar="TEXT", help="What Bash functions of tools begin with (tool_)."),
    system("--prompts-prefix", metavar="TEXT", help="What Bash functions of prompts begin with (prompt_)."),
    shared("--tools-page-size", type=click.IntRange(0), metavar="N", help="Tools a page of tools/list; 0 for all."),
    shared(
        "--prompts-page-size", type=click.IntRange(0), metavar="N", help="Prompts a page of prompts/list; 0 for all."
    ),
    shared("--resources-page-size", type=click.IntRange(0), metavar="N", help="Resources a page of a list; 0 for all."),
    system("--validate", is_flag=True, default=None, help="Check arguments, even where others would not."),
    shared("--assert-formats", is_flag=True, default=None, help="Refuse what breaks the `format` of a schema."),
    shared("--no-defaults", "defaults", flag_value=False, default=None, help="Hand on arguments as they came."),
    system("--allow", multiple=True, metavar="PATTERN", help="Let calls through to these tools (mcp-bash)."),
    system("--hooks", is_flag=True, default=None, help="Run `server.d/register.sh` at the build (mcp-bash)."),
    shared(
        "--no-import",
        "imports",
        flag_value=False,
        default=None,
        help="Run nothing of the project; read its syntax.",
    ),
    system("--kb", metavar="FOLDER", help="The folder of the knowledge base (MCP Dev Blueprints)."),
    shared("--http", is_flag=True, default=None, help="Carry what serves over HTTP: `server.pyz serve --http`."),
    shared("--oauth", is_flag=True, default=None, help="Take an authorization server's tokens over HTTP."),
    shared("--otel", is_flag=True, default=None, help="Tell of requests over HTTP as OpenTelemetry spans."),
    shared("--redis", is_flag=True, default=None, help="Keep tasks in Redis or Valkey where that is asked for."),
    shared("--platform", "platforms", multiple=True, metavar="TAG", help="Carry native modules for this platform."),
)
FORMAT_OPTION = click.option(
    "--format", "output", type=click.Choice(sorted(FORMATS)), default="text", help="How problems are reported."
)
JSON_OPTION = click.option("--format", "output", type=click.Choice(["text", "json"]), default="text")
PROJECT = click.argument("project", type=click.Path(path_type=Path), default=Path())


def build_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a build to a command."""
    for option in reversed(BUILD_OPTIONS):
        command = option(command)
    return command


def options_of(given: Mapping[str, Any]) -> Options:
    """Return the options: what was said, else what the environment says, else the defaults."""
    try:
        chosen = from_environment(os.environ)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None
    chosen.update((name, value) for name, value in given.items() if value is not None)
    return replace(Options(), **chosen)  # type: ignore[arg-type]


def project_folder(project: Path) -> Path:
    """Return the folder of a project that exists."""
    if not project.is_dir():
        kind = "is a file" if project.exists() else "does not exist"
        raise click.UsageError(f"{project} {kind}; expected the folder of a project")
    return project


def report(diagnostics: Diagnostics, sources: Mapping[str, Source], output: str, project: Path | None = None) -> None:
    """Write the problems: text for people on standard error, anything else for programs on standard output.

    `project`: the folder of the files, which are named from where the command was run.
    """
    diagnostics, named = located(diagnostics, sources, "" if project is None else from_here(project))
    if output != "text":
        click.echo(rendered(diagnostics, named, output), nl=False)
    elif diagnostics:
        width = shutil.get_terminal_size().columns if sys.stderr.isatty() else 0
        click.echo(render_text(diagnostics, named, colour=colourful(), width=width), nl=False, err=True)


def rendered(diagnostics: Diagnostics, sources: Mapping[str, SourceText], output: str) -> str:
    """Return the problems in a format for programs."""
    if output.startswith(BLOCKS):
        return as_blocks(diagnostics, sources, int(output.removeprefix(BLOCKS)))
    if output == "sarif":
        return FORMATS[output](diagnostics, sources, Path.cwd().as_uri() + "/")
    return FORMATS[output](diagnostics, sources)


def from_here(project: Path) -> str:
    """Return how a project's folder is called from where the command was run; where it is on another drive, whole."""
    return Path(os.path.relpath(os.path.realpath(project), os.path.realpath(Path.cwd()))).as_posix()


def worth_telling(diagnostics: Diagnostics, output: str, heavy: int = 0) -> Diagnostics:
    """Return what a successful build says to a person: notes are for `mcpc check`.

    `heavy`: a note about more bytes of the built file than that is told, too; 0 for none.
    """
    if output != "text" and not output.startswith(BLOCKS):
        return diagnostics
    return tuple(found for found in diagnostics if found.severity is not Severity.NOTE or 0 < heavy < found.size)


def offered(tools: int, prompts: int, resources: int) -> str:
    """Return how many of each a server has; resources, with their templates, only if there are any."""
    counts = {"tool": tools, "prompt": prompts, **({"resource": resources} if resources else {})}
    return ", ".join(f"{count} {name}" if count == 1 else f"{count} {name}s" for name, count in counts.items())


def colourful() -> bool:
    """Tell whether standard error shows colours (https://no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stderr.isatty()


def end_if_refused(diagnostics: Diagnostics, options: Options) -> None:
    """Leave with status 1 if a problem ends the build."""
    if has_errors(diagnostics, strict=options.strict):
        raise click.exceptions.Exit(FINDINGS)


def refuse_unimported(options: Options, diagnostics: Diagnostics) -> None:
    """Refuse to make something of a project whose files were not imported although that decides what they define."""
    if not options.imports and any(problem.code == "MCP716" for problem in diagnostics):
        raise click.UsageError("--no-import shows and checks a project; what its files define is not known without it")


@contextmanager
def progress(quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Give a function that takes the name of each stage; they are shown once the whole takes long, unless `quiet`."""
    stages = ["reading"]
    shown = threading.Event()

    def tell(stage: str) -> None:
        stages.append(stage)
        if shown.is_set():
            click.echo(f"mcpc: {stage} …", err=True)

    def begin() -> None:
        shown.set()
        click.echo(f"mcpc: {stages[-1]} …", err=True)

    timer = threading.Timer(PATIENCE_SECONDS, begin)
    timer.daemon = True
    if not quiet:
        timer.start()
    try:
        yield tell
    finally:
        timer.cancel()
