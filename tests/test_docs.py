"""What the pages say is there: commands run, options exist, links lead somewhere, code is code.

Lines behind a `$` in the `console` blocks of `docs/` are run, each page in a folder of its own with a copy of the examples,
and the lines below a command have to be in what it says.  Blocks of `sh` have commands that would serve until they are
stopped: of those, and of the other pages, only the words are looked at.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import click
import pytest

from mcpc.cli import COMMANDS, cli
from mcpc.diagnostics.codes import CODES
from mcpc_runtime.http.options import help_page
from mcpc_runtime.http.settings import OPTIONS, settings_from
from support.artifact import SOURCES, with_bytecode
from support.needs import ROOT, needs, needs_node

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
GUIDES = tuple(sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md")))
WITH_COMMANDS = tuple(page for page in GUIDES if "```console" in (ROOT / page).read_text(encoding="utf-8"))
PAGES = (*TOP, *GUIDES)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
SPAN = re.compile(r"`([^`\n]+)`")
PLACE = re.compile(r"(?:bench|compiler|docs|examples|runtime|templates|tests)/[\w./-]+")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
CODE = re.compile(r"\bMCP\d{3}\b")
SERVER = re.compile(r"\./\w[\w-]*\.pyz")
OF_OTHERS = frozenset({"--help", "--interface", "--no-deps", "--require-hashes"})
"""Options of every program, and of those that are not ours."""


class Block(NamedTuple):
    """A fenced block: its language and its text."""

    language: str
    text: str


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, *languages: str) -> list[Block]:
    return [block for block in (Block(*found) for found in FENCE.findall(read(page))) if block.language in languages]


def prose(page: str) -> str:
    return FENCE.sub("", read(page))


def slug(heading: str) -> str:
    """What a heading is called in a link."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def commands(block: Block) -> Iterator[list[str]]:
    """The commands of a block, in words; those of `console` stand behind a `$`."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language == "console":
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    for line in lines:
        words = shlex.split(line, comments=True)
        yield words[next((at for at, word in enumerate(words) if not re.match(r"[A-Z_]+=", word)), 0) :]


def options_of_mcpc() -> set[str]:
    context = click.Context(cli, **cli.context_settings)
    known = [cli.get_command(context, name) for name in COMMANDS]
    return {option for one in known if one is not None for parameter in one.params for option in parameter.opts}


def test_there_is_something_to_check() -> None:
    """What is looked for is found: a pattern that matches nothing lets every page pass."""
    whole = "".join(prose(page) for page in PAGES)
    spans = SPAN.findall(whole)
    assert min(len(LINK.findall(whole)), len(CODE.findall(whole)), len(spans)) > 100
    assert min(sum(map(bool, map(found.search, spans))) for found in (PLACE, OPTION)) > 40
    assert sum(len(blocks(page, "python", "json", "bash", "console")) for page in PAGES) > 40


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for link in LINK.findall(prose(page)):
        if link.startswith("https://"):
            continue
        file, _, anchor = link.partition("#")
        place = (ROOT / page).parent / file if file else ROOT / page
        assert place.exists(), link
        if anchor:
            assert anchor in map(slug, HEADING.findall(FENCE.sub("", place.read_text(encoding="utf-8")))), link


@pytest.mark.parametrize("page", PAGES)
def test_files_that_are_named_are_there(page: str) -> None:
    for span in SPAN.findall(prose(page)):
        if PLACE.fullmatch(span) and not re.search("NAME|YYYY", span):
            assert (ROOT / span).exists(), span


@pytest.mark.parametrize("page", PAGES)
def test_codes_that_are_named_exist(page: str) -> None:
    assert set(CODE.findall(read(page))) <= CODES.keys()


@pytest.mark.parametrize("page", ("README.md", *GUIDES))
def test_options_that_are_named_exist(page: str) -> None:
    known = {*options_of_mcpc(), *OPTION.findall(help_page(OPTIONS)), *OF_OTHERS}
    named = {option for span in SPAN.findall(prose(page)) for option in OPTION.findall(span)}
    assert named <= known


@pytest.mark.parametrize("page", PAGES)
def test_commands_have_the_words_they_are_given(page: str) -> None:
    context = click.Context(cli, **cli.context_settings)
    for block in blocks(page, "console", "sh"):
        for program, *words in commands(block):
            if program == "mcpc":
                command = cli.get_command(context, words[0])
                assert command is not None
                try:
                    command.make_context(words[0], words[1:], parent=context)
                except click.BadParameter as problem:
                    assert "does not exist" in problem.message  # a file that an earlier command writes
            elif SERVER.fullmatch(program) and words[0] == "serve":
                settings_from(words[1:], {})


@pytest.mark.parametrize("page", PAGES)
def test_code_is_code(page: str) -> None:
    for language, text in blocks(page, "python", "json", "bash"):
        if language == "python":
            compile(text, page, "exec")
        elif language == "json":
            json.loads(text)
        else:
            needs("bash")
            subprocess.run(["bash", "-n"], input=text, text=True, check=True)


def sessions(page: str) -> list[tuple[str, list[str]]]:
    """What the `console` blocks of a page say: each command, and the lines below it."""
    said: list[tuple[str, list[str]]] = []
    for line in "".join(block.text for block in blocks(page, "console")).splitlines():
        if line.startswith("$ "):
            said.append((line.removeprefix("$ "), []))
        else:
            said[-1][1].append(line)
    return said


@pytest.mark.parametrize("page", WITH_COMMANDS)
@pytest.mark.sampled(3)
def test_commands_run_as_they_are_written(page: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    needs("bash", "jq")
    if "examples/toolbox" in read(page):
        needs_node()
    place = tmp_path / "here"
    shutil.copytree(ROOT / "examples", place / "examples")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "mcpc").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mcpc "$@"\n')
    (programs / "mcpc").chmod(0o755)
    (programs / "python3").symlink_to(sys.executable)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("MCPBASH_", "MCPC_"))},
        "PYTHONPATH": SOURCES,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "MCPC_CACHE_DIR": str(with_bytecode(tmp_path_factory.getbasetemp() / "cache-of-docs")),
        "MCPC_TOOLBOX_HOME": str(tmp_path / "home"),
    }
    for command, expected in sessions(page):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=place, env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        printed = iter((done.stdout + done.stderr).splitlines())
        missing = [line for line in expected if line not in printed]
        assert not missing, f"{command} does not say {missing}:\n{done.stdout}{done.stderr}"


def test_every_example_and_every_guide_is_named() -> None:
    navigation = read("zensical.toml").replace("index.md", "README.md")
    assert not [page for page in GUIDES if f'"{page.removeprefix("docs/")}"' not in navigation]
    guides = "".join(map(read, GUIDES))
    assert all(f"examples/{one.name}" in guides for one in (ROOT / "examples").iterdir() if one.name in OF_SYSTEMS)


OF_SYSTEMS = ("bash-sdk", "files", "bx-mcp", "blueprints", "toolbox", "mcp-bash")
