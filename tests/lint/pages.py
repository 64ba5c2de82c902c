"""What the pages say is there: options exist, links lead somewhere, code is code; and every diagnostics code has a page.

The commands of `docs/` are run by tests/docs; here only their words are looked at.
"""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from mcpc.cli import cli
from mcpc.cli.commands import PATHS, SUBCOMMANDS, find_command
from mcpc.diagnostics.codes import CODES
from mcpc_runtime.http.options import help_page
from mcpc_runtime.http.settings import OPTIONS, settings_from

TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
DIAGNOSTICS = "compiler/mcpc/diagnostics/pages"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
SPAN = re.compile(r"`([^`\n]+)`")
PLACE = re.compile(r"(?:bench|compiler|docs|examples|runtime|templates|tests)/[\w./-]+")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
CODE = re.compile(r"\bMCP\d{3}\b")
SERVER = re.compile(r"\./\w[\w-]*\.pyz")
OF_OTHERS = frozenset({"--help", "--in-place", "--interface", "--json", "--no-deps", "--require-hashes"})
"""Options of every program, of built files, and of programs that are not ours."""
OF_SYSTEMS = ("bash-sdk", "files", "bx-mcp", "blueprints", "toolbox", "mcp-bash")


class Page(NamedTuple):
    """A page: its path, its whole text, the text without fenced blocks, and those blocks with their languages."""

    path: Path
    text: str
    prose: str
    blocks: list[tuple[str, str]]


def read(path: Path) -> Page:
    text = path.read_text(encoding="utf-8")
    return Page(path, text, FENCE.sub("", text), FENCE.findall(text))


def check(root: Path) -> Iterator[str]:
    """Yield what any page says and is not so."""
    guides = [read(path) for path in sorted((root / "docs").rglob("*.md"))]
    known = {*options_of_mcpc(), *OPTION.findall(help_page(OPTIONS)), *OF_OTHERS}
    for page in (*(read(root / name) for name in TOP), *guides):
        offences = [*links(page), *places(page, root), *commands(page), *code(page)]
        offences += [f"no code {name}" for name in sorted(set(CODE.findall(page.text)) - CODES.keys())]
        if page in guides or page.path.name == "README.md":
            named = {option for span in SPAN.findall(page.prose) for option in OPTION.findall(span)}
            offences += [f"no option {option}" for option in sorted(named - known)]
        yield from (f"{page.path.relative_to(root)}: {offence}" for offence in offences)
    yield from navigation(root, guides)
    yield from diagnostics(root)


def slug(heading: str) -> str:
    """Return what a heading is called in a link."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def links(page: Page) -> Iterator[str]:
    """Yield the links that lead nowhere."""
    for link in LINK.findall(page.prose):
        file, _, anchor = link.partition("#")
        place = page.path.parent / file if file else page.path
        if not link.startswith("https://") and not place.exists():
            yield f"no file {link}"
        elif anchor and not link.startswith("https://") and anchor not in map(slug, HEADING.findall(read(place).prose)):
            yield f"no heading {link}"


def places(page: Page, root: Path) -> Iterator[str]:
    """Yield the files of the project that are named and not there."""
    for span in SPAN.findall(page.prose):
        if PLACE.fullmatch(span) and not re.search("NAME|YYYY", span) and not (root / span).exists():
            yield f"no file {span}"


def options_of_mcpc() -> set[str]:
    """Return the options of all commands."""
    return {option for path in PATHS for parameter in find_command(path).params for option in parameter.opts}


def commands(page: Page) -> Iterator[str]:
    """Yield the commands that refuse the words they are given."""
    context = click.Context(cli, **cli.context_settings)
    for language, text in page.blocks:
        for program, *words in command_lines(text, language):
            try:
                if program == "mcpc" and not words[0].startswith("-"):
                    cli.get_command(context, words[0])
                    depth = 2 if words[0] in SUBCOMMANDS else 1
                    command = find_command(" ".join(words[:depth]))
                    command.make_context(words[depth - 1], words[depth:], parent=context)
                elif SERVER.fullmatch(program) and words[0] == "serve":
                    settings_from(words[1:], {})
            except click.UsageError as problem:
                if "does not exist" not in problem.message:  # a file that an earlier command writes
                    yield f"{' '.join(words)}: {problem.message}"
            except (click.ClickException, SystemExit) as problem:
                yield f"{' '.join(words)}: {problem}"


def command_lines(text: str, language: str) -> Iterator[list[str]]:
    """Yield the commands of a block, in words; those of `console` stand behind a `$`."""
    lines = text.replace("\\\n", " ").splitlines() if language in ("console", "sh") else []
    if language == "console":
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    for line in lines:
        words = shlex.split(line, comments=True)
        yield words[next((at for at, word in enumerate(words) if not re.match(r"[A-Z_]+=", word)), 0) :] or [""]


def code(page: Page) -> Iterator[str]:
    """Yield the blocks that are not of their language."""
    for language, text in page.blocks:
        try:
            if language == "python":
                compile(text, str(page.path), "exec")
            elif language == "json":
                json.loads(text)
            elif language == "bash":
                subprocess.run(["bash", "-n"], input=text, text=True, check=True)
        except (SyntaxError, ValueError, subprocess.CalledProcessError) as problem:
            yield f"a block of {language}: {problem}"


def navigation(root: Path, guides: list[Page]) -> Iterator[str]:
    """Yield the guides that the site does not list, and the examples of systems that no guide names."""
    listed = (root / "zensical.toml").read_text(encoding="utf-8").replace("index.md", "README.md")
    for page in guides:
        if f'"{page.path.relative_to(root / "docs").as_posix()}"' not in listed:
            yield f"zensical.toml: does not list {page.path.relative_to(root)}"
    whole = "".join(page.text for page in guides)
    yield from (f"docs: examples/{name} is not named" for name in OF_SYSTEMS if f"examples/{name}" not in whole)


def diagnostics(root: Path) -> Iterator[str]:
    """Yield the codes and their pages that are without the other, or not as they should be."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (root / DIAGNOSTICS).iterdir()}
    yield from (
        f"{DIAGNOSTICS}: {name}: a code without a page, or the reverse" for name in sorted(texts.keys() ^ CODES.keys())
    )
    for name in sorted(texts.keys() & CODES.keys()):
        lines = texts[name].splitlines()
        filled = [line for line in lines if line]
        if not 2 <= len(filled) <= 10 or any(len(line) > 120 or line != line.rstrip() for line in lines):
            yield f"{DIAGNOSTICS}/{name}.md: 2 to 10 lines of at most 120 characters"
        if CODES[name].title.endswith(".") or not re.fullmatch(r"MCP\d{3}", name):
            yield f"{name}: the title is a sentence, or the name has another form"
