"""Whatever a project of another system holds, it is refused with diagnostics, or it is served, and none of it is obeyed.

Each project is built as a user builds it; what was built is started, asked for everything that it lists, and judged by
the protocol's own schema.  `TESTS_HOSTILE` sets how many projects are made (100); those whose tools are found by other
programs are fewer, for they take longer.
"""

import json
import os
import re
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from corpus import validity
from mcpc.cli import cli
from mcpc.emit import bytecode
from support.artifact import with_bytecode
from support.images import MODERN
from support.needs import needs, needs_node
from support.processes import run_program
from support.scale import scaled, seeds
from system import hostile, hostile_formats, mixed
from system.hostile_formats import Project
from system.test_hostile_definitions import code_once

Json = Any

COUNT = int(os.environ.get("TESTS_HOSTILE", scaled(100, 60)))
SHARES = {"mcp-bash": 0.25, "blueprints": 0.5, "bx-mcp": 0.07, "toolbox": 0.04}
NEEDED = {"mcp-bash": needs, "toolbox": lambda _: needs_node()}
BUNCH = 15
SECONDS, MEMORY = 10.0, 2 << 30
"""What building one project may take: processor time, its processes' too, and memory."""
LEGACY, STATELESS = "2025-11-25", "2026-07-28"
LISTS = ("tools", "prompts", "resources", "resources/templates")
BUNCHES = [(name, first) for name, share in SHARES.items() for first in range(0, max(int(COUNT * share), 1), BUNCH)]
ENVIRONMENT = {"MCPBASH_TOOL_ALLOW_DEFAULT": "allow", "ADMIN": "admin-token-0123456789"}
REFUSED, BUILT = 1, 0
LOOKED_AT = 4
"""Every so many projects, one is read by the other commands, too."""


@pytest.fixture(autouse=True)
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in an empty folder, with a `touch` that tells; find afterwards that nothing was touched."""
    empty, commands, told = tmp_path / "empty", tmp_path / "commands", tmp_path / "told"
    empty.mkdir()
    commands.mkdir()
    (commands / "touch").write_text(f'#!/bin/sh\necho "$PPID $@" >> {told}\n')
    (commands / "touch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    monkeypatch.setenv("MCPC_CACHE_DIR", str(with_bytecode(tmp_path / "cache")))
    monkeypatch.setenv("MCPC_TOOLBOX_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(empty)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    yield
    assert not told.exists(), told.read_text()
    assert not hostile.fired(empty), "a definition was obeyed"


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bytecode, "code_of", code_once)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "first"), BUNCHES)
def test_hostile_projects_are_refused_or_served(name: str, first: int, tmp_path: Path) -> None:
    NEEDED.get(name, lambda _: None)("bash")
    for seed in seeds(max(int(COUNT * SHARES[name]), 1))[first : first + BUNCH]:
        try:
            project = hostile_formats.make(name, seed)
            judge(project, tmp_path / str(seed))
            if seed % LOOKED_AT == 0:
                looked_at(project, tmp_path / f"{seed} again")
        except BaseException as problem:
            problem.add_note(f"hostile project {name} {seed}")
            raise


def judge(project: Project, folder: Path) -> int:
    """Build a project, and hold what came of it against everything this module promises."""
    place = hostile_formats.write(project, folder / "project")
    target = folder / "server.pyz"
    used, had = processor(), memory()
    words = ["build", str(place), "-o", str(target), *project.options]
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    spent = processor() - used
    assert spent < SECONDS, f"building took {spent:.1f} s of the processor"
    assert memory() == had or memory() < MEMORY  # other tests of this process may have had more before
    said = done.stdout + done.stderr
    assert "Traceback" not in said and "internal error" not in said, said
    assert done.exit_code in (REFUSED, BUILT), said
    assert sorted(path.name for path in folder.iterdir()) == sorted(["project"] + ["server.pyz"] * (not done.exit_code))
    reported(done.exit_code, said, project.options)
    if done.exit_code == BUILT:
        Served(target, folder).judge()
    return done.exit_code


def looked_at(project: Project, folder: Path) -> None:
    """Have the other commands read a project: they say the same of it, and nothing that a terminal obeys."""
    place = hostile_formats.write(project, folder / "project")
    options = [word for word in project.options if word not in ("--format", "json")]
    words = (
        ["check", str(place)],
        ["inspect", str(place), "--definitions"],
        ["new", str(folder / "imported"), "--import", str(place)],
    )
    found = [CliRunner().invoke(cli, [*one, *options], catch_exceptions=False) for one in words]
    for done in found:
        said = done.stdout + done.stderr
        assert done.exit_code in (REFUSED, BUILT), said
        assert "Traceback" not in said and "internal error" not in said, said
        printable(said)
    checked, _, imported = (done.exit_code for done in found)
    assert imported >= checked
    assert (folder / "imported").exists() == (imported == BUILT)
    if imported == BUILT:
        again = CliRunner().invoke(cli, ["check", str(folder / "imported")], catch_exceptions=False)
        assert again.exit_code == BUILT or "--strict" in options, again.stderr


def processor() -> float:
    """Return how many seconds of the processor this process and those that it waited for have had."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in found)


def memory() -> int:
    """Return the most memory that this process, or one of those that it waited for, ever had."""
    return 1024 * max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def reported(status: int, said: str, options: tuple[str, ...]) -> None:
    """Find an error in a refusal, and where it is; no character that a terminal obeys."""
    printable(said)
    if "json" in options:
        found = json.loads(said[said.index("{") : said.rindex("}") + 1])["diagnostics"]
        assert any(one["severity"] == "error" for one in found) == (status == REFUSED) or "--strict" in options
    elif status == REFUSED:
        assert re.search(r"MCP\d{3}", said), said


def printable(said: str) -> None:
    """Find no character that a terminal obeys."""
    wrong = sorted({character for character in said if not character.isprintable() and character != "\n"})
    assert wrong == [], said


class Served:
    """What was built, while it is asked for everything."""

    def __init__(self, target: Path, folder: Path) -> None:
        self.target, self.folder = target, folder
        self.lists: dict[str, list[Json]] = {}

    def judge(self) -> None:
        """Ask for the lists in both eras, and for everything in them."""
        for revision in (LEGACY, STATELESS):
            self.listed(revision)
            calls = self.calls(revision)
            self.answers(revision, calls)

    def listed(self, revision: str) -> None:
        """Ask for the lists, page by page."""
        self.lists = {kind: [] for kind in LISTS}
        cursors: dict[str, Json] = dict.fromkeys(LISTS)
        while cursors:
            asked = [(f"{kind}/list", {"cursor": cursor} if cursor else {}) for kind, cursor in cursors.items()]
            answers = dict(zip(cursors, self.answers(revision, asked), strict=True))
            cursors = {}
            for kind, answer in answers.items():
                result = answer.get("result")
                if result is None:
                    assert answer["error"]["code"] == -32601
                    continue
                self.lists[kind] += result["resourceTemplates" if "/" in kind else kind]
                cursors.update({kind: result["nextCursor"]} if "nextCursor" in result else {})

    def calls(self, revision: str) -> list[tuple[str, Json]]:
        """Return a request for each thing that is listed, with arguments and without."""
        odd = {"name": hostile_formats.CODE[0], "x": [1], "text": "{{x}} ${x}", "n": 1e300}
        found: list[tuple[str, Json]] = []
        for tool in self.lists["tools"][:8]:
            found += [("tools/call", {"name": tool["name"], "arguments": arguments}) for arguments in ({}, odd)]
        for prompt in self.lists["prompts"][:8]:
            given = {one["name"]: hostile_formats.CODE[1] for one in prompt.get("arguments", ())}
            ref = {"type": "ref/prompt", "name": prompt["name"]}
            found.append(("prompts/get", {"name": prompt["name"], "arguments": given}))
            found.append(("completion/complete", {"ref": ref, "argument": {"name": "name", "value": "$(x)"}}))
        uris = [one["uri"] for one in self.lists["resources"][:8]]
        uris += [re.sub(r"\{[^}]*\}", "x", one["uriTemplate"]) for one in self.lists["resources/templates"][:8]]
        return found + [("resources/read", {"uri": uri}) for uri in uris]

    def answers(self, revision: str, asked: list[tuple[str, Json]]) -> list[Json]:
        """Return the answer of each request: one each, and of the shape that the protocol wants."""
        if revision == STATELESS:
            requests = [(method, {**params, "_meta": MODERN}) for method, params in asked]
        else:
            requests = [*asked, ("initialize", mixed.HELLO)]
        done = run_program([sys.executable, self.target], input=mixed.lines(*requests[::-1]), text=False)
        errors = done.stderr.decode("utf-8", "replace")
        assert (done.returncode, "Traceback" in errors, "internal error" in errors) == (0, False, False), errors
        messages = [json.loads(line) for line in done.stdout.splitlines()]
        replies = {message["id"]: message for message in messages if "method" not in message}
        assert sorted(message["id"] for message in messages if "method" not in message) == list(range(len(requests)))
        for message in messages:
            judged(revision, message, "" if "method" in message else requests[::-1][message["id"]][0])
        return [replies[len(requests) - 1 - number] for number in range(len(asked))]


def judged(revision: str, message: Json, method: str) -> None:
    """Hold a message against the revision's schema."""
    assert message["jsonrpc"] == "2.0"
    assert "method" in message or ("result" in message) != ("error" in message)
    validity.judge(revision, message, method)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), [("mcp-bash", 30), ("blueprints", 60)])
def test_most_projects_are_served_and_many_are_refused(name: str, count: int, tmp_path: Path) -> None:
    """Projects that were all refused, or all built, would prove little."""
    needs("bash")
    built = 0
    for seed in range(count):
        place = hostile_formats.write(hostile_formats.make(name, seed), tmp_path / str(seed))
        built += CliRunner().invoke(cli, ["check", str(place)]).exit_code == BUILT
    assert count * 0.2 < built < count * 0.95


SERVER = '{"serverInfo": {"name": "NAME", "version": "1"}}'
TOOLS = '{"tools": [{"name": "t", "description": "d", "inputSchema": {"type": "object"}}]}'
MARKED = 'from mcpc import tool\n\n\n@tool\ndef t() -> str:\n    """Says x."""\n    return "x"\n'
FOUND: dict[str, dict[str, str]] = {
    "a name that returns the carriage": {
        "server.json": SERVER.replace("NAME", "a\\rb"), "tools.json": TOOLS, "tools.py": "def t(): pass\n",
    },
    "a module of one long word": {
        "server.json": SERVER, "tools.json": TOOLS, "tools.py": f"def t(): return 1\n# {'A' * 70_000}\n",
    },
    "line ends of old": {"server.json": SERVER, "server.py": MARKED.replace("\n", "\r")},
    "a script of empty lines": {
        **hostile_formats.MCP_BASH,
        "tools/count/count.sh": hostile_formats.MCP_BASH["tools/count/count.sh"] + "\n" * 2_000_000,
    },
    "an argument that is there twice": {
        **hostile_formats.MCP_BASH,
        "prompts/greet/greet.meta.json": '{"name": "greet", "arguments": {"properties": {"a": {}, "a": {}}}}',
    },
    "an argument that is demanded oddly": {
        **hostile_formats.MCP_BASH,
        "prompts/greet/greet.meta.json": '{"name": "greet", "arguments": {"properties": {"a": {}}, "required": [["a"]]}}',
    },
    "a module of blank lines": {
        "src/tools/t.mjs": "\n" * 50_000 + hostile_formats.SCRIPT.format("{type: 'object', properties: {}}")
    },
    "no module that can be bundled": {"src/tools/t.mjs": "(" + hostile_formats.SCRIPT.format("{}")},
}  # fmt: skip
"""What was found by seeds, as small as it can be."""


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.sampled(4)
def test_what_was_found_stays_mended(name: str, tmp_path: Path) -> None:
    if any(path.endswith(".mjs") for path in FOUND[name]):
        needs_node()
    files = {path: text.encode() for path, text in FOUND[name].items()}
    modes = {path: 0o755 if text.startswith("#!") else 0o644 for path, text in FOUND[name].items()}
    status = judge(hostile_formats.Project("", files, modes), tmp_path / "found")
    assert status == (
        REFUSED if name in ("no module that can be bundled", "an argument that is there twice") else BUILT
    )


def test_an_import_is_a_project_wherever_it_lies(tmp_path: Path) -> None:
    """A server that nobody gave a name is called as its folder, and so may be its pages."""
    files = {**hostile_formats.MCP_BASH, "server.d/server.meta.json": "{}"}
    project = hostile_formats.Project("mcp-bash", {path: text.encode() for path, text in files.items()})
    for path, text in files.items():
        project.modes[path] = 0o755 if text.startswith("#!") else 0o644
    looked_at(project, tmp_path)
