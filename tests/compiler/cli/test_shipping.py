"""Commands that write files from a built server: what they pass on, write and refuse; the carriers are tested elsewhere."""

import errno
import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from mcpc.cli import carrier_files, cli, command_options, converting, generate, new, release, ship
from mcpc.cli.carrier_files import program_of, read_built_server, report_unusable, write_file, write_folder
from mcpc.diagnostics import diagnose
from mcpc.interpreters.launchers.windows_file import PythonChoice
from mcpc.interpreters.selfcontained import CannotEmbedError, EmbeddingRequest
from mcpc.languages import MODELS_LINE
from mcpc.model.ir.project import ProjectMetadata, RegistryEntry
from mcpc.options import Options
from mcpc.reading import Source
from mcpc.release.carriers import BuiltServer, UnusableFileError, UnusableValueError
from mcpc.release.carriers.built_server import CarrierFile, ProgramTarget
from mcpc.release.carriers.image import ImageOptions
from mcpc.release.carriers.registry import Publication
from mcpc.release.exports import Deployment
from mcpc.release.releasing import ReleasePlan
from mcpc.workbench.importing import Translation
from mcpc.workbench.stubs import MARK
from support.archives import built_file
from support.files import write_files
from support.needs import ROOT
from support.projects import SERVER_JSON, SMOKETEST

GOLDEN = ROOT / "tests/golden/cli"
REGISTRY = RegistryEntry(
    name="io.github.me/demo",
    mcpb=("https://x.org/{version}/demo.mcpb",),
    oci=("r/{version}",),
    remotes=("https://a.b/{version}",),
)
PROJECT = ProjectMetadata(license="MIT", urls=(("Repository", "https://r.org"),), registry=REGISTRY)
PYTHON = {"python": {"bytecode": "3.13.1"}}
SERVER = BuiltServer(
    "Demo server",
    "1.2",
    description="Does it.",
    project=PROJECT,
    bytecode="3.13.1,3.12.2",
    serving=frozenset({"uvicorn"}),
    source_digest="s",
    data=b"built",
)  # fmt: skip


def run(*words: object) -> Any:
    return CliRunner().invoke(cli, [*map(str, words)])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is asked of the server that the commands read: the target, and the build options that are set."""
    asked: list[Any] = []

    def server_of(target: Path, given: dict[str, Any], **more: Any) -> BuiltServer:
        asked.append((target, {name: value for name, value in given.items() if value not in (None, "", ())} | more))
        return SERVER

    for module in (ship, ship, ship, ship, ship):
        monkeypatch.setattr(module, "server_of", server_of)
    monkeypatch.setattr(command_options.TargetPath, "is_fit", lambda *_: True)
    return asked


def test_a_file_is_written_with_its_mode(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "new" / "file"
    write_file(target, b"x" * 1234, 0o640)
    assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (b"x" * 1234, 0o640)
    digest = hashlib.sha256(b"x" * 1234).hexdigest()
    assert capsys.readouterr().err == f"{target}: 1,234 bytes, sha256 {digest}\n"
    with pytest.raises(click.UsageError):
        write_file(target / "below", b"")


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [CarrierFile("b/c.sh", 0o755, b"c"), CarrierFile("a.txt", 0o644, b"a")]
    before = os.umask(0o027)
    try:
        write_folder(tmp_path / "new" / "one", files)
        (tmp_path / "empty").mkdir()
        write_folder(tmp_path / "empty", iter(files))
    finally:
        assert os.umask(before) == 0o027
    for name in ("new/one", "empty"):
        found = {str(path.relative_to(tmp_path / name)): path for path in (tmp_path / name).rglob("*")}
        assert sorted(found) == ["a.txt", "b", "b/c.sh"]
        assert (found["b/c.sh"].read_bytes(), stat.S_IMODE(found["b/c.sh"].stat().st_mode)) == (b"c", 0o750)
        assert stat.S_IMODE(found["a.txt"].stat().st_mode) == 0o640
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o750
    assert capsys.readouterr().err == f"{tmp_path / 'new/one'}: 2 files\n{tmp_path / 'empty'}: 2 files\n"
    for wrong in ("empty", "empty/a.txt", "empty/a.txt/x"):
        with pytest.raises(click.UsageError):
            write_folder(tmp_path / wrong, files)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "new"]


def test_what_cannot_be_used_has_its_own_status(tmp_path: Path) -> None:
    for problem, status in ((UnusableValueError("value"), 2), (UnusableFileError("file"), 6)):
        with pytest.raises(click.UsageError, match=str(problem)) as refused, report_unusable():
            raise problem
        assert refused.value.exit_code == status
    assert read_built_server(built_file(tmp_path / "a.pyz", PYTHON)).name == "demo"
    assert carrier_files.server_of(tmp_path / "a.pyz", {}).version == "1.2"
    for entries in ({"mcpc_app/blob": b""}, {"mcpc_app/index.py": b"x"}):
        file = built_file(tmp_path / "b.pyz", PYTHON, {"tools": [{"name": "t"}]}, entries=entries)
        with pytest.raises(click.UsageError):
            read_built_server(file)


def test_a_program_has_the_sources_of_its_server(tmp_path: Path) -> None:
    file = built_file(tmp_path / "a.pyz", PYTHON)
    own = read_built_server(file)
    assert program_of(own, file) == own
    with pytest.raises(UnusableFileError):
        program_of(replace(own, source_digest="other"), file)
    with pytest.raises(click.UsageError):
        program_of(own, tmp_path)


@pytest.mark.parametrize(
    ("words", "version", "programs"),
    [
        ([], ship.VERSIONS[0], ()),
        (["--manifest", "0.4", "--exe"], "0.4", (b"exe",)),
        (["--exe", "--self-contained"], ship.VERSIONS[0], (b"exe", b"embedded")),
        (["--program", "one", "--self-contained", "--program", "two"], ship.VERSIONS[0], (b"embedded", b"one", b"two")),
    ],
)  # fmt: skip
def test_a_bundle_has_its_programs(
    words: list[str],
    version: str,
    programs: tuple[bytes, ...],
    server: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Any] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ship, "bundle_archive", lambda *given: made.append(given) or b"bundle")
    monkeypatch.setattr(ship, "program_of", lambda _, path: SimpleNamespace(data=str(path).encode()))
    monkeypatch.setattr(ship, "windows_file", lambda *given: made.append(given) or b"exe")
    monkeypatch.setattr(ship, "embed_server", lambda request: made.append(request) or b"embedded")
    monkeypatch.setattr(ship, "this_machine", lambda: "here")
    done = run("ship", "bundle", "x", *words, "--strict")
    assert done.exit_code == 0, done.output
    assert server == [(Path("x"), {"strict": True, "for_clients": True})]
    assert made.pop() == (SERVER, version, programs)
    expected = [(b"built", "x64", PythonChoice((13, 12)))] if "--exe" in words else []
    assert made == [*expected, *([EmbeddingRequest(b"built", "here")] if "--self-contained" in words else [])]
    assert (tmp_path / "demo-server.mcpb").read_bytes() == b"bundle"


def test_a_bundle_that_cannot_be_made_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    program = replace(SERVER, target=ProgramTarget("linux", "x86_64"))
    for which in ({"exe": True, "embeds": False}, {"exe": False, "embeds": True}):
        with pytest.raises(UnusableValueError):
            [*ship.made_programs(program, **which)]
    assert [*ship.made_programs(program, exe=False, embeds=False)] == []

    def embed_server(_: EmbeddingRequest) -> bytes:
        raise CannotEmbedError("MCP420", "no Python", "take one")

    monkeypatch.setattr(ship, "embed_server", embed_server)
    with pytest.raises(UnusableValueError, match="no Python; take one"):
        [*ship.made_programs(SERVER, exe=False, embeds=True)]


def test_a_plugin_is_written_to_a_folder(server: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ship, "plugin_files", lambda *given: made.append(given) or [CarrierFile("a", 0o644, b"a")])
    first, second = [*ship.FORMS][:2]
    assert run("ship", "plugin", "--also", f" {second},,{first} ", "--command", "uvx").exit_code == 0
    assert run("ship", "plugin", "-o", "own", "--http").exit_code == 0
    assert made == [(SERVER, "uvx", (second, first)), (SERVER, "", ())]
    assert server == [(Path(), {"for_clients": True}), (Path(), {"for_clients": True, "http": True})]
    assert sorted(str(path) for path in Path().rglob("*")) == [
        "demo-server-plugin",
        "demo-server-plugin/a",
        "own",
        "own/a",
    ]
    assert run("ship", "plugin", "--also", f"{first},none").exit_code == 2


@pytest.mark.parametrize(
    ("words", "http", "port"),
    [([], None, 0), (["--http"], True, 8000), (["--port", "9"], True, 9), (["--port", "9", "--http"], True, 9)],
)
def test_an_image_serves_at_its_port(
    words: list[str], http: bool | None, port: int, server: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    monkeypatch.setattr(ship, "image_layout", lambda *given: made.append(given) or [CarrierFile("a", 0o644, b"a")])
    monkeypatch.setattr(ship, "missing_in_image", lambda *_: "it lacks bash" if http else "")
    monkeypatch.setattr(ship, "layout_archive", lambda _: b"tar")
    monkeypatch.setattr(ship, "program_of", lambda *given: given[1])
    monkeypatch.setattr(ship, "read_base", lambda *given: given)
    done = run(
        "ship",
        "image",
        *words,
        "--program",
        "p",
        "--base",
        ".",
        "--base-digest",
        "d",
        "--base-name",
        "n",
        "--revision",
        "r",
    )
    assert done.exit_code == 0, done.output
    assert ("note: it lacks bash\n" in done.stderr) is bool(http)
    base: Any = (Path(), "d")
    assert made == [((SERVER, Path("p")), ImageOptions(base, "n", port, "1970-01-01T00:00:00Z", "r"))]
    assert server[0][1].get("http") is http
    assert (tmp_path / "demo-server.tar").read_bytes() == b"tar"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86461")
    assert run("ship", "image", "-o", "layout").exit_code == 0
    assert (tmp_path / "layout" / "a").read_bytes() == b"a"
    assert made[1] == ((SERVER,), ImageOptions(created="1970-01-02T00:01:01Z"))
    for wrong in ("x", "9" * 20):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", wrong)
        assert run("ship", "image").exit_code == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], Publication("io.github.me/demo", (("https://x.org/1.2/demo.mcpb", ""),), ("r/1.2",), ("https://a.b/1.2",))),
        (
            ["--name", "own", "--oci", "i:{version}", "--remote", "https://c.d"],
            Publication("own", (("https://x.org/1.2/demo.mcpb", ""),), ("i:{version}",), ("https://c.d",)),
        ),
        (["--mcpb", "demo.mcpb"], [("https://x.org/1.2/demo.mcpb", "DIGEST")]),
        (["--mcpb", "https://y.org/?a=b=demo.mcpb"], [("https://y.org/?a=b", "DIGEST")]),
        (["--mcpb", "https://y.org/z=demo.mcpb", "--mcpb", "demo.mcpb"], [("https://y.org/z", "DIGEST"), ("https://x.org/1.2/demo.mcpb", "DIGEST")]),
        (["--mcpb", "other.mcpb"], None),
        (["--mcpb", "https://y.org/=absent"], None),
    ],
)  # fmt: skip
def test_an_entry_of_the_registry_names_what_is_published(
    words: list[str], expected: Any, server: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    monkeypatch.chdir(write_files(tmp_path, {"demo.mcpb": "bundle", "other.mcpb": "other"}))
    monkeypatch.setattr(ship, "registry_file", lambda *given: made.append(given) or "text é\udc80\n")
    done = run("ship", "registry", *words, "-o", "server.json")
    if expected is None:
        assert (done.exit_code, made) == (2, [])
        return
    if isinstance(expected, list):
        digest = hashlib.sha256(b"bundle").hexdigest()
        bundles = tuple((url, digest) for url, _ in expected)
        expected = Publication("io.github.me/demo", bundles, ("r/1.2",), ("https://a.b/1.2",))
    assert (done.exit_code, made, server) == (0, [(SERVER, expected)], [(Path(), {})])
    assert (tmp_path / "server.json").read_bytes() == "text é\\udc80\n".encode()


def test_an_entry_of_the_registry_is_printed(server: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ship, "registry_file", lambda *_: "text\n")
    assert run("ship", "registry").stdout == "text\n"


@pytest.mark.parametrize(
    ("words", "given", "changed"),
    [
        (["nginx", "--server", "a:1", "--server", "b:2"], {"http": True}, {"upstreams": ("a:1", "b:2")}),
        (["kubernetes", "--replicas", "5", "--image", "i:1"], {"http": True}, {"replicas": 5, "image": "i:1"}),
        (["systemd", "--host", "h.org", "--path", "/p"], {"http": True}, {"host": "h.org", "path": "/p"}),
        (["homebrew", "--url", "https://u.org/x"], {}, {"url": "https://u.org/x", "base": ""}),
        (["gitlab-ci", "--in-repository", "sub", "--http", "--redis"], {"http": True, "redis": True}, {"project": "sub", "base": ""}),
    ],
)  # fmt: skip
def test_an_export_describes_the_deployment(
    words: list[str],
    given: dict[str, Any],
    changed: dict[str, Any],
    server: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Deployment] = []
    monkeypatch.setitem(ship.EXPORTS, words[0], lambda target: made.append(target) or "text\udc80\n")
    done = run("ship", words[0], tmp_path / "x", *words[1:], "-o", tmp_path / "file")
    assert done.exit_code == 0, done.output
    assert server == [(tmp_path / "x", given)]
    expected = Deployment(
        "Demo server",
        "1.2",
        base="python:3.13-slim",
        summary="Does it.",
        homepage="https://r.org",
        license="MIT",
        digest=hashlib.sha256(b"built").hexdigest(),
        python="3.13",
    )
    assert made == [replace(expected, **changed)]
    assert (tmp_path / "file").read_bytes() == b"text\\udc80\n"


def test_an_export_needs_the_packages_of_its_deployment(server: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ship.EXPORTS, "kubernetes", lambda _: "text\n")
    assert run("ship", "kubernetes").stdout == "text\n"
    assert run("ship", "kubernetes", "--valkey").exit_code == 2
    assert server[1][1]["redis"] is True
    assert run("ship", "kubernetes", "--host", "a b").exit_code == 2
    with_redis = replace(SERVER, serving=frozenset({"uvicorn", "redis"}))
    ship.require_packages(Path("x"), with_redis, serves=True, valkey=True)
    ship.require_packages(Path("x"), replace(SERVER, serving=frozenset()), serves=False, valkey=False)
    with pytest.raises(click.UsageError):
        ship.require_packages(Path("x"), replace(SERVER, serving=frozenset({"redis"})), serves=True, valkey=False)


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The plan that a project has, and what the steps of a release are given."""
    seen: dict[str, Any] = {"plan": ReleasePlan(("pyz", "sbom"), ("linux_x86_64",), ()), "problems": ()}
    files = (CarrierFile("demo.pyz", 0o755, b"x" * 5000), CarrierFile("a.json", 0o644, b"{}"))

    def step(name: str, answer: Any, module: Any = release) -> None:
        monkeypatch.setattr(module, name, lambda *given, **_: seen.setdefault(name, []).append(given) or answer)

    step("release_files", files)
    step("read_commit", "c0ffee")
    step("self_contained_file", b"program")
    step("build_for_usual_machines", None, carrier_files)
    step("write_artifact", None, carrier_files)
    monkeypatch.setattr(carrier_files, "read_built_server", lambda path: replace(SERVER, title=path.name))
    monkeypatch.setattr(release, "read_built_server", lambda path: replace(SERVER, title=path.name))
    monkeypatch.setattr(release, "read_plan", lambda source: (seen["plan"], seen["problems"]))
    monkeypatch.setattr(release, "read_target", lambda target, *_: target)
    monkeypatch.setattr(release, "compare", lambda *given: SimpleNamespace(fits=seen.get("fits"), of=given))
    monkeypatch.setattr(release, "as_changelog", lambda changes, _: f"since {Path(changes.of[0]).name}\n")
    monkeypatch.setattr(release, "version_line", lambda _: "the version does not fit")
    return seen


def test_a_release_is_built_written_and_listed(released: dict[str, Any], tmp_path: Path) -> None:
    project = write_files(tmp_path / "p", SMOKETEST)
    dist = tmp_path / "new" / "dist"
    done = run("release", project, "--dist", dist, "--http")
    assert done.exit_code == 0, done.output
    assert done.stdout == (
        f"Demo server 1.2\n  {'a.json':<44} {2:>12} bytes\n  {'demo.pyz':<44} {'5,000':>12} bytes, executable\n"
        f"  {dist}/SHA256SUMS: check it with `sha256sum -c SHA256SUMS` in that folder\n"
    )
    (asked, wanted) = released["release_files"][0]
    assert (asked.server.title, [name for name, _ in asked.programs], asked.commit, asked.source) == (
        "server.pyz",
        ["linux_x86_64"],
        "",
        "",
    )
    assert wanted == ("pyz", "sbom")
    assert released["build_for_usual_machines"] == [(project, Options(http=True, every_python=True))]
    assert [path.name for _, path in released["write_artifact"]] == ["server.pyz"]
    assert released["self_contained_file"][0][1] == "linux_x86_64"
    assert "read_commit" not in released
    sums = "".join(
        f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in (("a.json", b"{}"), ("demo.pyz", b"x" * 5000))
    )
    found = {path.name: path.read_bytes() for path in dist.iterdir()}
    assert found == {"demo.pyz": b"x" * 5000, "a.json": b"{}", "SHA256SUMS": sums.encode(), ".gitignore": b"*\n"}
    (dist / "earlier").write_text("")
    released["fits"] = False
    again = run("release", project, "--dist", dist, "--since", tmp_path, "--source-uri", "git+https://r.org")
    assert (again.exit_code, again.stderr) == (0, "note: the version does not fit\n")
    assert sorted(path.name for path in dist.iterdir()) == [
        ".gitignore",
        "RELEASE_NOTES.md",
        "SHA256SUMS",
        "a.json",
        "demo.pyz",
    ]
    assert (dist / "RELEASE_NOTES.md").read_text() == f"since {tmp_path.name}\n"
    assert sorted(path.name for path in dist.parent.iterdir()) == ["dist"]
    assert (released["release_files"][1][0].commit, released["release_files"][1][0].source) == (
        "c0ffee",
        "git+https://r.org",
    )
    for fits in (True, None):
        released["fits"] = fits
        assert run("release", project, "--dist", dist, "--since", tmp_path).stderr == ""


def test_a_release_that_cannot_take_its_place_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"dist/SHA256SUMS": "earlier"})
    rename = Path.rename

    def rename_or_fail(path: Path, target: Path) -> Path:
        if path.name == "new":
            raise OSError(errno.EBUSY, "busy")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", rename_or_fail)
    with pytest.raises(click.UsageError, match="busy"):
        release.write_release(tmp_path / "dist", [CarrierFile("a.json", 0o644, b"{}")])
    assert [path.name for path in tmp_path.rglob("*")] == ["dist", "SHA256SUMS"]


def test_options_of_a_release_are_those_of_the_command_line_then_those_declared(
    released: dict[str, Any], tmp_path: Path
) -> None:
    project = write_files(tmp_path / "p", SMOKETEST)
    released["plan"] = ReleasePlan(("pyz",), (), ("--http", "--tools-page-size", "5", "--allow", "a"))
    assert run("release", project, "--dist", tmp_path / "d", "--tools-page-size", "7").exit_code == 0
    options = Options(http=True, tools_page_size=7, allow=("a",), every_python=True)
    assert released["build_for_usual_machines"] == [(project, options)]
    released["plan"] = ReleasePlan(("pyz",), (), ("--nonsense",))
    assert run("release", project, "--dist", tmp_path / "d").exit_code == 2


def test_a_release_that_would_lose_files_is_refused(released: dict[str, Any], tmp_path: Path) -> None:
    project = write_files(tmp_path / "p", SMOKETEST)
    write_files(tmp_path / "d", {"b": "", "a": ""})
    done = run("release", project, "--dist", tmp_path / "d")
    assert (done.exit_code, "such as a;" in done.stderr) == (2, True)
    (tmp_path / "empty").mkdir()
    assert run("release", project, "--dist", tmp_path / "empty").exit_code == 0
    released["problems"] = (diagnose("MCP441", None, "wrong"),)
    done = run("release", project, "--dist", tmp_path / "other")
    assert (done.exit_code, "MCP441" in done.stderr, (tmp_path / "other").exists()) == (1, True, False)
    assert run("release", tmp_path / "none").exit_code == 2


@pytest.mark.parametrize("template", new.TEMPLATES)
def test_a_new_project_has_its_name(template: str, tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    done = run("new", tmp_path / "deep" / "weather", "--template", template)
    assert done.exit_code == 0, done.output
    golden(GOLDEN / f"new-{template}.txt", done.stderr.replace(str(tmp_path), "FOLDER"))
    texts = "".join(path.read_text() for path in (tmp_path / "deep").rglob("*") if path.is_file())
    assert ("my-server" in texts, "weather" in texts) == (False, True)
    assert run("new", tmp_path / "a b", "--template", template).exit_code == 0
    assert any("my-server" in path.read_text() for path in (tmp_path / "a b").rglob("*") if path.is_file())
    assert run("new", tmp_path / "a b").exit_code == 2
    (tmp_path / "empty").mkdir()
    assert run("new", tmp_path / "empty").exit_code == 0
    (tmp_path / "file").write_text("")
    assert run("new", tmp_path / "file").exit_code == 2


def test_a_new_project_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"a.py": b"", "sub/b.py": b"", "sub/b.py/c": b""}
    monkeypatch.setattr(new, "template_files", lambda *_: files)
    (tmp_path / "p").mkdir()
    done = run("new", tmp_path / "p")
    assert (done.exit_code, [*(tmp_path / "p").iterdir()]) == (2, [])
    assert done.stderr.splitlines()[-1].startswith(f"Error: cannot write {tmp_path / 'p'}: ")


def test_options_of_a_build_are_for_a_project_that_is_converted(tmp_path: Path) -> None:
    for words in (("--from", "mcbox"), ("--strict",), ("--extra", "x")):
        done = run("new", tmp_path / "p", *words)
        assert (done.exit_code, "add --import FOLDER" in done.output) == (2, True)
    assert not (tmp_path / "p").exists()


def test_an_imported_project_is_written_and_summed_up(tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    project = write_files(tmp_path / "old", SMOKETEST)
    done = run("new", tmp_path / "new one", "--import", project)
    assert done.exit_code == 0, done.output
    golden(GOLDEN / "import.txt", done.stderr.replace(str(tmp_path), "FOLDER"))
    found = {str(path.relative_to(tmp_path / "new one")) for path in (tmp_path / "new one").rglob("*")}
    assert {"IMPORT.md", "server.json", "tools.json"} <= found
    assert stat.S_IMODE((tmp_path / "new one").stat().st_mode) == 0o755
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new one", "old"]
    quiet = run("new", tmp_path / "other", "--import", project, "--format", "json")
    assert (quiet.exit_code, quiet.stderr) == (0, "")


def test_where_a_project_is_imported_to(tmp_path: Path) -> None:
    project = write_files(tmp_path / "old", SMOKETEST)
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    converting.check_target(tmp_path / "empty", project)
    converting.check_target(tmp_path / "none", project)
    for wrong in ("old", "old/below", "link", "old/tools.json"):
        with pytest.raises(click.UsageError):
            converting.check_target(tmp_path / wrong, project)
    wrong_project = write_files(
        tmp_path / "wrong", {"server.json": SERVER_JSON, "tools.json": {"tools": [{"name": 1}]}}
    )
    assert run("new", tmp_path / "new", "--import", wrong_project).exit_code == 1
    assert not (tmp_path / "new").exists()


def test_an_import_that_does_not_build_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"tools.json": Source("tools.json", b"{")}
    monkeypatch.setattr(converting, "translate", lambda *_: Translation(("x",), files, (), (), ()))
    project = write_files(tmp_path / "old", SMOKETEST)
    done = run("new", tmp_path / "new", "--import", project)
    assert (done.exit_code, "MCP002" in done.stderr, (tmp_path / "new").exists()) == (1, True, False)


def test_files_of_an_import_have_their_modes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"a/b.sh": Source("a/b.sh", b"b", 0o4755), "c": Source("c", b"c", 0o044)}
    converting.write_project(files, tmp_path / "new")
    modes = {
        str(path.relative_to(tmp_path / "new")): stat.S_IMODE(path.stat().st_mode)
        for path in (tmp_path / "new").rglob("*")
        if path.is_file()
    }
    assert modes == {"a/b.sh": 0o755, "c": 0o644}
    with pytest.raises(click.UsageError):
        converting.write_project(files, tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    rows: Any = [
        SimpleNamespace(target=target, runs=runs)
        for target, runs in (("t.json", "as is, now"), ("t.json", "as is"), ("p.json", "wrapped"))
    ]
    converting.print_summary(Translation(("x",), files, rows, ("old.sh",), ()), Path("new"))
    assert [line.split(":")[0] for line in capsys.readouterr().err.splitlines()[:3]] == [
        "new/t.json",
        "new/p.json",
        "old.sh",
    ]


TOOL = {"name": "read", "description": "Read.", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}}  # fmt: skip


def test_models_are_printed_or_written(tmp_path: Path) -> None:
    project = write_files(tmp_path / "p", {"server.json": SERVER_JSON, "tools.json": {"tools": [TOOL]}})
    done = run("generate", "models", project)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith(MODELS_LINE)
    assert "class ReadInput(" in done.stdout
    for name, before in {"new.py": None, "empty.py": " \n", "old.py": f"{MODELS_LINE}\nold"}.items():
        if before is not None:
            (tmp_path / name).write_text(before)
        assert run("generate", "models", project, "-o", tmp_path / name).exit_code == 0
        assert (tmp_path / name).read_text() == done.stdout
    (tmp_path / "own.py").write_text("own = 1\n")
    assert run("generate", "models", project, "-o", tmp_path / "own.py").exit_code == 2
    assert (tmp_path / "own.py").read_text() == "own = 1\n"


def test_models_are_about_definitions_only(tmp_path: Path) -> None:
    wrong = {**TOOL, "inputSchema": {"type": "nonsense"}}
    project = write_files(tmp_path / "p", {"server.json": SERVER_JSON, "tools.json": {"tools": [wrong]}})
    done = run("generate", "models", project)
    assert (done.exit_code, done.stdout, "MCP110" in done.stderr, "MCP004" in done.stderr) == (1, "", True, False)
    assert run("generate", "models", tmp_path / "none").exit_code == 2
    (tmp_path / "empty").mkdir()
    assert run("generate", "models", tmp_path / "empty").exit_code == 1
    problem, missing, other = (diagnose(code, None, "x") for code in ("MCP110", "MCP004", "MCP301"))
    server: Any = SimpleNamespace()
    assert [generate.is_about_definitions(each, server) for each in (problem, missing, other)] == [True, False, False]
    assert [generate.is_about_definitions(each, None) for each in (problem, missing, other)] == [True, True, False]


def test_stubs_are_printed_or_written(tmp_path: Path) -> None:
    snapshot = write_files(tmp_path, {"a.json": {"name": "n", "version": "1", "tools": [TOOL]}}) / "a.json"
    done = run("generate", "client", snapshot)
    assert (done.exit_code, done.stdout.startswith(MARK)) == (0, True)
    for name, before in {"new": None, "empty": " \n", "old": f"{MARK}\nold"}.items():
        if before is not None:
            (tmp_path / name).write_text(before)
        assert run("generate", "client", snapshot, "-o", tmp_path / name).output == ""
        assert (tmp_path / name).read_text() == done.stdout
    (tmp_path / "own").write_text("own")
    assert run("generate", "client", snapshot, "-o", tmp_path / "own").exit_code == 2
    with pytest.raises(click.UsageError):
        generate.own_file(tmp_path / "own")
    assert generate.own_file(tmp_path / "absent") == tmp_path / "absent"


def test_a_language_server_gets_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Options] = []
    monkeypatch.setattr("mcpc.workbench.language_server.server.serve", served.append)
    assert [run("editor", "lsp", *words).exit_code for words in ((), ("--stdio",), ("--import",))] == [0, 0, 0]
    assert served == [Options(imports=False), Options(imports=False), Options(imports=True)]
