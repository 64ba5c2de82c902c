"""The shell texts that go into a server, run by the real Bash: the prelude's functions, and the launcher's promises."""

import json
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from support.needs import ROOT, needs
from support.scripts import Ended, check_scripts

LAUNCHER = (ROOT / "templates/launcher.bash").read_text(encoding="utf-8")
GOLDEN = ROOT / "tests/golden/bash"
PRELUDE = (ROOT / "templates/mcbox.bash").read_text(encoding="utf-8")
BASH = ("bash", "--norc", "--noprofile", "-c")
REWIRE = 'exec 3<&"$1"; if (($1 != 3)); then eval "exec $1<&-"; fi; shift; exec "$@"'
"""Gives a program the descriptor named first as its descriptor 3."""


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


TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
PLAIN = {"MCBOX_LOG_LEVEL": "", "OTEL_LOG_LEVEL": ""}
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


def plain(ended: Ended, folder: Path) -> Ended:
    return Ended(ended.status, ended.output, TIME.sub("TIME", ended.errors).replace(str(folder), "HERE"))


def test_what_functions_print(tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    needs("jq")
    folders = iter(tmp_path / str(number) for number in range(999))

    def run(script: str) -> Ended:
        folder = next(folders)
        folder.mkdir()
        environment = {**PLAIN, "SCHEMA": json.dumps(SCHEMA)}
        return plain(prelude(script.replace("HERE", str(folder)), environment=environment), folder)

    check_scripts(golden, GOLDEN / "prelude.txt", run)


def test_is_readable_file_without_permission(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (tmp_path / "file").touch(mode=0)
    assert prelude('is_readable_file "$1" || echo no', str(tmp_path / "file")) == Ended(0, "no\n", "")


@pytest.mark.parametrize("text", ["".join(map(chr, range(1, 128))), "\x80\u2028\ufeff"])
def test_any_text_is_content(text: str) -> None:
    ended = prelude('mcp_create_text_content_object "$1"', text)
    assert (ended.output.count("\n"), json.loads(ended.output)) == (1, {"type": "text", "text": text})


def test_a_large_text_content_object() -> None:
    script = 'text=$(printf "%0100000d\\n" 1 2 3); mcp_create_text_content_object "$text$text"'
    assert len(json.loads(prelude(script).output)["text"]) == 600_004


def test_what_libraries_do(tmp_path: Path, golden: Callable[[Path, str], None]) -> None:
    check_scripts(golden, GOLDEN / "launched.txt", lambda library: plain(launch(library, **PLAIN), tmp_path))


@pytest.mark.parametrize("function", ["tool", "fs.list", "a-b", "ns::x", "größe"])
def test_any_name_is_called(function: str) -> None:
    assert launch(f"{function}() {{ echo called; }}", function).output == "called\n"


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


def test_the_argument_need_not_end() -> None:
    assert launch_through_a_pipe(b'tool() { echo "$1"; }\0x') == Ended(0, "x\n", "")


@pytest.mark.parametrize("name", ["forkserver.bash", "launcher.bash", "mcbox.bash", "notes.bash"])
def test_the_shell_texts_are_clean(name: str) -> None:
    needs("bash")
    assert run(["bash", "-n", str(ROOT / "templates" / name)]) == Ended(0, "", "")
    needs("shellcheck")
    assert run(["shellcheck", str(ROOT / "templates" / name)]) == Ended(0, "", "")
