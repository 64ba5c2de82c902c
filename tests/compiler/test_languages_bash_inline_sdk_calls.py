"""What becomes of lines that ask the SDK by `$(…)`: the same, whatever they are asked for, and nothing else changes."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpc.languages.bash.forkable import is_forkable
from mcpc.languages.bash.inline_sdk_calls import FUNCTIONS, LOCALS, without_substitutions
from mcpc.reading import Source
from support.needs import ROOT, needs

SDK = ROOT / "templates/mcp_bash/sdk"
HEAD = '#!/usr/bin/env bash\nsource "${MCP_SDK}/tool-sdk.sh"\n'

GOLDEN = ROOT / "tests/golden/bash"
TEXTS: dict[str, list[str]] = json.loads((GOLDEN / "inlined.json").read_text("utf-8"))
LINE = TEXTS["lines"][0]


def compiled(text: str) -> str:
    source = Source("tools/a/tool.sh", text.encode())
    return without_substitutions(source, [source]).decode()


def test_what_lines_become(golden: Callable[[Path, str], None]) -> None:
    """Lines alone and in a function, other lines before one that changes, in the script and in a file that it reads, and heads."""
    printed = []
    for line in TEXTS["lines"]:
        alone = compiled(f"{HEAD}{line}\necho on\n").removeprefix(HEAD).removesuffix("\necho on\n")
        inside = compiled(f"{HEAD}f() {{\n{line}\n}}\n").removeprefix(f"{HEAD}f() {{\n").removesuffix("\n}\n")
        printed.append(f"{json.dumps(line)}\n    {json.dumps(alone)}{' both' * (alone == inside)}\n")
    for text in TEXTS["beside"]:
        source, other = Source("tools/a/tool.sh", f"{HEAD}{LINE}\n".encode()), Source("lib/b.sh", text.encode())
        found = [bool(compiled(f"{HEAD}{text}\n{LINE}\n")), bool(without_substitutions(source, [source, other]))]
        printed.append(f"{json.dumps(text)} {found}\n")
    for head in TEXTS["heads"]:
        found = [
            bool(compiled(f"{head}{LINE}\n")),
            compiled(f"{LINE}\n{HEAD}{LINE}\n").startswith(f"{LINE}\n{HEAD}if "),
        ]
        printed.append(f"{json.dumps(head)} {found}\n")
    golden(GOLDEN / "inlined.txt", "".join(printed))


def test_what_is_not_utf_8_stays_what_it_is() -> None:
    for end in (b"# \xe9t\xe9\n", b"echo '\xff'\n"):
        source = Source("tools/a/tool.sh", f"{HEAD}{LINE}\n".encode() + end)
        assert without_substitutions(source, [source]) == compiled(f"{HEAD}{LINE}\n").encode() + end


def test_every_function_is_in_the_sdk() -> None:
    text = "".join(place.read_text() for place in (SDK / "tool-sdk.sh", SDK.parent / "lib/arguments.sh"))
    assert all(f"\n__mcpc_to_{name}() {{" in text and f"\nmcp_{name}() {{" in text for name in FUNCTIONS)


def test_what_is_local_in_the_sdk_is_known() -> None:
    found: set[str] = set()
    for place in (*SDK.glob("*.sh"), *(SDK.parent / "lib").glob("*.sh")):
        text = re.sub(r"\$?'[^'\n]*'|\"[^\"\n]*\"|\$?\([^()\n]*\)|\$\{[^}\n]*\}|#.*", "", place.read_text())
        for words in re.findall(r"\blocal\b((?:\\\n|[^\n;])*)", text):
            found.update(re.findall(r"(?<!\S)([A-Za-z_]\w*)(?==|\s|$)", words))
    assert {"__mcpc_text", "__mcpc_message", "__mcpc_found"} < found
    assert sorted(name for name in found if not name.startswith("__mcpc_")) == LOCALS.split("|")


DRIVER = """for MCP_TOOL_ARGS_JSON; do
  export MCP_TOOL_ARGS_JSON
  (y='a "y" \\ é'; source "$PLACE"; echo "x=$x ${#x}")
  echo "ended $?"
done 2>&1
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("body", TEXTS["bodies"])
@pytest.mark.sampled(8)
def test_nobody_can_tell(body: str, tmp_path) -> None:
    needs("bash")
    text = f"{HEAD}{body}\n"
    source = Source("tools/a/tool.sh", text.encode())
    assert is_forkable(source)
    other = without_substitutions(source, [source]).decode()
    assert other and other.count("\n") == text.count("\n")
    said = []
    for one in (text, other):
        place = tmp_path / "tool.sh"
        place.write_text(one)
        variables = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "MCP_SDK": str(SDK), "PLACE": str(place)}
        command = ["bash", "-c", DRIVER, "driver", *TEXTS["arguments"]]
        said.append(subprocess.run(command, env=variables, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True))
    assert said[0].stdout == said[1].stdout
    assert said[0].stderr == said[1].stderr == b"" and said[0].returncode == said[1].returncode == 0


@pytest.mark.sampled(3)
def test_no_process_is_needed(tmp_path) -> None:
    needs("bash")
    lines = [
        "x=\"$(mcp_args_get '.name // 5')\"",
        'x="$(mcp_args_require .name)"',
        "n=$(mcp_args_int .n --max 9)",
        'b="$(mcp_args_bool .b)"',
    ]
    lines += ['mcp_result_success "$(mcp_json_obj a "$x" n "${n}" b "$b")"']
    text = compiled(HEAD + "".join(f"{line}\n" for line in lines))
    without, count = re.subn(r"; else .*; fi\n", "; else echo asked; fi\n", text)
    assert count == len(lines)
    place = tmp_path / "tool.sh"
    place.write_text(without)
    variables = {
        "PATH": os.environ["PATH"],
        "MCP_SDK": str(SDK),
        "MCP_TOOL_ARGS_JSON": '{"name":"Ann \\"A\\"","n":9,"b":false}',
    }
    ran = subprocess.run(["bash", place], env=variables, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "asked" not in ran.stdout and '"n":"9"' in ran.stdout and 'Ann \\"A\\"' in ran.stdout


@pytest.mark.sampled(3)
@pytest.mark.parametrize("locale", ["xx_XX.UTF-8", "xx", "C.UTF-8", "C"])
def test_a_locale_that_is_not_there_is_complained_of_as_often(locale: str, tmp_path) -> None:
    needs("bash")
    lines = [
        'x="$(mcp_args_require .name)"',
        'x="$(mcp_json_arr é)"',
        'x="$(mcp_args_get .name)"',
        'x="$(mcp_args_get \'.name // "é"\')"',
    ]
    text = HEAD + "e=é\n" + "".join(f'{line}\necho "$x ${{#e}}"\n' for line in lines)
    said = []
    for one in (text, compiled(text)):
        place = tmp_path / "tool.sh"
        place.write_text(one)
        variables = {
            "PATH": os.environ["PATH"],
            "MCP_SDK": str(SDK),
            "MCP_TOOL_ARGS_JSON": '{"name":"Ann"}',
            "LC_ALL": locale,
        }
        said.append(subprocess.run(["bash", place], env=variables, capture_output=True))
    assert (said[0].stdout, said[0].stderr) == (said[1].stdout, said[1].stderr) and said[0].returncode == 0
