"""The shell texts that go into a server, run by the real Bash: the prelude's functions, and the launcher's promises."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from support.needs import ROOT, needs
from support.scale import scaled

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LAUNCHER = (ROOT / "templates/launcher.bash").read_text(encoding="utf-8")
PRELUDE = (ROOT / "templates/mcbox.bash").read_text(encoding="utf-8")
BASH = ("bash", "--norc", "--noprofile", "-c")
REWIRE = 'exec 3<&"$1"; if (($1 != 3)); then eval "exec $1<&-"; fi; shift; exec "$@"'
"""Gives a program the descriptor named first as its descriptor 3."""

SMALL = 60_000
"""What a pipe takes in without a reader."""


@dataclass(frozen=True)
class Ended:
    """How a program ended."""

    status: int
    output: str
    errors: str


def run(command: list[str], *, environment: Mapping[str, str] | None = None, fd: int | None = None) -> Ended:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env={**os.environ, **(environment or {})},
        pass_fds=() if fd is None else (fd,),
        timeout=120,
        check=False,
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def prelude(script: str, *arguments: str, environment: Mapping[str, str] | None = None) -> Ended:
    """Run `script` as mcbox runs its tools: behind the prelude, and with errexit until a function is called."""
    needs("bash")
    settings = "set -o errexit -o nounset -o pipefail"
    return run([*BASH, f"{settings}\n{PRELUDE}\n{script}\n", "tools.bash", *arguments], environment=environment)


def command_line(function: str, fd: int) -> list[str]:
    return ["bash", "-c", REWIRE, "bash", str(fd), *BASH, LAUNCHER, "tools.bash", function]


def launch(library: str, function: str = "tool", argument: str = "{}", **environment: str) -> Ended:
    """Call `function` of `library` through the launcher and a regular file."""
    needs("bash")
    with tempfile.TemporaryFile() as texts:
        texts.write("".join(text + "\0" for text in (PRELUDE, library, argument)).encode("utf-8", "surrogateescape"))
        texts.seek(0)
        return run(command_line(function, texts.fileno()), environment=environment, fd=texts.fileno())


def launch_through_a_pipe(texts: bytes, function: str = "tool") -> Ended:
    needs("bash")
    reading, writing = os.pipe()

    def feed() -> None:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(texts)

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        return run(command_line(function, reading), fd=reading)
    finally:
        os.close(reading)
        feeder.join()


def test_reading_the_prelude_only_defines_functions(tmp_path: Path) -> None:
    needs("bash")
    script = 'set -eu; before=; before=$(declare -p | grep -c ^declare; ls -A); source "$1"; [[ $before == "$(declare -p | grep -c ^declare; ls -A)" ]]; PATH=; source "$1"'
    file = tmp_path / "mcbox.bash"
    file.write_text(PRELUDE, encoding="utf-8")
    assert run([*BASH, f"cd {tmp_path}; {script}", "bash", str(file)]) == Ended(0, "", "")


NAMES = (
    "echo_stderr",
    "log_level_to_num",
    "log",
    "log_trace",
    "log_debug",
    "log_info",
    "log_warn",
    "log_error",
    "log_fatal",
    "is_cmd_available",
    "is_non_empty_dir",
    "is_readable_file",
    "text_trim",
    "is_valid_json",
    "is_json_object",
    "json_object_has_key",
    "json_merge_objects",
    "json_read_file",
    "jsonschema_validate_value",
    "jsonschema_validate_schema",
    "mcbox_get_config_home",
    "mcbox_get_data_home",
    "mcp_create_text_content_object",
)


@pytest.mark.parametrize("name", NAMES)
def test_every_function_is_there_and_bears_to_be_called_without_arguments(name: str) -> None:
    ended = prelude(f"declare -F {name} >/dev/null; {name} || :")
    assert ended.status == 0
    assert "unbound" not in ended.errors


def test_all_other_names_are_its_own() -> None:
    names = {line.split()[-1] for line in prelude("declare -F").output.splitlines()}
    assert {name for name in names if not name.startswith("__mcpc_")} == set(NAMES)


def test_echo_stderr() -> None:
    assert prelude("echo_stderr -e 'a\\n' 'b  c'") == Ended(0, "", "-e a\\n b  c\n")


@pytest.mark.parametrize(
    ("level", "number"),
    [
        ("trace", 1),
        ("debug", 5),
        ("info", 9),
        ("warn", 13),
        ("error", 17),
        ("fatal", 21),
        ("WARN", 13),
        ("x", 9),
        ("", 9),
    ],
)
def test_log_level_to_num(level: str, number: int) -> None:
    assert prelude('log_level_to_num "$1"', level).output == f"{number}\n"


LINE = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] \[(\w+)\] \[([^]]*)\] \[([^]]*)\] (.*)\n", re.DOTALL)


@pytest.mark.parametrize("level", ["trace", "debug", "info", "warn", "error", "fatal"])
def test_log_lines(level: str) -> None:
    ended = prelude(f"tool_x() {{ log_{level} 'a  \\n %s' b; }}; tool_x", environment={"MCBOX_LOG_LEVEL": "trace"})
    assert ended.output == ""
    matched = LINE.fullmatch(ended.errors)
    assert matched is not None
    assert matched.groups() == (level, "tools.bash", "tool_x", "a  \\n %s b")


def test_log_outside_a_function_and_without_a_message() -> None:
    matched = LINE.fullmatch(prelude("log_error").errors)
    assert matched is not None
    assert matched.groups() == ("error", "tools.bash", "main", "")


def test_log_names_its_level_in_lower_case() -> None:
    matched = LINE.fullmatch(prelude("f() { log WARN x; }; g() { f; }; g").errors)
    assert matched is not None
    assert matched.groups() == ("warn", "tools.bash", "g", "x")


@pytest.mark.parametrize(
    ("environment", "shown"),
    [
        ({}, "iwef"),
        ({"MCBOX_LOG_LEVEL": "error"}, "ef"),
        ({"MCBOX_LOG_LEVEL": "ERROR"}, "ef"),
        ({"OTEL_LOG_LEVEL": "Fatal"}, "f"),
        ({"MCBOX_LOG_LEVEL": "debug", "OTEL_LOG_LEVEL": "fatal"}, "diwef"),
        ({"MCBOX_LOG_LEVEL": "", "OTEL_LOG_LEVEL": "warn"}, "wef"),
        ({"MCBOX_LOG_LEVEL": "nonsense"}, "iwef"),
        ({"MCBOX_LOG_LEVEL": "trace"}, "tdiwef"),
    ],
)
def test_log_threshold(environment: dict[str, str], shown: str) -> None:
    everything = "; ".join(f"log_{level} x" for level in ("trace", "debug", "info", "warn", "error", "fatal"))
    clean = {"MCBOX_LOG_LEVEL": "", "OTEL_LOG_LEVEL": ""}
    ended = prelude(everything, environment={**clean, **environment})
    assert "".join(level[0] for level in re.findall(r"^\[[^]]*\] \[(\w)", ended.errors, re.MULTILINE)) == shown
    assert ended.status == 0


def truth(call: str, *arguments: str) -> bool:
    """Return what a test of the prelude says; it may print nothing."""
    ended = prelude(f'if {call} "$@"; then exit 10; else exit 11; fi', *arguments)
    assert ended.output == ""
    assert ended.errors == ""
    return {10: True, 11: False}[ended.status]


@pytest.mark.parametrize(
    ("name", "there"), [("printf", True), ("bash", True), ("log_info", True), ("no-such-cmd", False), ("-v", False)]
)
def test_is_cmd_available(name: str, there: bool) -> None:
    assert truth("is_cmd_available", name) is there


def test_is_non_empty_dir(tmp_path: Path) -> None:
    for name in ("empty", "full", "hidden", "dots", "dangling", "a*[b] $c"):
        (tmp_path / name).mkdir()
    for file in ("full/x", "hidden/.x", "dots/..x", "a*[b] $c/x"):
        (tmp_path / file).touch()
    (tmp_path / "dangling/link").symlink_to("nowhere")
    (tmp_path / "link").symlink_to("full")
    found = {
        name for name in (*os.listdir(tmp_path), "missing", "full/x") if truth("is_non_empty_dir", str(tmp_path / name))
    }
    assert found == {"full", "hidden", "dots", "dangling", "a*[b] $c", "link"}
    assert not truth("is_non_empty_dir", "")


def test_is_non_empty_dir_without_globbing(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    assert prelude('set -f; is_non_empty_dir "$1" && echo "$-"', str(tmp_path)).output.count("f") == 1


def test_is_readable_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dir").mkdir()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "link to dir").symlink_to("dir")
    os.mkfifo(tmp_path / "fifo")
    found = {name for name in (*os.listdir(tmp_path), "missing") if truth("is_readable_file", str(tmp_path / name))}
    assert found == {"file", "link"}
    assert not truth("is_readable_file", "")


def test_is_readable_file_without_permission(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (tmp_path / "file").touch(mode=0)
    assert not truth("is_readable_file", str(tmp_path / "file"))


TRIMMED = [
    ("", ""),
    (" \t\n\v\f\r", ""),
    ("a", "a"),
    (" \n a  b \n\n", "a  b"),
    ("* \\n ", "* \\n"),
    (" é\u3000 ", "é\u3000"),
]


@pytest.mark.parametrize(("text", "trimmed"), TRIMMED)
def test_text_trim(text: str, trimmed: str) -> None:
    assert prelude('text_trim "$1"', text) == Ended(0, trimmed, "")
    assert prelude('printf %s "$1" | text_trim', text) == Ended(0, trimmed, "")


def test_text_trim_joins_words() -> None:
    assert prelude("IFS=,; text_trim ' a' 'b ' ' '").output == "a b"


def test_text_trim_of_nothing() -> None:
    assert prelude("text_trim").output == ""


JSON = {
    "{}": True,
    ' [1, 2.5e3, null, true, "x"] ': True,
    '"NaN and Infinity"': True,
    "0": True,
    "false": True,
    "null": True,
    "": False,
    " ": False,
    "{": False,
    "1 2": False,
    "{}{}": False,
    "NaN": False,
    "[NaN]": False,
    "nan": False,
    "[Infinity]": False,
    "'x'": False,
    "{a:1}": False,
    "-n": False,
}


@pytest.mark.parametrize("text", JSON)
def test_is_valid_json(text: str) -> None:
    needs("jq")
    assert truth("is_valid_json", text) is JSON[text]


@pytest.mark.parametrize(
    ("text", "answer"),
    [("{}", True), ('{"a":[]}', True), ("[]", False), ("", False), ("{}{}", False), ("{", False), ("null", False)],
)
def test_is_json_object(text: str, answer: bool) -> None:
    needs("jq")
    assert truth("is_json_object", text) is answer


@pytest.mark.parametrize(
    ("text", "key", "answer"),
    [
        ('{"a":null}', "a", True),
        ('{"a":1}', "b", False),
        ('{"":1}', "", True),
        ('{"a b\\"":1}', 'a b"', True),
        ('["a"]', "a", False),
        ("[1]", "0", False),
        ("", "a", False),
        ("{", "a", False),
    ],
)
def test_json_object_has_key(text: str, key: str, answer: bool) -> None:
    needs("jq")
    assert truth("json_object_has_key", text, key) is answer


def test_json_merge_objects() -> None:
    needs("jq")
    ended = prelude('json_merge_objects "$@"', '{"a": 1, "b": {"c": 1}}', '{"b": {"d": 2}}', '{"e": "é\\n"}')
    assert ended == Ended(0, '{"a":1,"b":{"d":2},"e":"é\\n"}\n', "")


@pytest.mark.parametrize("objects", [(), ("1",), ("{}", "[]"), ("{}", ""), ("{}{}",), ("{",)])
def test_json_merge_objects_refuses(objects: tuple[str, ...]) -> None:
    needs("jq")
    ended = prelude('json_merge_objects "$@" || exit 3', *objects)
    assert (ended.status, ended.output) == (3, "")
    assert "[error] [tools.bash] [json_merge_objects]" in ended.errors


def test_json_read_file(tmp_path: Path) -> None:
    needs("jq")
    (tmp_path / "good").write_text('{\n  "a": [1,\n 2]\n}\n', encoding="utf-8")
    assert prelude('json_read_file "$1"', str(tmp_path / "good")) == Ended(0, '{"a":[1,2]}\n', "")


@pytest.mark.parametrize("text", ["", " \n", "{", "1 2", None])
def test_json_read_file_refuses(text: str | None, tmp_path: Path) -> None:
    needs("jq")
    if text is not None:
        (tmp_path / "file").write_text(text, encoding="utf-8")
    ended = prelude('json_read_file "$1" || exit 3', str(tmp_path / "file"))
    assert (ended.status, ended.output) == (3, "")
    assert (
        f"[error] [tools.bash] [json_read_file] {'file not accessible' if text is None else 'not a JSON file'}"
        in ended.errors
    )
    assert str(tmp_path / "file") in ended.errors


SCHEMA = {
    "type": "object",
    "required": ["n"],
    "properties": {
        "n": {"type": "integer"},
        "f": {"type": "number"},
        "s": {"type": "string"},
        "b": {"type": "boolean"},
        "a": {"type": "array"},
        "o": {"type": "object"},
        "listed": {"type": ["string", "null"]},
        "untyped": {"enum": [1]},
        "nothing": {"type": "null"},
    },
}
VALUES = {
    '{"n":1}': True,
    '{"n":1.0}': True,
    '{"n":-1,"f":1.5,"s":"","b":false,"a":[],"o":{}}': True,
    '{"n":1.5}': False,
    '{"n":"1"}': False,
    '{"n":null}': False,
    "{}": False,
    '{"n":1,"other":1}': False,
    '{"n":1,"f":"1"}': False,
    '{"n":1,"s":1}': False,
    '{"n":1,"b":0}': False,
    '{"n":1,"a":{}}': False,
    '{"n":1,"o":[]}': False,
    '{"n":1,"listed":"x"}': False,
    '{"n":1,"untyped":1}': False,
    '{"n":1,"nothing":null}': False,
    "[]": False,
    "1": False,
    "": False,
    '{"n":1}{"n":1}': False,
}


@pytest.mark.parametrize("value", VALUES)
def test_jsonschema_validate_schema(value: str) -> None:
    needs("jq")
    assert truth("jsonschema_validate_schema", value, json.dumps(SCHEMA, indent=2)) is VALUES[value]


def test_a_schema_that_asks_for_nothing_refuses_every_property() -> None:
    needs("jq")
    assert truth("jsonschema_validate_schema", "{}", '{"type":"object"}')
    assert not truth("jsonschema_validate_schema", '{"a":1}', '{"type":"object"}')
    assert not truth("jsonschema_validate_schema", "{}", "")


@pytest.mark.parametrize(
    ("value", "schema", "answer"),
    [
        ("1", '{"type":"integer"}', True),
        ("1.5", '{"type":"integer"}', False),
        ('"x"', '{"type":"string"}', True),
        ("[]", '{"type":"object"}', False),
        ("null", '{"type":"null"}', False),
        ("1", "{}", False),
        ("", '{"type":"string"}', False),
        ("1", "", False),
    ],
)
def test_jsonschema_validate_value(value: str, schema: str, answer: bool) -> None:
    needs("jq")
    assert truth("jsonschema_validate_value", value, schema) is answer


@pytest.mark.parametrize(
    "call", ["is_valid_json {}", "is_json_object {}", "json_merge_objects {}", "jsonschema_validate_schema {} {}"]
)
def test_without_jq(call: str, tmp_path: Path) -> None:
    needs("bash")
    bash = shutil.which("bash") or ""
    done = subprocess.run(
        [bash, "--norc", "--noprofile", "-c", f"set -eu\n{PRELUDE}\nPATH={tmp_path}\n{call} || exit 3", "tools.bash"],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 3
    assert f"[{call.split()[0]}] jq is not installed" in done.stderr.decode()


HOMES = [
    ({"MCBOX_CONFIG_HOME": "/c", "MCBOX_DATA_HOME": "/d"}, "/c\n/d\n"),
    ({"XDG_CONFIG_HOME": "/x y", "XDG_DATA_HOME": "/z"}, "/x y/mcbox\n/z/mcbox\n"),
    ({"HOME": "/h"}, "/h/.config/mcbox\n/h/.local/share/mcbox\n"),
    ({"HOME": "/h", "MCBOX_CONFIG_HOME": "", "XDG_DATA_HOME": ""}, "/h/.config/mcbox\n/h/.local/share/mcbox\n"),
    ({}, "/.config/mcbox\n/.local/share/mcbox\n"),
]


@pytest.mark.parametrize(("environment", "homes"), HOMES)
def test_homes(environment: dict[str, str], homes: str) -> None:
    needs("bash")
    unset = "unset HOME MCBOX_CONFIG_HOME MCBOX_DATA_HOME XDG_CONFIG_HOME XDG_DATA_HOME"
    exports = "".join(f"export {name}='{value}'\n" for name, value in environment.items())
    assert prelude(f"{unset}\n{exports}mcbox_get_config_home; mcbox_get_data_home").output == homes


TEXTS = [
    "",
    "a",
    "\n",
    "a\n",
    "\n\na\n\n",
    'é "😀" \\ \\n \\" / & * $x',
    "".join(map(chr, range(1, 128))),
    "\x80\u2028\ufeff",
    "-n",
    "\\\\\n\\",
]


@pytest.mark.parametrize("text", TEXTS)
def test_mcp_create_text_content_object(text: str) -> None:
    ended = prelude('mcp_create_text_content_object "$1"', text)
    assert (ended.status, ended.errors) == (0, "")
    assert ended.output.count("\n") == 1
    assert json.loads(ended.output) == {"type": "text", "text": text}
    assert ended.output.startswith('{"type":"text","text":"')


def test_a_large_text_content_object() -> None:
    script = 'text=$(printf "%0100000d\\n" 1 2 3); mcp_create_text_content_object "$text$text"'
    assert len(json.loads(prelude(script).output)["text"]) == 600_004


def test_a_call() -> None:
    assert launch('tool() { printf "%s|%s" "$#" "$1"; }', argument='{"a": 1}') == Ended(0, '1|{"a": 1}', "")


CONTENT = [
    "",
    "{}",
    '{"é": "😀\\n"}',
    "\\ \\\\ \\n \n\n\t'\"`$(exit 9) $x ${y} !z *\n",
    "-n",
    "--",
    "\udcff\udc80",
    "x\n",
]


@pytest.mark.parametrize("argument", CONTENT)
def test_any_argument_arrives(argument: str, tmp_path: Path) -> None:
    file = tmp_path / "seen"
    assert launch(f"tool() {{ printf %s \"$1\" >'{file}'; }}", argument=argument).status == 0
    assert file.read_bytes() == argument.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize("content", [text for text in CONTENT if "\udcff" not in text])
def test_any_library_arrives(content: str) -> None:
    assert launch(f"tool() {{ cat <<'END'\n{content}\nEND\n}}") == Ended(0, f"{content}\n", "")


@pytest.mark.parametrize("function", ["tool", "fs.list", "a-b", "ns::x", "größe"])
def test_any_name_is_called(function: str) -> None:
    assert launch(f"{function}() {{ echo called; }}", function).output == "called\n"


STATUS = {
    "nothing": (":", 0),
    "exit": ("exit 7", 7),
    "return": ("return 3", 3),
    "last command": ("false", 1),
    "errexit does not hold": ("false; true", 0),
    "errexit does not hold in a pipe": ("false | true; true", 0),
    "pipefail": ("(exit 4) | true", 4),
    "unset variable in a subshell": ("x=$(echo $nope)", 1),
    "unknown command": ("no-such-command-xyz 2>/dev/null", 127),
    "killed": ("kill -9 $BASHPID", -9),
}


@pytest.mark.parametrize("case", STATUS)
def test_status(case: str) -> None:
    body, status = STATUS[case]
    assert launch(f"tool() {{ {body}; }}").status == status


def test_an_unset_variable_ends_the_call_at_its_line() -> None:
    ended = launch("\n\ntool() {\n  echo before\n  echo $nope\n  echo after\n}\n")
    assert ended.status != 0
    assert ended.output == "before\n"
    assert re.search(r"line 5: nope: unbound variable", ended.errors)


def test_what_is_declared_at_top_level_is_global() -> None:
    library = "declare -A MAP=([a]=b)\ndeclare -i N=2+3\ndeclare -r R=x\nreadonly Q=y\nlocal_=z\ntool() { echo ${MAP[a]} $N $R $Q $local_; }"
    assert launch(library).output == "b 5 x y z\n"


def test_what_the_library_prints_goes_to_standard_error() -> None:
    assert launch("echo top; tool() { echo in; }; echo end") == Ended(0, "in\n", "top\nend\n")


def test_standard_input_is_at_its_end() -> None:
    assert launch('tool() { cat; read -r x || echo "<$x>"; }').output == "<>\n"


def test_the_prelude_is_there() -> None:
    ended = launch("tool_x() { log_info here; }", "tool_x", MCBOX_LOG_LEVEL="info")
    assert "[info] [tools.bash] [tool_x] here" in ended.errors


def test_a_function_of_the_library_wins_over_the_prelude() -> None:
    assert launch("log_info() { echo mine; }; tool() { log_info x; }").output == "mine\n"


def test_nothing_of_the_launcher_is_left() -> None:
    assert launch('tool() { echo "$#" ${!__mcpc*}; declare -p __mcpc_texts; }').output == "1\n"


def test_no_file_descriptor_is_left() -> None:
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("there is no /proc")
    ended = launch("tool() { local fd; for fd in 3 9; do [[ -e /proc/$$/fd/$fd ]] && echo $fd; done; :; }")
    assert ended == Ended(0, "", "")


def test_the_library_sees_no_arguments() -> None:
    assert launch('AT_TOP=$#; shift || :; set -- a b; tool() { echo $AT_TOP "$@"; }').output == "0 {}\n"


def test_the_library_may_return() -> None:
    assert launch("tool() { echo 1; }\nreturn 0\ntool() { echo 2; }\n").output == "1\n"


def test_the_library_is_read_and_not_run() -> None:
    """Both usual ways to ask: by `BASH_SOURCE` and by `return`."""
    library = """
        if [[ "${BASH_SOURCE[0]}" == "$0" ]]; then echo run; exit 1; fi
        (return 0 2>/dev/null) && READ=1 || READ=0
        tool() { echo $READ "${BASH_SOURCE[0]:+set}"; }
    """
    assert launch(library) == Ended(0, "1 set\n", "")


def test_the_library_may_switch_on_extended_patterns() -> None:
    assert launch("shopt -s extglob\ntool() { case b in !(a)) echo b;; esac; }").output == "b\n"


def test_a_trap_of_the_library_is_kept() -> None:
    assert launch("trap 'echo bye' EXIT; tool() { echo in; }").output == "in\nbye\n"
    assert launch("tool() { trap 'echo bye' EXIT; exit 5; }") == Ended(5, "bye\n", "")


ENDING = {
    "exit": "exit 0",
    "failure": "tool() { :; }\nfalse",
    "return": "tool() { :; }\nreturn 1",
    "unset": "echo $nope",
    "pipe": "false | true",
    "syntax": "tool() { :; }\nif\n",
}


@pytest.mark.parametrize("case", ENDING)
def test_a_library_that_ends_its_shell_says_so(case: str) -> None:
    ended = launch(ENDING[case])
    assert (ended.status, ended.output) == (126, "")
    assert ended.errors.endswith("tools.bash: the library ended the shell that read it\n")


def test_there_is_no_such_function() -> None:
    assert launch("x=1", "tool_x") == Ended(127, "", 'tools.bash: there is no function "tool_x"\n')
    assert launch("x=1", "").status == 127
    assert launch("x=1", "printf").status == 127


def test_nothing_arrives() -> None:
    needs("bash")
    for texts in (b"", b"one\0"):
        ended = launch_through_a_pipe(texts)
        assert ended.status == 126
        assert "did not arrive" in ended.errors
    assert run([*BASH, LAUNCHER, "tools.bash", "tool"]).status == 126


def test_an_old_bash_is_refused() -> None:
    """Bash does not let its version be changed, so the condition is."""
    needs("bash")
    ended = run([*BASH, LAUNCHER.replace("< 404", "< 99900", 1), "/x/tools.bash", "tool"])
    assert ended.status == 126
    assert re.fullmatch(r"tools\.bash: Bash \S+ is too old, 4\.4 or newer is needed\n", ended.errors)


def test_a_pipe_will_do() -> None:
    texts = b"".join(text.encode() + b"\0" for text in (PRELUDE, 'tool() { echo "$1"; }', "é\n\\"))
    assert launch_through_a_pipe(texts) == Ended(0, "é\n\\\n", "")


def test_the_argument_need_not_end() -> None:
    assert launch_through_a_pipe(b'tool() { echo "$1"; }\0x') == Ended(0, "x\n", "")


def test_several_libraries() -> None:
    texts = b'a() { echo "a$1"; }\0tool() { a "$1"; }\0a() { echo "b$1"; }\0x\0'
    assert launch_through_a_pipe(texts).output == "bx\n"


LARGE = "é\\\n\"'$x" * (16 * 1024 * 1024 // 8)
COUNT = 'tool() { printf %s "$1" | cksum; }'


def checksum(text: str) -> str:
    needs("cksum")
    return subprocess.run(["cksum"], input=text.encode(), capture_output=True, check=True).stdout.decode()


def test_sixteen_mebibytes() -> None:
    assert len(LARGE.encode()) == 16 * 1024 * 1024
    assert launch(COUNT, argument=LARGE) == Ended(0, checksum(LARGE), "")


@pytest.mark.slow
def test_sixteen_mebibytes_through_a_pipe() -> None:
    """Bash reads what has no length by the byte: a quarter of it tells as much."""
    text = LARGE[: len(LARGE) // scaled(1, 4)]
    assert launch_through_a_pipe(f"{COUNT}\0{text}\0".encode()) == Ended(0, checksum(text), "")


@pytest.mark.parametrize("name", ["forkserver.bash", "launcher.bash", "mcbox.bash", "notes.bash"])
def test_the_shell_texts_are_clean(name: str) -> None:
    needs("bash")
    assert run(["bash", "-n", str(ROOT / "templates" / name)]) == Ended(0, "", "")
    needs("shellcheck")
    assert run(["shellcheck", str(ROOT / "templates" / name)]) == Ended(0, "", "")
