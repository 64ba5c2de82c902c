"""Which scripts may run in a child of another shell: only those that cannot tell."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpc.languages.bash.forkable import is_forkable, read_files, script_closure, without_comments
from mcpc.languages.bash.inline_sdk_calls import without_substitutions
from mcpc.languages.bash.lexer import scan_library
from mcpc.reading import Source
from support.needs import ROOT

GOLDEN = ROOT / "tests/golden/bash"

SDK = 'source "${MCP_SDK}/tool-sdk.sh"\n'


def test_which_scripts_are_forkable(golden: Callable[[Path, str], None]) -> None:
    scripts = json.loads((GOLDEN / "forkable.json").read_text("utf-8"))
    lines = (f"{is_forkable(Source(path, text.encode()))} {path} {json.dumps(text)}\n" for path, text in scripts)
    golden(GOLDEN / "forkable.txt", "".join(lines))


READS = '#!/usr/bin/env bash\nsource "$(dirname "${BASH_SOURCE[0]}")/../../lib/common.sh"\necho hi\n'


@pytest.mark.parametrize(
    ("common", "expected"),
    [
        ("helper() { return 1; }", True),
        (SDK + "helper() { mcp_fail 1; }", True),
        ("helper() { mcp_fail 1; }", False),
        ("tmp=/tmp/x.$$", False),
        ('source "${BASH_SOURCE%/*}/more.sh"', True),
        ('source "$(dirname "$0")/unknown.sh"', False),
        ("return 0", False),
    ],
)
def test_what_it_reads(common: str, expected: bool):
    files = {"common.sh": common.encode(), "more.sh": b"more() { :; }", "x.sh": b"echo $$"}
    beside = {name: [Source(f"lib/{name}", data)] for name, data in files.items()}
    assert is_forkable(Source("tools/a/tool.sh", READS.encode()), beside) is expected


def test_the_files_that_a_script_reads_in_their_order():
    texts = {
        "tool.sh": 'source "$A/b.sh"; if . c.sh; then\n# . d.sh\necho . e.sh; fi; source "$x"/y\\ z/f.bash | cat\n. "${MCP_SDK}/ui-sdk.sh"',
        "b.sh": "command source ./c.sh",
        "c.sh": ". \"$B/b.sh\"; while source 'x/g.sh'; do :; done",
        "f.bash": "", "g.sh": "",
    }  # fmt: skip
    files = {name: Source(name, text.encode()) for name, text in texts.items()}
    beside = {name: [files[name]] for name in texts} | {"g.sh": [files["g.sh"], Source("other/g.sh", b"")]}
    assert read_files(files["tool.sh"]) == ("b.sh", "", "f.bash", "ui-sdk.sh")
    assert read_files(files["c.sh"]) == ("b.sh", "g.sh")
    assert script_closure(files["tool.sh"], beside) is None
    named = Source("named.sh", texts["tool.sh"].replace("c.sh", "x/c.sh").encode())
    closure = script_closure(named, beside)
    assert closure is not None
    assert [file.path for file in closure] == ["named.sh", "b.sh", "c.sh", "f.bash", "g.sh", "other/g.sh"]
    assert script_closure(named, {name: beside[name] for name in ("b.sh", "c.sh", "g.sh")}) is None


def test_comments_are_blanks_and_texts_stay():
    text = "a # b 'c'\n# d\necho '# e' # f\ncat <<'E'\n# g\nE\n# h"
    blank = text
    for comment in ("# b 'c'", "# d", "# f", "# h"):
        blank = blank.replace(comment, " " * len(comment))
    assert without_comments(text, scan_library(text)) == blank


def test_a_file_that_reads_itself_comes_to_an_end():
    looped = Source("lib/common.sh", b'source "$HERE/common.sh"')
    assert is_forkable(Source("tools/a/tool.sh", READS.encode()), {"common.sh": [looped]})


@pytest.mark.slow
@pytest.mark.parametrize(
    "word", ["trap ", "kill ", "a;", "declare -", "unset ", "$(", "set ", 'x="$(mcp_json_obj a ', "echo "]
)
def test_a_long_line_takes_time_in_proportion(word: str):
    source = Source("tools/a/tool.sh", f"{SDK}{word * 40_000}\n".encode())
    begun = time.process_time()
    is_forkable(source)
    assert without_substitutions(source, [source]) == b""
    assert time.process_time() - begun < 15  # a minute, where the rest of the line is looked at from each word


@pytest.mark.slow
def test_many_comments_take_time_in_proportion():
    source = Source("tools/a/tool.sh", SDK.encode() + b"echo # a comment\n" * 100_000)
    begun = time.process_time()
    assert is_forkable(source)
    assert time.process_time() - begun < 15  # where the rest of the file is copied for each comment, half a minute
