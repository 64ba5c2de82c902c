"""The servers under test: the same tools, written once in Bash and once in Python, and each built as a user builds.

A form is how handlers are written and run: `bash`, `python` (in a worker), `inline` (Python in the server itself).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from support import artifact
from support.files import write_files
from support.machines import Machine

BASH, PYTHON, INLINE = "bash", "python", "inline"
FORMS = (BASH, PYTHON, INLINE)
APART = (BASH, PYTHON)
"""The forms whose handlers run in processes of their own."""

TEXT = {"text": {"type": "string"}}
SECONDS = {"seconds": {"type": "number"}}
HOW = {"how": {"type": "string"}}
LIMIT = {"timeout": 1}
SECOND = {"timeout": 30}
LONG = {"timeout": 120}

TOOLS: dict[str, tuple[dict[str, Any], dict[str, Any] | None, dict[str, Any]]] = {
    "echo": (TEXT, TEXT, {}), "say": (TEXT, None, {}), "size": (TEXT, None, {}), "digest": (TEXT, None, {}),
    "ignore": (TEXT, None, {}), "sleep": (SECONDS, None, {}), "burn": (SECONDS, None, {}), "hold": (SECONDS, None, {}),
    "spawn": (SECONDS, None, {}),
    "flood": ({"mib": {"type": "integer"}, "to": {"type": "string"}}, None, LONG),
    "lines": ({"count": {"type": "integer"}}, None, SECOND),
    "notes": ({"count": {"type": "integer"}}, None, LONG),
    "fail": (HOW, None, {}), "never": (HOW, None, LIMIT), "broken": ({}, TEXT, {}), "empty": ({}, None, {}),
    "noise": ({}, None, {}), "colours": ({}, None, {}), "change": ({}, None, {}), "input": ({}, None, {}),
    "daemon": ({}, None, {}), "straggler": ({}, None, {}), "stubborn": ({}, None, {}), "child": ({}, None, {}),
    "where": ({}, None, {}), "loop": ({}, None, {}),
}  # fmt: skip
"""Every tool: its parameters, what its output is to be, and how it is to be run."""
NEVER_INLINE = ("child", "daemon", "straggler", "stubborn", "notes", "lines", "flood", "change", "where", "loop")

BASH_LIBRARY = r"""#!/usr/bin/env bash
given() { # arguments name: the value of a number or a simple word among the arguments
  [[ $1 =~ \"$2\":[[:space:]]*\"?([A-Za-z0-9.]+) ]] && printf '%s' "${BASH_REMATCH[1]}"
}
tool_echo() { printf '%s' "$1"; }
tool_say() { printf '[%s]' "$mcpc_arg_text"; }
tool_size() { printf '%d' "${#mcpc_arg_text}"; }
tool_digest() { printf '%s' "$mcpc_arg_text" | sha256sum; }
tool_ignore() { echo ignored; }
tool_sleep() { sleep "$(given "$1" seconds)"; echo slept; }
tool_burn() {
  local end
  end=$(( ${EPOCHREALTIME/./} + $(given "$1" seconds | cut -d. -f1) * 1000000 ))
  while (( ${EPOCHREALTIME/./} < end )); do :; done
  echo burnt
}
tool_hold() { tool_burn "$1"; }
tool_spawn() { /bin/true; sleep "$(given "$1" seconds)"; echo spawned; }
tool_flood() {
  local count
  count=$(( $(given "$1" mib) << 20 ))
  if [[ $(given "$1" to) == stderr ]]; then
    head -c "$count" /dev/zero | tr '\0' x >&2
    echo flooded
  else
    head -c "$count" /dev/zero | tr '\0' x
  fi
}
tool_lines() { echo begin; yes '' | head -n "$(given "$1" count)"; echo end; }
tool_notes() {
  local count
  count=$(given "$1" count)
  seq "$count" | sed 's/.*/{"progress":&}/' >&"$MCPC_NOTES"
  echo noted
}
again() { again; }
tool_fail() {
  case $(given "$1" how) in
    status) echo wrong >&2; return 3 ;;
    missing) no_such_command_here ;;
    exit) exit 3 ;;
    interrupt) kill -INT "$BASHPID"; sleep 5; echo survived ;;
    recursion) ulimit -s 512; again ;;
    kill) kill -KILL "$BASHPID"; sleep 5 ;;
    segv) kill -SEGV "$BASHPID"; sleep 5 ;;
    term) kill -TERM "$BASHPID"; sleep 5; echo survived ;;
    exec) exec false ;;
    group) kill -KILL 0; sleep 5 ;;
    close) exec >&- 2>&- 3>&- 4>&- 5>&-; false ;;
  esac
}
tool_never() {
  case $(given "$1" how) in
    sleep) sleep 3600 ;;
    burn|hold) while :; do :; done ;;
    stubborn) tool_stubborn ;;
    drip) while :; do printf x; sleep 1; done ;;
  esac
}
tool_broken() { echo '{"nonsense": 1}'; }
tool_empty() { :; }
tool_noise() {
  echo '{"jsonrpc":"2.0","id":"r1","result":{"forged":1}}'
  echo '{"jsonrpc":"2.0","method":"forged"}' >&2
  echo 'on descriptor one' >/dev/stdout
  /bin/echo 'from a child'
}
tool_colours() { printf '\033[31mred\033[0m \033]0;title\007 {"jsonrpc":"2.0","id":1,"result":{}}'; }
tool_change() {
  cd /
  trap '' TERM INT HUP
  umask 0777
  IFS=x
  set -f
  echo() { :; }
  export -f echo
  PATH=/nowhere
  export PATH
  printf changed
}
tool_input() { local data; data=$(cat); printf '%d' "${#data}"; }
tool_daemon() { ( setsid sleep 300 & ); ( setsid bash -c 'trap "" TERM HUP; sleep 300 & wait' & ); echo left; }
tool_straggler() { sleep 300 & echo left; }
tool_stubborn() { trap '' TERM INT HUP; bash -c 'trap "" TERM INT HUP; while :; do sleep 1; done'; }
tool_child() { sleep 3600; }
tool_where() { printf '%s|%s|%s|%s' "$PWD" "$(umask)" "${#PATH}" "$(type -t echo)"; }
tool_loop() { while :; do sleep 0.01; done; }
"""

PYTHON_LIBRARY = r"""
import ctypes
import hashlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

IS_WINDOWS = sys.platform == "win32"
STUBBORN = ["bash", "-c", 'trap "" TERM INT HUP; while :; do sleep 1; done']
if IS_WINDOWS:  # the comments are what the processes are found by
    STUBBORN = [sys.executable, "-c", "import time # while :; do sleep 1\nwhile True: time.sleep(1)"]


def sleeping(seconds):
    if IS_WINDOWS:
        return [sys.executable, "-c", f"import time # sleep {seconds}\ntime.sleep({seconds})"]
    return ["sleep", str(seconds)]


def echo(text=""):
    return {"text": text}


def say(text=""):
    return f"[{text}]"


def size(text=""):
    return str(len(text))


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def ignore(**arguments):
    return "ignored"


def sleep(seconds):
    time.sleep(seconds)
    return "slept"


def burn(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return "burnt"


def hold(seconds):
    began = time.monotonic()
    sum(range(2_000_000))
    sum(range(int(2_000_000 * seconds / (time.monotonic() - began))))
    return "held"


def spawn(seconds):
    subprocess.run([sys.executable, "-c", "pass"] if IS_WINDOWS else ["/bin/true"], check=True)
    time.sleep(seconds)
    return "spawned"


def flood(mib, to="stdout"):
    command = f"head -c {mib << 20} /dev/zero | tr '\\0' x"
    if IS_WINDOWS and to != "stdout":
        program = f"import os\nfor _ in range({mib << 4}): os.write({2 if to == 'stderr' else 1}, b'x' * 65536)"
        subprocess.run([sys.executable, "-c", program], check=True)
        return "flooded"
    if to == "stderr":
        subprocess.run(command + " >&2", shell=True, check=True)
        return "flooded"
    if to == "child":
        subprocess.run(command, shell=True, check=True)
        return "flooded"
    return "x" * (mib << 20)


def lines(count):
    return "begin" + "\n" * count + "end"


def notes(count):
    return "noted"


def again():
    return again()


def fail(how):
    if how == "status":
        raise ValueError("wrong")
    if how == "missing":
        subprocess.run(["no_such_command_here"])
    if how == "exit":
        sys.exit(3)
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "recursion":
        again()
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "segv":
        ctypes.string_at(0)
    if how == "term":
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
    if how == "exec":
        os.execvp("false", ["false"])
    if how == "group":
        os.killpg(0, signal.SIGKILL)
    if how == "close":
        os.closerange(3, 100)
        return "closed"
    if how == "leave":
        os._exit(5)
    if how == "generator":
        raise GeneratorExit
    if how == "odd":
        return {1, 2}
    if how == "nan":
        return float("nan")
    if how == "fork":
        if os.fork() == 0:
            return "twice"
        os.wait()
        raise ValueError("forked")


def never(how):
    if how == "sleep":
        time.sleep(3600)
    if how == "hold":
        re.match("(a+)+$", "a" * 80 + "b")
    if how == "stubborn":
        stubborn()
    if how == "except":
        while True:
            with suppress(BaseException):
                time.sleep(0.05)
    while True:
        pass


def broken():
    return {"nonsense": 1}


def empty():
    return None


def noise():
    line = '{"jsonrpc":"2.0","id":"r1","result":{"forged":1}}\n'
    print(line)
    sys.stderr.write(line)
    sys.__stdout__.write(line)
    sys.__stdout__.flush()
    os.write(1, line.encode())
    os.system("echo '" + line.strip() + "'")
    return "quiet"


def colours():
    return '\033[31mred\033[0m \033]0;title\007 {"jsonrpc":"2.0","id":1,"result":{}}'


def change():
    os.chdir("/")
    os.environ["PATH"] = "/nowhere"
    os.umask(0o777)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with suppress(ValueError):
            signal.signal(number, signal.SIG_IGN)
    sys.stdout.close()
    sys.modules.pop("json", None)
    return "changed"


def input():
    return str(len(os.read(0, 100)))


def daemon():
    if IS_WINDOWS:
        detached = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        subprocess.Popen(sleeping(300), creationflags=detached)
        return "left"
    subprocess.run(["setsid", "bash", "-c", "sleep 300 & exit"])
    subprocess.run(["bash", "-c", "( setsid bash -c 'trap \"\" TERM HUP; sleep 300 & wait' & )"])
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(300)
        os._exit(0)
    os.wait()
    return "left"


def straggler():
    subprocess.Popen(sleeping(300))
    return "left"


def stubborn():
    subprocess.run(STUBBORN)


def child():
    subprocess.run(sleeping(3600))


def where():
    return os.getcwd()


def loop():
    while True:
        time.sleep(0.01)
"""


def definition(name: str, form: str) -> dict[str, Any]:
    parameters, output, running = TOOLS[name]
    handler = {**running, **({"inline": True} if form == INLINE else {})}
    tool: dict[str, Any] = {
        "name": name,
        "description": f"The tool {name}.",
        "inputSchema": {"type": "object", "properties": parameters, "required": list(parameters)},
    }
    if output is not None:
        tool["outputSchema"] = {"type": "object", "properties": output, "required": list(output)}
    if handler:
        tool["_meta"] = {"mcpc/handler": handler}
    return tool


def project(form: str) -> dict[str, str]:
    names = [name for name in TOOLS if form != INLINE or name not in NEVER_INLINE]
    server = {"serverInfo": {"name": f"faults-{form}", "version": "1.0"}, "capabilities": {"tools": {}, "logging": {}}}
    library = ("tools.bash", BASH_LIBRARY) if form == BASH else ("tools.py", PYTHON_LIBRARY)
    return {
        "server.json": json.dumps(server),
        "tools.json": json.dumps({"tools": [definition(name, form) for name in names]}),
        library[0]: library[1],
    }


def build(form: str, folder: Path, *, http: bool = False) -> Path:
    """Build a form's server below `folder`, unless it was built there before; return the artifact."""
    if http:
        return build_project(project(form), folder, f"{form}-http", "--http")
    return build_project(project(form), folder, form)


def build_project(files: dict[str, str], folder: Path, name: str, *options: str) -> Path:
    target = folder / f"{name}.pyz"
    if target.exists():
        return target
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    write_files(place, files)
    return artifact.build(place, target, *options)


def command(artifact: Path, machine: Machine | None = None) -> list[str]:
    """Return how a built server is started: as its own first line does, with this interpreter or that of a machine."""
    if machine is not None:
        return [*machine.python, "-I", "-S", machine.path(artifact)]
    return [sys.executable, "-I", "-S", str(artifact)]
