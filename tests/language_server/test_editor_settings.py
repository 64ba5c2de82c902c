"""The settings that docs/editors.md shows are valid, start `mcpc editor lsp`, and give schemas to the files that have them."""

import json
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpc.workbench.file_schemas import kind_of
from support.needs import ROOT, needs

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ELISP = re.compile(r'"(?:[^"\\\\]|\\\\.)*"|;[^\n]*|[()]|[^\s()";]+')
SCHEMAS = ("json.schemas", "schemas")


def blocks(language: str) -> list[str]:
    text = (ROOT / "docs" / "editors.md").read_text("utf-8")
    return [found[2] for found in BLOCK.finditer(text) if found[1] == language]


def elisp(text: str) -> list[Any]:
    """Lisp as nested lists of its tokens; it fails on brackets that do not match."""
    root: list[Any] = []
    above = [root]
    for token in ELISP.findall(text):
        if token == "(":
            above[-1].append([])
            above.append(above[-1][-1])
        elif token == ")":
            above.pop()
        else:
            above[-1].append(token)
    assert above == [root]
    return root


READERS: dict[str, Callable[[str], Any]] = {"json": json.loads, "toml": tomllib.loads, "elisp": elisp}


@pytest.mark.parametrize("language", [*READERS])
def test_settings_can_be_read(language: str) -> None:
    assert [READERS[language](text) for text in blocks(language)] != []


def test_lua_can_be_read(tmp_path: Path) -> None:
    needs("nvim")
    for number, text in enumerate(blocks("lua")):
        file = tmp_path / f"{number}.lua"
        file.write_text(text)
        done = subprocess.run(
            ["nvim", "--headless", "-n", "-u", "NONE", "-c", f"lua assert(loadfile('{file}'))", "-c", "qa!"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_each_editor_starts_the_server() -> None:
    code = next(found for found in map(json.loads, blocks("json")) if "glspc.server.command" in found)
    assert [code["glspc.server.command"], *code["glspc.server.commandArguments"]] == ["mcpc", "editor", "lsp"]
    helix = tomllib.loads(blocks("toml")[0])
    assert helix["language-server"] == {"mcpc": {"command": "mcpc", "args": ["editor", "lsp"]}}
    assert all("mcpc" in each["language-servers"] for each in helix["language"])
    assert '("mcpc" "editor" "lsp")' in blocks("elisp")[0]
    assert all('cmd = { "mcpc", "editor", "lsp" }' in text for text in blocks("lua"))


def schema_rows(value: object) -> Iterator[dict[str, Any]]:
    """The rows of settings that give a schema to files."""
    for key, below in value.items() if isinstance(value, dict) else ():
        yield from below if key in SCHEMAS else schema_rows(below)


def test_schemas_are_given_to_files_of_their_kind() -> None:
    rows = [row for text in blocks("json") for row in schema_rows(json.loads(text))]
    assert rows != []
    for row in rows:
        for pattern in row["fileMatch"]:
            kind = kind_of(pattern.removeprefix("/").replace("*", "x"))
            assert kind is not None, row
            assert row["url"] == f"./.vscode/mcpc/{kind.name}.schema.json"
