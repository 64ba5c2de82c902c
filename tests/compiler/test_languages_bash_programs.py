"""Programs that Bash libraries call are declared, or every system has them."""

from __future__ import annotations

import pytest

from mcpc.languages.bash.lexer import scan_library
from mcpc.languages.bash.programs import MCBOX, OURS, called_programs, misspelt_functions
from mcpc.sources import Source
from support.needs import ROOT
from support.projects import SERVER_JSON, checked, marked, places


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


def test_the_functions_that_every_library_finds_are_known() -> None:
    for file, known in (("notes.bash", OURS), ("mcbox.bash", MCBOX)):
        names = {word.text for word in scan_library((ROOT / "templates" / file).read_text()).functions}
        assert sorted(name for name in names if not name.startswith("_")) == sorted(known)


def test_a_misspelt_function_is_found() -> None:
    source = Source("tools.bash", b"f() { mcpc_progres 1; mcpc_log info x; mcpc_mine; }\nmcpc_mine() { :; }\n")
    assert list(misspelt_functions([source])) == ["mcpc_progres"]


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
