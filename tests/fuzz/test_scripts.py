"""Whatever a Bash tool is, nobody can tell whether the lines in it that ask the SDK were compiled.

`MCPC_SCRIPTS` sets how many scripts are tried (60), `MCPC_SCRIPTS_FROM` the first one's number (0).
"""

import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from fuzz import scripts
from mcpc.languages.bash import inline_sdk_calls
from mcpc.languages.bash.forkable import is_forkable
from mcpc.languages.bash.inline_sdk_calls import without_substitutions
from mcpc.reading import Source
from support.needs import ROOT, needs
from support.scale import seeds

COUNT = int(os.environ.get("MCPC_SCRIPTS", "60"))
FIRST = int(os.environ.get("MCPC_SCRIPTS_FROM", "0"))
SDK = ROOT / "templates/mcp_bash/sdk"
LIBRARY = Source("tools/a/library.sh", scripts.LIBRARY.encode())
# As the fork server does it: a shell that has read the SDK, and a child for each call.  What is left in it is shown.
DRIVER = r"""
source "$MCP_SDK/tool-sdk.sh"
set +o errexit +o nounset +o pipefail
left() {
  echo "left $? $- ${#1} $# ${FUNCNAME[*]}"
  set +u -f
  shopt -p
  mapfile -t left < <(compgen -v)
  for left in "${left[@]}"; do
    case $left in
      __mcpc_* | left | _ | BASHPID | BASH_ARG* | BASH_COMMAND | BASH_LINENO | BASH_REMATCH | BASH_SOURCE | BASH_SUBSHELL | \
        DIRSTACK | EPOCH* | FUNCNAME | LINENO | PIPESTATUS | RANDOM | SECONDS | SRANDOM | BASH_MONOSECONDS) ;;
      *) declare -p "$left" ;;
    esac
  done
  env | grep -v ^_=
  trap -p
}
mapfile -d '' -t arguments
for MCP_TOOL_ARGS_JSON in "${arguments[@]}"; do
  export MCP_TOOL_ARGS_JSON
  (
    ulimit -t 5
    unset arguments
    y='a "y" \ é'
    trap 'left é' EXIT
    source ./tool.sh </dev/null
  )
  echo "ended $?"
done
"""


def compiled(text: str) -> bytes:
    source = Source("tools/a/tool.sh", text.encode())
    if not is_forkable(source, {"library.sh": [LIBRARY]}):
        return b""
    return without_substitutions(source, [source, *([LIBRARY] if "library.sh" in text else [])])


def told(text: bytes, arguments: list[str], folder: Path) -> tuple[bytes, bytes, int]:
    (folder / "tool.sh").write_bytes(text)
    environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "MCP_SDK": str(SDK)}
    given = "\0".join([*arguments, ""]).encode()
    command = ["bash", "--norc", "--noprofile", "-c", DRIVER, "driver"]
    ran = subprocess.run(command, env=environment, cwd=folder, input=given, capture_output=True, timeout=100)
    return ran.stdout, ran.stderr, ran.returncode


def parses(text: bytes) -> bool:
    return subprocess.run(["bash", "-n"], input=text, capture_output=True, timeout=100).returncode == 0


def compare(folder: Path, first: int, last: int) -> int:
    """Hold scripts against what they are compiled to; return how many were compiled."""
    (folder / "library.sh").write_bytes(LIBRARY.data)
    count = 0
    for seed in range(first, last):
        chance = random.Random(f"script {seed}")
        text = scripts.Writer(chance).script()
        other = compiled(text)
        if other:
            count += 1
            arguments = chance.sample(scripts.ARGUMENTS, 3)
            said = [told(one, arguments, folder) for one in (text.encode(), other)]
            assert said[0] == said[1], f"script {seed} with {arguments}:\n{text}\n\nbecomes\n\n{other.decode()}"
    return count


@pytest.mark.slow
def test_nobody_can_tell(tmp_path: Path) -> None:
    needs("bash")
    first = FIRST + seeds(1)[0]
    assert compare(tmp_path, first, first + COUNT) > COUNT // 3, "too few of them were compiled"


FAULTS = {
    "what a script looks at is not asked": (40, "_observes_rewriting", lambda source: False),
    "a comment may begin in a word": (180, "END", re.compile(r"[ \t]*(?:#.*)?$")),
}
"""Of each the first of the scripts that are looked through, what is spoilt, and by what."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who watches must be seen to notice."""
    needs("bash")
    first, member, broken = FAULTS[fault]
    monkeypatch.setattr(inline_sdk_calls, member, broken)
    with pytest.raises(AssertionError, match="becomes"):
        compare(tmp_path, first, first + 40)


def test_what_was_a_script_still_is_one() -> None:
    needs("bash")
    for seed in range(FIRST, FIRST + COUNT * 3):
        chance = random.Random(f"spoilt {seed}")
        text = scripts.spoilt(chance, scripts.Writer(chance).script())
        other = compiled(text)
        if other:
            assert other.count(b"\n") == text.count("\n")
            assert parses(other) == parses(text.encode()), f"spoilt {seed}:\n{text}\n\nbecomes\n\n{other.decode()}"
