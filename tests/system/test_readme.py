"""README, followed word for word on a clean machine: an empty home, a short PATH, mcpc installed from a wheel of this tree.

Every command of the page is run in its order, or is a target of the Makefile; what the page shows is what is printed.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from mcpc.cli.new import TEMPLATES
from support.artifact import SOURCES, mcpc
from support.needs import ROOT
from support.processes import run_program
from support.stdio import replies

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(README)
PROGRAMS = ("bash", "sh", "env", "df")
PIPX = """#!/bin/sh
# What pipx does: an environment of its own, and its command on PATH.
test "$*" = "install ." || exit 2
cd {root} && {python} -m pip -q --disable-pip-version-check --python {environment}/bin/python \\
  install --no-deps --no-build-isolation --no-index . && ln -s {environment}/bin/mcpc {programs}/mcpc
"""


class Machine:
    """A user's machine: a home, a PATH, and the folder where the user works."""

    def __init__(self, folder: Path) -> None:
        self.home, self.place, programs = folder / "home", folder / "here", folder / "bin"
        for each in (self.home, self.place, programs):
            each.mkdir()
        for program in PROGRAMS:
            (programs / program).symlink_to(shutil.which(program) or "")
        (programs / "python3").symlink_to(sys.executable)
        (programs / "pipx").write_text(self.pipx(folder / "environment", programs))
        (programs / "pipx").chmod(0o755)
        self.environment = {"HOME": str(self.home), "PATH": f"{programs}:{self.tools()}", "LANG": "C.UTF-8"}
        self.programs = programs

    @staticmethod
    def tools() -> str:
        """Return the folders of what pip and a build of a wheel start."""
        return "/usr/bin:/bin"

    @staticmethod
    def pipx(environment: Path, programs: Path) -> str:
        """Return a pipx that installs this tree, with the packages of the tests' own environment beside it."""
        venv.create(environment, with_pip=False, symlinks=True)
        library = next(environment.glob("lib/python*/site-packages"))
        (library / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
        return PIPX.format(root=ROOT, python=sys.executable, environment=environment, programs=programs)

    def run(self, command: str) -> str:
        """Run a command; return what it prints."""
        done = run_program(
            shlex.split(command, comments=True),
            cwd=self.place,
            env=self.environment,
            executable=shutil.which(shlex.split(command)[0], path=self.environment["PATH"]),
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


def told(block: str) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with what the page shows below it."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def test_every_block_of_the_readme_is_of_a_kind_that_is_tested() -> None:
    assert [language for language, _ in BLOCKS] == ["", "console", "python"]
    assert len(README.splitlines()) <= 90


def test_the_readme_is_true_on_a_clean_machine(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    (_, installing), (_, minutes), (_, server) = BLOCKS
    for line in installing.splitlines():
        machine.run(line)
    assert re.search(r"weather +ok$", machine.run("mcpc clients"), re.MULTILINE)
    entry = json.loads((machine.home / ".cursor/mcp.json").read_text())["mcpServers"]["weather"]
    assert entry["args"] == ["-I", str(machine.home / ".local/share/mcp-servers/weather.pyz")]
    assert answered([entry["command"], *entry["args"]], {"name": "Ada"}).endswith(", Ada!")
    for command, shown in told(minutes):
        printed = machine.run(command)
        assert not shown.strip() or printed == shown, command
    (machine.place / "my-server/server.py").write_text(server)
    machine.run("mcpc build my-server -o server.pyz")
    assert machine.run("./server.pyz call greet name=Ada language=fr") == "Bonjour, Ada!\n"


def answered(command: list[str], arguments: dict[str, str]) -> str:
    """Return the text of a call of `greet`."""
    reply = replies(command, [("tools/call", {"name": "greet", "arguments": arguments})])[-1]
    text = reply["result"]["content"][0]["text"]
    assert isinstance(text, str)
    return text


def test_the_targets_of_the_readme_are_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"^make ([a-z]+)|`make ([a-z]+)`", README, re.MULTILINE))
    assert named
    assert {one or other for one, other in named} <= targets


@pytest.mark.slow
def test_the_demo_runs() -> None:
    """What `make demo` runs once there is an environment; it builds into `build`."""
    run_program([sys.executable, ROOT / "examples/demo.py"], env=os.environ, status=0)


NEW_BLOCK = re.compile(r"^## Five minutes\n+```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A folder with the compiler, this Python, and what every system has; without jq."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for program in PROGRAMS:
        (folder / program).symlink_to(shutil.which(program) or "")
    (folder / "python3").symlink_to(sys.executable)
    (folder / "mcpc").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mcpc "$@"\n')
    (folder / "mcpc").chmod(0o755)
    return str(folder)


def run(command: str, folder: Path, path: str) -> str:
    environment = {**os.environ, "PATH": path, "PYTHONPATH": SOURCES, "MCPC_CACHE_DIR": str(folder / "cache")}
    done = run_program(
        shlex.split(command, comments=True), cwd=folder, env=environment, stdin=subprocess.DEVNULL, status=0
    )
    return done.stdout


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.sampled(3)
def test_the_first_five_minutes_of_the_readme(template: str, tmp_path: Path, path: str) -> None:
    found = NEW_BLOCK.search((ROOT / "README.md").read_text())
    said = wanted = ""
    for line in found[1].splitlines():
        if line.startswith("$ "):
            command = line[2:].replace("mcpc new my-server", f"mcpc new my-server --template {template}")
            assert wanted in said
            said, wanted = run(command, tmp_path, path), ""
        else:
            wanted += f"{line}\n"
    assert wanted
    assert said == wanted


def test_the_prompt_of_the_bash_template_escapes_what_it_is_given(tmp_path: Path, path: str) -> None:
    run("mcpc new my-server --template bash", tmp_path, path)
    said = run("""mcpc call my-server --prompt introduce 'name=A "B" C'""", tmp_path, path)
    assert said == 'user:\nWrite a two-sentence introduction of A "B" C.\n'


def test_no_template_names_an_older_revision() -> None:
    files = [*(ROOT / "templates/new").rglob("server.json")]
    assert files
    assert [file for file in files if "protocolVersion" in file.read_text()] == []


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.sampled(3)
def test_a_new_project_passes_its_checks_and_its_own_tests(template: str, tmp_path: Path) -> None:
    project = tmp_path / "weather"
    said = mcpc("new", project, "--template", template).stderr
    assert [words for words in ("mcpc build", "call greet", "mcpc test") if words not in said] == []
    assert {"README.md", ".gitignore", "tests/tools.yaml"} <= {
        path.relative_to(project).as_posix() for path in project.rglob("*")
    }
    assert (project / "README.md").read_text().startswith("# weather\n")
    assert mcpc("check", "--strict", project).returncode == 0
    mcpc("test", project, status=0)
    files = mcpc("inspect", project, "--files").stdout
    assert [name for name in ("README", ".gitignore", "tests/", "pyproject") if name in files] == []
