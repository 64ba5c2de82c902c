"""Bash tools made by chance, in which lines that ask the SDK by `$(…)` stand in every place where a line may stand.

What they print, and what is left in the shell when they end, is the same whether they were compiled or not.
"""

import random
from collections.abc import Callable

HEADS = ['source "${MCP_SDK}/tool-sdk.sh"', 'source "${MCP_SDK:?}/tool-sdk.sh" # the SDK', '. "$MCP_SDK"/tool-sdk.sh']
READS_LIBRARY = 'source "$(dirname "${BASH_SOURCE[0]}")/library.sh"'
LIBRARY = """lib_value=5
lib_ask() {
  local text="$(mcp_args_get '.name // "x"')" status=4
  lib_value="$(mcp_args_get ".n")"
  echo "library: $text $lib_value ${1-}"
}
lib_say() { printf '<%s>' "$@"; echo; }
"""
ARGUMENTS = [
    '{}', '{"name":"Ann"}', '{"name":null,"n":7}', '{"name":"","n":"8","b":true}', '{"name":"a\\"b\\\\c\\u00e9\\n\\n","n":-3,"b":1}',
    '{"name":false,"n":1.5,"b":"no"}', '{"name":["x","y * z"],"n":"x","b":null}', '{"name":{"deep":{"er":1}},"n":99999999999999999999}',
    '{"name":"' + "long " * 100 + '"}', '{"name":"' + "x" * 2500 + '"}', '[1]', 'no JSON', '{"name":"a"} {"name":"b"}', "",
    '{"name":"\\u0001\\u007f ☃ \\ud83d\\ude00","n":0,"b":"true"}', ' { "name" : "*  $(echo no) `no` ~ {a,b}" , "n" : 4 } ',
]  # fmt: skip
# Those of the SDK are among them: what is local there may be anything here.
NAMES = [
    "x",
    "y",
    "z",
    "name",
    "text",
    "rest",
    "status",
    "member",
    "preset",
    "object",
    "item",
    "string",
    "lines",
    "open",
    "index",
]
FILTERS = [".name", ".n", ".b", ".name // empty", '.name // "a b"', ".name.deep.er", ".name[0]?", ".name[]", ".name | length", "keys", ".name |", ".", ".none // 5"]  # fmt: skip
SETTINGS = [
    "set +e", "set -e", "set +u", "set -u", "set -f", "set +f", "set +o pipefail", "set -eu", "set +B", "set -C", "IFS=,", "IFS=", "IFS=$' \\n'", "unset IFS", "IFS='\"'",
    "shopt -s extglob", "shopt -s nullglob", "shopt -s nocasematch", "shopt -s inherit_errexit", "shopt -s lastpipe", "shopt -s failglob", "shopt -u extglob", "shopt -s dotglob globstar", "shopt -s xpg_echo", "shopt -u sourcepath",
    "LC_ALL=C", "LC_ALL=", "LC_CTYPE=C", "LANG=C", "unset LC_ALL LANG", "export LC_ALL=C", "set -- one 'two  three' '*'", "set --", "OPTIND=2", "TMOUT=5",
    "MCP_TOOL_ARGS_JSON='{\"name\":\"changed\",\"n\":12}'", "unset MCP_TOOL_ARGS_JSON", "MCP_TOOL_ARGS_FILE=/nowhere",
    "trap 'echo \"ended $? $x\"' EXIT", "trap - EXIT", "trap", "trap at_end 0", "exec 2>&1", "exec 3>&1", "exec </dev/null", "declare -i n=3 y", "declare -u y", "declare -a open=(1 2)", "declare -A names=([a]=1)",
    "readonly fixed=5", "export x y", "hash -r", "umask 022", "cd .", "source \"$MCP_SDK/tool-sdk.sh\"",
]  # fmt: skip
# Each of these is visible to a shell that does without a process, so nothing of the script may be compiled.
TELLING = [
    "set -a", "set -ea", "set -o allexport", "set -k", "shopt -s localvar_inherit", "FUNCNEST=9", "readonly text=5", "declare -r name=5", "readonly IFS", "readonly LC_ALL=C",
    "trap 'echo child' CHLD", "trap 'echo child' sigchld", "trap 'echo child\n' CHLD", "trap 'echo child' 17", "s=CHLD\ntrap 'echo child' \"$s\"", "trap 'echo child' \\\nCHLD",
    "a=(1 2 3 4 5) i=0\ndeclare -n ref='a[i++]'", "RANDOM=5\ntelling=1", "printf() { echo printed >&2; builtin printf \"$@\"; }", "function local { echo local >&2; builtin local \"$@\"; }",
    "mcp_args_get \\\n() { echo mine; }", "function \\\nmcp_args_get { echo mine; }", "f=mcp_args_get; eval \"$f() { echo mine; }\"", "f=mcp_args_get; unset \"$f\"", "echo ${!_*}", "LC_ALL=xx", "LC_ALL=xx_XX.UTF-8",
    "shopt -s expand_aliases\nBASH_ALIASES[mcp_args_get]='echo mine'", "echo x | grep x >/dev/null\necho ${PIPESTATUS[*]}", "[[ abc =~ b ]]\necho ${BASH_REMATCH[0]}", "echo \"$_\"", "set -r", "BASH_COMPAT=4.4",
]  # fmt: skip


class Writer:
    """Writes scripts; `chance` decides, and it alone."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.functions = 0
        self.inside = False

    def one(self, of: list[str]) -> str:
        return self.chance.choice(of)

    def script(self) -> str:
        """Return a script; most have something in them that is compiled."""
        lines = ["#!/usr/bin/env bash", "at_end() { echo at end; }", self.one(HEADS)]
        if self.chance.random() < 0.4:
            lines.append(READS_LIBRARY)
        for _ in range(self.chance.choice((0, 1, 1, 2, 4))):
            lines += [self.one(SETTINGS)]
        if self.chance.random() < 0.1:
            lines += [self.one(TELLING)]
        lines += self.block(3, self.chance.choice((2, 4, 8)))
        return "\n".join([*lines, 'echo "at last $? $# ${x-}"', ""])

    def block(self, depth: int, most: int = 3) -> list[str]:
        lines = []
        for _ in range(self.chance.randint(1, most)):
            lines += self.statement(depth)
        blanks = self.one(["", "", "  ", "\t"])
        is_plain = not any(mark in line for line in lines for mark in ("<<", "END", "'", "\\"))
        return [blanks + line for line in lines] if is_plain else lines

    def statement(self, depth: int) -> list[str]:
        kind = self.chance.random()
        if kind < 0.4 or depth == 0:
            return self.asked()
        if kind < 0.55:
            return [self.one(SETTINGS)]
        if kind < 0.7:
            return [self.plain()]
        return self.chance.choice(COMPOUND)(self, depth - 1)

    def word(self) -> str:
        name = self.one(NAMES)
        return self.one([f'"${name}"', f'"${{{name}}}"', f'"a ${name} b"', "'a  b'", "a.b", '"é *"', "1", '"$undefined"', '"$LINENO"', "''", "'$x'"])  # fmt: skip

    def words(self, most: int = 3) -> str:
        return "".join(f" {self.word()}" for _ in range(self.chance.randint(0, most)))

    def question(self) -> str:
        """Return what is asked, without the parentheses."""
        kind = self.one(["get", "get", "get", "require", "bool", "int", "obj", "obj", "arr", "escape"])
        if kind in ("obj", "arr", "escape"):
            return f"mcp_json_{kind}{self.words(4)}"
        asked = self.one(FILTERS)
        options = {
            "get": ["", "", ""],
            "require": ["", " 'it is needed'", ' "$y"'],
            "bool": ["", " --default true", " --default"],
            "int": ["", " --default 3", " --min 0 --max 50", " --min 5 --max 1", " --max x"],
        }
        quoted = self.one([f"'{asked}'", f"'{asked}'", '".name"', ".n", f'"${self.one(NAMES)}"', ""])
        return f"mcp_args_{kind} {quoted}{self.one(options[kind])}"

    def asked(self) -> list[str]:
        """Return a line that asks, most of them such that it can be compiled."""
        otherwise = self.one(["", "", "", " 2>/dev/null", " || true", " 2> /dev/null || :", " || echo 'no' \"$y\""])
        asked = f"$({self.one(['', ' '])}{self.question()}{otherwise})"
        name = self.one(NAMES)
        if self.chance.random() < 0.15:
            return [self.near(name, asked)]
        after = self.one(["", "", "", " ", " # a comment", "\t#\\"])
        if self.chance.random() < 0.3:
            command = self.one(
                [
                    "echo",
                    "lib_say",
                    "printf %s\\n",
                    "mcp_result_success",
                    "mcp_emit_json",
                    "false",
                    "nosuchcommand",
                    "echo -n",
                ]
            )
            return [f'{command}{self.words(2) if command == "echo" else ""} "{asked}"{self.words(1)}{after}']
        before = self.one(["", "", "", "declare ", "export ", *(["local ", "local "] if self.inside else [])])
        return [f'{before}{name}="{asked}"{after}' if self.chance.random() < 0.7 else f"{before}{name}={asked}{after}"]

    def near(self, name: str, asked: str) -> str:
        """Return a line that is nearly one that can be compiled."""
        return self.one(
            [f'{name}="{asked}"#no', f'{name}="{asked}" || :', f'{name}="a{asked}"', f'{name}+="{asked}"', f"echo {asked}", f'{name}="{asked}";', f'{name}="{asked}" y=3',
             f'declare -r {name}_="{asked}" || :', f'if {name}="{asked}"; then :; fi', f"readonly {name}_0={asked}", f'echo "{asked}" >&2', f'echo "{asked}" | cat', f'echo " "{asked}" "', f'echo ""{asked}""',
             f'{name}=(\n"{asked}"\n)', f'{name}=("{asked}" \\\n)', f'echo \\\n"{asked}"', f'y=1 \\\n{name}="{asked}" \\\ntrue', f'{name}={asked}$y', f"'{name}'=\"{asked}\" || :"]
        )  # fmt: skip

    def plain(self) -> str:
        name = self.one(NAMES)
        return self.one(
            [f"{name}='a  b'", f"{name}=5", f"unset {name}", f'echo "$? ${{{name}-}}"', f"echo ${{{name}-}}", 'echo "$# $*"', ": ${y:=6}", "true", "false || :", 'echo "$LINENO"', "((x = 5)) || :",
             f"lib_ask {name} || :", "e=é; echo ${#e}", "printf '%s|' ${x-}; echo", "echo `echo ${x-}`", "# it's a comment \"", "echo \\# 'no' comment", "eval_='x'", "env | grep ^x= || :", "echo [a-z]* || :", f"lib_say \"${{{name}-}}\"",
             f"{name}=${{{name}:-7}}", f"[[ ${{{name}-}} == A* ]] && echo begins", 'case ${x-} in (null|"") echo nothing;; *) echo some; esac', f'read -r {name} <<<"a b" || :', "mcp_log_info a b", "wait", "shift || :"]
        )  # fmt: skip


def condition(writer: Writer, depth: int) -> list[str]:
    first = writer.one(["if", "if !"])
    if writer.chance.random() < 0.5:
        first, lines = "if", [*writer.block(depth, 2), writer.one(["true", "false", "[[ ${x-} ]]"])]
    else:
        lines = [writer.one(["true", '[ "${y-}" = 6 ]', "((0))"])]
    more = ["elif", *writer.asked(), "then", *writer.block(depth, 2)] if writer.chance.random() < 0.3 else []
    other = ["else", *writer.block(depth, 2)] if writer.chance.random() < 0.5 else []
    return [first, *lines, "then", *writer.block(depth, 2), *more, *other, "fi"]


def loop(writer: Writer, depth: int) -> list[str]:
    count = f"c{writer.chance.randrange(10**6)}"
    head = writer.one(["while", "until"])
    test = f"((++{count} < 3))" if head == "while" else f"((++{count} > 2))"
    asked = writer.asked() if writer.chance.random() < 0.3 else []
    last = writer.one([[], ["break"], ["continue"]])  # type: ignore[type-var]
    return [f"{count}=0", head, *asked, test, "do", *writer.block(depth, 2), *last, "done"]


def each(writer: Writer, depth: int) -> list[str]:
    head = writer.one([f"for {writer.one(NAMES)} in a 'b c'", "for y", "for ((i = 0; i < 2; i++))"])
    return [f"{head}; do", *writer.block(depth, 2), "done"]


def case(writer: Writer, depth: int) -> list[str]:
    first = writer.one(["case ${x-} in", "case ${x-}\nin"])
    return [first, writer.one(["null)", "(A* | '')"]), *writer.block(depth, 2), writer.one([";;", ";&", ";;&"]), "*)", *writer.block(depth, 2), "esac"]  # fmt: skip


def group(writer: Writer, depth: int) -> list[str]:
    first, last = writer.one(
        ["{ }", "( )", "{ } 2>&1 | cat", "{ } </dev/null", "( ) || :", "{ } >/dev/null", "( ) & wait $!"]
    ).split(" ", 1)
    return [first, *writer.block(depth), last]


def listed(writer: Writer, depth: int) -> list[str]:
    return [writer.one(["true &&", "false ||", "false &&", "time_=1 &&", "! \\", "true && \\", "(exit 3) ||", "mcp_is_cancelled ||"]), *writer.asked()]  # fmt: skip


def function(writer: Writer, depth: int) -> list[str]:
    writer.functions += 1
    name = f"f{writer.functions}"
    before, writer.inside = writer.inside, True
    head, tail = writer.one(["f() {|}", "f () {|}", "function f {|}", "f() (|)", "f()\n{|} 2>&1"]).split("|")
    mine = [f"local {writer.one(NAMES)}=5 {writer.one(NAMES)}"] if writer.chance.random() < 0.5 else []
    lines = [head.replace("f", name, 1) if not head.startswith("function") else f"function {name} {{", *mine]
    lines += writer.block(depth)
    if writer.chance.random() < 0.2:
        # Arguments cannot bound the depth: a `shift` in the block takes them away.
        lines += [f'if ((++depth_{name} < 4)); then {name} "${{1-}}x"; fi']
    if writer.chance.random() < 0.2:
        lines += [writer.one(["return 3", "return", 'return "$(mcp_args_int .n --default 2 --max 200)"'])]
    writer.inside = before
    call = writer.one([name, f"{name} || :", f'x="$({name})" || :', f"{name} | cat", f"if {name}; then echo yes; fi", f"{name} & wait $!", f"mcp_with_retry 1 0 {name} || :", f"MCP_TOOL_ARGS_JSON='{{\"n\":2}}' {name} || :", f"IFS=: {name} || :"])  # fmt: skip
    return [*lines, tail, call]


def within(writer: Writer, depth: int) -> list[str]:
    """Substitutions over lines, in which the lines are commands."""
    first, last = writer.one(['x="$(|)" || :', "x=$(|) || :", 'echo "a $(|) b"', 'echo "${undefined:-$(|)}"', "cat <(|) || :", "x=(a $(|)) || :", "cat <<END\n$(|)\nEND", "echo $((1 + $(|\necho 2) )) >/dev/null || :", "[[ -n $(|) ]] || :", 'y="${x:+"$(|)"}" || :']).split("|", 1)  # fmt: skip
    return [first, *(line for line in writer.block(depth, 2) if "END" not in line), last]


def text(writer: Writer, depth: int) -> list[str]:
    """Text over lines, in which the lines are none."""
    first, last = writer.one(["cat <<'END'|END", "cat <<\\END|END", "cat <<-END |END", "x='|'", "x='a|'\"b\"", ": '|' <<<a", "((cat <<'END'|END\n); echo b)", "cat <<A; cat <<'END'\na\nA|END", "x=$(cat <<'END'|END\n)", "# '|# '", "x=$'|'", "if false; then cat <<'END'|END\nfi"]).split("|", 1)  # fmt: skip
    lines = [line for line in writer.asked() if "'" not in line and "\n" not in line] or ['x="$(mcp_args_get .n)"']
    lines = [f"# {line}" for line in lines] if first.startswith("#") else lines
    return [first, "$(", *lines, ")", last] if writer.chance.random() < 0.3 and first[0] in "xc" and "-END" not in first else [first, *lines, last]  # fmt: skip


def quoted(writer: Writer, depth: int) -> list[str]:
    """A line that ends one text and begins another, and looks like one that asks."""
    return writer.one(
        [
            ['echo "', 'name="$(mcp_args_get .n)"', '"'],
            ["echo '", "'; y='", "'"],
            ["x=`", 'echo "$(mcp_args_get .n)"', "`"],
        ]
    )  # type: ignore[list-item,return-value]


COMPOUND: list[Callable[[Writer, int], list[str]]] = [
    condition, condition, loop, each, case, group, group, listed, listed, function, function, function, within, within, text, text, quoted,
]  # fmt: skip


def spoilt(chance: random.Random, script: str) -> str:
    """Return a script with a few characters more, fewer or others after its head."""
    at = script.index("tool-sdk.sh") + 20
    for _ in range(chance.choice((1, 1, 2, 3))):
        place = chance.randrange(at, len(script))
        more = chance.choice(["", "", "'", '"', "\\", "`", "\n", "#", " ", "(", ")", "{", "}", "$(", "${x#", "<<E\n", ";", "&&", "|", "\\\n", "((", "))", "esac", "fi"])  # fmt: skip
        script = script[:place] + more + script[place + chance.choice((0, 1)) :]
    return script
