"""The checks of a built file: each finds its fault, names it, and finds nothing in a file that is well."""

import json
import marshal
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc_runtime.protocol.image import Image
from mcpc_runtime.tools.cli import artifact_info, inspection, self_check
from mcpc_runtime.transports.platforms import system
from support.artifact import built_fixture
from support.http_sample import image_of
from support.needs import ROOT


def tool(name: str, command: str, **handler: object) -> dict[str, object]:
    options = {"command": command, **handler}
    return {"name": name, "description": "D.", "inputSchema": {"type": "object"}, "_meta": {"mcpc/handler": options}}


LACKING = {"requires": ["sh", "no-such-program >= 2"]}
TOOLS = [
    tool("a", "bin/lost", **LACKING),
    tool("b", "bin/lost", requires=["no-such-program >= 2"], environment=["B", "A_*", "PATH"]),
    tool("c", "bin/well"),
    tool("d", "bin/other"),
]
PROJECT = {
    "server.json": '{"serverInfo": {"name": "checked", "version": "1"}}',
    "tools.json": json.dumps({"tools": TOOLS}),
    "bin/lost": "#!/no/such/interpreter\n",
    "bin/well": "#!/bin/sh\n",
    "bin/other": "#!/no/other\n",
}


built = built_fixture(PROJECT)


@pytest.fixture
def image(built: Path, monkeypatch: pytest.MonkeyPatch) -> Image:
    monkeypatch.setattr(system, "environ", {b"PATH": b"/usr/bin:/bin", b"A_1": b""})
    monkeypatch.setattr(self_check, "PROBES", {"fast": 0, "faster": 0})
    monkeypatch.setattr(self_check, "has", lambda name: name == "fast")
    return image_of(built)


def test_a_file_is_checked_whole(
    image: Image, capsys: pytest.CaptureFixture[str], golden: Callable[[Path, str], None]
) -> None:
    assert inspection.check(image, "", []) == 1
    assert inspection.check(image, "", ["--json"]) == 1
    golden(ROOT / "tests/golden/cli/checked.txt", capsys.readouterr().out)


def test_the_status_says_what_is_wrong(
    image: Image, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def status(**problems: list[str]) -> int:
        rows = tuple((name.replace("_", " "), lambda _, found=found: found) for name, found in problems.items())
        monkeypatch.setattr(inspection, "all_checks", lambda image: rows)
        monkeypatch.setattr(inspection, "NOTES", (("n", lambda _: []), ("m", lambda _: ["x\x1b"])))
        return inspection.check(image, "", [])

    monkeypatch.setattr(inspection, "HEALTHY", "healthy")
    assert [status(a=[]), status(a=[], healthy=["h"]), status(a=["b"], healthy=["h"])] == [0, 8, 1]
    note = "note    m\n        x\\x1b\n"
    assert capsys.readouterr().out == (
        f"ok      a\n{note}ok      a\nfailed  healthy\n        h\n{note}"
        f"failed  a\n        b\nfailed  healthy\n        h\n{note}"
    )


def test_an_entry_that_is_not_what_was_built_is_named(built: Path, tmp_path: Path) -> None:
    target = tmp_path / "changed.pyz"
    with zipfile.ZipFile(built) as packed, zipfile.ZipFile(target, "w") as changed:
        names = packed.namelist()
        for name in names:
            if name != "META-INF/build.json":
                changed.writestr(name, packed.read(name) + (b"x" if name == names[-1] else b""))
        changed.writestr("added/", "")
        changed.writestr("added/one", "")
    assert self_check.changed_entries(image_of(target)) == [
        "added/one is not part of the build",
        *(f"{name} is missing" for name in names if name == "META-INF/build.json"),
        f"{names[-1]} has a wrong checksum",
    ]
    image: Any = SimpleNamespace(entry={}.__getitem__)
    assert self_check.changed_entries(image) == ["META-INF/manifest.sha256 cannot be read: 'META-INF/manifest.sha256'"]


def test_programs_that_contracts_and_libraries_need_are_looked_for(
    image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, object]] = []

    def missing(requirements: object, needs: Any, reactor: object) -> str:
        asked.append((needs.environment, needs.requires))
        return needs.requires[0][0] if needs.requires[0][0] != "bash" else ""

    def found(*rows: tuple[str, int, tuple[tuple[str, str], ...]], **index: object) -> list[str]:
        definitions = [
            SimpleNamespace(name=str(number), contract=contract, environment=environment, requires=requires)
            for number, (contract, environment, requires) in enumerate(rows)
        ]
        monkeypatch.setattr(self_check, "definitions", lambda image: definitions)
        monkeypatch.setattr(image, "index", {**image.index, **index})
        asked.clear()
        return self_check.missing_programs(image)

    monkeypatch.setattr(self_check, "missing_requirement", missing)
    assert found() == [] and asked == []
    assert found(("python", 0, ()), programs=["jq"]) == [] and asked == []
    rows = [
        ("mcbox", 1, ()),
        ("executable", 0, (("jq", ""),)),
        ("bash_sdk", 1, ()),
        ("python", 1, (("jq", ""),)),
        ("mcbox", 2, ()),
    ]
    assert found(*rows, programs=["ls", "jq"]) == ["1, 3, a Bash library: jq", "a Bash library: ls"]
    bash, jq, ls = (("bash", "4.4"),), (("jq", ""),), (("ls", ""),)
    assert asked == [(1, bash), (0, jq), (1, jq), (2, bash), (1, ls)]


def definition(contract: str, file: str) -> Any:
    return SimpleNamespace(contract=contract, handler=(file, ""))


@pytest.mark.parametrize(
    ("contract", "program", "line"),
    [
        ("executable", b"#!/bin/x y\nmore\n", b"#!/bin/x y"),
        ("executable", b"text", b"text"),
        ("mcp_bash", b"#!/bin/x y\nmore\n", b"#!/bin/x y"),
        ("mcp_bash", b"echo\n", b"#!/usr/bin/env bash"),
        ("mcp_bash_completion", b"echo\n", b"#!/usr/bin/env bash"),
    ],
)
def test_the_interpreter_is_that_of_the_first_line(contract: str, program: bytes, line: bytes) -> None:
    assert self_check.first_line(definition(contract, "tool.sh"), program) == line


def test_packages_without_a_variant_for_this_machine_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    parcels = [{"name": name, "variants": name} for name in ("a", "b", "c")]
    entries = {"META-INF/build.json": '{"packages": ["a 1"]}', "site/.layer": marshal.dumps({"parcels": parcels})}
    monkeypatch.setattr(self_check, "find_variant", {"a": 0, "b": None, "c": None}.get)
    monkeypatch.setattr(self_check, "unsupported_text", str.upper)
    image: Any = SimpleNamespace(entry=entries.__getitem__)
    assert self_check.unsupported_packages(image) == ["b: B", "c: C"]
    entries["META-INF/build.json"] = "{}"
    assert self_check.unsupported_packages(image) == []


def test_tools_that_do_not_load_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(value: object) -> None:
        raise ValueError(f"not {value}")

    well, wrong = SimpleNamespace(errors=lambda value: []), SimpleNamespace(errors=broken)
    tools = {
        "a": SimpleNamespace(input=well, output=None),
        "b": SimpleNamespace(input=wrong, output=well),
        "c": SimpleNamespace(input=None, output=wrong),
    }
    monkeypatch.setattr(self_check, "list_all", lambda image, kind: [{"name": name} for name in "abcd"])
    image: Any = SimpleNamespace(tool=tools.get, index={})
    assert self_check.broken_definitions(image) == [
        "b: ValueError: not {}",
        "c: ValueError: not {}",
        "d is listed but cannot be found",
    ]


def test_every_revision_has_to_answer(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    assert self_check.broken_conversation(image) == []
    opened = [artifact_info.opening_request(image, version) for version in ("2025-11-25", "2026-07-28")]
    prefix = "io.modelcontextprotocol/"
    meta = {f"{prefix}protocolVersion": "2026-07-28", f"{prefix}clientCapabilities": {}}
    client = {"name": "check", "version": "1"}
    assert opened == [
        ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}),
        ("server/discover", {"_meta": meta}),
    ]
    monkeypatch.setattr(self_check, "send_request", lambda image, method, params: {"error": method})
    versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
    assert self_check.broken_conversation(image) == [
        *(f"{version}: {{'error': 'initialize'}}" for version in versions),
        "2026-07-28: {'error': 'server/discover'}",
    ]


def test_variables_are_set_or_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "environ", {b"A": b"", b"P_1": b""})
    index: dict[str, Any] = {"environments": [(0, ["Z", "A", "P_*"]), (0, ["Q_*", "A*B", "S"])]}
    image: Any = SimpleNamespace(index=index)
    assert self_check.unset_variables(image) == [f"{name} is not set" for name in ("A*B", "Q_*", "S", "Z")]
    index["settings"] = [("S", 0)]
    assert self_check.unset_variables(image) == [f"{name} is not set" for name in ("A*B", "Q_*", "Z")]


def test_a_project_has_checks_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    own = lambda image: ["x"]  # noqa: E731
    monkeypatch.setattr(self_check, "call_rows", lambda rows, image: [None, own] if rows == "self_check" else [])
    image: Any = SimpleNamespace(hooks=str, index={})
    assert self_check.all_checks(image) == (*self_check.CHECKS, (self_check.HEALTHY, own))
    image.index["settings"] = []
    names = [name for name, _ in self_check.all_checks(image)[len(self_check.CHECKS) :]]
    assert names == [self_check.VALID_SETTINGS, self_check.HEALTHY]


def test_a_broken_file_is_a_problem_and_anything_else_is_logged_too(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[tuple[object, ...]] = []
    monkeypatch.setattr(self_check, "log_failure", lambda *words: logged.append(words))

    def failing(problem: Exception) -> list[str]:
        def fail(_: object) -> list[str]:
            raise problem

        return self_check.run_check(None, fail)  # type: ignore[arg-type]

    assert failing(KeyError("a")) == ["KeyError: 'a'"] and logged == []
    problem = TypeError("b")
    assert failing(problem) == ["TypeError: b"] and logged == [(problem, "a check failed")]
