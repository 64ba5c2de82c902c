"""Slices of Bash libraries: what is left out is never missed, and what is kept stands in the lines it stood in."""

import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpc.languages.bash.lexer import scan_library
from mcpc.languages.bash.slices import outline_libraries
from support.needs import needs


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
