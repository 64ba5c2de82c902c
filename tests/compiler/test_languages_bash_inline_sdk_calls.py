"""What becomes of lines that ask the SDK by `$(…)`: the same, whatever they are asked for, and nothing else changes."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from mcpc.languages.bash.forkable import is_forkable
from mcpc.languages.bash.inline_sdk_calls import FUNCTIONS, LOCALS, without_substitutions
from mcpc.sources import Source
from support.needs import ROOT, needs

SDK = ROOT / "templates/mcp_bash/sdk"
HEAD = '#!/usr/bin/env bash\nsource "${MCP_SDK}/tool-sdk.sh"\n'

BECOMES = {
    "name=\"$(mcp_args_get '.name')\"": (
        "if __mcpc_to_args_get '.name'; then name=\"$__mcpc_out\"; else name=\"$(mcp_args_get '.name')\"; fi"
    ),
    "  local n=$( mcp_args_int .n --default 5 ) # how many": (
        '  if __mcpc_to_args_int .n --default 5; then local n="$__mcpc_out"; else local n=$( mcp_args_int .n --default 5 ); fi'
        " # how many"
    ),
    'mcp_result_success "$(mcp_json_obj message "it\'s ${a} and $b")" 100': (
        """if [[ ${a+x} ]] && [[ ${b+x} ]] && __mcpc_to_json_obj message "it's ${a} and $b"; then """
        """mcp_result_success "$__mcpc_out" 100; else mcp_result_success "$(mcp_json_obj message "it's ${a} and $b")" 100; fi"""
    ),
    "path=\"$(mcp_args_get '.path // empty' 2>/dev/null || true)\"": (
        "if __mcpc_to_args_get '.path // empty'; then path=\"$__mcpc_out\"; "
        "else path=\"$(mcp_args_get '.path // empty' 2>/dev/null || true)\"; fi"
    ),
    "readonly name=\"$(mcp_args_require '.name')\"": (
        "if __mcpc_to_args_require '.name'; then readonly name=\"$__mcpc_out\"; "
        "else readonly name=\"$(mcp_args_require '.name')\"; fi"
    ),
}
STAYS = [
    'name="$(mcp_args_get "$(filter)")"', 'name="$(mcp_args_get ".$1")"', 'name="$(mcp_args_get ".${x:-a}")"',
    'name="$(mcp_args_get .a)$(mcp_args_get .b)"', 'name="a$(mcp_args_get .a)"', 'name="$(mcp_args_get .a)b"',
    'name="$(mcp_args_get .a)" || exit 1', 'name="$(mcp_args_get .a)" other="x"', 'a=1 name="$(mcp_args_get .a)"',
    'echo $(mcp_args_get .a)', 'echo "$(mcp_args_get .a)" >&2', 'echo "$(mcp_args_get .a)" | cat', 'echo "$(mcp_args_get .a)" &',
    'name="$(mcp_args_get .a \\', 'true && name="$(mcp_args_get .a)"', 'name="$(mcp_other .a)"', 'name="$(mcp_args_get .a | tr a b)"',
    'name="$(mcp_args_get .a || mcp_fail 1)"', "echo '\nname=\"$(mcp_args_get .a)\"\n'", 'cat <<END\nname="$(mcp_args_get .a)"\nEND',
    'all=(\nname="$(mcp_args_get .a)"\n)', 'echo "\nname="$(mcp_args_get .a)"\n"', '# name="$(mcp_args_get .a)"', "x=`\nmcp_args_get .a`",
    'name="$(mcp_args_get .[*])"', 'name="$(mcp_args_get ~/x)"', 'name="$(mcp_args_get {a,b})"', 'name+="$(mcp_args_get .a)"',
    'name[0]="$(mcp_args_get .a)"', 'local -r name="$(mcp_args_get .a)"', 'if name="$(mcp_args_get .a)"; then', "mcp_args_get .a",
    'name="$(mcp_args_get .a)"#b', "name=$(mcp_args_get .a)#b", 'echo "$(mcp_args_get .a)"#b', 'name="$(mcp_json_arr "$RANDOM")"',
    # Bash 5.2 numbers the lines in these by its own way of writing them.
    'x=$(\nname="$(mcp_args_get .a)"\n)', 'echo "a$(\nif true; then\nname="$(mcp_args_get .a)"\nfi\n)"', 'cat <(\nname="$(mcp_args_get .a)"\n)',
    'f() { x=${y:-$(\nname="$(mcp_args_get .a)"\n)}; }', "cat <<END\n$(\nname=\"$(mcp_args_get .a)\"\n)\nEND", "((cat <<'END'\n$(\nname=\"$(mcp_args_get .a)\"\n)\nEND\n); echo b)",
]  # fmt: skip
LEFT_ALONE = [
    "mcp_args_get() { echo mine; }", "function mcp_json_obj { echo mine; }", "unset -f mcp_args_get", "echo ${BASH_REMATCH[1]}",
    'echo "$_"', "echo ${_}", "echo ${PIPESTATUS[*]}", "trap 'echo x' CHLD", "trap stop SIGUSR1", "trap x 10", "alias a=b",
    "mcp_args_get \\\n() { echo mine; }", "function \\\nmcp_args_get { echo mine; }", 'eval "$f() { echo mine; }"', 'unset -f "$f"', "unset \\\nmcp_json_obj",
    "printf() { echo mine; }", "function local { echo mine; }", "[ () { echo mine; }", "BASH_ALIASES[mcp_args_get]=x", "shopt -s expand_aliases", "echo ${!_*} ${!x@}",
    "trap 'echo x' chld", "trap 'echo x' SigChld", "trap 'echo x' \"$s\"", "trap 'echo\n' CHLD", "trap 'echo x' EXIT CHLD", "trap x \\\nCHLD", "trap 'a'\"b\" CHLD",
    "set -a", "set -ea", "set -e -a", "set -k", "set -r", "set -o allexport", "set -eo allexport", 'set -o "$o"', "shopt -so allexport", "declare -n r='a[i++]'", "local -a -n r=x",
    "shopt -s localvar_inherit", "FUNCNEST=5", "BASH_COMPAT=4.4", "readonly IFS=,", "readonly x=1 IFS", "readonly a=1 \\\nIFS", "declare -r IFS=1", "declare -g -r IFS=1", "typeset -gr IFS", 'readonly "$x"',
    "LC_ALL=xx", "export LC_ALL=de_DE.UTF-8", "export LC_ALL", "MCP_SDK=/mine", 'export MCP_SDK="${HERE}/sdk"', "read -r MCP_SDK", 'MCP_SDK="${MCP_ROOT:-/mine}"',
]  # fmt: skip


def compiled(text: str) -> str:
    source = Source("tools/a/tool.sh", text.encode())
    return without_substitutions(source, [source]).decode()


@pytest.mark.parametrize("line", BECOMES)
def test_what_a_line_becomes(line: str) -> None:
    assert compiled(f"{HEAD}{line}\n") == f"{HEAD}{BECOMES[line]}\n"
    assert compiled(f"{HEAD}f() {{\n{line}\n}}\n{line}") == f"{HEAD}f() {{\n{BECOMES[line]}\n}}\n{BECOMES[line]}"


@pytest.mark.parametrize("text", STAYS)
def test_what_stays(text: str) -> None:
    assert compiled(f"{HEAD}{text}\necho on\n") == ""


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_scripts_that_are_left_alone(text: str) -> None:
    (line,) = list(BECOMES)[:1]
    assert compiled(f"{HEAD}{text}\n{line}\n") == ""
    source, other = Source("tools/a/tool.sh", f"{HEAD}{line}\n".encode()), Source("lib/b.sh", text.encode())
    assert without_substitutions(source, [source]) and not without_substitutions(source, [source, other])


COMPILED_ALL_THE_SAME = [
    "trap cleanup EXIT", "trap 'rm -f \"$tmp\"' EXIT # always", 'trap "rm -f \\"$tmp\\"" 0', "trap - EXIT; true", "# alias, eval, readonly name, trap x CHLD", "set -euo pipefail", "set -- a b",
    "readonly HERE=/tmp count=5", "readonly text=1", "readonly a=1 \\\nstatus", "declare -r name=1", "declare -g -r name=1", "typeset -gr name", 'readonly HERE="$(cd "$(dirname "$0")" && pwd)"', "declare -A names=([a]=b)", "declare -i name", "LC_ALL=C sort", "export LC_ALL=C", "LC_ALL= sort", 'unset x "y"', "keyword=a",
    'MCP_SDK="${MCP_SDK:-/mine}"', 'echo "${LC_ALL-}" "$MCP_SDK"', "f() { local -r name=1; }", "printf '%s()' x", "jq -r .", "case $x in read) ;; (set) ;; esac",
]  # fmt: skip


@pytest.mark.parametrize("text", COMPILED_ALL_THE_SAME)
def test_scripts_that_are_not_left_alone(text: str) -> None:
    (line,) = list(BECOMES)[:1]
    assert BECOMES[line] in compiled(f"{HEAD}{text}\n{line}\n")


@pytest.mark.parametrize(
    "head", ["", "# MCP_SDK tool-sdk.sh\n", 'source "./sdk/tool-sdk.sh"\n', '  source "$MCP_SDK/tool-sdk.sh"\n', "source '$MCP_SDK/tool-sdk.sh'\n"]
    + [f"{first}\nsource \"$MCP_SDK/tool-sdk.sh\"\n{last}\n" for first, last in {"f() {": "}", "false &&": ":", "if false; then": "fi", "cat <<'E'": "E", "x='": "'", "echo \\": ":"}.items()]
    + ['source "$MCP_SDK/../mine/tool-sdk.sh"\n', 'source "${MCP_SDK%/*}/tool-sdk.sh"\n', 'source "$MCP_SDK/tool-sdk.sh"#\n', 'source "$MCP_SDK_MINE/tool-sdk.sh"\n']
)  # fmt: skip
def test_what_has_not_read_the_sdk_of_the_server(head: str) -> None:
    (line,) = list(BECOMES)[:1]
    assert compiled(f"{head}{line}\n") == ""
    assert compiled(f"{line}\n{HEAD}{line}\n") == f"{line}\n{HEAD}{BECOMES[line]}\n"


@pytest.mark.parametrize(
    "place",
    ['"$MCP_SDK/tool-sdk.sh"', "$MCP_SDK/tool-sdk.sh", '"$MCP_SDK"/tool-sdk.sh # it', '"${MCP_SDK:?MCP_SDK is not set}/tool-sdk.sh"', '"${MCP_SDK:-../sdk}/tool-sdk.sh"'],
)  # fmt: skip
def test_what_has_read_it(place: str) -> None:
    (line,) = list(BECOMES)[:1]
    assert compiled(f"# it\n\n. {place}\n{line}\n") == f"# it\n\n. {place}\n{BECOMES[line]}\n"


def test_what_is_not_utf_8_stays_what_it_is() -> None:
    (line,) = list(BECOMES)[:1]
    for end in (b"# \xe9t\xe9\n", b"echo '\xff'\n"):
        source = Source("tools/a/tool.sh", f"{HEAD}{line}\n".encode() + end)
        assert without_substitutions(source, [source]) == f"{HEAD}{BECOMES[line]}\n".encode() + end


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


ARGUMENTS = [
    '{}', '{"name":"Ann"}', '{"name":null,"n":7}', '{"name":"","n":"8","b":true}', '{"name":"a\\"b\\\\c\\u00e9\\n\\n","n":-3,"b":1}',
    '{"name":false,"n":1.5,"b":"no"}', '{"name":["x","y"],"n":"x","b":null}', '{"name":{"deep":{"er":1}},"n":99999999999999999999}',
    '{"name":"' + "long " * 300 + '"}', '{"name":"' + "x" * 4000 + '"}', '[1]', 'no JSON', '{"name":"a"} {"name":"b"}', "",
    '{"name":"ü ☃ \\ud83d\\ude00","n":0,"b":"true"}', ' { "name" : "blanks" , "n" : 4 } ',
]  # fmt: skip
BODIES = [
    "x=\"$(mcp_args_get '.name')\"",
    "x=\"$(mcp_args_get '.name // \"nobody\"')\"",
    'x="$(mcp_args_get ".name // empty" 2>/dev/null || true)"',
    "x=$(mcp_args_get '.name // 5' || echo none of \"${y}\")",
    "x=\"$(mcp_args_get '.name.deep.er')\"",
    "x=\"$(mcp_args_get '.name[0]?')\"",
    "x=\"$(mcp_args_get '.name[]')\"",
    "x=\"$(mcp_args_get '.name | length')\"",
    "x=\"$(mcp_args_get 'keys')\"",
    "x=\"$(mcp_args_get '.name |')\"",
    "x=\"$(mcp_args_get .)\"",
    "x=\"$(mcp_args_get)\"",
    "x=\"$(mcp_args_require '.name')\"",
    "x=\"$(mcp_args_require '.name' 'a name is needed')\"",
    "x=\"$(mcp_args_bool '.b')\"",
    "x=\"$(mcp_args_bool '.b' --default true)\"",
    "x=\"$(mcp_args_int '.n')\"",
    "x=\"$(mcp_args_int '.n' --default 3 --min 0 --max 50)\"",
    "x=\"$(mcp_args_int '.n' --min 5 --max 1)\"",
    "x=\"$(mcp_args_int)\"",
    'x="$(mcp_json_obj a "$y" b "${y}")"',
    'x="$(mcp_json_obj a)"',
    'x="$(mcp_json_obj)"',
    'x="$(mcp_json_obj a "${undefined}")"',
    'x="$(mcp_json_arr "$y" 2 "c d")"',
    'x="$(mcp_json_arr)"',
    'x="$(mcp_json_escape "${y}")"',
    'mcp_result_success "$(mcp_json_obj message "${y}")"',
    'mcp_result_success "$(mcp_json_obj message "${undefined}")" 20',
    'mcp_result_error "$(mcp_json_obj type "kind" message "$y")"',
    'nosuchcommand "$(mcp_json_arr 1)"',
    'false "$(mcp_json_arr 1)"',
    "f() {\nlocal x=\"$(mcp_args_require '.name')\"\necho \"in ${x}\"\n}\nx=$(f)",
    "readonly x=\"$(mcp_args_get '.name')\"\nx=\"$(mcp_args_get '.n')\"",
    "readonly name=\"$(mcp_args_require '.name')\"\nx=\"$(mcp_args_get '.n // 2')\"\nreadonly status=1 text=2 member=3 rest=4 string=5\nx=\"$(mcp_json_obj name \"$name\")\"\nx=\"$(mcp_args_int '.n' --default 3)\"",
    "export x=$(mcp_args_get '.name')\nenv | grep ^x=",
    "declare -i x\nx=\"$(mcp_args_get '.n')\"",
    "set +e\nx=\"$(mcp_args_require '.name')\"\necho \"status $?\"",
    "true &&\nx=\"$(mcp_args_require '.name')\"",
    "false ||\nx=\"$(mcp_args_require '.name')\"",
    "if true; then\n\tx=\"$(mcp_args_require '.name')\"\nelse\n\tx=\"$(mcp_args_get '.n')\"\nfi",
    "for y in 1 2; do\nx=\"$(mcp_json_obj a \"$y\")\"\necho \"$x\"\ndone",
    "IFS=,\nset -f\nx=\"$(mcp_args_get '.name')\"\nfor z in $x; do echo \"<$z>\"; done",
    "shopt -s nocasematch nullglob extglob\nx=\"$(mcp_args_get '.NAME')\"",
    "unset MCP_TOOL_ARGS_JSON\nx=\"$(mcp_args_get '.name')\"",
    "MCP_TOOL_ARGS_JSON='{\"name\":\"changed\"}'\nx=\"$(mcp_args_get '.name')\"",
    "trap 'echo \"bye $?\"' EXIT\nx=\"$(mcp_args_require '.name')\"",
    "member=m preset=p text=t name=n object=o rest=r\nx=\"$(mcp_args_get '.name // \"a\"')\"\necho $member $preset $text $name $object $rest",
    "x=\"$(mcp_args_get '.name')\"\nx=\"$(mcp_args_get '.n')\"\necho $x\nx=\"$(mcp_args_get '.b // 7')\"",
    "echo \"line $LINENO\"\nx=\"$(mcp_args_get '.name')\"\necho \"line $LINENO\"",
    "{\nx=\"$(mcp_args_get '.name')\"\n} 2>&1 | cat",
    "! \\\nx=\"$(mcp_args_require '.name')\"",
    "D='{\"name\":[1]}'\nMCP_TOOL_ARGS_JSON=$D\nx=\"$(mcp_args_get '.b // [] | length')\"\nmcp_config_load --defaults \"$D\" --env D\necho \"$MCP_CONFIG_JSON\"",
    "exit \"$(mcp_args_int '.n' --default 3)\"",
    'echo $LINENO\nx="$(mcp_json_obj a "$LINENO")"\nf() {\nx="$(mcp_json_obj a "$LINENO" b "$FUNCNAME")"\n}\nf',
    "export LC_ALL=C\nx=\"$(mcp_args_get '.name')\"",
    "x=\"$(mcp_args_require '.name[08]')\"",
    "IFS=,\nset -u\nx=\"$(mcp_args_get '.name')\"\necho \"${LC_ALL-none} $IFS\"",
]  # fmt: skip
DRIVER = """for MCP_TOOL_ARGS_JSON; do
  export MCP_TOOL_ARGS_JSON
  (y='a "y" \\ é'; source "$PLACE"; echo "x=$x ${#x}")
  echo "ended $?"
done 2>&1
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("body", BODIES)
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
        command = ["bash", "-c", DRIVER, "driver", *ARGUMENTS]
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
