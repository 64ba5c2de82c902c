"""A server's file that is written to while it runs: what is served comes from what was opened, or is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.artifact import build
from support.posts import fetch, post_stateless
from support.serving import served
from support.stdio import StdioClient
from support.talking import META

WORDS = "the server's file was changed while the server ran; restart the server"
TOOLS = '''
from mcpc import tool


@tool
def echo(text: str) -> str:
    """Give the text back."""
    return text


@tool
def later(text: str) -> str:
    """Give the text back, by a module that is imported late."""
    import helper

    return helper.same(text)
'''
LIST = {"method": "tools/list", "params": {"_meta": META}}


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("replaced")
    made = []
    for name, comment in (("first", ""), ("second", "# " + "another " * 500 + "\n")):
        (folder / name).mkdir()
        (folder / name / "server.json").write_text(json.dumps({"serverInfo": {"name": "same", "version": "1"}}))
        (folder / name / "tools.py").write_text(comment + TOOLS.replace("echo", "echo" if name == "first" else "other"))
        (folder / name / "helper.py").write_text(f"def same(text):\n    return {name!r} + text\n")
        made.append(build(folder / name, folder / f"{name}.pyz", "--http"))
    return made[0], made[1]


@pytest.fixture(params=["copied", "truncated"])
def change(request: pytest.FixtureRequest, artifacts: tuple[Path, Path], tmp_path: Path) -> tuple[Path, bytes]:
    """A server's file of this test's alone, and what is written into it."""
    file = tmp_path / "server.pyz"
    file.write_bytes(artifacts[0].read_bytes())
    return file, artifacts[1].read_bytes() if request.param == "copied" else b""


def overwrite(change: tuple[Path, bytes]) -> None:
    with change[0].open("r+b") as file:
        file.truncate(0)
        file.write(change[1])


def calling(name: str) -> dict[str, Any]:
    return {"method": "tools/call", "params": {"name": name, "arguments": {"text": "x"}, "_meta": META}}


def is_refused(answer: dict[str, Any]) -> bool:
    if "error" in answer:
        return bool(answer["error"]["code"] == -32603 and WORDS in answer["error"]["message"])
    result = answer["result"]
    return bool(result.get("isError") and WORDS in result["content"][0]["text"])


def test_pipes_refuse_what_is_not_known_yet(change: tuple[Path, bytes]) -> None:
    with StdioClient(change[0]) as server:
        assert len(server.ask(**LIST)["result"]["tools"]) == 2
        assert server.ask(**calling("echo"))["result"]["content"][0]["text"] == "x"
        overwrite(change)
        assert is_refused(server.ask(**LIST))
        assert is_refused(server.ask(**calling("later"))), "a module imported late would be another file's"
        assert server.ask(**calling("echo"))["result"]["content"][0]["text"] == "x"
        assert server.ask(method="ping", params={"_meta": META})


@pytest.mark.parametrize("begun", [False, True])
def test_http_refuses_and_is_not_ready(change: tuple[Path, bytes], begun: bool) -> None:
    with served(change[0]) as server:
        if begun:
            assert "result" in post_stateless(server.url, **calling("echo")).message
        overwrite(change)
        answer = fetch(f"{server.root}/readyz")
        assert (answer.status, answer.body.decode().strip()) == (503, WORDS)
        assert is_refused(post_stateless(server.url, **LIST).message)
        assert is_refused(post_stateless(server.url, **calling("later")).message)
        if begun:
            found = post_stateless(server.url, **calling("echo")).message
            assert found["result"]["content"][0]["text"] == "x"
