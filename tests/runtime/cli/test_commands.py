"""The commands of a built file, in this process: what each prints on both streams, and its exit status.

`commands.steps` has the steps: `$ COMMAND`, `< TEXT` on standard input, and `% terminal COLUMNS` or `% project NAME`.
"""

import io
import json
import platform
import re
import shlex
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mcpc import __version__
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.tools.cli import (
    artifact_info,
    client_files,
    completion,
    console,
    inspection,
    licence_texts,
    printing,
    requests,
)
from mcpc_runtime.tools.clients import request
from mcpc_runtime.transports.platforms import system
from support.artifact import build
from support.client_home import use_home
from support.files import write_files
from support.http_sample import image_of
from support.needs import ROOT

STEPS = ROOT / "tests/golden/cli/commands.steps"
TOOLS = """
from mcpc import Context, ProtocolError, ToolError

def echo(**given): return " ".join(f"{name}={given[name]!r}" for name in sorted(given))
def shape(): return {"length": 3}
def blocks(): return [{"type": "text", "text": "a\\tb\\x1b[1m\\r\\nc"}, {"type": "image", "data": "AA==", "mimeType": "image/png"}]
def fails(): raise ToolError("it failed")
def refused(): raise ProtocolError(-32001, "not \\x07 now")
def tells(ctx: Context):
    ctx.report_progress(1, 3, "one")
    ctx.report_progress(2)
    ctx.log("warning", {"a": "é"})
    ctx.log("debug", "plain \\x1b")
    print("printed")
    return ""
"""
CODE = {
    "tools.py": TOOLS,
    "prompts.py": "def greet(who): return [{'role': 'user', 'content': f'Hi {who}\\x1b'}, {'role': 'assistant', 'content': 'Yes?'}]\n",
    "resources.py": "def resource_lines(): return 'one\\ntwo\\x1b\\n'\ndef resource_user(id): return f'user {id}'\n",
}


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    folder = tmp_path_factory.mktemp("commands")
    shutil.copytree(STEPS.with_name("project"), folder / "project")
    return image_of(build(write_files(folder / "project", CODE), folder / "server.pyz"))


@pytest.fixture(autouse=True)
def typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))


class Terminal:
    """The streams and the folder of a command."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.monkeypatch, self.capsys = folder, monkeypatch, capsys
        folder.mkdir()
        use_home(folder, monkeypatch)
        monkeypatch.chdir(folder)
        (folder / "server.pyz").write_bytes(b"PK")
        monkeypatch.setattr(request, "lasting_python", lambda minors: "/usr/bin/python3")

    def type(self, text: str) -> None:
        self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    def use(self, words: str) -> None:
        kind, _, value = words.partition(" ")
        if kind == "project":
            self.monkeypatch.setitem(system.environ, b"MCPC_BUILT_FROM", value.encode())
        else:
            self.monkeypatch.setenv("COLUMNS", value)
            for stream in (sys.stdout, sys.stderr):
                self.monkeypatch.setattr(stream, "isatty", lambda: True)

    def run(self, image: Image, words: list[str]) -> str:
        """Run a command and return what came of it; the page of all commands is whole for `help` only."""
        environment = dict(system.environ)
        status = console.run_command(image, "server.pyz", words)
        system.environ.update(environment)
        printed = self.capsys.readouterr()
        page = console.usage(image, "server.pyz") if words != ["help"] else "\0"
        out, errors = printed.out.replace(page, "<help>\n"), printed.err.replace(page, "<help>\n")
        lines = [*self.marked(out).splitlines(), *(f"! {line}" for line in self.marked(errors).splitlines())]
        return "".join(f"  {line}\n" for line in [*lines, f"= {status}"])

    def marked(self, text: str) -> str:
        """Return a text without what is of this machine, and with the numbers of characters that cannot be seen."""
        text = text.replace(str(self.folder), "~").replace(sys.executable, "~python")
        text = re.sub(r"[0-9a-f]{64}", "~digest", text.replace(__version__, "~mcpc"))
        text = text.replace(platform.python_version(), "~version")
        return re.sub(r"[^\n\x20-\U0010ffff]", lambda found: f"<{ord(found[0]):02x}>", text)


def test_commands_print_what_they_say(
    image: Image,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    golden: Callable[[Path, str], None],
) -> None:
    found: list[str] = []
    for number, section in enumerate(STEPS.read_text("utf-8").split("# ")[1:]):
        title, *steps = section.splitlines()
        found.append(f"# {title}\n")
        with monkeypatch.context() as patch:
            terminal = Terminal(tmp_path / str(number), patch, capsys)
            for step in steps:
                found.append(f"{step}\n")
                kind, words = step[0], step[2:]
                if kind == "$":
                    found.append(
                        terminal.run(image, shlex.split(words) if '"' in words and "{" not in words else words.split())
                    )
                elif kind == "<":
                    terminal.type(words)
                else:
                    terminal.use(words)
    golden(STEPS.with_suffix(".printed"), "".join(found))


def test_a_command_that_fails_says_why_and_one_that_is_ended_nothing(
    image: Image, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def status_of(problem: BaseException) -> int:
        def fail(*_: object) -> int:
            raise problem

        monkeypatch.setitem(console.COMMANDS, "info", fail)
        return console.run_command(image, "server.pyz", ["info"])

    assert status_of(OSError(2, "No such file or directory", "x")) == 1
    assert status_of(OSError("odd")) == 1
    assert capsys.readouterr() == ("", "error: No such file or directory\nerror: odd\n")
    assert status_of(BrokenPipeError()) == 0
    assert status_of(KeyboardInterrupt()) == 130
    assert capsys.readouterr() == ("", "")


def test_what_is_printed_is_flushed_before_a_command_succeeds(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, _: object) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Full()))
    monkeypatch.setitem(console.COMMANDS, "info", lambda *_: sys.stdout.write("x") + 6)
    assert console.run_command(image, "server.pyz", ["info"]) == 0
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    assert console.run_command(image, "server.pyz", ["info"]) == 7


def test_a_file_without_http_does_not_serve(
    image: Image, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Missing:
        @property
        def command(self) -> None:
            raise ModuleNotFoundError("uvicorn")

    monkeypatch.setattr(console, "http_serve", Missing())
    assert console.run_command(image, "server.pyz", ["serve"]) == 8
    assert capsys.readouterr().err.startswith("error: this file was built without HTTP support")
    called = SimpleNamespace(command=lambda *words: words[-1])
    monkeypatch.setattr(console, "http_serve", called)
    assert console.run_command(image, "server.pyz", ["serve", "x"]) == ["x"]  # type: ignore[comparison-overlap]


def test_words_for_a_program_follow_the_dashes(
    image: Image, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    use_home(tmp_path, monkeypatch)
    monkeypatch.setattr(request, "lasting_python", lambda minors: "/usr/bin/python3")
    (tmp_path / "server.pyz").write_bytes(b"PK")
    monkeypatch.chdir(tmp_path)
    of_program = "server.pyz [COMMAND ...] -- WORDS"
    assert of_program not in console.usage(image, "server.pyz")
    assert console.run_command(image, "server.pyz", ["--db-path", "a b"]) == 2
    assert "--`" not in capsys.readouterr().err
    monkeypatch.setitem(image.index, "takes_arguments", True)
    assert of_program in console.usage(image, "server.pyz")
    assert console.run_command(image, "server.pyz", ["--db-path", "a b"]) == 2
    assert "follow `--`: `server.pyz -- --db-path 'a b'`" in capsys.readouterr().err
    assert console.run_command(image, "server.pyz", ["lisst"]) == 2
    assert "did you mean list?" in capsys.readouterr().err
    monkeypatch.setattr(image, "program_arguments", ["--db-path", "a b"])
    assert console.run_command(image, "server.pyz", ["config", "--client", "cursor"]) == 0
    (entry,) = json.loads(capsys.readouterr().out.partition("\n")[2])["mcpServers"].values()
    assert entry["args"] == ["-I", str(tmp_path / "server.pyz"), "--", "--db-path", "a b"]
    assert console.run_command(image, "server.pyz", ["config", "--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: server.pyz config [OPTIONS] [-- WORDS]\n")


def test_the_page_of_a_file_with_http_has_the_command_of_http(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    of_http = "server.pyz serve --http"
    without = console.own_commands(image)
    assert of_http not in console.usage(image, "server.pyz") and "serve" not in without
    facts = {**artifact_info.build_info(image), "serving": ["h11 0.16.0", "uvicorn 0.30.0"]}
    monkeypatch.setattr(console, "build_info", lambda _: facts)
    assert of_http in console.usage(image, "server.pyz")
    assert sorted(console.own_commands(image)) == sorted([*without, "serve"])
    facts["serving"] = ["redis 5.0.0"]
    assert "serve" not in console.own_commands(image)


def test_a_server_that_offers_nothing_of_a_kind_says_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "from mcpc import Server\nmcp = Server('one')\n{}\ndef ok() -> str:\n    'Answer.'\n    return 'yes'\n"
    files = write_files(tmp_path / "one", {"server.py": code.format("@mcp.tool")})
    only_tools = image_of(build(files, tmp_path / "one.pyz"))
    for words, kind in (
        (["read", "docs://a"], "resources"),
        (["prompt", "greet"], "prompts"),
        (["complete", "greet", "who"], "completions"),
    ):
        assert console.run_command(only_tools, "one.pyz", words) == 5
        assert capsys.readouterr() == ("", f"error: the server offers no {kind}\n")
    assert console.run_command(only_tools, "one.pyz", ["read"]) == 2
    assert capsys.readouterr().err == "error: read needs the URI of a resource\nsee `one.pyz --help`\n"
    files = write_files(tmp_path / "two", {"server.py": code.format("@mcp.prompt")})
    only_prompts = image_of(build(files, tmp_path / "two.pyz"))
    assert console.run_command(only_prompts, "two.pyz", ["call", "greet"]) == 5
    assert capsys.readouterr() == ("", "error: the server offers no tools\n")


def test_a_message_that_asks_for_a_name_has_eight_of_them() -> None:
    names = [f"tool{number}" for number in range(1, 10)]
    assert requests.some_names([]) == ""
    assert requests.some_names(names[:8]) == f"; the server has {', '.join(names[:8])}"
    assert requests.some_names(names) == f"; the server has {', '.join(names[:8])} and 1 more"


def test_streams_that_are_missing_lead_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    console.open_streams()
    opened = [sys.stdin, sys.stdout, sys.stderr]
    assert [(stream.name, stream.mode, stream.encoding) for stream in opened] == [
        ("/dev/null", mode, "utf-8") for mode in "rww"
    ]
    for stream in opened:
        stream.close()
    for name in ("stdin", "stderr"):
        monkeypatch.setattr(sys, name, None)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
    console.open_streams()
    sys.stdout.write("é\udc80")
    sys.stdout.flush()
    assert sys.stdout.buffer.getvalue() == b"\xc3\xa9\\udc80"  # type: ignore[attr-defined]
    for stream in (sys.stdin, sys.stderr):
        stream.close()


def test_a_command_opens_the_streams_it_lacks(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    for begin in (lambda: console.run_command(image, "x", ["--version"]), lambda: console.greet(image, "x")):
        monkeypatch.setattr(sys, "stdin", None)
        begin()
        assert sys.stdin.name == "/dev/null"
        sys.stdin.close()


def test_who_starts_a_server_by_hand_is_told_what_it_waits_for(
    image: Image, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(system.environ, b"MCPC_BUILT_FROM", b"a project\xff")
    console.greet(image, "server.pyz")
    printed = capsys.readouterr()
    assert printed.err == console.usage(image, "x") + (
        "\nServing: waiting for a client's messages on standard input.\n"
    )
    assert b"MCPC_BUILT_FROM" not in system.environ and console.origin.project == "'a project\ufffd'"
    monkeypatch.setattr(console.origin, "project", "")
    monkeypatch.setattr(sys, "executable", "/x/server")
    assert '"command": "/x/server", "args": []' in console.usage(image, "/x/server")
    monkeypatch.setattr(sys, "executable", None)
    assert '"command": "python3", "args": ["-I", "/x/server"]' in console.usage(image, "/x/server")


def test_facts_are_rows(capsys: pytest.CaptureFixture[str], golden: Callable[[Path, str], None]) -> None:
    facts = map(json.dumps, json.loads(STEPS.with_name("facts.json").read_text()))
    images = [SimpleNamespace(entry=lambda name, text=text: text) for text in facts]
    for each in (*images, SimpleNamespace(entry={}.__getitem__)):
        assert inspection.info(each, "", []) == 0  # type: ignore[arg-type]
    golden(STEPS.with_name("facts.txt"), capsys.readouterr().out)


@pytest.mark.parametrize(
    ("licence", "name"),
    [
        ({"expression": "MIT", "license": {"id": "X"}}, "MIT"),
        ({"license": {"id": "X", "name": "Y"}}, "X"),
        ({"license": {"name": "Y"}}, "Y"),
        ({}, "no licence is declared"),
    ],
)
def test_a_licence_has_a_name(licence: dict[str, Any], name: str) -> None:
    assert licence_texts.licence_name(licence) == name


def test_licences_are_those_of_the_file_and_of_its_packages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("a-1.dist-info/licenses/sub/NOTICE.md", "x/b.dist-info/licence", "a-1.dist-info/METADATA", "LICENSE")
    texts = {f"META-INF/licenses/{name}": name for name in ("python.txt", "a/b.txt")}
    with zipfile.ZipFile(tmp_path / "f", "w") as packed:
        for place in ("site/sources.zip", "serving/extracted.zip", "other/sources.zip"):
            nested = io.BytesIO()
            with zipfile.ZipFile(nested, "w") as within:
                for name in names:
                    within.writestr(name, f"{place} {name}\n\n")
            packed.writestr(place, nested.getvalue())
        for name, text in texts.items():
            packed.writestr(name, text)
    components = [
        {"name": "a", "version": "1", "licenses": [{"expression": "MIT"}, {"license": {"id": "X"}}]},
        {"name": "b\x1b", "version": "2"},
    ]
    image = SimpleNamespace(archive=str(tmp_path / "f"), entry=lambda name: json.dumps({"components": components}))
    assert inspection.show_licences(image, "", []) == 0  # type: ignore[arg-type]
    rows = [("a/b.txt", "a/b.txt"), ("python.txt", "python.txt")]
    for place in ("serving/extracted.zip", "site/sources.zip"):
        rows += [("a-1: NOTICE.md", f"{place} {names[0]}"), ("b: licence", f"{place} {names[1]}")]
    heads = "a 1: MIT and X\nb\\x1b 2: no licence is declared\n"
    assert capsys.readouterr().out == heads + "".join(f"\n=== {title}\n\n{text}\n" for title, text in rows)


def test_results_are_printed_as_they_are(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    printing.put_tool_result({"content": [], "structuredContent": {"a": "é\x1b"}})
    printing.put_tool_result({"content": [{"type": "text", "text": "a"}], "structuredContent": {}})
    printing.put_tool_result({"content": []})
    assert capsys.readouterr().out == '{\n  "a": "é\\u001b"\n}\na\n'
    printing.put_json("\u200b")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    printing.put_json(["é", "\u200b"])
    printing.put_contents({"contents": [{"text": "a\n"}, {"text": "b"}, {"blob": "AAA="}]})
    assert capsys.readouterr().out == (
        '"\u200b"\n[\n  "é",\n  "\\u200b"\n]\na\nb\n(2 bytes of application/octet-stream: redirect standard output into a file)\n'
    )
    printing.put_notification({"method": "notifications/message", "params": {"level": "info", "data": None}})
    printing.put_notification(
        {"method": "notifications/progress", "params": {"progress": 0.5, "total": 2, "message": ""}}
    )
    printing.put_notification({"method": "notifications/other"})
    assert capsys.readouterr().err == "info: null\nprogress 0.5/2\n"

    def fail(_: str) -> None:
        raise OSError

    monkeypatch.setattr(sys.stderr, "write", fail)
    printing.put_notification({"method": "notifications/message"})


def test_a_list_is_read_page_by_page(image: Image) -> None:
    asked = []

    def send(_: Image, method: str, params: dict[str, Any]) -> dict[str, Any]:
        asked.append((method, params.get("cursor")))
        return {"result": {"tools": [{"name": str(len(asked))}], **({"nextCursor": "x"} if len(asked) < 3 else {})}}

    other = SimpleNamespace(stateless_versions=["1"], run_time_lists=["tools/list"])
    assert [row["name"] for row in artifact_info.list_all(other, "tools", send)] == ["1", "2", "3"]  # type: ignore[arg-type]
    assert asked == [("tools/list", None), ("tools/list", "x"), ("tools/list", "x")]
    assert artifact_info.list_all(other, "tools") == []  # type: ignore[arg-type]
    assert [row["name"] for row in artifact_info.list_all(image, "resourceTemplates", send)] == ["user"]


@pytest.mark.parametrize(
    ("line", "digests"),
    [("d  a b", {"a b": "d"}), ("\\d  a\\nb\\rc\\\\n", {"a\nb\rc\\n": "d"}), ("d  a\\nb\n\ne  f\n", {"a\\nb": "d", "f": "e"})],
)  # fmt: skip
def test_a_manifest_has_names_with_escapes(line: str, digests: dict[str, str]) -> None:
    assert artifact_info.read_manifest(SimpleNamespace(entry=lambda _: line.encode())) == digests  # type: ignore[arg-type]


def test_only_so_many_names_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"n{number}" for number in range(1001)]
    assert completion.following(SimpleNamespace(), "x n", names) == names[:1000]  # type: ignore[arg-type]
    assert completion.following(SimpleNamespace(), "x\nn1000", names) == ["n1000"]  # type: ignore[arg-type]


def test_an_error_of_a_list_is_printed_unless_there_is_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = [{"error": {"code": code, "message": "m\x1b"}} for code in (-32601, -32603)]
    asked = []
    channel = SimpleNamespace(ask=lambda method, params: asked.append(params) or replies[len(asked) - 1])
    monkeypatch.setattr(requests, "SingleRequestChannel", lambda image: channel)
    for reply in replies:
        assert requests.ask_program(None, "tools/list", {"_meta": {}, "cursor": "c"}) == reply  # type: ignore[arg-type]
    assert asked == [{"cursor": "c"}] * 2
    assert capsys.readouterr().err == "tools/list: error -32603: m\x1b\n"


def test_the_channel_of_one_request_is_at_its_end_with_the_reply(image: Image) -> None:
    channel = requests.SingleRequestChannel(image)
    assert (
        channel.ended, channel.full, channel.unsent, channel.bytes_written, channel.output,
    ) == (False, False, 0, 0, -1)  # fmt: skip
    assert channel.ask("ping", {}) == {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {"code": -32601, "message": "Method not found: ping"},
    }
    assert (channel.ended, channel.read(), channel.flush()) == (True, [], True)


def test_help_of_clients_commands_is_printed_without_reading_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    unread: Any = SimpleNamespace(index={})
    assert client_files.run_client_command("config", unread, "a.pyz", ["x", "-h"]) == 0
    assert capsys.readouterr().out.startswith("Usage: a.pyz config [OPTIONS]\n")
