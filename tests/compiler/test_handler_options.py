"""Tests of what definitions say about running their handlers: what it means, and every way in which it can be wrong."""

import json
import re
import shutil
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpc.diagnostics import Diagnostic, Diagnostics
from mcpc.emit import emit
from mcpc.languages import HandlerModule
from mcpc.lower import handlers
from mcpc.model.ir import BashFunction, CheckedServer, HandlerOptions, ProgramRequirement, Server
from mcpc.model.ir.printer import print_server
from mcpc.reading import Source
from support.projects import checked, lowered, tree

SCHEMA = {"type": "object"}
SCRIPT = "#!/bin/sh\ncat\n"


def project(
    handler: object, general: object = None, meta: dict[str, Any] | None = None, **files: Any
) -> dict[str, Any]:
    """A project with one tool, in Bash unless other files say otherwise."""
    said = {**(meta or {}), **({} if handler is None else {"mcpc/handler": handler})}
    tool = {"name": "x", "description": "X.", "inputSchema": SCHEMA, **({"_meta": said} if said else {})}
    server: dict[str, Any] = {"serverInfo": {"name": "s", "version": "1"}}
    if general is not None:
        server["_meta"] = {"mcpc/handlers": general}
    bash = {} if files else {"tools.bash": "tool_x() { :; }\nexport -f tool_x\n"}
    return {"server.json": json.dumps(server), "tools.json": json.dumps({"tools": [tool]}), **bash, **files}


def server_of(files: dict[str, Any]) -> Server:
    server, problems = lowered(files)
    assert problems == ()
    assert server is not None
    return server


def running(handler: object, general: object = None, **files: Any) -> HandlerOptions:
    return server_of(project(handler, general, **files)).tools[0].running


PYTHON = {"tools.py": "def x(): ...\n"}


def wrong(handler: object, general: object = None, **files: Any) -> tuple[Diagnostic, list[str]]:
    """The one problem of a project, and the text it points at."""
    written = project(handler, general, **files)
    _, problems = checked(written)
    assert len(problems) == 1, problems
    (problem,) = problems
    text = written[problem.span.path]
    return problem, [text[problem.span.start : problem.span.end]]


def test_a_program_that_is_not_here_is_a_warning_and_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "no-such" else f"/bin/{name}")
    tools = [{"name": name, "description": "X.", "inputSchema": SCHEMA} for name in ("x", "y")]
    files = project(None, {"requires": ["cat", "no-such >= 2"]})
    files["tools.json"] = json.dumps({"tools": tools})
    files["tools.bash"] += "tool_y() { :; }\nexport -f tool_y\n"
    server, (problem,) = checked(files)
    assert server is not None
    assert (problem.code, problem.severity, problem.message) == ("MCP241", "warning", "`no-such` is not on PATH")


@pytest.mark.parametrize(
    ("way", "files", "is_fit"),
    [("inline", PYTHON, True), ("inline", {}, False), ("isolated", {}, True), ("isolated", PYTHON, False)],
)
def test_ways_that_a_kind_of_handler_has(way: str, files: dict[str, str], is_fit: bool) -> None:
    assert getattr(running({way: True}, **files), way) is True
    server, problems = checked(project({way: True}, **files))
    assert [problem.code for problem in problems] == ([] if is_fit else ["MCP242"])
    assert (server is not None) is is_fit
    assert checked(project({way: False}, **files))[1] == ()


def test_nobody_waits_on_the_loop() -> None:
    waiting = {"tools.py": "from mcpc import Context\n\n\ndef x(context: Context) -> str:\n    return ''\n"}
    problem, place = wrong({"inline": "loop"}, **waiting)
    assert (problem.code, place) == ("MCP242", ['"loop"'])
    assert checked(project({"inline": True}, **waiting))[1] == ()


HINT = "`#!/usr/bin/env python3`"


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"", HINT),
        (b"echo\n", HINT),
        (b"\xef\xbb\xbf#!/bin/sh\n", "byte order mark"),
        (b"#!/bin/sh\r\necho\r\n", "Unix line endings"),
        (b"#!python3\n", HINT),
        (b"#!\n", HINT),
        (b"#!/" + b"x" * 300 + b"\n", HINT),
    ],
)
def test_a_command_that_cannot_be_run(data: bytes, hint: str) -> None:
    problem, place = wrong({"command": "run"}, run=data)
    assert (problem.code, place) == ("MCP244", ['"run"'])
    assert hint in problem.hint


def index_of(server: CheckedServer) -> dict[str, Any]:
    (source,) = (module.data for module in emit(server) if module.name == "mcpc_app/index.py")
    names: dict[str, Any] = {}
    exec(source, names)
    return next(value for value in names.values() if isinstance(value, dict) and "revisions" in value)


def built(files: dict[str, Any]) -> dict[str, Any]:
    server, _ = checked(files)
    assert server is not None
    return index_of(server)


def test_files_are_unpacked_only_for_those_who_want_it() -> None:
    assert "unpack" not in built(project({"timeout": 5}))
    index = built(project({"command": "run"}, run=SCRIPT, **{"data.txt": "1"}))
    assert index["unpack"] == (("data.txt", False), ("run", True))
    sources = tree({"run": SCRIPT}).files
    assert sources["run"].mode & 0o111 == 0  # so that it is being a command that makes it executable


def test_clients_are_not_shown_what_is_said_to_us() -> None:
    files = project({"timeout": 5, "environment": ["SECRET"]}, {"timeout": 4}, {"mcpc/defaults": False})
    server, _ = checked(files)
    assert server is not None
    blob = next(module.data for module in emit(server) if module.name == "mcpc_app/blob")
    assert b"mcpc/" not in blob
    assert b'"_meta":{}' not in blob
    assert b'"inputSchema":{"type":"object"}}' in blob


def test_what_is_wrong_leaves_the_rest_as_it_was() -> None:
    server, problems = lowered(project({"timeout": -1, "environment": [1], "requires": ["a b", "cat"]}))
    assert sorted(problem.code for problem in problems) == ["MCP238", "MCP239", "MCP240"]
    (tool,) = server.tools
    assert isinstance(tool.handler, BashFunction)
    assert tool.running.timeout == 60
    assert [one.command for one in tool.running.requires] == ["cat"]
    assert isinstance(tool.running.requires[0], ProgramRequirement)


def test_a_library_that_asks_for_its_place_has_its_files_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read = handlers.LANGUAGES["bash"]

    def asking(source: Source) -> tuple[HandlerModule, Diagnostics]:
        module, problems = read(source)
        return replace(module, asks_place=True), problems

    files = project(None, **{"tools.bash": "tool_x() { :; }\nexport -f tool_x\n", "data/beside.txt": "1"})
    assert server_of(files).unpack is False
    assert "unpack" not in built(files)
    monkeypatch.setitem(handlers.LANGUAGES, "bash", asking)
    assert server_of(files).unpack is True
    assert built(files)["unpack"] == (("data/beside.txt", False), ("tools.bash", False))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(
        ["inherit", "minimal", "KEY", "K*", "A=b", "jq", "git >= 2", "bin/run", "../x", "", "a b", "\u202e"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["timeout", "x"]), inner, max_size=2),
    max_leaves=5,
)
SAID = JSON | st.dictionaries(
    st.sampled_from(["timeout", "inline", "isolated", "environment", "requires", "command", "x"]), JSON, max_size=4
)


@pytest.mark.slow
@given(own=SAID, general=SAID)
@settings(max_examples=150, deadline=None)
def test_whatever_is_said_is_judged_and_what_passes_is_sound(own: object, general: object) -> None:
    files = project(own, general, **{"bin/run": SCRIPT, "tools.bash": "tool_x() { :; }\nexport -f tool_x\n"})
    server, problems = checked(files)
    assert all(problem.span is not None for problem in problems)
    if server is None:
        return
    (tool,) = server.server.tools
    assert 0 < tool.running.timeout <= 86400
    assert all(re.fullmatch(r"\w+\*?", name) for name in tool.running.environment.names)
    assert all(re.fullmatch(r"[\w.+-]+", one.command) for one in tool.running.requires)
    assert "x" not in print_server(server.server).splitlines()
    emit(server)
