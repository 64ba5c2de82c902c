"""Entries of servers in clients' files as a scan reads them, and who can replace what they start."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from mcpc.cli import cli, doctor
from mcpc.cli.scan_clients import (
    completed,
    entry_of,
    headers_of,
    is_read_by_others,
    is_replaceable,
    locator,
    others_write,
    shown_path,
)
from mcpc.release.scan.model import ADDRESS, HEADER, VARIABLE, WORD, EntryText
from mcpc.workbench.doctor import checks, entries, machine
from mcpc.workbench.doctor.checks import Trial, advice_for
from mcpc.workbench.doctor.clients import (
    ClientServers,
    Launch,
    Replaced,
    command_words,
    is_literal_secret,
    launch_of,
    secrets_of,
    url_of,
    variables_of,
    without_secrets,
)
from mcpc.workbench.doctor.entries import ConfiguredServer
from mcpc.workbench.doctor.report import Examination, Level, Symptom, as_json, fine, note, problem, summary, text_lines
from mcpc_runtime.tools.clients.installing import Target
from mcpc_runtime.tools.clients.table import CLIENTS, PROJECT, USER
from support.files import write_files

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")

ENTRY: dict[str, Any] = {
    "command": "python3",
    "args": ["/x/server.py", 3, "--token", ""],
    "env": {"A": "b", "N": 1},
    "environment": {"C": "d"},
    "headers": {"X-Key": "k", "n": 1},
    "http_headers": {"Y": "z"},
    "env_http_headers": {"E": "VAR"},
    "bearer_token_env_var": "TOKEN",
    "url": "https://a.b",
    "serverUrl": 3,
}


def server(path: Path, entry: dict[str, Any], scope: str = USER, label: str = "cursor") -> ConfiguredServer:
    target = Target(CLIENTS[label], label, scope, str(path))
    return ConfiguredServer(
        ClientServers(target, {"mine": entry}), "mine", entry, launch_of(target, entry, path.parent)
    )


def test_an_entry_is_its_texts(tmp_path: Path) -> None:
    path = write_files(tmp_path, {"mcp.json": {"mcpServers": {"mine": ENTRY}}}) / "mcp.json"
    path.chmod(0o600)
    found = entry_of(server(path, ENTRY))
    assert (found.client, found.path, found.started) == (
        "Cursor",
        str(path),
        ("python3", "/x/server.py", "--token", ""),
    )
    assert found.parts == (
        EntryText(WORD, "", "python3", "/command"),
        EntryText(WORD, "", "/x/server.py", "/args/0"),
        EntryText(WORD, "", "--token", "/args/2"),
        EntryText(WORD, "", "", "/args/3"),
        EntryText(VARIABLE, "A", "b", "/env/A"),
        EntryText(VARIABLE, "C", "d", "/environment/C"),
        EntryText(HEADER, "X-Key", "k", "/headers/X-Key"),
        EntryText(HEADER, "Y", "z", "/http_headers/Y"),
        EntryText(ADDRESS, "url", "https://a.b", "/url"),
    )
    assert found.is_shared is False
    assert entry_of(server(path, ENTRY, PROJECT)).is_shared is True
    assert headers_of(ENTRY) == {"X-Key": "k", "Y": "z", "E": "${VAR}", "Authorization": "Bearer ${TOKEN}"}
    assert headers_of({"headers": 3, "env_http_headers": 3, "bearer_token_env_var": 3}) == {}


def test_what_every_user_can_replace(tmp_path: Path) -> None:
    write_files(tmp_path, {"open/a.py": "", "safe/b.py": "", "sticky/c.py": "", "safe/link": ""})
    (tmp_path / "safe/link").unlink()
    (tmp_path / "safe/link").symlink_to(tmp_path / "open/a.py")
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "sticky").chmod(0o1777)
    answers = {
        "open/a.py": True,
        "open/none": True,
        "safe/b.py": False,
        "sticky/c.py": False,
        "sticky/none": True,
        "safe/link": True,
    }
    assert {name: is_replaceable(tmp_path / name) for name in answers} == answers
    (tmp_path / "safe/b.py").chmod(0o666)
    assert is_replaceable(tmp_path / "safe/b.py")
    assert [
        others_write(tmp_path / name, below) for name, below in (("open", None), ("none", None), ("sticky", None))
    ] == [True, False, True]
    entry = {"command": "/nowhere/program", "args": [f"{tmp_path}/open/a.py", f"{tmp_path}/safe/link.txt", "open/a.py"]}
    found = entry_of(server(tmp_path / "mcp.json", entry))
    assert found.replaceable == (f"{tmp_path}/open/a.py", "open/a.py") or found.replaceable == (
        f"{tmp_path}/open/a.py",
    )


def test_who_can_read_a_file(tmp_path: Path) -> None:
    file = write_files(tmp_path, {"a/b": ""}) / "a/b"
    file.chmod(0o600)
    assert is_read_by_others(file) is False
    assert is_read_by_others(tmp_path / "none") is False
    file.chmod(0o644)
    (tmp_path / "a").chmod(0o700)
    assert is_read_by_others(file) is False


def test_a_hit_has_its_place_in_the_file(tmp_path: Path) -> None:
    text = '{\n  "mcpServers": {\n    "mine": {"command": "x",\n      "args": ["bad"]}\n  }\n}\n'
    path = write_files(tmp_path, {"mcp.json": text}) / "mcp.json"
    one = server(path, {"command": "x", "args": ["bad"]})

    def place(pointer: str) -> Any:
        hit: Any = SimpleNamespace(text=SimpleNamespace(pointer=pointer))
        found: Any = locator(one)(hit)
        return found and (found.line, found.column)

    lines = [place(pointer) for pointer in ("/entry/args/0", "/entry/command", "/other")]
    assert [each and each[0] for each in lines] == [4, 3, 3]
    path.unlink()
    assert place("/entry/command") == (1, 1)
    home = str(Path.home())
    assert [shown_path(each) for each in (f"{home}/a", home, f"{home}x/a", "/b")] == ["~/a", home, f"{home}x/a", "/b"]


def test_values_of_several_lines_are_completed(tmp_path: Path) -> None:
    text = "extensions:\n  mine:\n    cmd: x\n    args:\n      - one\n      - '2'\n    envs:\n      A: b\n      C: \"d\"\n    type: stdio\n"
    path = write_files(tmp_path, {"config.yaml": text}) / "config.yaml"
    entry = {"cmd": "x", "type": "stdio"}
    found = completed(server(path, entry, label="goose"), tmp_path)
    assert found.entry == {**entry, "args": ["one", "2"], "envs": {"A": "b", "C": "d"}}
    assert (found.launch.words, found.launch.variables) == (("x", "one", "2"), {"A": "b", "C": "d"})
    other = server(tmp_path / "mcp.json", {"command": "x"})
    assert completed(other, tmp_path) is other


def test_references_of_an_entry_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SET", "value")
    monkeypatch.delenv("GONE", raising=False)
    monkeypatch.delenv("BARE", raising=False)
    texts = Replaced(tmp_path)
    written = "${SET} ${env:SET} {env:SET} $SET ${GONE:-else} ${GONE} $BARE ${workspaceFolder} ${userHome}"
    assert texts.replace(written) == f"value value value value else   {tmp_path} {Path.home()}"
    assert (texts.unset, texts.asked) == (["GONE", "BARE"], [])
    texts.replace("${input:key}")
    assert texts.asked == ["key"]


def test_what_is_started_for_an_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SET", "value")
    monkeypatch.delenv("GONE", raising=False)
    entry = {
        "command": ["a", "b"],
        "args": ["c", 3],
        "env": {"K": "$SET", "N": 1, "E": ""},
        "env_vars": ["SET", "GONE", 3],
        "cwd": "/w",
    }
    found = server(tmp_path / "x", entry).launch
    assert found == Launch(("a", "b", "c"), {"K": "value", "E": "", "SET": "value"}, "/w", ("GONE",))
    assert found.secrets == ("value", "value")
    assert server(tmp_path / "x", {}).launch.folder == str(Path.home())
    assert server(tmp_path / "x", {"cwd": ""}, PROJECT).launch.folder == str(tmp_path)
    assert command_words({"command": "", "cmd": "x", "args": "y"}) == ["x", "y"]
    assert variables_of({"env": 3, "envs": {"A": "b"}}) == {"A": "b"}
    assert [url_of(each) for each in ({}, {"url": "", "uri": "u"}, {"serverUrl": "s", "uri": "u"})] == ["", "u", "s"]


@pytest.mark.parametrize(
    ("name", "value", "is_secret"),
    [
        ("API_KEY", "x", True),
        ("API_KEY", "", False),
        ("API_KEY", "$X", False),
        ("API_KEY", "{env:X}", False),
        ("API_KEY", 3, False),
        ("PLACE", "x", False),
    ],
)
def test_a_literal_secret(name: str, value: object, is_secret: bool) -> None:
    assert is_literal_secret(name, value) is is_secret
    assert secrets_of({"a": {"headers": {name: value}, "env": 3}}) == ([value] if is_secret else [])


def test_a_report_fits_its_width() -> None:
    found = Symptom(Level.PROBLEM, "a", "word " * 10, "do " * 10, ("quoted " * 10, "b"))
    assert [line.rstrip() for line in text_lines(found, 30, has_colours=False)] == [
        "problem  a: word word word",
        "         word word word word",
        "         word word word",
        "         | quoted quoted quote…",
        "         | b",
        "         -> do do do do do do",
        "            do do do do",
    ]
    assert [*text_lines(fine("a", "b"), 80, has_colours=True)] == ["\x1b[32mok       \x1b[0ma: b"]
    symptoms = [found, note("n", "t"), note("n", "t", "adv", ("q",)), fine("f", "t")]
    assert [summary(each) for each in (symptoms, symptoms[1:], symptoms[1:2], symptoms[3:], [found, found])] == [
        "1 problem, 2 notes",
        "2 notes",
        "1 note",
        "nothing is wrong",
        "2 problems",
    ]
    assert as_json(symptoms[1:]) == {
        "ok": True,
        "findings": [
            {"level": "note", "subject": "n", "text": "t"},
            {"level": "note", "subject": "n", "text": "t", "advice": "adv", "quoted": ["q"]},
            {"level": "ok", "subject": "f", "text": "t"},
        ],
    }
    assert as_json(symptoms)["ok"] is False


def test_the_command_passes_on_what_is_examined(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Examination] = []

    def examine(examined: Examination, tell: Any) -> Iterator[Symptom]:
        asked.append(examined)
        yield note("n", "t")
        yield fine("f", "t") if examined.starts else problem("p", "t", "a")

    monkeypatch.setattr(doctor, "examine", examine)

    def run(*words: object) -> Any:
        return CliRunner().invoke(cli, ["doctor", *map(str, words)])

    assert (run(tmp_path).exit_code, run(tmp_path).stdout) == (0, "note     n: t\nok       f: t\n1 note\n")
    done = run(tmp_path, "--no-start", "--trust-project", "--timeout", "3", "--client", "zed", "--quiet")
    assert (done.exit_code, done.stdout) == (1, "problem  p: t\n         -> a\n1 problem, 1 note\n")
    assert '"ok": false' in run("--format", "json", "--no-start").stdout
    assert asked[0] == Examination(tmp_path)
    assert asked[2] == Examination(tmp_path, ("zed",), False, True, 3.0)
    assert run("--timeout", "0").exit_code == 2


def test_each_check_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def stopped(_: Examination) -> Iterator[Symptom]:
        raise OSError("bare")
        yield

    monkeypatch.setattr(checks, "CHECKS", {"one": lambda _: iter([fine("a", "b")]), "two": stopped})
    told: list[str] = []
    found = [*checks.examine(Examination(tmp_path), told.append)]
    assert (told, found[0]) == (["one", "two"], fine("a", "b"))
    assert (found[1].level, found[1].subject, found[1].text) == (Level.PROBLEM, "two", "the check stopped: bare")


def test_the_file_of_a_server_is_the_first_word_that_names_one(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.py": ""})
    words = ["none.py", f"--x={tmp_path}/none.py", *(f"{tmp_path}/{name}" for name in ("none", "a.py", "none.py"))]
    for args, levels in ((words, []), (words[-1:], [Level.PROBLEM])):
        started = server(tmp_path / "x", {"command": f"{tmp_path}/none.py", "args": args})
        assert [each.level for each in entries.file(started)] == levels


@pytest.mark.parametrize(("free", "is_enough"), [(256 << 20, True), ((256 << 20) - 1, False)])
def test_little_space_is_a_problem(free: int, is_enough: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(machine, "is_noexec", lambda _: False)
    found = [*machine.check_temporary(Examination(tmp_path))]
    assert [each.level for each in found] == ([] if is_enough else [Level.PROBLEM])


def test_programs_have_a_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    versions = {"bash": "5.2.1", "node": "17.9", "npm": "", "jq": "1.5", "git": "2.40.0"}
    monkeypatch.setattr(machine, "found_program", lambda name: "" if name == "npm" else f"/bin/{name}")
    monkeypatch.setattr(machine, "program_version", lambda path: versions[Path(path).name])
    found = {each.subject: each.level for each in machine.check_programs(Examination(tmp_path))}
    assert found == {"bash": Level.OK, "node": Level.PROBLEM, "npm": Level.NOTE, "jq": Level.OK, "git": Level.OK}

    def run_program(name: str, words: list[str], seconds: float) -> Any:
        if words[0] == "slow":
            raise TimeoutError
        return SimpleNamespace(stdout=b"x version 1.2.3 (y 4.5)", returncode=int(words[0] == "fails"))

    monkeypatch.undo()
    monkeypatch.setattr(machine.programs, "run_program", run_program)
    assert [machine.program_version(each) for each in ("good", "fails", "slow")] == ["1.2.3", "", ""]


def test_every_mcpc_on_path_is_looked_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ours, other = (
        "#!/usr/bin/python3\nfrom mcp_compiler import main\n",
        "#!/usr/bin/python3\nfrom mcpc.cli import main\n",
    )
    write_files(
        tmp_path,
        {
            "a/mcpc": ours,
            "b/mcpc": other,
            "c/mcpc": "#!/bin/sh\nexec python -m mcpc\n",
            "d/mcpc": "// @apify/mcpc\n",
            "e/mcpc": "\x7fELF",
        },
    )
    kinds = {name: machine.other_program(tmp_path / name / "mcpc") for name in "abcdef"}
    assert kinds == {"a": "", "b": "of another package", "c": "", "d": "npm's @apify/mcpc", "e": "", "f": ""}
    for path, level in {"a:b": Level.OK, "b:a": Level.PROBLEM, "f": Level.NOTE}.items():
        monkeypatch.setenv("PATH", os.pathsep.join(f"{tmp_path}/{name}" for name in path.split(":")))
        (found, *_) = machine.check_command(Examination(tmp_path))
        assert found.level is level


def test_pythons_are_listed_by_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_files(tmp_path, {"good": "", "dead": "", "plain": ""})
    for name in ("good", "dead"):
        (tmp_path / name).chmod(0o755)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    (tmp_path / "plain").chmod(0o644)
    paths = {"3.12": ["link", "dead", "good", "after"], "3.11": ["plain", "dead"]}
    versions = {"good": "3.12"}
    monkeypatch.setattr(
        machine, "installed_pythons", lambda minor: [str(tmp_path / name) for name in paths.get(minor, ())]
    )
    monkeypatch.setattr(machine, "version_of", lambda path: versions.get(Path(path).name, ""))
    monkeypatch.setattr(machine, "sys", SimpleNamespace(version_info=(3, 12, 1)))

    def found() -> list[tuple[str, str]]:
        return [
            (each.level.value, each.text.replace(f"{tmp_path}/", ""))
            for each in machine.check_pythons(Examination(tmp_path))
        ]

    levels = found()
    assert [level for level, _ in levels] == ["problem", "problem", "ok"]
    assert levels[-1] == ("ok", "files that are built here start with good")
    monkeypatch.setattr(machine, "sys", SimpleNamespace(version_info=(3, 13, 1)))
    assert found()[-1][0] == "note"
    versions.clear()
    assert found()[-1][0] == "problem"


@pytest.mark.parametrize(
    ("trial", "words"),
    [
        (Trial("start", "x"), "correct the command"),
        (Trial("initialize", "it did not answer in 3 s", "is not set"), "run the command by hand: a server"),
        (Trial("initialize", "ended", "other"), "correct what the server reports"),
        (Trial("initialize", "ended"), "run the command by hand to see why"),
    ],
)
def test_a_failure_has_a_next_step(trial: Trial, words: str) -> None:
    assert advice_for(trial).startswith(words)


def test_which_servers_are_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    entries: dict[str, Any] = {
        "remote": {"url": "https://a.b"},
        "both": {"url": "https://a.b", "command": "sh"},
        "off": {"command": "sh", "disabled": True},
        "absent": {"command": "/nowhere/x"},
        "npx": {"command": "/bin/sh"},
        "asks": {"command": "sh", "env": {"A": "${input:a}"}},
        "plain": {"command": "sh"},
    }
    servers = [replace(server(tmp_path / "x", entry), name=name) for name, entry in entries.items()]
    servers[4] = replace(servers[4], launch=replace(servers[4].launch, words=("npx",)))
    started: list[str] = []
    monkeypatch.setattr(checks, "configured_servers", lambda _: servers)
    monkeypatch.setattr(checks, "is_startable", lambda one: one.name != "absent")
    monkeypatch.setattr(checks, "run_trial", lambda one, row, seconds: started.append(one.name) or Trial("", "1 tool"))
    found = [(each.subject, each.level.value) for each in checks.check_starts(Examination(tmp_path))]
    assert found == [
        ("Cursor: remote", "ok"),
        ("Cursor: both", "ok"),
        ("Cursor: npx", "note"),
        ("Cursor: asks", "note"),
        ("Cursor: plain", "ok"),
    ]
    assert started == ["both", "plain"]
    assert [each.subject for each in checks.check_starts(Examination(tmp_path, starts=False))] == ["Cursor: remote"]
    servers[:] = [server(tmp_path / "x", {"command": "sh"}, PROJECT)]
    notes = [
        [each.level.value for each in checks.check_starts(Examination(tmp_path, trusts_project=trusts))]
        for trusts in (False, True)
    ]
    assert notes == [["note"], ["ok"]]


def test_the_values_of_an_entry_are_hidden() -> None:
    assert without_secrets("a secret1 b secre", ["secret1", "secre", "secret1 b"]) == "a REDACTED secre"
