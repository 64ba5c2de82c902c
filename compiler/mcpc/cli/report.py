"""What every command has in common: options of a build, the report of problems, the words on standard error."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcpc.diagnostics import Severity, has_errors
from mcpc.diagnostics.formats import FORMATS, render_text
from mcpc.options import DIALECTS, Options, from_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpc.diagnostics import Diagnostics
    from mcpc.sources import Source

SUCCESS, FINDINGS, USAGE, UNREACHABLE, TOOL_ERROR, NOT_RUNNABLE = 0, 1, 2, 4, 5, 8
PATIENCE_SECONDS = 1.0
"""A build that takes longer says what it is doing."""

BUILD_OPTIONS = (
    click.option("--from", "format", default="", metavar="NAME", help="Take the project for this format."),
    click.option("--dialect", type=click.Choice(DIALECTS), help="Whose words refusals have (mcp)."),
    click.option("--strict", is_flag=True, default=None, help="Take warnings for errors."),
    click.option("--tools-prefix", metavar="TEXT", help="What Bash functions of tools begin with (tool_)."),
    click.option("--prompts-prefix", metavar="TEXT", help="What Bash functions of prompts begin with (prompt_)."),
    click.option("--tools-page-size", type=click.IntRange(0), help="Tools a page of tools/list; 0 for all."),
    click.option("--prompts-page-size", type=click.IntRange(0), help="Prompts a page of prompts/list; 0 for all."),
    click.option("--resources-page-size", type=click.IntRange(0), help="Resources a page of a list; 0 for all."),
    click.option("--validate", is_flag=True, default=None, help="Check arguments, even where others would not."),
    click.option("--assert-formats", is_flag=True, default=None, help="Refuse what breaks the `format` of a schema."),
    click.option("--no-defaults", "defaults", flag_value=False, default=None, help="Hand on arguments as they came."),
    click.option("--allow", multiple=True, metavar="PATTERN", help="Let calls through to these tools (mcp-bash)."),
    click.option("--hooks", is_flag=True, default=None, help="Run `server.d/register.sh` at the build (mcp-bash)."),
    click.option("--kb", metavar="FOLDER", help="The folder of the knowledge base (MCP Dev Blueprints)."),
    click.option("--http", is_flag=True, default=None, help="Carry what serves over HTTP: `server.pyz serve --http`."),
    click.option("--oauth", is_flag=True, default=None, help="Take an authorization server's tokens over HTTP."),
    click.option("--otel", is_flag=True, default=None, help="Tell of requests over HTTP as OpenTelemetry spans."),
    click.option("--redis", is_flag=True, default=None, help="Keep tasks in Redis or Valkey where that is asked for."),
    click.option(
        "--platform", "platforms", multiple=True, metavar="TAG", help="Carry native modules for this platform."
    ),
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


def report(diagnostics: Diagnostics, sources: Mapping[str, Source], output: str) -> None:
    """Write the problems: text for people on standard error, anything else for programs on standard output."""
    if output != "text":
        click.echo(FORMATS[output](diagnostics, sources), nl=False)
    elif diagnostics:
        click.echo(render_text(diagnostics, sources, colour=colourful()), nl=False, err=True)


def worth_telling(diagnostics: Diagnostics, output: str) -> Diagnostics:
    """Return what a successful build says to a person: notes are for `mcpc check`."""
    return (
        diagnostics
        if output != "text"
        else tuple(found for found in diagnostics if found.severity is not Severity.NOTE)
    )


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


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Give a function that takes the name of each stage; they are shown once the whole takes long."""
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
    timer.start()
    try:
        yield tell
    finally:
        timer.cancel()
