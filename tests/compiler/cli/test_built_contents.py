"""What is read of a built file: its facts and lists, `mcpc inspect` in all its forms, and what is refused."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from mcpc.cli import artifact, built_contents, cli, inspect
from mcpc.cli.artifact import built_artifact, require_artifact
from mcpc.cli.built_contents import artifact_contents, completed_arguments, names_of_table, stored_entry
from mcpc.sandbox import programs
from support.archives import FACTS, built_file, table_of
from support.needs import ROOT

GOLDEN = ROOT / "tests/golden/cli"
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
LISTS: dict[str, Any] = {
    "tools": [
        {"name": "add", "description": "Adds.\nMore.", "inputSchema": SCHEMA},
        {"name": "no_input"},
        {"name": "hid\u202eden", "description": "", "inputSchema": {"type": "object"}},
    ],
    "prompts": [{"name": "ask", "description": "Asks.", "arguments": [{"name": "topic"}, {"name": "style"}]}],
    "resources": [
        {"name": "one", "uri": "a://one", "description": "The first.\nIndeed."},
        {"name": "two", "uri": "a://two"},
    ],
    "resourceTemplates": [{"name": "each", "uriTemplate": "a://{x}", "description": "Each."}],
}
RUNNING = [{"of": ["add", "one"], "timeout": 5, "requires": ["jq", "sh"]}, {"of": ["add", "each"], "isolated": True}]
DIGEST = "sha256:" + "0" * 64
COMPLETIONS = ("resource\na://{x}\nx", DIGEST, "prompt\nask\ntopic", "prompt\nask\n" + "s" * 61, "prompt\nb\nsha256:")


def archive(entries: dict[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        for name, content in entries.items():
            made.writestr(zipfile.ZipInfo(name), content, kind)
    return data.getvalue()


PACKED = {
    "__main__.py": b"m" * 3,
    "__start__.py": b"s" * 3,
    "handlers/": b"",
    "mcpc_runtime/main.py": b"r" * 100,
    "mcpc_runtime/http/a.py": b"r" * 20,
    "mcpc_runtime/http/b.py": b"r" * 30,
    "mcpc_runtime/bytecode": b"b" * 500,
    "mcpc_runtime/sources.zip": archive({"mcpc_runtime/x/y/z.py": b"z" * 40}),
    "mcpc/__init__.py": b"i" * 10,
    "mcpc_app/bytecode": b"b" * 50,
    "mcpc_app/program": b"p" * 60,
    "unknown.txt": b"u" * 7,
    "handlers.zip": archive({"tools.py": b"t" * 1000, ".mcpc/sdk.sh": b"k" * 25}, zipfile.ZIP_BZIP2),
    "site/bytecode.zip": archive({"yaml/__init__.pyc": b"y" * 70, "six.pyc": b"6" * 70, "__pycache__/odd.cpython-313.pyc": b"o"}),
    "site/sources.zip": archive({"yaml/__init__.py": b"y" * 80, "yaml/deep/a.py": b"a" * 8}),
    "site/extracted.zip": archive({"yaml-1/yaml/c.so": b"c" * 90}),
    "site/names": b"n" * 5,
    "serving/bytecode.zip": archive({"uvicorn/main.pyc": b"v" * 33}),
}  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    paths = {"PyYAML": ["yaml/"], "six": ["six.py"], "odd": ["odd.py"], "uvicorn": ["uvicorn/"]}
    facts = {
        "packages": ["PyYAML 6.0", "odd 1", "six 2"],
        "serving": ["uvicorn 0.30"],
        "packagePaths": paths,
        "running": RUNNING,
        "notes": ["runs on Linux"],
    }
    return built_file(tmp_path / "server.pyz", facts, LISTS, COMPLETIONS, PACKED)


def run(*words: object) -> str:
    done = CliRunner().invoke(cli, [*map(str, words)])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_contents_of_a_file_are_its_facts_and_lists(file: Path) -> None:
    found = artifact_contents(file)
    assert {name: found.pop(name) for name in LISTS} == LISTS
    assert found.pop("completions") == [
        {"ref": {"type": "ref/prompt", "name": "ask"}, "argument": "s" * 61},
        {"ref": {"type": "ref/prompt", "name": "ask"}, "argument": "topic"},
        {"ref": {"type": "ref/prompt", "name": "b"}, "argument": "sha256:"},
        {"ref": {"type": "ref/resource", "uri": "a://{x}"}, "argument": "x"},
    ]
    assert {name: found.pop(name) for name in ("serverInfo", "instructions", "capabilities")} == {
        "serverInfo": {"name": "demo", "title": "Demo"},
        "instructions": "Ask.",
        "capabilities": {"tools": {}},
    }
    assert found == {**FACTS, **{name: found[name] for name in ("packages", "serving", "running", "notes")}}


def test_a_file_may_complete_nothing(tmp_path: Path) -> None:
    found = artifact_contents(built_file(tmp_path / "a.pyz", {"tools": 0}))
    assert "completions" not in found
    assert found["tools"] == 0
    assert completed_arguments((0, 9), b"") == []


def test_a_table_that_ends_after_the_blob_is_refused() -> None:
    blob = bytearray(b"before")
    table = table_of(["a", "b", DIGEST.replace("sha", "abc")], blob)
    assert [*names_of_table(table, bytes(blob))] == ["a", "b", DIGEST.replace("sha", "abc")]
    empty = b"".join(number.to_bytes(4, "little") for number in (12, 12, 12))
    assert [*names_of_table((2, 0), empty)] == []
    with pytest.raises(ValueError, match="table"):
        [*names_of_table((2, 0), empty[:-1])]
    with pytest.raises(ValueError, match="table"):
        [*names_of_table((2, 1), empty)]


@pytest.mark.parametrize(("size", "kind", "is_read"), [(8, 8, True), (9, 8, False), (9, 0, True)])
def test_a_compressed_entry_is_read_up_to_a_limit(
    size: int, kind: int, is_read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(built_contents, "MAX_INFLATED", 8)
    with zipfile.ZipFile(io.BytesIO(archive({"a": bytes(size)}, kind))) as read:
        if is_read:
            assert stored_entry(read, "a") == bytes(size)
        else:
            with pytest.raises(zipfile.BadZipFile):
                stored_entry(read, "a")
        read.getinfo("a").compress_size += 1
        if size > 8:
            with pytest.raises(zipfile.BadZipFile):
                stored_entry(read, "a")


def test_what_is_not_a_built_file_is_refused(tmp_path: Path) -> None:
    text, other = tmp_path / "text", tmp_path / "other.zip"
    text.write_text("x")
    other.write_bytes(archive({"a": b""}))
    damaged = built_file(tmp_path / "damaged.pyz", entries={"mcpc_app/index.py": b"print("})
    for path in (text, other, tmp_path / "absent"):
        with pytest.raises(click.UsageError):
            require_artifact(path)
    require_artifact(damaged)
    for path in (text, other, damaged):
        with pytest.raises(click.UsageError):
            artifact_contents(path)
        for read in (inspect.sizes_of_artifact, inspect.packed_files):
            if path != damaged and not (path == other and read is inspect.packed_files):
                with pytest.raises(click.UsageError):
                    read(path)


@pytest.mark.parametrize(
    "words", [(), ("--files",), ("--sizes",), ("--tool", "add"), ("--files", "--format", "json")], ids=" ".join
)
def test_inspect_prints_exactly_this(words: tuple[str, ...], file: Path, golden: Callable[[Path, str], None]) -> None:
    name = "-".join(word.strip("-") for word in ("inspect", *words))
    golden(GOLDEN / f"{name}.txt", run("inspect", file, *words))


def test_inspect_prints_json(file: Path) -> None:
    assert json.loads(run("inspect", file, "--format", "json")) == artifact_contents(file)
    assert json.loads(run("inspect", file, "--format", "json", "--tool", "no_input")) == LISTS["tools"][1]
    sizes = json.loads(run("inspect", file, "--sizes", "--format", "json"))
    assert sizes == inspect.sizes_of_artifact(file)
    assert sum(part["size"] for part in sizes) == file.stat().st_size
    done = CliRunner().invoke(cli, ["inspect", str(file), "--tool", "none"])
    assert done.exit_code == 2


def test_inspect_counts_what_a_file_has_no_list_of(tmp_path: Path) -> None:
    file = built_file(tmp_path / "a.pyz", {"tools": 0, "prompts": 0, "resources": 0})
    assert run("inspect", file) == "demo 1.2, revisions 2025-11-25\n"


API = """\
openapi: 3.1.0
info: {title: Pets, version: "1"}
servers: [{url: "https://a.example"}]
paths:
  /pets/{id}:
    get: {operationId: getPet, parameters: [{name: id, in: path, required: true, schema: {type: string}}]}
    put: {operationId: putPet, requestBody: {$ref: "#/nothing"}}
    post: {}
"""


def test_inspect_has_the_request_of_each_tool(tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "api/openapi.yaml").write_text(API)
    assert run("inspect", tmp_path / "api", "--requests").splitlines() == [
        "GET $PETS_BASE_URL/pets/{id}   getPet        openapi.yaml:6:5",
        "POST $PETS_BASE_URL/pets/{id}  post_pets_id  openapi.yaml:8:5",
        "left out:",
        "  openapi.yaml:7:52: the operation `putPet` is left out: `#/nothing` refers to nothing (MCP171)",
    ]
    table = json.loads(run("inspect", tmp_path / "api", "--requests", "--format", "json"))
    assert [row["tool"] for row in table["requests"]] == ["getPet", "post_pets_id"]
    assert [row["code"] for row in table["leftOut"]] == ["MCP171"]
    requests = {"bases": {"A": ""}, "tools": {"add": "GET $A/b", "more": "GET $A/b/{c}"}}
    file = built_file(tmp_path / "a.pyz", {"requests": requests})
    assert run("inspect", file, "--requests") == "GET $A/b      add\nGET $A/b/{c}  more\n"
    plain = built_file(tmp_path / "b.pyz", {})
    assert CliRunner().invoke(cli, ["inspect", str(plain), "--requests"]).exit_code == 2


def test_a_long_name_of_a_part_is_cut(tmp_path: Path) -> None:
    part = {"name": "n" * 42, "version": "", "size": 1, "raw": 2, "bytecode": 3, "extracted": False}
    exact, longer = ({**part, "name": "n" * length} for length in (42, 43))
    lines = inspect.format_sizes([exact, longer]).splitlines()
    assert lines[1] == f"{1:>12}{2:>12}{3:>12}  {'n' * 42}"
    assert lines[2] == f"{1:>12}{2:>12}{3:>12}  {'n' * 41}…"
    assert lines[3] == f"{2:>12}{4:>12}{6:>12}  the whole file"


@pytest.mark.parametrize(
    ("words", "passed"),
    [
        (("call", "add", "a=1", "--json", "{}"), ("call", "add", "a=1", "--json", "{}")),
        (("call", "--resource", "a://one"), ("read", "a://one")),
        (("call", "--resource", "a://one", "--json"), ("read", "a://one", "--json")),
        (("call", "--prompt", "ask", "topic=x"), ("prompt", "ask", "topic=x")),
        (("dev", "--once"), ()),
    ],
)
def test_a_command_of_a_file_is_passed_on_and_its_status_is_kept(
    words: tuple[str, ...], passed: tuple[str, ...], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Any] = []
    status = 5

    def run_in_foreground(name: str, argv: list[str], environment: dict[str, str], folder: Path | None = None) -> int:
        ran.append((name, argv, environment))
        assert folder is None
        return status

    monkeypatch.setattr(programs, "run_in_foreground", run_in_foreground)
    name, *rest = words
    done = CliRunner().invoke(cli, [name, str(file), *rest])
    assert done.exit_code == 5
    assert ran == [("server", artifact.start_command(file, *passed), {})]
    assert ran[0][1][-1 - len(passed) :] == [str(file), *passed]
    status = -9
    assert CliRunner().invoke(cli, [name, str(file), *rest]).exit_code == (4 if name == "dev" else -9)


def test_a_file_and_arguments_of_a_program_are_served_once_or_not_at_all(file: Path, tmp_path: Path) -> None:
    refused = {
        (file,): "is not rebuilt; start it itself, or add --once",
        (tmp_path, "--", "--root", "x"): "arguments of the server's program, after `--`, need --once",
        (file, "--once", "--http", "8000"): "--once serves over standard input and output",
        (file, "--once", "--ui"): "--once serves over standard input and output",
    }
    for words, text in refused.items():
        done = CliRunner().invoke(cli, ["dev", *map(str, words)])
        assert (done.exit_code, text in done.output) == (2, True), done.output


def test_a_project_is_built_into_a_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Any] = []
    made = built_file(tmp_path / "made.pyz").read_bytes()

    def build_project(target: Path, options: Any, output: str) -> bytes:
        ran.append((target, options.strict, output))
        return made

    def write_artifact(build: bytes, path: Path, *, tried: bool) -> None:
        ran.append(tried)
        path.write_bytes(build)

    def run_in_foreground(name: str, argv: list[str], environment: dict[str, str], folder: Path) -> int:
        assert [*folder.iterdir()] == []
        ran.append((argv[-1], environment))
        return 0

    monkeypatch.setattr(artifact, "build_project", build_project)
    monkeypatch.setattr(artifact, "write_artifact", write_artifact)
    monkeypatch.setattr(programs, "run_in_foreground", run_in_foreground)
    project = tmp_path / "project"
    project.mkdir()
    done = CliRunner().invoke(cli, ["call", str(project), "--prompt", "ask", "--strict"])
    assert done.exit_code == 0, done.output
    assert ran == [(project, True, "text"), False, ("ask", {"MCPC_BUILT_FROM": str(project)})]
    with built_artifact(project, {}) as path:
        assert path.read_bytes() == made
    assert not path.exists()
