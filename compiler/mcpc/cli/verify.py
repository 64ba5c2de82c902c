"""`mcpc attest verify`: rebuild a project, and say whether a built file is what it builds."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import groupby
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import click

from mcpc import DISTRIBUTION, __version__, pipeline
from mcpc.cli import command_options, messages, report
from mcpc.cli.attest import read_artifact
from mcpc.cli.build import windows_program
from mcpc.cli.build_steps import without_earlier_output
from mcpc.cli.built_contents import READ_ERRORS, archive_contents
from mcpc.diagnostics.formats.visible import visible, visible_json
from mcpc.emit.interpreters import HERE, MissingPythonError, interpreter
from mcpc.interpreters.selfcontained import CannotEmbedError, EmbeddingRequest, embed_server
from mcpc.options import Options
from mcpc.pack.manifest import BUILD_ENVIRONMENT, is_accepted, repeated_options
from mcpc.release.trust.comparison import (
    CAUSES,
    DIFFERENT,
    EQUIVALENT,
    IDENTICAL,
    SAME_SOURCES,
    CauseFinder,
    changed_definitions,
    changed_packages,
    compare_contents,
    verdict,
)
from mcpc.release.trust.contents import take_apart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpc.model.ir import Server
    from mcpc.pipeline import CheckResult
    from mcpc.release.trust.contents import ArtifactContents

VERDICTS = {
    IDENTICAL: "it is exactly what the project builds",
    EQUIVALENT: "it has exactly the content that the project builds; only its compression differs",
    SAME_SOURCES: "its sources are the project's; what another Python or mcpc wrote was not compared",
    DIFFERENT: "it is not what the project builds",
}
FULL_VERSION = re.compile(r"(3\.\d+)\.\w+")
SINGULAR = {
    "tools": "tool",
    "prompts": "prompt",
    "resources": "resource",
    "resourceTemplates": "resource template",
}
SHOWN = 8
"""Entries that the text names for each cause."""


@command_options.command()
@click.argument("file", type=click.Path(path_type=Path))
@command_options.PROJECT_ARGUMENT
@click.option(
    "--sources-only", is_flag=True, help="Accept a file of which bytecode or runtime could not be compared here."
)
@click.option(
    "--interpreter",
    type=click.Path(exists=True, path_type=Path),
    help="The relocatable Python that a self-contained file was built with.",
)
@click.option("--python", metavar="COMMAND|VERSIONS", help="The `--python` that FILE was built with.")
@command_options.build_options
@command_options.JSON_OPTION
def verify(file: Path, project: Path, sources_only: bool, interpreter: Path | None, output: str, **given: Any) -> None:
    """Rebuild PROJECT (this folder by default) with the options that FILE records, and compare.

    Of these, options that choose what is run or what may be called count only if they are given here, too.

    Exit status 0 if FILE is what the project builds, else 6 with the entries that differ and the likely cause.
    """
    # A file with other bytes than a build writes is not refused: that it differs is the answer.
    contents = read_artifact(file, is_exact=False)
    tell_other_compiler(file, contents.facts.get("mcpc"))
    options, recorded = rebuild_options(contents, file, given)
    # A file does not record that an empty server was accepted, but it was built, so it was.
    rebuild = Rebuild(file, project, contents, replace(options, allow_empty=True))
    rebuilt, server = rebuild.result(interpreter)
    differences = CauseFinder(contents, rebuilt).with_causes(compare_contents(contents, rebuilt))
    definitions = [{**row, "file": place_of(server, row)} for row in offered_differences(contents, rebuilt)]
    found = {
        "file": str(file),
        "verdict": verdict(differences, same_lists=not definitions),
        "sha256": {"file": contents.sha256, "project": rebuilt.sha256},
        "differences": [{"entry": each.entry, "kind": each.kind, "cause": each.cause} for each in differences],
        "causes": {cause: CAUSES[cause] for cause in CAUSES if any(each.cause == cause for each in differences)},
        "definitions": definitions,
        "packages": changed_packages(contents.facts, rebuilt.facts),
        "options": recorded,
        "builtWith": {"mcpc": contents.facts.get("mcpc"), "python": contents.facts.get("python")},
        "rebuiltWith": {"mcpc": rebuilt.facts.get("mcpc"), "python": rebuilt.facts.get("python")},
    }
    click.echo(visible_json(found) if output == "json" else "\n".join(map(visible, text_lines(found))))
    accepted = {IDENTICAL, EQUIVALENT, *([SAME_SOURCES] if sources_only else [])}
    if found["verdict"] not in accepted:
        raise click.exceptions.Exit(report.WRONG_FILE)


def tell_other_compiler(file: Path, built: Any) -> None:
    """Say before anything else that another mcpc built a file: its project may not even build with this one."""
    if built != __version__:
        words = {"path": file, "built": built, "version": __version__, "distribution": DISTRIBUTION}
        click.echo(visible(messages.OTHER_COMPILER.format(**words)), err=True)


def rebuild_options(
    contents: ArtifactContents, file: Path, given: dict[str, Any]
) -> tuple[Options, list[dict[str, Any]]]:
    """Return the options to build with, and those that a file records: `option` as words, and whether it `counts`."""
    recorded = contents.facts.get("options", {})
    chosen = {name: value for name, value in given.items() if value not in (None, "", ())}
    try:
        counting = {name: value for name, value in recorded.items() if name in chosen or is_accepted(name, value)}
        options = repeated_options(recorded)
        options = replace(Options(), **{name: getattr(options, name) for name in counting if name != BUILD_ENVIRONMENT})
    except (ValueError, AttributeError) as problem:
        version = contents.facts.get("mcpc", "")
        raise click.UsageError(messages.UNKNOWN_OPTION.format(path=file, problem=problem, version=version)) from None
    names = recorded.get(BUILD_ENVIRONMENT, ())
    if set(names) - {name for name, _ in chosen.get(BUILD_ENVIRONMENT, ())}:
        click.echo(messages.VALUES_NEEDED.format(names=", ".join(names)), err=True)
    rows = [
        {"option": option_words(name, value), "counts": name in counting}
        for name, value in sorted(recorded.items())
        if name != BUILD_ENVIRONMENT
    ]
    missing = " ".join(str(row["option"]) for row in rows if not row["counts"])
    if missing:
        click.echo(visible(messages.OPTIONS_NEEDED.format(path=file, options=missing)), err=True)
    return replace(options, every_python=True, **chosen), rows


def option_words(name: str, value: Any) -> str:
    """Return a build option as it is written on the command line."""
    words = next(option.opts[0] for option in verify.params if option.name == name)
    values = value if isinstance(value, list) else [value]
    return " ".join(words if isinstance(each, bool) else f"{words} {quote(str(each))}" for each in values)


@dataclass(frozen=True, slots=True)
class Rebuild:
    """A build of a project as a file says that it was built."""

    file: Path
    project: Path
    contents: ArtifactContents
    options: Options

    def result(self, python: Path | None) -> tuple[ArtifactContents, Server]:
        """Return what the project builds, and its server; exit with 1 if it does not build."""
        minor = self._other_minor()
        with report.progress_reporter() as tell:
            analysed = self._analyse(replace(self.options, python=minor) if minor else self.options)
            if analysed.checked is None:
                report.report(analysed.diagnostics, analysed.sources, "text", self.project)
                raise click.exceptions.Exit(report.FINDINGS)
            minors = (minor,) if minor else ()
            # With the options as they are, which the file records; only the bytecode is that of the other Python.
            data = pipeline.compile_server(analysed.checked, self.options, tell, minors).data
            embedded = self.contents.facts.get("selfContained")
            if isinstance(embedded, dict):
                tell("embedding the interpreter")
                data = self._embedded(data, embedded, python)
            # What every program for Windows begins with.
            elif self.contents.program.startswith(b"MZ"):
                data = windows_program(data, self.options, minor)
        return take_apart(data), analysed.checked.server

    def _other_minor(self) -> str:
        """Return the Python that compiled the file if it is another one than this and is here; else an empty text."""
        python = self.contents.facts.get("python")
        found = FULL_VERSION.fullmatch(str(python.get("bytecode"))) if isinstance(python, dict) else None
        if self.options.minors or found is None or found[1] == HERE:
            return ""
        try:
            interpreter(found[1])
        except MissingPythonError as problem:
            click.echo(f"note: {problem}", err=True)
            return ""
        return found[1]

    def _analyse(self, options: Options) -> CheckResult:
        tree, found = pipeline.read_project(self.project)
        tree = without_earlier_output(tree, self.project, self.file.resolve())
        return pipeline.analyse(tree, found, options)

    def _embedded(self, data: bytes, embedded: dict[str, Any], python: Path | None) -> bytes:
        target, minimal = str(embedded.get("target")), embedded.get("minimal") is True
        try:
            return embed_server(EmbeddingRequest(data, target, python, minimal))
        except CannotEmbedError as problem:
            words = messages.INTERPRETER_NEEDED.format(
                path=self.file, python=embedded.get("python"), problem=f"{problem}; {problem.diagnostic.hint}"
            )
            raise click.UsageError(words) from None


def offered_differences(contents: ArtifactContents, rebuilt: ArtifactContents) -> list[dict[str, Any]]:
    """Return the definitions that a file offers otherwise than the project."""
    if contents.data == rebuilt.data:
        return []
    try:
        with ZipFile(BytesIO(contents.data)) as one, ZipFile(BytesIO(rebuilt.data)) as other:
            return changed_definitions(archive_contents(one), archive_contents(other))
    except READ_ERRORS as problem:
        raise click.UsageError(messages.CANNOT_READ.format(path="the list of definitions", problem=problem)) from None


def place_of(server: Server, row: dict[str, Any]) -> str:
    """Return the file of the project that has a definition; an empty text if none has."""
    lists = {
        "tools": {tool.name: tool.span.path for tool in server.tools},
        "prompts": {prompt.name: prompt.span.path for prompt in server.prompts},
        "resources": {resource.uri: resource.span.path for resource in server.resources},
        "resourceTemplates": {template.uri.text: template.span.path for template in server.templates},
    }
    return lists[row["kind"]].get(row["name"], "")


def text_lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield the result as text, of at most some lines for each cause."""
    yield f"{found['file']}: {found['verdict']}: {VERDICTS[found['verdict']]}"
    for row in found["options"]:
        yield f"  built with {row['option']}{'' if row['counts'] else ', which does not count: it was not given here'}"
    order = list(CAUSES)
    rows = sorted(found["differences"], key=lambda row: (order.index(row["cause"]), row["entry"]))
    for cause, group in groupby(rows, key=lambda row: row["cause"]):
        entries = [f"{row['entry']} ({row['kind']})" for row in group]
        yield f"  {cause}: {CAUSES[cause]}"
        yield from details_of(cause, found)
        yield from (f"    {entry}" for entry in entries[:SHOWN])
        if len(entries) > SHOWN:
            yield f"    and {len(entries) - SHOWN} more"


def details_of(cause: str, found: dict[str, Any]) -> Iterator[str]:
    """Yield what is known about a cause beside the entries."""
    if cause == "source":
        for row in found["definitions"]:
            where = f" of {row['file']}" if row["file"] else ""
            what = f"only in the {row['only']}" if row["only"] else ", ".join(row["members"])
            yield f"    {SINGULAR[row['kind']]} {row['name']}{where}: {what}"
    if cause == "packages":
        for row in found["packages"]:
            versions = f"{row['file'] or 'absent'} in the file, {row['project'] or 'absent'} in the project"
            yield f"    {row['name']}: {versions}"
    if cause in ("mcpc", "python"):
        built, rebuilt = (version_of(found[when][cause]) for when in ("builtWith", "rebuiltWith"))
        yield f"    built with {built}, rebuilt with {rebuilt}"


def version_of(fact: Any) -> str:
    """Return the version that a fact about mcpc or Python has."""
    return str(fact.get("bytecode") if isinstance(fact, dict) else fact)
