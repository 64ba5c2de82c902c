"""Options that commands share: what each word becomes, what is refused, the help, and what shells complete."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from mcpc.cli import cli, command_options, completions, editor, install, server_targets
from mcpc.cli.built_contents import artifact_contents
from mcpc.cli.command_options import BUILD_OPTIONS, build_options, read_options, with_lock_path, with_relative_lock
from mcpc.cli.commands import COMMANDS, FORMER, PATHS, SUBCOMMANDS
from mcpc.cli.completions import definitions, names_of, offered, prompt_arguments, tool_arguments, values_of
from mcpc.cli.install import matching_clients, take_options
from mcpc.cli.server_targets import request_headers
from mcpc.client.client import ConversationError
from mcpc.client.http import UnsafeAddressError
from mcpc.options import Options
from mcpc.pack import cache
from mcpc.reading import Source, SourceTree
from mcpc_runtime.tools.clients.request import Artifact, InvalidRequestError
from mcpc_runtime.tools.clients.request import Options as ClientOptions
from mcpc_runtime.tools.clients.table import CLIENTS
from support.archives import FACTS, built_file
from support.files import write_files
from support.needs import ROOT
from support.projects import SERVER_JSON

GOLDEN = ROOT / "tests/golden/cli"


@command_options.command()
@build_options
def parsing(**given: Any) -> Options:
    return read_options(given)


def options(*words: str) -> Options:
    found: Options = parsing.main([*words], standalone_mode=False)
    return found


def refusal(*words: str) -> str:
    with pytest.raises(click.UsageError) as problem:
        options(*words)
    return problem.value.format_message()


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ([], {}),
        (["--from", "mcbox", "--dialect", "bx-mcp", "--strict"], {"format": "mcbox", "dialect": "bx-mcp", "strict": True}),
        (["--tools-prefix", "t_", "--prompts-prefix", "p_"], {"tools_prefix": "t_", "prompts_prefix": "p_"}),
        (["--tools-page-size", "1", "--prompts-page-size", "2"], {"tools_page_size": 1, "prompts_page_size": 2}),
        (["--resources-page-size", "0"], {}),
        (["--validate", "--assert-formats", "--no-defaults"], {"validate": True, "assert_formats": True, "defaults": False}),
        (["--allow", "a*", "--allow", "b"], {"allow": ("a*", "b")}),
        (["--hooks", "--no-import"], {"hooks": True, "imports": False}),
        (["--entry", "a.py:b", "--build-env", "A=1=2", "--build-env", "B="], {"entry": "a.py:b", "build_environment": (("A", "1=2"), ("B", ""))}),
        (["--framework", "original", "--kb", "k", "--script", "s.sh"], {"framework": "original", "kb": "k", "script": "s.sh"}),
        (["--http", "--ui", "--oauth", "--otel", "--redis"], {"http": True, "ui": True, "oauth": True, "otel": True, "redis": True}),
        (["--platform", "a", "--platform", "b"], {"platforms": ("a", "b")}),
        (["--extra", "e", "--group", "g", "--allow-sdist"], {"extras": ("e",), "groups": ("g",), "allow_sdist": True}),
        (["--exclude-newer", "2025-06-30"], {"exclude_newer": "2025-06-30"}),
        (["--lock", "pylock.toml", "--locked", "--offline"], {"lock": "pylock.toml", "locked": True, "offline": True}),
        (["--find-links", "https://x.org/", "--compact"], {"find_links": ("https://x.org/",), "compact": True}),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)  # fmt: skip
def test_words_become_options(words: list[str], changed: dict[str, Any]) -> None:
    assert options(*words) == replace(Options(), **changed)


def test_the_command_line_precedes_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wheels").mkdir()
    assert options("--find-links", "wheels").find_links == (str(tmp_path.resolve() / "wheels"),)
    monkeypatch.setenv("MCBOX_TOOLS_PAGE_SIZE", "7")
    assert options() == replace(Options(), tools_page_size=7)
    assert options("--tools-page-size", "0").tools_page_size == 0
    monkeypatch.setenv("MCBOX_TOOLS_PAGE_SIZE", "x")
    assert "MCBOX_TOOLS_PAGE_SIZE" in refusal()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--build-env", "A"], "`A`"),
        (["--build-env", "A=1", "--build-env", "=2"], "``"),
        (["--exclude-newer", "June"], "`June`"),
        (["--find-links", "https://x.org", "--find-links", "absent"], "absent"),
        (["--tools-page-size", "-1"], "-1"),
        (["--dialect", "none"], "none"),
    ],
)
def test_wrong_words_are_refused(words: list[str], named: str) -> None:
    assert named in refusal(*words)


def test_the_path_of_a_lock_is_that_in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    project = write_files(tmp_path / "project", {"sub/pylock.toml": "", "other.toml": ""})
    sources = {name: Source(name, b"") for name in ("sub/pylock.toml", "other.toml")}
    tree = SourceTree(MappingProxyType(sources))
    given = Options(lock=str(project / "sub" / "pylock.toml"))
    assert with_lock_path(given, project, tree).lock == "sub/pylock.toml"
    assert with_lock_path(Options(lock="project/sub/pylock.toml"), Path("project"), tree).lock == "sub/pylock.toml"
    assert with_lock_path(Options(), project, tree) == Options()
    assert with_relative_lock(Options(lock="elsewhere/pylock.toml"), project).lock == "elsewhere/pylock.toml"
    for lock in ("project/other.toml", "project/pylock.toml", "pylock.toml"):
        with pytest.raises(click.UsageError):
            with_lock_path(Options(lock=lock), project, tree)


@pytest.mark.parametrize("path", ["", *SUBCOMMANDS, *PATHS])
def test_help_is_exactly_this(path: str, golden: Callable[[Path, str], None]) -> None:
    words = path.split()
    done = CliRunner().invoke(cli, [*words, "--help"] if words else ["-h"], terminal_width=200, prog_name="mcpc")
    assert done.exit_code == 0, done.output
    golden(GOLDEN / f"help/{path.replace(' ', '-') or 'mcpc'}.txt", done.output)
    assert CliRunner().invoke(cli, ["help", *words], terminal_width=200, prog_name="mcpc").output == done.output


def test_help_lists_the_shared_options_by_group(golden: Callable[[Path, str], None]) -> None:
    own = CliRunner().invoke(parsing, ["--help"], terminal_width=200).output
    assert [line.split()[0] for line in own.partition("Options:\n")[2].splitlines()] == ["--help-build", "-h,"]
    text = CliRunner().invoke(parsing, ["--help-build"], terminal_width=200).output
    golden(GOLDEN / "help-shared.txt", text)
    assert len(BUILD_OPTIONS) + 1 == len(parsing.params)


def test_the_help_shows_what_people_need_first_and_names_where_the_rest_is() -> None:
    first, everything = (CliRunner().invoke(cli, words).output for words in (["--help"], ["help", "all"]))
    assert CliRunner().invoke(cli, ["help"]).output == first
    names = [line.split()[0] for line in first.splitlines() if line.startswith("  ") and line.split()[0] in COMMANDS]
    assert names == [
        "new",
        "check",
        "dev",
        "test",
        "build",
        "call",
        "install",
        "clients",
        "doctor",
        "diff",
        "lock",
        "release",
    ]
    assert "`mcpc help all` lists every command." in first
    listed = [line.split()[0] for line in everything.splitlines() if line.startswith("  ") and line[:6].strip()]
    below = {name for names in SUBCOMMANDS.values() for name in names}
    assert {*COMMANDS, *below} <= {*listed}
    assert len(COMMANDS) == 20


@pytest.mark.parametrize(("name", "now"), FORMER.items())
def test_a_name_that_was_a_command_leads_to_the_one_that_is(name: str, now: str) -> None:
    done = CliRunner().invoke(cli, [name, "x"])
    assert (done.exit_code, done.output.splitlines()[-1]) == (2, f"Error: unknown command: {name}; it is `mcpc {now}`")
    group, *rest = now.split()
    assert f"{group} {rest[0]}" in PATHS or group in PATHS or rest[0] == "KIND"
    assert name not in COMMANDS


def test_an_unknown_command_is_refused_with_its_neighbour() -> None:
    done = CliRunner().invoke(cli, ["biuld"])
    assert (done.exit_code, "build" in done.output) == (2, True)
    assert "did you mean" not in CliRunner().invoke(cli, ["zzzzzz"]).output
    assert CliRunner().invoke(cli, ["--version"]).exit_code == 0
    context = click.Context(cli, resilient_parsing=True)
    assert cli.get_command(context, "biuld") is None
    assert cli.list_commands(context) == [*COMMANDS]
    assert [(item.value, item.help) for item in cli.shell_complete(context, "ne")] == [
        (name, COMMANDS[name]) for name in ("new",)
    ]
    assert "did you mean plugin?" in CliRunner().invoke(cli, ["ship", "plugn"]).output
    assert "unknown command: ship zzzzzz\n" in CliRunner().invoke(cli, ["ship", "zzzzzz"]).output
    assert "unknown command: build x\n" in CliRunner().invoke(cli, ["help", "build", "x"]).output
    assert CliRunner().invoke(cli, ["ship"]).output == CliRunner().invoke(cli, ["ship", "--help"]).output


@pytest.mark.parametrize(
    "words",
    [["x\x1b[31m\u202ey"], ["help", "x\x1b[31m\u202ey"], ["uninstall", "--client", "x\x1b[31m\u202ey"], ["check", "x\x1b[31m\u202ey"]],
)  # fmt: skip
def test_an_error_shows_what_words_of_the_command_line_hide(words: list[str]) -> None:
    done = CliRunner().invoke(cli, words)
    assert (done.exit_code, [each in done.output for each in ("\x1b", "\u202e")]) == (2, [False, False])


def test_headers_are_those_of_the_options(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(" secret\n")
    assert request_headers((), None) == {}
    assert request_headers(("X-A: b:c ", "Y:", "X-A: d"), None) == {"X-A": "d", "Y": ""}
    assert request_headers(("authorization: x",), token) == {"authorization": "x", "Authorization": "Bearer secret"}
    for number, wrong in enumerate((("no",), ("a: b", ": x"), ("a: b", "c: d", "e f: g"), ("-: x",), ("a: \x01",))):
        with pytest.raises(click.UsageError) as problem:
            request_headers(wrong, None)
        assert f"number {[1, 2, 3, 1, 1][number]} " in problem.value.message
    for text in ("", "a b", "a\x01"):
        token.write_text(text)
        with pytest.raises(click.UsageError):
            request_headers((), token)


@click.command(cls=server_targets.CommandWithServer)
@click.argument("target", default=server_targets.THIS_FOLDER)
@server_targets.connection_options
def reading(target: str, **given: Any) -> Any:
    return server_targets.read_server_target(target, given)


def test_a_target_is_read_as_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def read_server(connect: Any, seconds: float) -> tuple[Any, ...]:
        asked.append((connect.func.__name__, *connect.args, seconds))
        if "fails" in str(connect.args):
            raise ConversationError("no answer")
        if "unsafe" in str(connect.args):
            raise UnsafeAddressError
        return connect.args

    monkeypatch.setattr(server_targets, "read_server", read_server)
    read = reading.main
    assert read(["--timeout", "3", "--", "server", "-x", "--"], standalone_mode=False) == (("server", "-x", "--"),)
    read(["https://a.b", "--header", "K: v"], standalone_mode=False)
    assert asked == [
        ("started_server", ("server", "-x", "--"), 3.0),
        ("connected", "https://a.b", {"K": "v"}, server_targets.SECONDS),
    ]
    snapshot, wrong = tmp_path / "a.json", tmp_path / "b.json"
    snapshot.write_text('{"name": "n", "version": 3}')
    wrong.write_text("{}")
    assert read([str(snapshot)], standalone_mode=False).version == "3"
    file = built_file(tmp_path / "a.pyz", lists={"tools": [{"name": "t"}]})
    found = read([str(file)], standalone_mode=False)
    assert (found.name, found.tools, found.settings) == ("demo", ({"name": "t"},), ())
    nameless = built_file(tmp_path / "b.pyz", {"name": 1})
    statuses = {
        str(wrong): 2,
        str(nameless): 2,
        str(tmp_path / "none"): 2,
        "https://fails.org": 4,
        "http://unsafe.org": 2,
    }
    assert {target: CliRunner().invoke(reading, [target]).exit_code for target in statuses} == statuses
    assert CliRunner().invoke(reading, ["--"]).exit_code == 2
    assert CliRunner().invoke(reading, [str(file), "--", "x"]).exit_code == 2
    assert CliRunner().invoke(reading, ["--", "fails"]).exit_code == 4
    assert CliRunner().invoke(reading, ["--timeout", "0"]).exit_code == 2


@pytest.fixture
def client_calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Artifact | None, ClientOptions]]:
    """The commands about clients that ran; one whose entry is called `bad` fails."""
    calls: list[tuple[str, Artifact | None, ClientOptions]] = []

    def run(command: str, artifact: Artifact | None, options: ClientOptions) -> int:
        calls.append((command, artifact, options))
        if options.name == "bad":
            raise InvalidRequestError("it is bad")
        return 3 if options.name == "failing" else 0

    monkeypatch.setattr(install, "run", run)
    return calls


def client_command(*words: object) -> int:
    return CliRunner().invoke(cli, [*map(str, words)]).exit_code


def test_options_about_clients_are_passed_on(client_calls: list[Any], tmp_path: Path) -> None:
    file = built_file(tmp_path / "a.pyz", {"tools": 0}, {"tools": [{"name": "t"}, {"name": "u"}]})
    artifact = Artifact(str(file), "demo", tools=("t", "u"))
    common = ("--client", "cursor", "--client", "zed", "--scope", "project", "--name", "n")
    assert client_command("clients", "--format", "json") == 0
    assert client_command("uninstall", "gone", "--client", "zed", "--dry-run") == 0
    assert client_command("install", file, *common, "--env", "A=1", "--replace", "--dry-run", "--python", "p") == 0
    assert client_command("install", file, "--link", "cursor", "--badge", "vscode") == 0
    remote = ("--client", "zed", "--url", "https://a.b")
    assert client_command("install", *remote, "--header", "A: b", "--token-env", "T") == 0
    assert client_command("install", "--print", "--client", "zed", "--command", "npx x") == 0
    assert client_command("install", "--client", "zed", "--command", "npx x") == 2
    assert client_command("install", file, "--print", "--client", "zed", "--", "--root", file) == 0
    assert client_command("install", file, "word") == 2
    one = ClientOptions(in_place=True)
    assert client_calls == [
        ("clients", None, one._replace(is_json=True)),
        ("uninstall", None, one._replace(clients=("zed",), name="gone", dry_run=True)),
        (
            "install",
            artifact,
            one._replace(
                clients=("cursor", "zed"),
                scope="project",
                name="n",
                env=("A=1",),
                python="p",
                dry_run=True,
                replace=True,
            ),
        ),
        ("config", artifact, one._replace(link="cursor", badge="vscode")),
        ("install", None, one._replace(clients=("zed",), url="https://a.b", headers=("A: b",), token_env="T")),
        ("config", None, one._replace(clients=("zed",), command="npx x")),
        ("config", artifact, one._replace(clients=("zed",), words=("--root", str(file)))),
    ]
    assert client_command("install", file, *remote) == 2
    assert client_command("uninstall", "bad") == 2
    assert client_command("uninstall", "failing") == 3
    assert client_command("uninstall", "x", "--name", "y") == 2
    assert client_command("install", tmp_path / "text.pyz", "--client", "zed") == 2


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["install", "--client", "cursr"], "did you mean cursor?"),
        (["install", "--client", "cursor", "--client", "zzzzzz"], "`zzzzzz`"),
        (["install"], "--client"),
        (["install", "--print", "--client", "cursr"], "did you mean cursor?"),
    ],
)
def test_a_client_is_refused_before_anything_is_built(
    client_calls: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], named: str
) -> None:
    def built(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(install, "build_project", built)
    monkeypatch.setattr("mcpc.cli.artifact.build_project", built)
    done = CliRunner().invoke(cli, [*words, str(tmp_path)])
    assert (done.exit_code, named in done.output, client_calls) == (2, True, [])


def test_a_project_is_installed_from_the_folder_of_servers(
    client_calls: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = built_file(tmp_path / "made.pyz", {"name": "my server"})
    built: list[Any] = []

    def build_project(project: Path, options: Options, output: str) -> Any:
        built.append((project, options.http, output))
        return SimpleNamespace(name="my server")

    def write_artifact(_build: object, place: Path, **_: object) -> None:
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(made.read_bytes())

    for module in (install, "mcpc.cli.artifact"):
        monkeypatch.setattr(f"{getattr(module, '__name__', module)}.build_project", build_project)
        monkeypatch.setattr(f"{getattr(module, '__name__', module)}.write_artifact", write_artifact)
    monkeypatch.setattr(install, "servers_folder", lambda: tmp_path.resolve() / "servers")
    project, chosen = tmp_path / "project", ("--client", "zed")
    project.mkdir()
    place = tmp_path.resolve() / "servers" / "my-server.pyz"
    assert client_command("install", "--print", project, *chosen) == 0
    assert client_command("install", project, *chosen, "--dry-run") == 0
    assert not place.exists()
    assert client_command("install", project, *chosen, "--http") == 0
    assert place.read_bytes() == made.read_bytes()
    assert client_command("install", project, *chosen, "--name", "own") == 0
    assert [artifact.path for _, artifact, _ in client_calls] == [*[str(place)] * 3, str(place.with_name("own.pyz"))]
    assert [each[1:] for each in built] == [(False, "text"), (False, "text"), (True, "text"), (False, "text")]
    assert client_command("install", project, *chosen, "--name", "a/b") == 2
    assert client_command("install", project, *chosen, "--name", "a/b", "--dry-run") == 2


def test_options_about_clients_are_taken_from_those_of_builds() -> None:
    given: dict[str, Any] = {"name": "n", "clients": ("a",), "http": True}
    assert take_options(given) == ClientOptions(clients=("a",), name="n")
    assert given == {"http": True}
    option: Any = None
    assert matching_clients(option, option, "claude-") == [name for name in CLIENTS if name.startswith("claude-")]
    assert matching_clients(option, option, "al") == ["all"]


def test_scripts_of_shells_are_those_of_click_with_changes() -> None:
    for shell in editor.SHELLS:
        text = CliRunner().invoke(cli, ["editor", "completion", shell]).output
        assert text == editor.script(shell) == f"{text.strip()}\n"
        assert f"_MCPC_COMPLETE={shell}_complete" in text
        assert all(after in text for _, after in editor.CHANGES.get(shell, ()))
    assert CliRunner().invoke(cli, ["editor", "completion", "csh"]).exit_code == 2


SCHEMA = {
    "type": "object",
    "properties": {
        "mode": {"enum": ["fast", "slow", 3, None, "a b"]},
        "flag": {"type": "boolean"},
        "free": {"type": "string"},
        "any": True,
    },
}
OFFERS: dict[str, Any] = {
    "tools": [{"name": "other"}, {"name": "tool", "inputSchema": SCHEMA}, {"name": "$(odd)"}],
    "prompts": [{"name": "ask", "arguments": [{"name": "topic"}, {"name": "style"}]}, {"name": "bare"}],
    "resources": [{"name": "r", "uri": "a://r"}],
}


def context(**params: Any) -> click.Context:
    made = click.Context(click.Command("x"))
    made.params = params
    return made


@pytest.mark.parametrize(
    ("complete", "params", "typed", "found"),
    [
        (names_of("tools"), {}, "", ["other", "tool"]),
        (names_of("tools"), {}, "to", ["tool"]),
        (names_of("resources", "uri"), {}, "", ["a://r"]),
        (names_of("resourceTemplates"), {}, "", []),
        (tool_arguments, {"name": "tool"}, "", ["mode=", "flag=", "free=", "any="]),
        (tool_arguments, {"name": "tool", "arguments": ("mode=fast", "free=x=y")}, "f", ["flag="]),
        (tool_arguments, {"name": "tool", "arguments": ("mode", "=")}, "", ["fast", "slow", "3"]),
        (tool_arguments, {"name": "tool", "arguments": ("mode", "=")}, "s", ["slow"]),
        (tool_arguments, {"name": "tool", "arguments": ("mode=fast", "flag", "=")}, "", ["true", "false"]),
        (tool_arguments, {"name": "tool"}, "mode=", ["mode=fast", "mode=slow", "mode=3"]),
        (tool_arguments, {"name": "tool"}, "flag=t", ["flag=true"]),
        (tool_arguments, {"name": "tool"}, "free=", []),
        (tool_arguments, {"name": "tool"}, "any=", []),
        (tool_arguments, {"name": "tool"}, "none=", []),
        (tool_arguments, {"name": "other"}, "", []),
        (tool_arguments, {"name": "absent"}, "", []),
        (prompt_arguments, {"name": "ask"}, "", ["topic=", "style="]),
        (prompt_arguments, {"name": "ask"}, "s", ["style="]),
        (prompt_arguments, {"name": "bare"}, "", []),
        (prompt_arguments, {"name": "absent"}, "", []),
    ],
)
def test_a_shell_is_offered(
    complete: Any, params: dict[str, Any], typed: str, found: list[str], tmp_path: Path
) -> None:
    file = built_file(tmp_path / "a.pyz", lists=OFFERS)
    option: Any = None
    assert complete(context(target=file, **params), option, typed) == found
    later = command_options.complete_later("names_of", "tools")
    assert later(context(target=file), option, "o") == ["other"]
    assert command_options.complete_later("prompt_arguments")(context(target=file, name="ask"), option, "t") == [
        "topic="
    ]


def test_a_shell_is_offered_at_most_so_many_plain_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(completions, "MOST", 2)
    assert offered(["a", "b c", "ab", "b", "abc"], "a") == ["a", "ab"]
    assert values_of("x") == values_of({"type": "string"}) == []
    assert definitions(tmp_path / "absent", "tools") == []
    assert definitions(built_file(tmp_path / "a.pyz", {"tools": 2}), "tools") == []
    monkeypatch.chdir(write_files(tmp_path / "p", PROJECT))
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "cache"))
    assert definitions(None, "tools") == READ["tools"]


PROJECT: dict[str, object] = {
    "server.json": SERVER_JSON,
    "tools.json": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
    "prompts.json": {"prompts": [{"name": "ask", "arguments": [{"name": "topic"}]}]},
    "resources.json": {"resources": [{"uri": "a://b", "name": "r", "text": "x"}]},
    "tools.bash": "tool_echo() { echo x; }\n",
    "prompts.bash": "prompt_ask() { echo x; }\n",
}
READ: dict[str, Any] = {
    "tools": [{"name": "echo", "inputSchema": {"type": "object"}}],
    "prompts": [{"name": "ask", "arguments": [{"name": "topic"}]}],
    "resources": [{"name": "r", "uri": "a://b"}],
}


def test_the_lists_of_a_project_are_kept_until_a_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = write_files(tmp_path / "project", PROJECT)
    kept = tmp_path / "cache" / completions.KIND
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "cache"))
    assert completions.project_lists(project) == READ
    (entry,) = kept.iterdir()
    write_files(project, {".git/x": "", "__pycache__/y": "", "node_modules/z": ""})
    with monkeypatch.context() as patch:
        patch.setattr("mcpc.pipeline.read_project", lambda _: pytest.fail("it was read again"))
        assert completions.project_lists(project) == READ
    write_files(project, {"sub/new.txt": ""})
    assert completions.project_lists(project) == READ
    monkeypatch.setenv("MCPC_STRICT", "1")
    assert completions.project_lists(project) == READ
    assert [entry, *kept.iterdir()].count(entry) == 2
    assert len([*kept.iterdir()]) == 3
    monkeypatch.setattr(completions, "MAX_FILES", 6)
    assert completions.project_lists(project) == READ
    assert len([*kept.iterdir()]) == 3
    monkeypatch.setattr(completions, "MAX_FILES", 7)
    write_files(project, {"sub/new.txt": "longer"})
    completions.project_lists(project)
    assert len([*kept.iterdir()]) == 4


def test_the_lists_of_a_project_are_those_of_its_last_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "cache"))
    file = built_file(tmp_path / "a.pyz", lists={"tools": [{"name": "built", "title": "T"}]})
    monkeypatch.setattr(cache, "load_build", lambda _: SimpleNamespace(data=file.read_bytes()))
    project = write_files(tmp_path / "project", PROJECT)
    assert artifact_contents(file)["name"] == FACTS["name"]
    found = completions.project_lists(project)
    assert found == {"tools": [{"name": "built"}], "prompts": [], "resources": []}
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.undo()
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "other"))
    assert completions.project_lists(empty) == {"tools": [], "prompts": [], "resources": []}
    (entry,) = (tmp_path / "other" / completions.KIND).iterdir()
    assert entry.stat().st_size > len(json.dumps(found))
