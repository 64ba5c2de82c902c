"""`mcpc build`: a file, twice for `--verify`, and as a program for Windows."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from mcpc.cli import command_options, messages, report
from mcpc.cli.build_steps import embed_build, load_or_build, output_path, write_artifact
from mcpc.diagnostics.formats import relocate_paths
from mcpc.diagnostics.formats.text import BLOCKS
from mcpc.diagnostics.formats.visible import visible
from mcpc.interpreters.selfcontained import TARGETS, EmbeddingRequest, this_machine
from mcpc.options import minor_versions
from mcpc.pack.prologue import START_ALONE, START_BY_PYTHON
from mcpc.sandbox.platforms import start_of_file

if TYPE_CHECKING:
    from mcpc.options import Options
    from mcpc.pack.cache import CachedBuild
    from mcpc.release.trust.second_build import BuildRequest


REPORTED_NOTES = frozenset(
    {*("MCP266", "MCP267", "MCP291", "MCP296", "MCP305", "MCP306"), *("MCP425", "MCP427", "MCP428", "MCP429", "MCP712")}
)
"""Codes of notes that a build prints: on what is in the file, on its start, and on code that the build ran."""

HEAVY_BYTES = 1_000_000
"""A build prints a note that concerns more bytes of the built file than this."""


def validate_python_option(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Return a command or an absolute path of an interpreter; refuse other values."""
    if value is None:
        return None
    # The command becomes a part of the shell script at the beginning of the file, which splits words and expands them.
    if not value or set(value) & set("\"'\\$#%`") or any(map(str.isspace, value)) or not value.isprintable():
        raise click.BadParameter(messages.PYTHON_EXPECTED)
    if "/" in value and not value.startswith("/"):
        raise click.BadParameter(messages.PYTHON_PATH_EXPECTED)
    for minor in minor_versions(value):
        check_minor(minor)
    return value


def check_minor(minor: str) -> None:
    """Refuse a minor version that does not run servers, or of which this machine has no Python."""
    from mcpc.emit.interpreters import HERE, MissingPythonError, interpreter  # noqa: PLC0415 - few builds name one

    if int(minor.removeprefix("3.")) < 11:
        raise click.BadParameter(messages.PYTHON_TOO_OLD.format(minor=minor))
    try:
        if minor != HERE:
            interpreter(minor)
    except MissingPythonError as problem:
        raise click.BadParameter(str(problem)) from None


def validate_target(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Return the name of a target; refuse other words, such as a project that follows the option."""
    if value is not None and value not in TARGETS and value != this_machine():
        raise click.BadParameter(messages.TARGET_EXPECTED.format(value=value, targets=", ".join(TARGETS)))
    return value


@command_options.command()
@command_options.PROJECT_ARGUMENT
@click.option("-o", "--output", "target", type=click.Path(path_type=Path), default="server.pyz", show_default=True)
@click.option(
    "--python",
    metavar="COMMAND|VERSIONS",
    callback=validate_python_option,
    help="Python that runs the built file (default: any found), or the versions to include bytecode for: 3.11,3.12.",
    cls=command_options.PythonOption,
)
@click.option(
    "--self-contained",
    "embedding",
    is_flag=False,
    flag_value=this_machine(),
    metavar="[TARGET]",
    callback=validate_target,
    help=f"Include Python itself (default output: server): {', '.join(TARGETS)}; default: this machine.",
    cls=command_options.PythonOption,
)
@click.option(
    "--interpreter",
    type=click.Path(exists=True, path_type=Path),
    help="Folder or archive of a relocatable Python, for --self-contained (default: the Python of mcpc).",
    cls=command_options.PythonOption,
)
@click.option(
    "--minimal-library",
    is_flag=True,
    help="With --self-contained, include only modules that are imported.",
    cls=command_options.PythonOption,
)
@click.option(
    "--exe",
    "is_program",
    is_flag=True,
    help="Write a program for Windows, which finds Python there (default output: server.exe).",
    cls=command_options.PythonOption,
)
@click.option("--no-smoke", is_flag=True, help="Skip the test start of the built file.")
@click.option("--verify", is_flag=True, help="Build twice, in different environments, and require the same bytes.")
@click.option("--live", is_flag=True, hidden=True, help="Announce list changes, as `mcpc dev` needs.")
@click.option(
    "--blocks", type=int, hidden=True, help="Report problems in the form that `mcpc dev` reads, for this many columns."
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing if there are no problems.")
@command_options.build_options
@command_options.FORMAT_OPTION
@click.pass_context
def command(context: click.Context, /, target: Path, output: str, no_smoke: bool, quiet: bool, **given: Any) -> None:
    """Compile PROJECT (a folder; this one by default) into one executable file.

    The file is written atomically: after an error, an existing file is unchanged.
    """
    started = time.monotonic()
    project, width, is_verified = given.pop("project"), given.pop("blocks"), given.pop("verify")
    output = output if width is None else f"{BLOCKS}{width}"
    is_program = given.pop("is_program")
    embedding = read_embedding(given, is_program=is_program)
    if context.get_parameter_source("target") is ParameterSource.DEFAULT:
        target = default_output(target, embedding, is_program=is_program)
    # An included interpreter, and a file that `mcpc dev` starts here, run with one Python only.
    place, options = (
        output_path(target),
        command_options.with_relative_lock(
            command_options.read_options({**given, "every_python": embedding is None and not given["live"]}), project
        ),
    )
    if is_program:
        check_python_of_program(options)
    build, files = load_or_build(project, options, output, place, quiet)
    if is_program:
        build = as_windows_program(build, options)
    told = report.notable_diagnostics(build.diagnostics, output, heavy=0 if quiet else HEAVY_BYTES)
    if output != "json":
        report.report(told, files, output, project)
    if embedding is not None:
        build = embed_build(build, embedding, output, quiet)
    asked = BuildParameters(project, options, place, embedding, is_program)
    require_repeatable(build, asked, is_required=is_verified, quiet=quiet)
    # A file with the Python of another machine cannot start itself here: this Python starts its archive.
    is_ours = embedding is not None and embedding.target == this_machine()
    write_artifact(build, place, START_ALONE if is_ours else START_BY_PYTHON, tried=not no_smoke)
    if output == "json":
        problems = json.loads(
            report.render_machine_format(*relocate_paths(told, files, report.relative_to_cwd(project)), output)
        )
        click.echo(json.dumps({**problems, "built": build_facts(build, target)}, indent=2, ensure_ascii=False))
    elif output == "text" and not quiet:
        print_summary(build, target, time.monotonic() - started, "" if embedding else report.runs_on(build.runs_on))


def default_output(target: Path, embedding: EmbeddingRequest | None, *, is_program: bool) -> Path:
    """Return the name of a built file that was not named."""
    if embedding is not None and not embedding.target.startswith("win"):
        return target.with_suffix("")
    return target.with_suffix(".exe") if is_program or embedding is not None else target


def read_embedding(given: dict[str, Any], *, is_program: bool) -> EmbeddingRequest | None:
    """Return what --self-contained and its options ask for; None without it."""
    target, interpreter, minimal = (given.pop(name) for name in ("embedding", "interpreter", "minimal_library"))
    if target is not None and is_program:
        raise click.UsageError(messages.EXE_OR_SELF_CONTAINED)
    if target is not None:
        return EmbeddingRequest(b"", target, interpreter, minimal)
    if interpreter is not None or minimal:
        raise click.UsageError(messages.ONLY_SELF_CONTAINED)
    return None


def build_facts(build: CachedBuild, target: Path) -> dict[str, Any]:
    """Return the facts about a built file as JSON for programs."""
    return {
        "path": str(target),
        "name": build.name,
        "version": build.version,
        "sha256": hashlib.sha256(build.data).hexdigest(),
        "contentDigest": build.content_digest,
        "bytes": len(build.data),
        "tools": build.tools,
        "prompts": build.prompts,
        "resources": build.resources,
    }


def print_summary(build: CachedBuild, target: Path, seconds: float, runs_on: str) -> None:
    """Print what was built: the last lines count its definitions, and say what it runs on, if that is known."""
    for note in build.diagnostics:
        if note.code in REPORTED_NOTES:
            click.echo(f"note: {visible(note.message)}: {visible(note.hint)}", err=True)
    click.echo(f"{visible(build.name)} {visible(build.version)}; try `{start_of_file(str(target))} list`", err=True)
    click.echo(f"sha256 {hashlib.sha256(build.data).hexdigest()}", err=True)
    offers = report.count_definitions(build.tools, build.prompts, build.resources)
    tick = click.style("built", fg="green", bold=True) if report.has_colours() else "built"
    size = f"{len(build.data) / 1_000_000:.1f} MB"
    click.echo(f"{tick} {target}: {offers}, {size} in {seconds:.1f} s", err=True)
    if runs_on:
        click.echo(runs_on, err=True)


EXACT_PYTHON = re.compile(r"python3\.(\d+)")
ANY_PYTHON = ("", "python", "python3")


def check_python_of_program(options: Options) -> None:
    """Refuse `--python` with a path or a command: they are another system's."""
    if options.python not in ANY_PYTHON and not options.minors and not EXACT_PYTHON.fullmatch(options.python):
        raise click.UsageError(messages.PYTHON_OF_PROGRAM_EXPECTED.format(python=options.python))


def as_windows_program(build: CachedBuild, options: Options) -> CachedBuild:
    """Return a build with the launcher for Windows before its archive."""
    return replace(build, data=windows_program(build.data, options))


def windows_program(archive: bytes, options: Options, minor: str = "") -> bytes:
    """Return an archive with the launcher for Windows; `minor`: its Python if the options name none."""
    from mcpc.interpreters.launchers.windows_file import PythonChoice, windows_file  # noqa: PLC0415 - few are programs

    exact = EXACT_PYTHON.fullmatch(options.python)
    minors = tuple(int(each.removeprefix("3.")) for each in options.minors or (minor,) if each)
    chosen = minors or (int(exact[1]) if exact else sys.version_info.minor,)
    choice = PythonChoice(chosen, is_only=exact is not None)
    return windows_file(archive, machine_of(options), choice)


def machine_of(options: Options) -> str:
    """Return the machine whose launcher is used: arm64 if the file is built for it alone; others run x64's, too."""
    windows = {tag.partition("-")[0] for tag in options.platform_tags if tag.startswith("win_")}
    return "arm64" if windows == {"win_arm64"} else "x64"


SHOWN = 20
"""Entries that are named."""


@dataclass(frozen=True, slots=True)
class BuildParameters:
    """What `mcpc build` was asked for: a project, options, where to write, and what the archive becomes a part of."""

    project: Path
    options: Options
    place: Path
    embedding: EmbeddingRequest | None = None
    is_program: bool = False

    def request(self) -> BuildRequest:
        """Return it as the request of a second build."""
        from mcpc.release.trust.second_build import BuildRequest  # noqa: PLC0415 - few builds are repeated

        root = Path(os.path.realpath(self.project))
        # The first build may have found an earlier output in the project and left it out; so must the second one.
        left_out = self.place.relative_to(root).as_posix() if self.place.is_relative_to(root) else ""
        request = BuildRequest(str(root), "", self.options, left_out=left_out)
        if self.embedding is None:
            return request
        interpreter = self.embedding.interpreter
        place = "" if interpreter is None else os.path.realpath(interpreter)
        return replace(request, embedded=self.embedding.target, interpreter=place, minimal=self.embedding.minimal)

    def built(self, build: CachedBuild) -> bytes:
        """Return the file of a second build; `build`: the first one."""
        from mcpc.release.trust.second_build import build_elsewhere  # noqa: PLC0415 - as above

        data = build_elsewhere(self.request())
        return as_windows_program(replace(build, data=data), self.options).data if self.is_program else data


def require_repeatable(build: CachedBuild, asked: BuildParameters, *, is_required: bool, quiet: bool) -> None:
    """Build again in another environment; exit with 6 if the bytes differ, naming the entries that differ."""
    if not is_required:
        return
    from mcpc.release.trust.comparison import compare_contents  # noqa: PLC0415 - as above
    from mcpc.release.trust.contents import take_apart  # noqa: PLC0415
    from mcpc.release.trust.second_build import SecondBuildError  # noqa: PLC0415

    with report.progress_reporter(quiet) as tell:
        tell("building again in another environment")
        try:
            second = asked.built(build)
        except SecondBuildError as problem:
            click.echo(messages.SECOND_BUILD_FAILED.format(problem=visible(str(problem))), err=True)
            raise click.exceptions.Exit(report.WRONG_FILE) from None
    if second == build.data:
        return
    differences = compare_contents(take_apart(build.data), take_apart(second))
    click.echo(messages.NOT_REPEATABLE.format(project=asked.project), err=True)
    for difference in differences[:SHOWN]:
        click.echo(f"  {difference.kind:<11}{visible(difference.entry)}", err=True)
    if len(differences) > SHOWN:
        click.echo(f"  and {len(differences) - SHOWN} more", err=True)
    raise click.exceptions.Exit(report.WRONG_FILE)
