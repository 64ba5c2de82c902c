"""Commands that compare and check: diff, changelog, verify, checksums, evidence, docs; the comparisons are not repeated."""

import hashlib
import json
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from mcpc.cli import attest, cli, generate, verify
from mcpc.cli.diff import GATES, project_policy, read_versions, write_text_file
from mcpc.emit.interpreters import HERE, MissingPythonError
from mcpc.interpreters.selfcontained import CannotEmbedError, EmbeddingRequest
from mcpc.options import Options
from mcpc.release.comparison import Impact
from mcpc.release.trust.comparison import CAUSES
from mcpc.release.trust.contents import ArtifactContents, take_apart
from mcpc.release.trust.statements import NoCommitError
from support.archives import built_file
from support.files import write_files
from support.needs import ROOT

GOLDEN = ROOT / "tests/golden/cli"


def run(*words: object) -> Any:
    return CliRunner().invoke(cli, [*map(str, words)])


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


OLD = {"name": "n", "version": "1.0.0", "tools": [tool("gone"), tool("t", a={"enum": ["x", "y"]})]}
NEW = {"name": "n", "version": "1.0.1", "tools": [tool("t", a={"enum": ["x"]}, b={}), tool("new")]}


@pytest.fixture
def versions(tmp_path: Path) -> tuple[Path, Path]:
    write_files(tmp_path, {"old.json": OLD, "new.json": NEW})
    return tmp_path / "old.json", tmp_path / "new.json"


def test_versions_are_compared_and_gates_fail(versions: tuple[Path, Path], golden: Callable[[Path, str], None]) -> None:
    done = run("diff", *versions)
    assert done.exit_code == 0
    golden(GOLDEN / "diff.txt", done.stdout)
    assert [run("diff", *versions, "--fail-on", gate).exit_code for gate in GATES] == [7, 7, 7]
    same = (versions[0], versions[0])
    assert [run("diff", *same, "--fail-on", gate).exit_code for gate in GATES] == [0, 0, 0]
    assert GATES == {
        "breaking": (Impact.BREAKING,),
        "undecided": (Impact.BREAKING, Impact.UNDECIDED),
        "routing": (Impact.BREAKING, Impact.ROUTING),
    }
    assert json.loads(run("diff", *versions, "--format", "json").stdout)["version"]["fits"] is False


def test_a_changelog_has_its_title(versions: tuple[Path, Path], golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "changelog.txt", run("diff", "--notes", *versions, "--title", "May").stdout)
    assert run("diff", "--notes", versions[0]).exit_code == 2


def test_only_the_later_version_has_its_warnings_reported(tmp_path: Path) -> None:
    code = "from mcpc import Server\nmcp = Server('a', version='1')\n@mcp.tool\ndef {}() -> str: return ''\n"
    before = write_files(tmp_path / "before", {"server.py": code.format("old")})
    after = write_files(tmp_path / "after", {"server.py": code.format("new")})
    done = run("diff", before, after)
    assert (done.stderr.count("MCP108"), "after/server.py" in done.stderr) == (2, True), done.stderr
    done = run("diff", before, "--snapshot", tmp_path / "lists.json")
    assert (done.exit_code, "before/server.py" in done.stderr) == (0, True)


def test_a_snapshot_is_written_with_or_without_a_second_version(versions: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "snapshot.json"
    done = run("diff", versions[0], "--snapshot", target)
    assert (done.exit_code, done.output) == (0, "")
    assert json.loads(target.read_text())["tools"] == OLD["tools"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o644
    both = run("diff", versions[1], versions[0], "--snapshot", target)
    assert both.stdout == run("diff", versions[1], versions[0]).stdout != ""
    assert json.loads(target.read_text())["version"] == "1.0.1"
    assert run("diff", versions[0], "--snapshot", tmp_path / "none" / "x").exit_code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.json", "old.json", "snapshot.json"]
    with pytest.raises(click.UsageError):
        write_text_file(tmp_path, "x")


@pytest.mark.parametrize(
    ("words", "is_single", "count"),
    [
        (["A", "B"], False, 2),
        (["A", "--", "x"], False, 2),
        (["A"], True, 1),
        (["A"], False, 0),
        (["A", "B", "--", "x"], False, 0),
        (["A", "--", "x"], True, 2),
    ],
)
def test_two_versions_are_expected(
    words: list[str], is_single: bool, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "mcpc.cli.diff.read_target", lambda target, given, headers, seconds, **_: (target, given, headers, seconds)
    )
    monkeypatch.setattr("mcpc.cli.diff.read_command", lambda words, seconds: (words, seconds))
    at = words.index("--") if "--" in words else len(words)
    given: dict[str, Any] = {"headers": ("K: v",), "token_file": None, "timeout": 3.0, "http": True}
    with click.Context(click.Command("x")) as context:
        if "--" in words:
            context.meta["mcpc.server_command"] = tuple(words[at + 1 :])
        new = words[1] if at == 2 else None
        if not count:
            with pytest.raises(click.UsageError):
                read_versions("A", new, given, is_single=is_single)
            return
        found: list[Any] = read_versions("A", new, given, is_single=is_single)
    expected: list[Any] = [
        ("A", {"http": True}, {"K": "v"}, 3.0),
        ("B", {"http": True}, {"K": "v"}, 3.0),
        (("x",), 3.0),
    ]
    assert found == [expected[0], *([expected[1]] if new else []), *([expected[2]] if "--" in words else [])]


POLICY = 'accept = [{rule = "tool-removed", place = "*"}]\n'


def test_the_policy_is_that_of_a_file_or_of_the_first_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = f"[tool.mcpc.diff]\n{POLICY}"
    write_files(tmp_path, {"a/x": "", "b/pyproject.toml": table, "c/pyproject.toml": "[project]\n", "own.toml": POLICY})
    monkeypatch.chdir(tmp_path / "a")
    a, b, c, own = (str(tmp_path / name) for name in ("a", "b", "c", "own.toml"))
    accepted = [
        len(project_policy(None, targets).accept)
        for targets in ((None, a), (a, b), (None, b), (b, c), (c, b), (own, b), (None, own))
    ]
    assert accepted == [0, 0, 1, 1, 0, 1, 0]
    assert len(project_policy(Path(own), (c,)).accept) == 1
    monkeypatch.chdir(b)
    assert len(project_policy(None, (None, own)).accept) == 1
    for text in ("accept = 3", "[", "[tool]\nmcpc = 3", "[tool.mcpc]\ndiff = 3"):
        (tmp_path / "c" / "pyproject.toml").write_text(text if text.startswith("[") else f"[tool.mcpc.diff]\n{text}")
        if text in ("accept = 3", "["):
            with pytest.raises(click.UsageError):
                project_policy(None, (c,))
        else:
            assert project_policy(None, (c,)).accept == ()


def test_checksums_are_printed_written_and_checked(tmp_path: Path) -> None:
    write_files(tmp_path, {"b": "b", "a": "a"})
    text = "".join(f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n" for name in "ab")
    assert run("attest", "checksums", tmp_path / "b", tmp_path / "a").stdout == text
    done = run("attest", "checksums", tmp_path / "b", tmp_path / "a", "-o", tmp_path / "SHA256SUMS")
    assert (done.exit_code, done.output, (tmp_path / "SHA256SUMS").read_text()) == (0, "", text)
    assert stat.S_IMODE((tmp_path / "SHA256SUMS").stat().st_mode) & 0o644 == 0o644
    checked = run("attest", "checksums", "--check", tmp_path / "SHA256SUMS")
    assert (checked.exit_code, checked.stdout) == (0, "a: ok\nb: ok\n")
    (tmp_path / "b").write_text("c")
    wrong = run("attest", "checksums", "--check", tmp_path / "SHA256SUMS", "--format", "json")
    assert (wrong.exit_code, json.loads(wrong.stdout)) == (
        6,
        [{"name": "a", "status": "ok"}, {"name": "b", "status": "differs"}],
    )
    assert run("attest", "checksums").exit_code == run("attest", "checksums", "x", "--check", "y").exit_code == 2
    assert run("attest", "checksums", "--check", tmp_path / "a").exit_code == 2
    assert run("attest", "checksums", tmp_path / "a", tmp_path / "." / "a").exit_code == 2


BILL = {
    "components": [
        {"name": "one", "version": "1", "licenses": [{"license": {"id": "MIT"}}, {"license": {"id": "BSD-3-Clause"}}]},
        {"name": "two"},
    ]
}


def evident_file(path: Path, **facts: Any) -> Path:
    return built_file(path, facts, entries={"META-INF/sbom.cdx.json": json.dumps(BILL).encode()})


def test_licences_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attest, "inner_bill", lambda contents: BILL)
    monkeypatch.setattr(attest, "licence_texts", lambda path: [("one 1", "The text.\n\n")])
    file = evident_file(tmp_path / "a.pyz")
    assert run("attest", "licenses", file).stdout == "one 1: MIT and BSD-3-Clause\ntwo: no licence is declared\n"
    assert run("attest", "licenses", file, "--texts").stdout.endswith("declared\n\n=== one 1\n\nThe text.\n")
    rows = [
        {"name": "one", "version": "1", "licence": "MIT and BSD-3-Clause"},
        {"name": "two", "version": "", "licence": ""},
    ]
    assert json.loads(run("attest", "licenses", file, "--format", "json").stdout) == {"components": rows}
    found = json.loads(run("attest", "licenses", file, "--format", "json", "--texts").stdout)
    assert found == {"components": rows, "texts": [{"of": "one 1", "text": "The text.\n\n"}]}


def test_evidence_is_printed_or_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def commit_of(project: Path) -> str:
        if project.name == "none":
            raise NoCommitError("there is none")
        return "c0ffee"

    asked: list[Any] = []
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    monkeypatch.setattr(attest, "commit_of", commit_of)
    monkeypatch.setattr("mcpc.cli.attest.outer_bill", lambda *given: asked.append(given[1:]) or {"bill": 1})
    monkeypatch.setattr(
        "mcpc.cli.attest.provenance_statement",
        lambda *given: asked.append(given[1:]) or {"predicate": {"p": 1}, "s": 2},
    )
    file = evident_file(tmp_path / "a.pyz")
    for name in ("with", "none"):
        (tmp_path / name).mkdir()
    assert run("attest", "sbom", file).stdout == '{\n  "bill": 1\n}\n'
    assert run("attest", "sbom", file, "-o", tmp_path / "bill.json", "--project", tmp_path / "with").output == ""
    assert json.loads((tmp_path / "bill.json").read_text()) == {"bill": 1}
    assert stat.S_IMODE((tmp_path / "bill.json").stat().st_mode) & 0o644 == 0o644
    assert run("attest", "sbom", file, "--project", tmp_path / "none").exit_code == 2
    for epoch, status in (("86400", 0), ("9" * 11, 0), ("9" * 12, 2), ("x", 2), ("", 0)):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        assert run("attest", "sbom", file).exit_code == status
    assert asked == [("", ""), ("c0ffee", ""), ("", "86400"), ("", "9" * 11), ("", "")]
    assert json.loads(run("attest", "provenance", file).stdout) == {"predicate": {"p": 1}, "s": 2}
    assert json.loads(
        run("attest", "provenance", file, "--predicate", "--source-uri", "u", "--project", tmp_path / "with").stdout
    ) == {"p": 1}
    assert asked[5:] == [("a.pyz", "", ""), ("a.pyz", "c0ffee", "u")]
    for wrong in (tmp_path / "absent", tmp_path):
        assert run("attest", "sbom", wrong).exit_code == 2
    damaged = built_file(tmp_path / "b.pyz", entries={"handlers.zip": b"x"})
    assert run("attest", "sbom", damaged).exit_code == 2


def test_documentation_is_of_what_a_target_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(generate, "inner_bill", lambda contents: BILL)
    monkeypatch.setattr(
        generate, "page_of", lambda facts, cases, about: asked.append((facts["name"], cases, about)) or facts["name"]
    )
    monkeypatch.setattr(
        generate,
        "FORMATS",
        {"html": lambda page: f"html of {page}\udc80", "markdown": lambda page: f"markdown of {page}"},
    )
    snapshot = write_files(tmp_path, {"s.json": {"name": "snap", "version": "1"}}) / "s.json"
    file = evident_file(tmp_path / "a.pyz")
    about = [
        ("Size", f"{file.stat().st_size:,} bytes"),
        ("Contains", "one 1: MIT and BSD-3-Clause"),
        ("Contains", "two: no licence is declared"),
    ]
    assert run("generate", "docs", snapshot).stdout == "html of snap\\udc80"
    assert run("generate", "docs", file, "--format", "markdown").stdout == "markdown of demo"
    for name, text in {"a.md": "markdown", "a.markdown": "markdown", "a.html": "html", "a.txt": "html"}.items():
        assert run("generate", "docs", file, "-o", tmp_path / name).output == ""
        assert (tmp_path / name).read_bytes().startswith(text.encode())
    assert asked == [("snap", {}, []), *[("demo", {}, about)] * 5]
    monkeypatch.setattr(
        generate, "read_server_target", lambda target, given: SimpleNamespace(as_json=lambda: {"name": target})
    )
    assert run("generate", "docs", "https://a.b/mcp", "--format", "markdown").stdout == "markdown of https://a.b/mcp"
    assert run("generate", "docs", "--format", "markdown", "--", "x").stdout == "markdown of ."


CASES = """\
tests:
- {name: a, tool: t, arguments: {x: 1}}
- {name: b, tool: t, expect: {text: x}}
- {name: c, tool: t, expect: {error: false}}
- {name: d, tool: t, expect: {error: true}}
- {name: e, tool: t, expect: {error: -32602}}
- {name: f, prompt: t}
- {name: g, tool: u}
"""


def test_examples_are_the_calls_that_succeed(tmp_path: Path) -> None:
    write_files(tmp_path, {"tests/a.yaml": CASES})
    assert generate.cases_of(tmp_path) == {"t": [("a", {"x": 1}), ("b", {}), ("c", {})], "u": [("g", {})]}


FOUND: dict[str, Any] = {
    "file": "server.pyz",
    "verdict": "different",
    "differences": [
        *({"entry": f"handlers/{number}.py", "kind": "changed", "cause": "source"} for number in range(9)),
        *({"entry": f"site/{number}", "kind": "only in the file", "cause": "packages"} for number in range(8)),
        {"entry": "META-INF/build.json", "kind": "changed", "cause": "mcpc"},
        {"entry": "a", "kind": "changed", "cause": "altered"},
        {"entry": "mcpc_app/bytecode", "kind": "changed", "cause": "python"},
    ],
    "definitions": [
        {"kind": "tools", "name": "t", "only": "", "members": ["description", "inputSchema"], "file": "tools.json"},
        {"kind": "resourceTemplates", "name": "a://{x}", "only": "file", "members": [], "file": ""},
    ],
    "packages": [{"name": "six", "file": "1", "project": ""}, {"name": "yaml", "file": "", "project": "2"}],
    "options": [{"option": "--http", "counts": True}, {"option": "--hooks", "counts": False}],
    "builtWith": {"mcpc": "1", "python": {"bytecode": "3.11"}},
    "rebuiltWith": {"mcpc": "2", "python": {"bytecode": "3.12"}},
}


def test_what_differs_is_told_by_cause(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "verify.txt", "".join(f"{line}\n" for line in verify.text_lines(FOUND)))
    assert {row["cause"] for row in FOUND["differences"]} <= {*CAUSES}


def contents(tmp_path: Path, **facts: Any) -> ArtifactContents:
    return take_apart(built_file(tmp_path / "contents.pyz", facts).read_bytes())


def test_recorded_options_and_those_of_the_command_line_are_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = contents(tmp_path, options={"http": True, "build_environment": ["A", "B"]})
    given = {"strict": True, "lock": "", "allow": (), "python": None, "build_environment": (("A", "1"),)}
    found, rows = verify.rebuild_options(recorded, Path("f"), given)
    assert found == Options(http=True, strict=True, every_python=True, build_environment=(("A", "1"),))
    assert rows == [{"option": "--http", "counts": True}]
    assert "A, B" in capsys.readouterr().err
    verify.rebuild_options(recorded, Path("f"), {"build_environment": (("A", "1"), ("B", ""))})
    verify.rebuild_options(contents(tmp_path), Path("f"), {})
    assert capsys.readouterr().err == ""
    for wrong in ({"nonsense": 1}, 3):
        with pytest.raises(click.UsageError):
            verify.rebuild_options(contents(tmp_path, options=wrong), Path("f"), {})


@pytest.mark.parametrize(
    ("name", "value", "option", "counts"),
    [
        ("compact", True, "--compact", True),
        ("defaults", False, "--no-defaults", True),
        ("platforms", ["a", "b"], "--platform a --platform b", True),
        ("tools_page_size", 2, "--tools-page-size 2", True),
        ("python", "3.11,3.12", "--python 3.11,3.12", True),
        ("python", "/tmp/python3.11", "--python /tmp/python3.11", False),
        ("allow", ["*"], "--allow '*'", False),
        ("hooks", True, "--hooks", False),
        ("dialect", "mcbox", "--dialect mcbox", False),
        ("exclude_newer", "2020-01-01", "--exclude-newer 2020-01-01", False),
    ],
)
def test_an_option_that_chooses_what_runs_counts_only_if_it_is_given(
    name: str, value: Any, option: str, counts: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = contents(tmp_path, options={name: value})
    chosen = tuple(value) if isinstance(value, list) else value
    used, told = replace(Options(every_python=True), **{name: chosen}), {"option": option, "counts": True}
    found = verify.rebuild_options(recorded, Path("f"), {})
    assert found == (used if counts else Options(every_python=True), [{**told, "counts": counts}])
    assert (f"f records {option};" in capsys.readouterr().err) is not counts
    assert verify.rebuild_options(recorded, Path("f"), {name: chosen}) == (used, [told])
    assert capsys.readouterr().err == ""


SERVER = SimpleNamespace(
    tools=[SimpleNamespace(name="t", span=SimpleNamespace(path="tools.json"))],
    prompts=[SimpleNamespace(name="p", span=SimpleNamespace(path="prompts.json"))],
    resources=[SimpleNamespace(uri="a://b", span=SimpleNamespace(path="r.json"))],
    templates=[SimpleNamespace(uri=SimpleNamespace(text="a://{x}"), span=SimpleNamespace(path="x.json"))],
)


def test_a_definition_has_the_place_of_its_list() -> None:
    names = {"tools": "t", "prompts": "p", "resources": "a://b", "resourceTemplates": "a://{x}"}
    server: Any = SERVER
    found = [verify.place_of(server, {"kind": kind, "name": name}) for kind, name in names.items()]
    assert found == ["tools.json", "prompts.json", "r.json", "x.json"]
    assert verify.place_of(server, {"kind": "tools", "name": "p"}) == ""


@pytest.fixture
def rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a rebuild makes, and what it was asked for."""
    seen: dict[str, Any] = {
        "data": built_file(tmp_path / "made.pyz", lists={"tools": [tool("t")]}).read_bytes(),
        "checked": SimpleNamespace(server=SERVER),
    }

    def compile_server(checked: Any, options: Options, tell: Any, minors: tuple[str, ...]) -> Any:
        seen["compiled"] = options, minors
        return SimpleNamespace(data=seen["data"])

    def analyse(tree: Any, found: Any, options: Options) -> Any:
        seen["analysed"] = options
        return SimpleNamespace(checked=seen["checked"], diagnostics=(), sources={})

    monkeypatch.setattr(verify.pipeline, "read_project", lambda project: (SimpleNamespace(get=lambda _: None), ()))
    monkeypatch.setattr(verify.pipeline, "analyse", analyse)
    monkeypatch.setattr(verify.pipeline, "compile_server", compile_server)
    return seen


def test_a_file_is_verified(rebuilt: dict[str, Any], tmp_path: Path) -> None:
    file = built_file(tmp_path / "file.pyz", lists={"tools": [tool("t")]})
    same = run("attest", "verify", file, tmp_path)
    assert (same.exit_code, same.stdout.split(":")[1]) == (0, " identical")
    other = built_file(tmp_path / "other.pyz", {"mcpc": "9"}, lists={"tools": [{**tool("t"), "title": "T"}, tool("x")]})
    done = run("attest", "verify", other, tmp_path, "--format", "json", "--sources-only")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["verdict"], found["file"]) == (6, "different", str(other))
    assert [(row["name"], row["file"]) for row in found["definitions"]] == [("t", "tools.json"), ("x", "")]
    assert found["sha256"] == {
        "file": hashlib.sha256(other.read_bytes()).hexdigest(),
        "project": hashlib.sha256(rebuilt["data"]).hexdigest(),
    }
    assert (found["builtWith"], found["rebuiltWith"]) == ({"mcpc": "9", "python": None}, {"mcpc": "0", "python": None})
    assert [*found["causes"]] == [cause for cause in CAUSES if cause in {row["cause"] for row in found["differences"]}]
    assert run("attest", "verify", tmp_path / "absent", tmp_path).exit_code == 2
    rebuilt["checked"] = None
    assert run("attest", "verify", file, tmp_path).exit_code == 1


def test_what_another_mcpc_wrote_is_not_compared_if_only_sources_matter(
    rebuilt: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        verify, "verdict", lambda differences, same_lists: "same-sources" if same_lists else "different"
    )
    file = built_file(tmp_path / "file.pyz", {"mcpc": "9"}, lists={"tools": [tool("t")]})
    assert [run("attest", "verify", file, tmp_path, *words).exit_code for words in ((), ("--sources-only",))] == [6, 0]
    monkeypatch.setattr(verify, "verdict", lambda differences, same_lists: "equivalent")
    assert run("attest", "verify", file, tmp_path).exit_code == 0


@pytest.mark.parametrize(
    ("bytecode", "python", "minors"),
    [
        ("3.8.1", "", ("3.8",)),
        (f"{HERE}.1", "", ()),
        ("3.8.1,3.9.1", "", ()),
        ("3.8", "", ()),
        ("3.8.1", "3.11", ()),
        ("3.7.1", "", ()),
    ],
)
def test_a_file_is_compiled_by_the_python_that_compiled_it(
    bytecode: str,
    python: str,
    minors: tuple[str, ...],
    rebuilt: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interpreter(minor: str) -> str:
        if minor == "3.7":
            raise MissingPythonError("no Python 3.7")
        return "python"

    monkeypatch.setattr(verify, "interpreter", interpreter)
    options = Options(python=python)
    rebuild = verify.Rebuild(tmp_path / "f", tmp_path, contents(tmp_path, python={"bytecode": bytecode}), options)
    data, server = rebuild.result(None)
    assert (data.data, server) == (rebuilt["data"], SERVER)
    assert rebuilt["compiled"] == (options, minors)
    assert rebuilt["analysed"] == (replace(options, python=minors[0]) if minors else options)
    assert ("no Python 3.7" in capsys.readouterr().err) is (bytecode == "3.7.1")


def test_a_program_is_rebuilt_as_one(rebuilt: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    def embed_server(request: EmbeddingRequest) -> bytes:
        made.append(request)
        if request.minimal:
            raise CannotEmbedError("MCP420", "no such Python", "take one")
        return rebuilt["data"]

    monkeypatch.setattr(verify, "embed_server", embed_server)
    monkeypatch.setattr(verify, "windows_program", lambda data, options, minor: made.append((data, minor)) or data)
    embedded = contents(tmp_path, selfContained={"target": "linux_x86_64", "python": "3.13"})
    verify.Rebuild(tmp_path / "f", tmp_path, embedded, Options()).result(Path("python"))
    windows = replace(contents(tmp_path), program=b"MZ")
    verify.Rebuild(tmp_path / "f", tmp_path, windows, Options()).result(None)
    assert made == [EmbeddingRequest(rebuilt["data"], "linux_x86_64", Path("python"), False), (rebuilt["data"], "")]
    minimal = contents(tmp_path, selfContained={"target": "linux_x86_64", "minimal": True})
    with pytest.raises(click.UsageError, match="no such Python; take one"):
        verify.Rebuild(tmp_path / "f", tmp_path, minimal, Options()).result(None)
