"""A tool of mcp-bash from its start to its result, turn by turn: the test plays its processes and the client."""

import json
import os
from collections.abc import Callable, Iterator
from errno import EMFILE
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers.invocations import FileResult, ProcessResult
from mcpc_runtime.systems.mcp_bash import environment, processes, runner
from mcpc_runtime.systems.mcp_bash.files import READ_LIMIT
from mcpc_runtime.systems.mcp_bash.processes import ENV_SECONDS, parse_exported
from mcpc_runtime.systems.mcp_bash.runner import (
    EMBEDDED_LIMIT,
    QUESTION_SECONDS,
    REMOVE_SECONDS,
    ROOTS_SECONDS,
    McpBashRunner,
    is_heartbeat,
)
from mcpc_runtime.systems.mcp_bash.scripts import ScriptCall, ScriptResult
from mcpc_runtime.systems.mcp_bash.settings import McpBashSettings
from mcpc_runtime.transports.platforms.reactor import READABLE
from support.fake_runtime import FakeChild, fake_context
from support.needs import ROOT

TOOL = "tools/t/tool.sh"


class Reader:
    """Reads files at once, in place of threads; `results`: what it returns instead."""

    results: dict[str, FileResult]

    def __init__(self, host: Any) -> None:
        self.closed = False
        self.stopped: list[Any] = []
        READERS.append(self)

    def start(self, read: Any, done: Callable[[FileResult], None], note: Any) -> str:
        path = f"{read.folder}/{read.path}"
        if path not in self.results:
            with open(path, "rb") as file:
                done(FileResult(file.read()))
        elif self.results[path] is not WAITS:
            done(self.results[path])
        return path

    def stop(self, job: Any) -> None:
        self.stopped.append(job)

    def close(self) -> None:
        self.closed = True


READERS: list[Reader] = []
WAITS = FileResult()


class Project:
    """A project in a folder, and the runner of its tools."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = home
        (home / TOOL).parent.mkdir(parents=True)
        (home / TOOL).write_text("#!/usr/bin/env bash\n")
        monkeypatch.setattr(runner, "extracted_folder", lambda image: str(home))
        monkeypatch.setattr(runner, "FileRunner", Reader)
        Reader.results = {}
        READERS.clear()
        self.context = fake_context(index={})
        self.reactor, self.supervisor = self.context.reactor, self.context.supervisor
        self.runner = McpBashRunner(self.context)
        self.environ: dict[bytes, bytes] = {b"PATH": b"/nowhere"}
        self.built: dict[str, Any] = {"allow": ["*"]}
        self.notes: list[Any] = []
        self.done: list[ScriptResult] = []
        self.roots: list[Any] = []

    def start(self, *, file: str = TOOL, facts: dict[str, Any] | None = None, **options: Any) -> Any:
        image: Any = SimpleNamespace(index={"mcp_bash": self.built})
        script = ScriptCall(McpBashSettings(image, self.environ), file, "tool", {"metadata": "{}", **(facts or {})})
        script.remember = self.roots.append
        for name, value in options.items():
            setattr(script, name, value)
        return self.runner.start(script, self.done.append, self.notes.append)

    @property
    def child(self) -> FakeChild:
        child: FakeChild = self.supervisor.children[-1]
        return child

    def place(self, name: str) -> Path:
        """The path that a variable of the newest process names."""
        return type(self.home)(self.child.environment[name.encode()].decode())

    def say(self, line: str) -> None:
        """Write to the stream of the newest process."""
        with self.place("MCP_PROGRESS_STREAM").open("a") as stream:
            stream.write(line)
        self.reactor.ready_for(READABLE)

    def end(self, status: int = 0, printed: bytes = b"") -> ScriptResult:
        os.write(self.child.ends[1], printed)
        self.child.die(status)
        (done,) = self.done
        return done

    def folders(self) -> list[str]:
        return sorted(os.listdir(self.home / ".mcpc/calls"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    before = set(os.listdir("/dev/fd"))
    made = Project(tmp_path, monkeypatch)
    yield made
    made.runner.close()
    made.reactor.pass_time(100)
    for child in made.supervisor.children:
        if child.ends:
            child.die()
    made.reactor.pass_time(100)
    assert made.reactor.watched == {}
    assert set(os.listdir("/dev/fd")) == before


def test_a_tool_runs_in_a_folder_of_its_own(project: Project) -> None:
    project.start()
    child = project.child
    assert (child.argv, child.directory, sorted(child.ends)) == (
        ["bash", f"{project.home}/{TOOL}"], str(project.home), [1, 2]
    )  # fmt: skip
    assert (child.environment[b"MCPBASH_WORKER_KEY"], project.folders()) == (b"w1", ["w1"])
    os.write(child.ends[2], b"err")
    done = project.end(3, b"out")
    assert (done.completed.status, done.completed.printed, done.completed.errors) == (3, b"out", b"err")
    assert (done.error, done.embedded, done.warnings, done.refused, done.problem) == (b"", [], [], None, "")
    project.start()
    assert (project.child.environment[b"MCPBASH_WORKER_KEY"], project.folders()) == (b"w2", ["w2"])


def test_the_whole_environment_of_a_tool(
    project: Project, golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "sys", SimpleNamespace(executable="/bin/python"))
    project.built["server"] = {"name": "s", "version": "1", "websiteUrl": "https://x", "icons": "a\0b", "title": None}
    project.environ |= {
        b"HOME": b"/user", b"FOO": b"1", b"BAR": b"2", b"MCP_X": b"3", b"MCPBASH_Y": b"4", b"MCPC_TASKS": b"secret",
    }  # fmt: skip
    lines = []
    payload = json.dumps({"a": "é" * 40}, ensure_ascii=False).encode()
    cases: list[tuple[dict[str, str], dict[str, Any]]] = [
        ({}, {"token": "t\0\ud800"}),
        ({"MCPBASH_TOOL_ENV_MODE": "Allowlist", "MCPBASH_TOOL_ENV_ALLOWLIST": "FOO, MCPC_TASKS"}, {"elicits": True}),
        ({"MCPBASH_TOOL_ENV_MODE": "inherit", "MCPBASH_TOOL_ENV_INHERIT_ALLOW": "true"}, {"roots": [("u", "n", "/r")]}),
        ({"MCPBASH_ENV_PAYLOAD_THRESHOLD": "49", "MCPBASH_DEBUG_LOG": "/log"}, {"arguments": payload}),
        ({"MCPBASH_ENV_PAYLOAD_THRESHOLD": "48", "MCPBASH_JSON_TOOL": "jq"}, {"arguments": payload, "meta": b"{}"}),
        ({"MCPBASH_JSON_TOOL": "jq", "MCPBASH_JSON_TOOL_BIN": "/jq"}, {"arguments": b"x" * 131_000}),
    ]
    for variables, options in cases:
        made = Project(project.home / f"n{len(lines)}", monkeypatch)
        made.built, made.environ = (
            project.built,
            {**project.environ, **{k.encode(): v.encode() for k, v in variables.items()}},
        )
        made.start(**options)
        found = {name.decode(): value.decode("latin-1") for name, value in sorted(made.child.environment.items())}
        del found["MCPC_CALL"]
        written = {
            path.name: len(path.read_bytes())
            for path in made.place("MCP_TOOL_ERROR_FILE").parent.iterdir()
            if path.is_file()
        }
        text = json.dumps(
            {"configured": variables, "environment": found, "files": dict(sorted(written.items()))}, indent=1
        )
        lines.append(text.replace(str(made.home), "HOME") + "\n")
        made.child.die()
        made.runner.close()
    golden(ROOT / "tests/golden/mcp_bash_environment.txt", "".join(lines))


def test_a_json_program_is_found_and_named(project: Project, tmp_path: Path) -> None:
    for name in ("gojq", "jq"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
        settings = McpBashSettings(SimpleNamespace(index={"mcp_bash": {}}), {b"PATH": b"/other"})  # type: ignore[arg-type]
        found = environment.json_tool_variables(settings, str(tmp_path).encode(), lambda path: f"<{path}>")
        assert found == {
            b"MCPBASH_JSON_TOOL": name.encode(), b"MCPBASH_JSON_TOOL_BIN": f"<{tmp_path}/{name}>".encode()
        }  # fmt: skip


def test_its_stream_has_notes_and_signs_of_life(project: Project) -> None:
    project.start()
    project.say('{"method":"notifications/progress","params":{"progress":1,"total":2,"message":"m"}}\n')
    project.say('\n{"method":"notifications/message","params":{"level":"info","logger":"l","data":[1]}}\n')
    project.say('{"method":"other","params":{}}\n{"method":"notifications/progress"}\ntext\n{"half":')
    assert project.notes == [
        {"progress": 1, "total": 2, "message": "m"},
        {"alive": True},
        {"log": "info", "logger": "l", "data": [1]},
    ]
    with project.place("MCP_LOG_STREAM").open("a") as stream:
        stream.write('1}\n{"method":"notifications/progress","params":{}}\n' + " " * 60_000 + "\n\n")
        stream.flush()
        project.end()
    assert project.notes[3:] == [{"alive": True}, {"progress": None, "total": None, "message": None}]


@pytest.mark.parametrize(
    ("data", "is_so"),
    [(b"", False), (b"\n", True), (b"a\n", False), (b"a\n\nb", True), (b"a\nb\n", False), (b"\na", True)],
)
def test_an_empty_line_is_a_sign_of_life(data: bytes, is_so: bool) -> None:
    assert is_heartbeat(data) is is_so


def test_its_error_file_counts_whatever_its_status(project: Project) -> None:
    for status in (0, 1):
        project.start()
        project.place("MCP_TOOL_ERROR_FILE").write_bytes(b"{}")
        project.place("MCP_TOOL_RESOURCES_FILE").write_text(TOOL)
        done = project.end(status)
        assert (done.error, done.embedded, done.warnings) == (b"{}", [], [])
        project.done.clear()
    assert READERS == []


def test_files_are_embedded_one_after_the_other(project: Project) -> None:
    home = project.home
    for name, data in (("one", b"1"), ("two", b"x" * (EMBEDDED_LIMIT - 1)), ("three", b"3"), ("four", b"")):
        (home / name).write_bytes(data)
    Reader.results = {f"{home}/gone": FileResult(missing=True), f"{home}/folder": FileResult(problem="it is a folder")}
    project.start()
    names = ["one", "gone", "two", "three", "folder", "/etc/passwd", {"path": "four", "mimeType": "a/b", "uri": "u"}]
    project.place("MCP_TOOL_RESOURCES_FILE").write_text(json.dumps(names))
    done = project.end(0)
    assert [(file.path, file.mime, file.uri, len(file.data)) for file in done.embedded] == [
        (f"{home}/one", "", f"file://{home}/one", 1),
        (f"{home}/two", "", f"file://{home}/two", EMBEDDED_LIMIT - 1),
        (f"{home}/four", "a/b", "u", 0),
    ]
    reasons = [warning.partition(" was left out of the answer: ")[::2] for warning in done.warnings]
    assert [name for name, _ in reasons] == [
        repr(name) for name in ("/etc/passwd", f"{home}/gone", f"{home}/three", f"{home}/folder")
    ]
    assert len({reason for _, reason in reasons}) == 4
    assert (reasons[3][1], project.folders()) == ("it is a folder", ["w1"])
    assert len(READERS) == 1


def test_a_failed_tool_embeds_nothing(project: Project) -> None:
    project.start()
    project.place("MCP_TOOL_RESOURCES_FILE").write_text(TOOL)
    assert project.end(1).embedded == []
    assert READERS == []


def test_a_call_that_is_stopped_while_its_files_are_read_ends_the_reading(project: Project) -> None:
    Reader.results = {f"{project.home}/{TOOL}": WAITS}
    job = project.start()
    project.place("MCP_TOOL_RESOURCES_FILE").write_text(TOOL)
    project.child.die()
    project.runner.stop(job)
    project.runner.close()
    assert (project.done, READERS[0].stopped, READERS[0].closed) == ([], [f"{project.home}/{TOOL}"], True)


QUESTION = {"message": "m", "schema": {"type": "object"}}


@pytest.mark.parametrize("is_announced", [False, True])
def test_a_question_goes_to_the_client_and_its_answer_to_the_script(project: Project, is_announced: bool) -> None:
    job = project.start(elicits=True)
    assert project.reactor.due == [QUESTION_SECONDS]
    for number in (1, 2):
        project.place("MCP_ELICIT_REQUEST_FILE").write_text(json.dumps(QUESTION))
        if is_announced:
            project.say('{"elicit":true}\n')
        else:
            project.reactor.pass_time(QUESTION_SECONDS)
        assert project.notes[-1]["reply"] == number
        for reply in (number + 1, number, number - 1 or 9):
            project.runner.answer(job, reply, {"answers": {f"elicit-{number}": {"action": f"a{reply}"}}})
        answer = project.place("MCP_ELICIT_RESPONSE_FILE")
        assert json.loads(answer.read_text()) == {"action": f"a{number}", "content": None}
        answer.unlink()
    project.place("MCP_ELICIT_REQUEST_FILE").write_text("no question")
    project.say('{"elicit":1}\n')
    project.reactor.pass_time(QUESTION_SECONDS)
    assert json.loads(answer.read_text()) == {"action": "error", "content": None}
    assert len(project.notes) == 2
    project.end()
    project.runner.answer(job, 3, {})
    project.reactor.pass_time(1)
    assert project.reactor.due == []


def test_a_client_that_cannot_be_asked_is_not(project: Project) -> None:
    project.start()
    assert (project.reactor.due, b"MCP_ELICIT_REQUEST_FILE" in project.child.environment) == ([], False)
    (project.place("MCP_TOOL_ERROR_FILE").parent / "question").write_text(json.dumps(QUESTION))
    project.say('{"elicit":true}\n')
    assert project.notes == []


def roots_of(project: Project) -> list[str]:
    return [row["path"] for row in json.loads(project.child.environment[b"MCP_ROOTS_JSON"])]


def test_roots_are_asked_for_once(project: Project) -> None:
    job = project.start(asks_roots=True)
    assert (project.supervisor.children, project.notes, project.reactor.due) == ([], [], [0, ROOTS_SECONDS])
    project.reactor.pass_time(0)
    assert project.notes == [{"ask": {"roots": {"method": "roots/list", "params": {}}}, "reply": 0}]
    answer = {"answers": {"roots": {"roots": [{"uri": f"file://{project.home}/tools"}]}}}
    project.runner.answer(job, 0, answer)
    project.runner.answer(job, 0, answer)
    found = [f"{project.home}/tools"]
    assert (roots_of(project), [[row[2] for row in roots] for roots in project.roots]) == (found, [found])
    project.reactor.pass_time(ROOTS_SECONDS)
    assert (len(project.notes), len(project.supervisor.children)) == (1, 1)


def test_roots_that_nobody_answers_are_those_of_the_server(project: Project) -> None:
    job = project.start(asks_roots=True)
    project.reactor.pass_time(ROOTS_SECONDS - 0.01)
    assert project.supervisor.children == []
    project.reactor.pass_time(0.01)
    assert (roots_of(project), project.notes[1:]) == ([str(project.home)], [{"withdraw": True}])
    project.runner.answer(job, 0, {"answers": {"roots": {"roots": []}}})
    assert (len(project.supervisor.children), project.roots) == (1, [])


def test_roots_that_the_client_refuses_are_those_of_the_server(project: Project) -> None:
    job = project.start(asks_roots=True)
    project.reactor.pass_time(0)
    project.runner.answer(job, 0, {"error": {}})
    assert (roots_of(project), project.roots) == ([str(project.home)], [])
    other = project.start(asks_roots=True)
    project.runner.stop(other)
    project.reactor.pass_time(ROOTS_SECONDS)
    project.runner.answer(other, 0, {"error": {}})
    assert (len(project.supervisor.children), len(project.notes)) == (1, 1)


def test_known_roots_are_not_asked_for(project: Project) -> None:
    project.start(asks_roots=True, roots=[("u", "n", "/known")])
    assert (roots_of(project), project.reactor.due) == (["/known"], [])


def test_a_stopped_tool_is_told_and_its_folder_is_removed_later(project: Project) -> None:
    job = project.start(elicits=True)
    cancelled, stream = project.place("MCP_CANCEL_FILE"), project.place("MCP_PROGRESS_STREAM")
    project.runner.stop(job)
    assert (cancelled.read_bytes(), [told[:2] for told in project.supervisor.told]) == (
        b"",
        [("end", project.child.pid)],
    )
    with stream.open("a") as file:
        file.write('{"method":"notifications/progress","params":{}}\n')
    project.runner.answer(job, 1, {})
    project.reactor.pass_time(REMOVE_SECONDS - 0.01)
    assert (project.folders(), project.notes) == (["w1"], [])
    project.reactor.pass_time(0.01)
    assert (project.folders(), len(project.supervisor.told)) == ([], 1)
    project.child.die(-9)
    assert project.done == []


@pytest.mark.parametrize(
    ("built", "environ", "message"),
    [
        ({"allow": []}, {}, "Tool 'tool' blocked by policy. Set MCPBASH_TOOL_ALLOWLIST in your MCP client config."),
        ({"allow": ["other"]}, {}, "Tool 'tool' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)"),
        ({"allow": ["*"]}, {"MCPBASH_TOOL_ENV_MODE": "inherit"}, environment.INHERIT_NOT_ALLOWED),
        ({"policy": True}, {"MCPBASH_TOOL_ENV_MODE": "INHERIT"}, environment.INHERIT_NOT_ALLOWED),
    ],
)
def test_what_is_not_allowed_is_refused(
    project: Project, built: dict[str, Any], environ: dict[str, str], message: str
) -> None:
    project.built = built
    project.environ |= {name.encode(): value.encode() for name, value in environ.items()}
    project.start()
    (done,) = project.done
    assert (done.refused, project.supervisor.children) == ((-32602, message, None), [])


def test_the_policy_decides_before_each_call(project: Project) -> None:
    project.built = {"policy": True}
    project.environ[b"MCPBASH_REMOTE_TOKEN"] = b"secret"
    project.start(facts={"metadata": '{"name":"tool"}'})
    policy = project.child
    library, script = f"{project.home}/.mcpc/mcp-bash/lib/tool-policy.sh", f"{project.home}/server.d/policy.sh"
    refusal = "Tool 'tool' blocked by policy. Set MCPBASH_TOOL_ALLOWLIST in your MCP client config."
    assert policy.argv == ["bash", "--norc", "--noprofile", library, script, "tool", refusal]
    assert (policy.directory, os.pread(policy.ends[0], 100, 0)) == (str(project.home), b'{"name":"tool"}')
    assert b"MCPBASH_REMOTE_TOKEN" not in policy.environment
    assert policy.environment[b"MCPBASH_PROJECT_ROOT"] == str(project.home).encode()
    os.write(policy.ends[1], b"allowed\x000\0\0\0")
    policy.die()
    assert project.child.argv == ["bash", f"{project.home}/{TOOL}"]
    project.end()
    project.done.clear()
    job = project.start()
    os.write(project.child.ends[1], b"denied\x00-5\0no\0[1]\0")
    project.child.die()
    assert (project.done[0].refused, job.stop_inner) == ((-5, "no", [1]), None)
    stopped = project.start()
    project.runner.stop(stopped)
    assert [told[:2] for told in project.supervisor.told] == [
        ("end_rest", policy.pid), ("end_rest", 101), ("end_rest", 102), ("end", 103)
    ]  # fmt: skip
    os.write(project.child.ends[1], b"allowed\x000\0\0\0")
    project.child.die()
    assert len(project.supervisor.children) == 4


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(processes, "log_line", lines.append)
    return lines


EXPORTED = b"PATH=/a\0GONE=1\0SAME=1\0=\0PATH=/b\0NEW=x=y\0SAME=1\0_=x\0PWD=/p\0SHLVL=2\0OLDPWD=/o\0MCPC_CALL=x\0junk"


@pytest.mark.parametrize(
    ("status", "printed", "problem", "exported"),
    [
        (0, EXPORTED, "", {b"PATH": b"/b", b"NEW": b"x=y"}),
        (0, b"", "", {}),
        (1, EXPORTED, "", {}),
        (0, EXPORTED, "no bash", {}),
    ],
)
def test_the_variables_that_the_environment_file_has_set(
    status: int, printed: bytes, problem: str, exported: dict[bytes, bytes], logged: list[str]
) -> None:
    completed = ProcessResult(problem)
    completed.status, completed.printed, completed.errors = status, printed, b" why\n"
    assert parse_exported(completed) == exported
    assert [line.rpartition(": ")[2] for line in logged] == ([problem or "why"] if status or problem else [])


def test_the_environment_file_is_read_once_before_the_first_calls(project: Project) -> None:
    project.built["env"] = True
    project.start()
    project.start()
    (reading,) = project.supervisor.children
    assert (reading.argv[:4], reading.argv[5:]) == (
        ["bash", "--norc", "--noprofile", "-c"], ["mcp-bash", f"{project.home}/server.d/env.sh"]
    )  # fmt: skip
    assert (reading.directory, reading.environment[b"PATH"], sorted(reading.ends)) == (
        str(project.home),
        b"/nowhere",
        [1, 2],
    )
    os.write(reading.ends[1], EXPORTED)
    reading.die()
    first, second = project.supervisor.children[1:]
    assert [(child.environment[b"NEW"], child.environment[b"PATH"]) for child in (first, second)] == [
        (b"x=y", b"/b")
    ] * 2
    project.reactor.pass_time(ENV_SECONDS)
    assert [told for told in project.supervisor.told if told[0] == "end"] == []
    project.start()
    assert len(project.supervisor.children) == 4


def test_an_environment_file_that_hangs_is_given_up(project: Project, logged: list[str]) -> None:
    project.built["env"] = True
    project.start()
    project.reactor.pass_time(ENV_SECONDS - 0.01)
    assert len(project.supervisor.children) == 1
    project.reactor.pass_time(0.01)
    reading, child = project.supervisor.children
    assert [told[:2] for told in project.supervisor.told] == [("end", reading.pid)]
    assert (b"NEW" in child.environment, [line.split()[0] for line in logged]) == (False, ["server.d/env.sh"])
    reading.die(-9)
    assert len(project.supervisor.children) == 2


def test_a_server_may_be_started_without_its_environment_file(project: Project) -> None:
    project.built["env"] = True
    project.environ[b"MCPBASH_NO_ENV_FILE"] = b"1"
    project.start()
    assert project.child.argv == ["bash", f"{project.home}/{TOOL}"]


def test_a_system_without_room_fails_the_call_and_leaves_nothing(project: Project) -> None:
    project.built["env"] = True
    project.supervisor.problems += [OSError(EMFILE, "no room")] * 2
    with pytest.raises(OSError, match="no room"):
        project.start()
    project.built["env"] = False
    job = project.start()
    assert (job.files, [done.problem for done in project.done]) == (None, ["cannot run tool: no room"])
    assert project.reactor.watched == {}
    project.start(file="tools/none.sh")
    assert project.done[1].problem == "cannot run tool: No such file or directory"
    project.built["env"] = True
    project.start()
    assert len(project.supervisor.children) == 1  # what was read before counts


def test_errors_so_far_are_those_of_the_process(project: Project) -> None:
    job = project.start()
    os.write(project.child.ends[2], b"err")
    project.reactor.ready_for(READABLE)
    assert (job.errors(), job.errors()) == (b"err", b"")
    other = project.start(asks_roots=True)
    assert other.errors() == b""


class Forks:
    """A runner of shells that records what it is told."""

    def __init__(self, host: Any, libraries: Any) -> None:
        self.told: list[Any] = [libraries.texts(), libraries.environment(0)[b"N"]]
        FORKS.append(self)

    def start(self, call: Any, done: Any, note: Any) -> str:
        self.told.append((call.function, call.argument, call.account))
        return "job"

    def stop(self, job: Any) -> None:
        self.told.append(("stop", job))

    def close(self) -> None:
        self.told.append("closed")


FORKS: list[Forks] = []


@pytest.mark.parametrize("missing", ["", "proc", "memfd", "BASH_ENV", "fork"])
def test_a_script_is_run_by_a_shell_that_has_read_the_library(
    project: Project, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    FORKS.clear()
    monkeypatch.setattr(processes, "ShellRunner", Forks)
    monkeypatch.setattr(processes, "system_features", SimpleNamespace(has=lambda name: name != missing))
    made = processes.ScriptProcesses(project.context)
    script: Any = SimpleNamespace(file=TOOL, facts={} if missing == "fork" else {"fork": True}, account="account")
    variables: Any = {b"N": b"1", **({b"BASH_ENV": b"x"} if missing == "BASH_ENV" else {})}, {b"C": b"2"}
    home = str(project.home)
    for folder in (home, home, home + "/."):
        if missing:
            made.start(script, folder, variables, print)
        else:
            assert made.start(script, folder, variables, print)[0] == "job"
    assert len(project.supervisor.children) == (3 if missing else 0)
    if missing:
        assert (FORKS, project.child.environment[b"C"]) == ([], b"2")
        return
    made.start(script, home + "/.", variables, print)[1]()
    made.close()
    sdk = [f"{home}/.mcpc/mcp-bash/sdk".encode()], f"{home}/./.mcpc/mcp-bash/sdk".encode()
    call = f"{home}/{TOOL}", f"{home}\0C=2".encode(), "account"
    other = f"{home}/./{TOOL}", f"{home}/.\0C=2".encode(), "account"
    assert [shells.told for shells in FORKS] == [
        [sdk[0], b"1", call, call, "closed"], [[sdk[1]], b"1", other, other, ("stop", "job"), "closed"]
    ]  # fmt: skip


def test_only_so_much_of_a_file_is_read(project: Project) -> None:
    project.start()
    project.place("MCP_TOOL_ERROR_FILE").write_bytes(b"x" * (READ_LIMIT + 1))
    assert len(project.end().error) == READ_LIMIT
