"""What becomes of the output and the status of a function in each version of the MCP Server Bash SDK."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.handlers.invocations import ProcessResult
from mcpc_runtime.systems.bash_sdk import contract, runner
from mcpc_runtime.systems.bash_sdk.runner import ScriptLibrary, ServerScriptRunner, name_files
from support.contracts import GOLDEN, became, process_result


def test_invocations_and_endings(golden: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    golden(GOLDEN / "bash_sdk.txt", became("bash_sdk", contract, process_result, monkeypatch))


def test_files_in_messages_are_named() -> None:
    result = ProcessResult()
    result.printed = result.output = b"/tmp/h/lib/a.sh: line 2: x: not found\n/tmp/h/data.json\n"
    result.errors = b"/tmp/h/b.sh: line 3: y\n"
    assert name_files(result, b"/tmp/h/") is result
    assert result.printed == result.output == b"lib/a.sh: line 2: x: not found\n/tmp/h/data.json\n"
    assert result.errors == b"b.sh: line 3: y\n"


def host(**environments: Any) -> Any:
    image = SimpleNamespace(index={"bash_sdk": {"script": "bin/server.sh"}})
    return SimpleNamespace(image=image, environment=environments.get("environment"))


def test_the_library_is_the_script_in_the_folder(tmp_path: Path) -> None:
    made: list[int] = []

    def environment(number: int) -> dict[bytes, bytes]:
        made.append(number)
        return {b"PATH": b"/bin", b"BASH_ENV": b"x", b"BASH_FUNC_f%%": b"x", b"N": b"%d" % number}

    programs = tmp_path / ".mcpc/bash-sdk"
    programs.mkdir(parents=True)
    (programs / "one.bash").write_text("first")
    library = ScriptLibrary(host(environment=environment), str(tmp_path))
    assert (library.name, library.texts(b"part")) == (
        f"{tmp_path}/bin/server.sh",
        [f"{tmp_path}/bin/server.sh".encode(), str(tmp_path).encode()],
    )
    assert library.program("one.bash") == "first"
    (programs / "one.bash").write_text("second")
    assert library.program("one.bash") == "first"  # read once
    assert [library.environment(number) for number in (2, 3, 2)] == [
        {b"PATH": b"/bin", b"N": b"%d" % number} for number in (2, 3, 2)
    ]
    assert made == [2, 3]


class Shells:
    """A runner of shells that only records what it is told."""

    made: list[Shells]

    def __init__(self, context: Any, library: Any) -> None:
        self.told: list[Any] = [library.name]
        self.made.append(self)

    def start(self, call: Any, done: Callable[[ProcessResult], None], note: Any) -> str:
        result = ProcessResult()
        result.output = result.printed = b"/one/a.sh: line 2: x\n"
        done(result)
        self.told.append(("start", call, note))
        return "job"

    def stop(self, job: Any) -> None:
        self.told.append(("stop", job))

    def answer(self, job: Any, reply: int, result: Any) -> None:
        self.told.append(("answer", job, reply, result))

    def close(self) -> None:
        self.told.append("closed")


def test_shells_are_those_of_the_folder_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    folders = iter(["/one", "/one", "/one", "/two"])
    Shells.made = []
    monkeypatch.setattr(runner, "ShellRunner", Shells)
    monkeypatch.setattr(runner, "extracted_folder", lambda image: next(folders))
    made = ServerScriptRunner(host())
    made.close()
    results: list[ProcessResult] = []
    call: Any = "call"
    job: Any = made.start(call, results.append, print)
    made.stop(job)
    made.answer(job, 1, {"a": 1})
    made.answer(job, 2, {})
    made.close()
    assert results[0].output == b"a.sh: line 2: x\n"
    assert [shells.told for shells in Shells.made] == [
        ["/one/bin/server.sh", ("start", "call", print), ("stop", "job"), ("answer", "job", 1, {"a": 1}), "closed"],
        ["/two/bin/server.sh", ("answer", "job", 2, {}), "closed"],
    ]
