"""`mcpc doctor`: every planted fault is named with its next step, a healthy home has no problem, secrets stay secret."""

import json
import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc.workbench.doctor import machine
from mcpc.workbench.doctor.checks import CHECKS, check_file, check_starts
from mcpc.workbench.doctor.clients import check_clients, without_secrets
from mcpc.workbench.doctor.entries import check_entries
from mcpc.workbench.doctor.machine import (
    check_cache,
    check_command,
    check_environments,
    check_programs,
    check_pythons,
    check_temporary,
)
from mcpc.workbench.doctor.report import Examination, Level, Symptom, as_json, text_lines
from support.artifact import build, mcpc
from support.client_home import use_home
from support.files import write_files
from support.needs import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the homes are those of Linux")

SECRET = "zq8-very-secret-value-77"
SERVER = """
import json, os, sys
{before}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {{"protocolVersion": "2025-11-25", "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "x"}}}}
    else:
        {listing}
    print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": result}}), flush=True)
"""
LISTING = 'result = {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}'
REFUSING = 'print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": 1, "message": "none"}}), flush=True); continue'
DESKTOP, CODE = ".config/Claude/claude_desktop_config.json", ".config/Code/User/mcp.json"
TOOLS = '''
from mcpc import tool

@tool
def echo(text: str) -> str:
    """Return the text."""
    return text
'''
SETTINGS = {
    "serverInfo": {"name": "needy", "version": "1.0.0"},
    "settings": [{"name": "NEEDED", "description": "Needed.", "required": True}],
}


@dataclass
class Home:
    place: Path
    environment: pytest.MonkeyPatch
    artifact: Path
    checks: tuple[Callable[[Examination], Any], ...] = ()
    target: Path | None = None
    seconds: float = 30.0
    found: list[Symptom] = field(default_factory=list)

    @property
    def project(self) -> Path:
        return self.place / "project"

    def write(self, path: str, text: str | bytes, mode: int = 0o600) -> Path:
        file = self.place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        file.chmod(mode)
        return file

    def program(self, name: str, text: str) -> Path:
        return self.write(f"bin/{name}", f"#!/bin/sh\n{text}\n", 0o755)

    def python(self, before: str = "", listing: str = LISTING) -> list[str]:
        return [sys.executable, str(self.write("server.py", SERVER.format(before=before, listing=listing)))]

    def entry(self, entry: dict[str, Any], path: str = DESKTOP, key: str = "mcpServers") -> None:
        self.write(path, json.dumps({key: {"mine": entry}}))

    def command(self, *words: str, **more: Any) -> None:
        self.entry({"command": words[0], "args": list(words[1:]), **more})

    def examine(self) -> list[Symptom]:
        examined = Examination(self.target or self.project, seconds=self.seconds)
        return [symptom for check in self.checks for symptom in check(examined)]


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("doctor")
    info = '{"serverInfo": {"name": "well", "version": "1.0.0"}}'
    write_files(place / "project", {"server.json": info, "tools.py": TOOLS})
    return build(place / "project", place / "server.pyz")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, artifact: Path) -> Home:
    use_home(tmp_path, monkeypatch)
    for name in ("VIRTUAL_ENV", "MCPC_CACHE_DIR", "TMPDIR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "project").mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    return Home(tmp_path, monkeypatch, artifact)


FAULTS: dict[str, tuple[Callable[[Home], object], Callable[[Examination], Any], str]] = {}
"""The faults: how each is planted, the check that finds it, and what has to be in the finding and its next step."""


def fault(
    check: Callable[[Examination], Any], words: str
) -> Callable[[Callable[[Home], object]], Callable[[Home], object]]:
    def add(plant: Callable[[Home], object]) -> Callable[[Home], object]:
        FAULTS[plant.__name__] = plant, check, words
        return plant

    return add


@fault(check_pythons, "is a link to a Python that is gone … rm ")
def python_link_gone(home: Home) -> None:
    (home.place / ".local/bin").mkdir(parents=True)
    (home.place / ".local/bin/python3.15").symlink_to("/nowhere/python3.15")


@fault(check_environments, "VIRTUAL_ENV names /nowhere, which is gone … new terminal")
def active_environment_gone(home: Home) -> None:
    home.environment.setenv("VIRTUAL_ENV", "/nowhere")


@fault(check_environments, "has no Python, or a link to one that is gone … make it again")
def environment_without_its_python(home: Home) -> None:
    home.write("project/.venv/pyvenv.cfg", "home = /nowhere\n")
    (home.project / ".venv/bin").mkdir()
    (home.project / ".venv/bin/python").symlink_to("/nowhere/python3")


@fault(check_environments, "has no Python, or a link to one that is gone … make it again")
def environment_damaged(home: Home) -> None:
    (home.project / ".venv").mkdir()


@fault(check_programs, "jq: not found … install jq")
def jq_missing(home: Home) -> None:
    home.environment.setenv("PATH", f"{home.place}/bin")


@fault(check_command, "npm's @apify/mcpc … python -m mcpc")
def command_of_npm(home: Home) -> None:
    home.write("lib/node_modules/@apify/mcpc/bin/mcpc", "#!/usr/bin/env node\n", 0o755)
    (home.place / "bin/mcpc").symlink_to(home.place / "lib/node_modules/@apify/mcpc/bin/mcpc")


@fault(check_command, "another project with the same import … pip uninstall mcpc")
def package_of_the_same_name(home: Home) -> None:
    home.write("site/mcpc-0.0.9.dist-info/METADATA", "Metadata-Version: 2.1\nName: mcpc\nVersion: 0.0.9\n")
    home.environment.syspath_prepend(str(home.place / "site"))


@fault(check_cache, "is writable by other users, so it is not used … chmod go-w")
def cache_shared(home: Home) -> None:
    (home.place / ".cache/mcpc").mkdir(parents=True)
    (home.place / ".cache/mcpc").chmod(0o777)


@fault(check_cache, "is writable by other users, so it is not used … MCPC_CACHE_DIR")
def cache_below_a_shared_folder(home: Home) -> None:
    (home.place / ".cache/mcpc").mkdir(parents=True)
    (home.place / ".cache").chmod(0o777)


@fault(check_temporary, "TMPDIR names /nowhere … unset TMPDIR")
def temporary_folder_gone(home: Home) -> None:
    home.environment.setenv("TMPDIR", "/nowhere")


@fault(check_temporary, "mounted with noexec … set TMPDIR")
def temporary_folder_without_programs(home: Home) -> None:
    home.environment.setattr(machine, "is_noexec", lambda _: True)


@pytest.mark.parametrize(("flags", "answer"), [(8, True), (0, False), (7, False)])
def test_a_folder_from_which_no_program_runs(
    flags: int, answer: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "ST_NOEXEC", 8, raising=False)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=flags), raising=False)
    assert machine.is_noexec(tmp_path) is answer


@fault(check_file, "is damaged … build it again")
def file_cut(home: Home) -> None:
    home.target = home.write("server.pyz", home.artifact.read_bytes()[:-2000])


@fault(check_file, "was not built by mcpc … build it again")
def file_of_another_program(home: Home) -> None:
    home.target = home.place / "other.pyz"
    with zipfile.ZipFile(home.target, "w") as archive:
        archive.writestr("__main__.py", "")


@fault(check_file, "wrong checksum … check`")
def file_changed(home: Home) -> None:
    data = home.artifact.read_bytes()
    place = data.index(b"Return the text.")
    home.target = home.write("server.pyz", data[:place] + b"R" * 6 + data[place + 6 :])


@fault(check_clients, "it is not UTF-8 … correct the file")
def file_in_another_encoding(home: Home) -> None:
    home.write(DESKTOP, '{"mcpServers": {}}'.encode("utf-16"))


@fault(check_clients, "is a link to /nowhere, which is gone … make the link anew")
def link_gone(home: Home) -> None:
    (home.place / ".config/Claude").mkdir(parents=True)
    (home.place / DESKTOP).symlink_to("/nowhere")


@fault(check_clients, "not a regular file … correct the file")
def folder_in_place_of_a_file(home: Home) -> None:
    (home.place / DESKTOP).mkdir(parents=True)


@fault(check_entries, "is Python 3.9; the file needs 3.11 … mcpc install")
def python_too_old(home: Home) -> None:
    home.command(str(home.program("python3.9", "printf 3.9")), str(home.artifact))


@fault(check_entries, "needs NEEDED, which the entry does not set … mcpc install --env NEEDED")
def setting_missing(home: Home) -> None:
    write_files(home.place / "needy", {"server.json": json.dumps(SETTINGS), "tools.py": TOOLS})
    home.command(sys.executable, str(build(home.place / "needy", home.place / "needy.pyz")))


@fault(check_starts, "initialize: it ended with status 3 … correct what the server reports | no database at REDACTED")
def server_ends(home: Home) -> None:
    before = 'sys.stderr.write("no database at " + os.environ["PLACE"] + "\\n"); sys.exit(3)'
    home.command(*home.python(before), env={"PLACE": SECRET})


@fault(check_starts, "initialize: it ended with status 1 … correct what the server reports | ModuleNotFoundError")
def package_missing(home: Home) -> None:
    home.command(*home.python("import no_such_package"))


@fault(check_starts, "initialize: it did not answer in 0.5 seconds … by hand")
def server_silent(home: Home) -> None:
    home.seconds = 0.5
    home.command("sh", "-c", "cat >/dev/null")


@fault(check_starts, "start: it cannot be started … correct the command")
def working_folder_gone(home: Home) -> None:
    home.command(*home.python(), cwd="/nowhere")


@fault(check_starts, "what is not of the protocol: Hello … standard error")
def server_prints(home: Home) -> None:
    home.command(*home.python('print("Hello", flush=True)'))


@fault(check_starts, "it starts only with variables of this terminal … `env` of the entry")
def server_needs_the_terminal(home: Home) -> None:
    home.environment.setenv("ONLY_HERE", "1")
    home.command(*home.python('os.environ["ONLY_HERE"]'))


@fault(check_starts, "tools/list: its answer to tools/list is error 1: none … by hand")
def server_lists_nothing(home: Home) -> None:
    home.command(*home.python(listing=REFUSING))


@fault(check_starts, "may download what it starts … its log")
def program_that_downloads(home: Home) -> None:
    home.program("npx", "touch started")
    home.command("npx", "-y", "some-server")


def planted(files: dict[str, object]) -> Callable[[Home], None]:
    """Return what writes files below a home; a path may have a mode behind it."""

    def plant(home: Home) -> None:
        for name, content in files.items():
            path, _, mode = name.partition(" | ")
            text = content if isinstance(content, str) else json.dumps(content)
            home.write(path, text.replace("{home}", str(home.place)).replace("{secret}", SECRET), int(mode or "600", 8))

    return plant


for fault_name, row in json.loads(Path(__file__).with_name("doctor_faults.json").read_text("utf-8")).items():
    FAULTS[fault_name] = planted(row["files"]), globals()[row["check"]], row["words"]
DETERMINISTIC = (check_environments, check_cache, check_temporary, check_file, check_clients, check_entries)
"""Checks whose whole report is the same on every machine: of the others only what is planted is compared."""


def plain(found: list[Symptom], home: Home) -> str:
    """Return a report without what differs between machines: the home, the Python, whether it lasts, and sizes."""
    same = [symptom for symptom in found if "may be gone tomorrow" not in symptom.text]
    shown = "".join(f"{line}\n" for each in same for line in text_lines(each, 10_000, has_colours=False))
    shown = shown.replace(str(home.place), "HOME").replace(sys.executable, "PYTHON").replace(sys.prefix, "PREFIX")
    shown = shown.replace("{}.{}".format(*sys.version_info[:2]), "3.N").replace(tempfile.gettempdir(), "TEMPORARY")
    return re.sub(r"3\.N\.\d+", "3.N", re.sub(r"[\d.]+ MB", "N MB", shown))


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_its_next_step(name: str, home: Home, golden: Callable[[Path, str], None]) -> None:
    plant, check, words = FAULTS[name]
    plant(home)
    home.checks = (check,)
    text, _, advice = words.partition(" … ")
    advice, _, quoted = advice.partition(" | ")
    found = home.examine()
    shown = "\n".join("\n".join(text_lines(symptom, 10_000, has_colours=False)) for symptom in found)
    if check in DETERMINISTIC:
        golden(ROOT / f"tests/golden/doctor/{name}.txt", plain(found, home))
    fits = [
        symptom
        for symptom in found
        if text in f"{symptom.subject}: {symptom.text}"
        and advice in symptom.advice
        and quoted in " ".join(symptom.quoted)
    ]
    assert fits and fits[0].level is not Level.OK and fits[0].advice, shown
    assert SECRET not in shown and SECRET not in json.dumps(as_json(found))


def test_a_healthy_home_has_no_problem(home: Home) -> None:
    (home.place / "bin/python{}.{}".format(*sys.version_info[:2])).symlink_to(sys.executable)
    home.command(sys.executable, str(home.artifact), env={"API_KEY": SECRET})
    home.entry({"url": "https://host.example/mcp"}, ".cursor/mcp.json")
    before = sorted(str(path) for path in home.place.rglob("*"))
    path = f"{home.place}/bin:{os.environ['PATH']}"
    environment = {"HOME": str(home.place), "PATH": path, "MCPC_CACHE_DIR": "", "VIRTUAL_ENV": ""}
    done = mcpc("doctor", home.project, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "problem" not in done.stdout and "Claude Desktop: mine: starts: 1 tool" in done.stdout
    assert "remote server, which is not asked" in done.stdout and SECRET not in done.stdout + done.stderr
    assert all(len(line) <= 80 or len(line.split()) == 1 for line in done.stdout.splitlines())
    assert sorted(str(path) for path in home.place.rglob("*")) == before, "nothing is changed"
    as_text = json.loads(mcpc("doctor", home.project, "--format", "json", "--no-start", environment=environment).stdout)
    assert as_text["ok"] and not any("starts:" in row["text"] for row in as_text["findings"])


def test_a_problem_is_a_status_and_one_client_can_be_chosen(home: Home) -> None:
    home.command("/nowhere/program")
    environment = {"HOME": str(home.place), "PATH": os.environ["PATH"], "MCPC_CACHE_DIR": "", "VIRTUAL_ENV": ""}
    wrong = mcpc("doctor", home.project, "--quiet", environment=environment)
    assert wrong.returncode == 1 and wrong.stdout.startswith("problem  Claude Desktop: mine: /nowhere/program")
    assert mcpc("doctor", home.project, "--client", "cursor", environment=environment).returncode == 0
    unknown = mcpc("doctor", "--client", "cursor-2", environment=environment)
    assert unknown.returncode == 2 and "Traceback" not in unknown.stderr


def test_nothing_of_a_project_is_run_unasked(home: Home) -> None:
    evil = str(home.write("project/run", f"#!/bin/sh\ntouch {home.place}/started\n", 0o755))
    home.write("project/server.pyz", home.artifact.read_bytes())
    home.entry({"command": evil, "args": [f"{home.project}/server.pyz"]}, "project/.mcp.json")
    home.write("project/.venv/pyvenv.cfg", "")
    home.write("project/.venv/bin/python", f"#!/bin/sh\ntouch {home.place}/started\n", 0o755)
    home.checks = tuple(CHECKS.values())
    notes = [symptom for symptom in home.examine() if "--trust-project" in symptom.advice]
    assert len(notes) == 1 and not (home.place / "started").exists()
    [*check_starts(Examination(home.project, trusts_project=True))]
    assert (home.place / "started").exists()


def test_a_program_that_downloads_is_not_started(home: Home) -> None:
    program_that_downloads(home)
    home.checks = (check_starts,)
    home.examine()
    assert not list(home.place.rglob("started"))


@pytest.mark.parametrize(
    "line",
    [
        f"API_KEY={SECRET}",
        f'"authToken": "{SECRET}"',
        f"Authorization: Bearer {SECRET}",
        f"https://me:{SECRET}@host/x",
        f"password: {SECRET}",
    ],
)
def test_secrets_are_not_quoted(line: str) -> None:
    assert SECRET not in without_secrets(line)
    assert SECRET not in without_secrets(f"x {SECRET} y", [SECRET])


def test_a_report_cannot_command_a_terminal() -> None:
    evil = Symptom(Level.NOTE, "\x1b[2J", "\x1b]0;x\x07" * 40, "\u202e", ("\x1b[31m",))
    lines = [*text_lines(evil, 80, has_colours=False)]
    assert all(re.fullmatch(r"[ -~…]*", line) for line in lines)
