"""Programs that Bash libraries call are declared, or every system has them."""

import pytest

from mcpc.languages.bash.lexer import scan_library
from mcpc.languages.bash.programs import MCBOX, OURS, called_programs, misspelt_functions
from mcpc.reading import Source
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
