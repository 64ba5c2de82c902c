"""What becomes of lines that ask the SDK by `$(…)`: the same, whatever they are asked for, and nothing else changes."""

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpc.languages.bash.forkable import is_forkable, read_files, script_closure, without_comments
from mcpc.languages.bash.inline_sdk_calls import FUNCTIONS, LOCALS, without_substitutions
from mcpc.languages.bash.lexer import scan_library
from mcpc.languages.bash.programs import MCBOX, OURS, called_programs, misspelt_functions
from mcpc.languages.bash.slices import outline_libraries
from mcpc.reading import Source
from support.needs import ROOT, needs
from support.projects import SERVER_JSON, checked, marked, places

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


READS_SDK = 'source "${MCP_SDK}/tool-sdk.sh"\n'


def test_which_scripts_are_forkable(golden: Callable[[Path, str], None]) -> None:
    scripts = json.loads((GOLDEN / "forkable.json").read_text("utf-8"))
    lines = (f"{is_forkable(Source(path, text.encode()))} {path} {json.dumps(text)}\n" for path, text in scripts)
    golden(GOLDEN / "forkable.txt", "".join(lines))


READS = '#!/usr/bin/env bash\nsource "$(dirname "${BASH_SOURCE[0]}")/../../lib/common.sh"\necho hi\n'


@pytest.mark.parametrize(
    ("common", "expected"),
    [
        ("helper() { return 1; }", True),
        (READS_SDK + "helper() { mcp_fail 1; }", True),
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
    source = Source("tools/a/tool.sh", READS_SDK.encode() + b"echo # a comment\n" * 100_000)
    begun = time.process_time()
    assert is_forkable(source)
    assert time.process_time() - begun < 15  # where the rest of the file is copied for each comment, half a minute


def called(text: str, *declared: str) -> list[str]:
    return list(called_programs([Source("tools.bash", text.encode())], declared))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('f() { jq -r .a <<<"$1"; }', ["jq"]),
        ("f() { x=$(curl -s x | yq y); }", ["curl", "yq"]),
        ("f() { if ! git log; then :; fi; }", ["git"]),
        ("f() { grep x y | sort | head -n 1; df -h; }", []),
        ("f() { helper; }\nhelper() { [[ -f x ]] && echo; }", []),
        ("f() { echo 'jq x'; cat <<E\njq\nE\n}  # jq", []),
        ("f() { command -v jq >/dev/null || return 1; jq .; }", []),
        ('f() { "$program" x; ./here y; X=1; arr=(jq); }', []),
        ("f() { mcpc_progress 1; mcpc_nothing; }", []),
        ("source lib.sh\nf() { unseen; jq .; }", ["jq"]),
        (". lib.sh\nf() { unseen; }", []),
        ("f() { unheard_of x; }", ["unheard_of"]),
    ],
)
def test_programs_that_are_not_everywhere_are_found(text: str, wanted: list[str]) -> None:
    assert called(text) == wanted
    assert called(text, "jq", "curl", "yq", "git", "unheard_of") == []


def test_a_program_is_reported_where_it_is_called_first() -> None:
    first = b"f() { jq x; yq x; a.b-c_1+ x; mcpc_x; jq y; g; }\nhash fd\n. x"
    second = b"g() { yq z; curl<x; rg|x; fd; }; type -p -- 'uv'; uv x; whois>x; h=1"
    libraries = [Source("a.bash", first), Source("b.bash", second)]
    found = {name: (span.path, span.start, span.end) for name, span in called_programs(libraries, ["curl"]).items()}
    assert found == {
        "jq": ("a.bash", 6, 8),
        "yq": ("a.bash", 12, 14),
        "rg": ("b.bash", 20, 22),
        "whois": ("b.bash", 56, 61),
    }
    closed = [Source("a.bash", first.replace(b"\n. x", b"")), libraries[1]]
    assert list(called_programs(closed, [])) == ["jq", "yq", "a.b-c_1+", "curl", "rg", "x", "whois"]
    assert called_programs([Source("a.bash", b"alias x=y\nunheard_of\n")], []) == {}


def test_the_functions_that_every_library_finds_are_known() -> None:
    for file, known in (("notes.bash", OURS), ("mcbox.bash", MCBOX)):
        names = {word.text for word in scan_library((ROOT / "templates" / file).read_text()).functions}
        assert sorted(name for name in names if not name.startswith("_")) == sorted(known)


def test_a_misspelt_function_is_found() -> None:
    source = Source(
        "a.bash", b"f() { mcpc_progres 1; mcpc_log info x; mcpc_mine; mcpc_progres 2; }\nmcpc_mine() { :; }\n"
    )
    found = misspelt_functions([source, Source("b.bash", b"mcpc_progres; mcpc_x; jq"), Source("c.bash", b"jq")])
    assert {name: (span.path, span.start, span.end) for name, span in found.items()} == {
        "mcpc_progres": ("a.bash", 6, 18),
        "mcpc_x": ("b.bash", 14, 20),
    }


TOOL = """{"tools": [{"name": "a", "description": "A.", "inputSchema": {"type": "object"}}]}"""


def test_both_are_warnings_at_their_places() -> None:
    text = "tool_a() {\n  »mcpc_progres 1\n  »jq .\n}\n"
    files, marks = marked({"server.json": SERVER_JSON, "tools.json": TOOL, "tools.bash": text})
    server, problems = checked(files)
    assert server is not None
    assert sorted(places(problems, files)) == sorted([("MCP257", *marks[0]), ("MCP247", *marks[1])])
    assert "did you mean `mcpc_progress`?" in [problem.hint for problem in problems]


def test_a_file_with_another_ending_is_named_as_what_was_meant() -> None:
    _, problems = checked({"server.json": SERVER_JSON, "tools.json": TOOL, "tools.sh": "tool_a() { :; }\n"})
    assert [problem.hint for problem in problems] == ["`tools.sh` is not read: rename it to `tools.bash`"]


@pytest.mark.parametrize("top", ["source ./lib.sh", ". lib", 'eval "$x"', '"$command" x', "`$f`", "builtin eval x"])
def test_a_library_that_may_define_anything_is_taken_whole(top: str) -> None:
    whole = outline_libraries([f"{top}\na() {{ b; }}\nb() {{ :; }}\n"])
    assert whole.slice("a") == ""
    assert whole.trapping() == {"a", "b"}


@pytest.mark.parametrize(
    "body", ['"$1"', "$f x", "eval x", "source x", 'x=1 "$f"', "`$f`", 'trap "$f" EXIT', 'if "$f"; then :; fi']
)
def test_a_function_that_may_call_anything_takes_all(body: str) -> None:
    library = outline_libraries([f"a() {{ {body}; }}\nb() {{ :; }}\nc() {{ b; }}\n"])
    assert library.slice("a") == ""
    assert library.slice("c") != ""


@pytest.mark.parametrize(
    "body",
    ["exec x", "builtin trap x EXIT", "command exec x", "x && exec y", "(trap x EXIT)", '"$(eval x)"', "{ source x; }"],
)
def test_what_changes_how_a_shell_ends(body: str) -> None:
    assert outline_libraries([f"a() {{ {body}; }}\nb() {{ a; }}\nc() {{ :; }}\n"]).trapping() == {"a", "b"}


def test_a_trap_of_the_library_itself_is_no_function_s() -> None:
    assert outline_libraries(["trap 'echo bye' EXIT\na() { :; }\n"]).trapping() == frozenset()


PIECES = st.sampled_from(
    [
        "{n}() {{ {c}; }}\n",
        "{n} ()\n{{\n  {c}\n}}\n",
        "function {n} {{ {c}; }}; ",
        "{n}() (\n {c} <<E\n body {c} ' \" )\nE\n)\n",
        "{n}() {{ if {c}; then case x in x) {c} ;; esac; fi; }} >&2\n",
        "# {n}() {{ a comment's quote\n",
        "{n}() {{ {c} <<'A'; {c} <<-B; }}\n}}\nA\n\tB\n",
        "x=({c}\n 'y' ) # {n}\n",
        ": \\\n && {n}() {{ {c}; }}\n",
        ": | : |\n # {c}\n {n}() {{ {c}; }}\n",
        ": {n} &\n",
        "if true; then {n}() {{ {c}; }}; fi; ",
        "cat <<E >/dev/null; {n}() {{ :; }}\n{c}'\nE\n",
        '{n}() {{ echo "$({c} "x}}")" ${{x:-\'}}\'}} $((1 + 2)); }};\n',
    ]
)
NAMES = st.sampled_from(["a", "b", "c", "d", "e", "tool_x", "f.g", "h-i"])


@given(st.lists(st.tuples(PIECES, NAMES, NAMES), min_size=1, max_size=12), NAMES)
@settings(max_examples=150, deadline=None)
def test_a_slice_is_bash_and_defines_what_it_mentions(pieces: list[tuple[str, str, str]], function: str) -> None:
    needs("bash")
    library = "".join(piece.format(n=name, c=called) for piece, name, called in pieces)
    whole = outline_libraries([library])
    assert "".join(library[chunk.start : chunk.end] for chunk in scan_library(library).chunks) == library
    cut = whole.slice(function)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("whole", library), ("cut", cut)):
            Path(folder, name).write_text(text)
        check = subprocess.run(["bash", "-n", f"{folder}/whole"], capture_output=True, check=False)
        if check.returncode:
            return
        listed = 'source "$1" >/dev/null 2>&1; declare -F'
        there = {
            name: set(
                subprocess.run(
                    ["bash", "-c", listed, "x", f"{folder}/{name}"], capture_output=True, check=False
                ).stdout.split()
            )
            for name in ("whole", "cut")
        }
        assert subprocess.run(["bash", "-n", f"{folder}/cut"], capture_output=True, check=False).returncode == 0
    defined = {word.encode() for word in whole.defined}
    mentioned = {word for word in (name.encode() for name in whole.defined) if word.decode() in cut.split()}
    assert there["whole"] & mentioned & defined <= there["cut"]


def test_it_takes_linear_time() -> None:
    """Ten thousand functions, each calling the next: once for all, and a slice of one."""
    library = "".join(f"f{number}() {{\n  f{number + 1} x\n}}\n" for number in range(10_000)) + "f10000() { exec x; }\n"
    began = time.process_time()
    whole = outline_libraries([library])
    assert len(whole.trapping()) == 10_001
    assert whole.slice("f9990").count("f9") == 10 + 9
    assert time.process_time() - began < 20
