"""Bash libraries: which functions they define and where, and what is said about what is wrong with them."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpc.diagnostics import Diagnostic, Severity
from mcpc.languages import LANGUAGES
from mcpc.languages.bash import syntax
from mcpc.languages.bash.lexer import scan_library
from mcpc.languages.bash.library import read_library
from mcpc.languages.bash.slices import outline_libraries
from mcpc.reading import Source
from support.needs import ROOT, needs

FOLDER = ROOT / "tests/golden/bash"


def source(text: str | bytes) -> Source:
    return Source("tools.bash", text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))


def names(text: str) -> list[str]:
    return [word.text for word in scan_library(text).functions]


def problems(text: str | bytes, *codes: str) -> list[tuple[str, int, str]]:
    """Return code, line and covered text of what is wrong with `text`; of `codes` only, if there are any."""
    file = source(text)
    return [
        (problem.code, file.position(problem.span.start)[0], file.text[problem.span.start : problem.span.end])
        for problem in read_library(file)[1]
        if problem.span is not None and (not codes or problem.code in codes)
    ]


def the_problem(text: str | bytes) -> Diagnostic:
    (problem,) = read_library(source(text))[1]
    return problem


FORMS: dict[str, str] = json.loads((FOLDER / "forms.json").read_text("utf-8"))


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_a_definition(form: str) -> None:
    assert set(names(FORMS[form])) == {"a"}


@pytest.mark.parametrize(
    "name",
    ["tool-x", "tool.x", "tool:x", "_x", "x1", "1x", "größe", "a+", "a@", "a/b", "[", "a%b", "x,y", "{x}", "a[1]"],
)
def test_names(name: str) -> None:
    assert names(f"{name}() {{ :; }}\nfunction {name} {{ :; }}\n") == [name, name]


NOT_FOOLED: dict[str, str] = json.loads((FOLDER / "not_fooled.json").read_text("utf-8"))


@pytest.mark.parametrize("case", NOT_FOOLED)
def test_not_fooled(case: str) -> None:
    """Whatever stands between two functions, they are found, and nothing that is not there when the file was read."""
    found = names(f"first() {{ :; }}\n{NOT_FOOLED[case]}\nlast() {{ :; }}\n")
    assert [name for name in found if name != "x"] == ["first", "last"]


@pytest.mark.parametrize("case", NOT_FOOLED)
def test_not_fooled_in_a_function(case: str) -> None:
    found = names(f"first() {{\n{NOT_FOOLED[case]}\n}}\nlast() {{ :; }}\n")
    assert found == ["first", "last"]


def defined(text: str, folder: Path) -> dict[str, bool]:
    """Return what Bash has defined when it has read `text`: names, and whether they are exported."""
    needs("bash")
    library = folder / "library.bash"
    library.write_text(text, encoding="utf-8")
    command = 'source "$1" >/dev/null 2>&1; declare -F'
    done = subprocess.run(
        ["bash", "--norc", "--noprofile", "-c", command, "bash", str(library)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=30,
        cwd=folder,
    )
    rows = (line.split(" ", 2) for line in done.stdout.decode().splitlines())
    return {name: "x" in options for _, options, name in rows}


NAMES = ("tools", "conditional", "generators", "wrapped", "crossed")
LIBRARIES = {name: (FOLDER / f"libraries/{name}.bash").read_bytes().decode() for name in NAMES}


def scanned(text: str) -> Iterator[str]:
    """Yield everything that the lexer says of a text."""
    found = scan_library(text)
    yield f"{json.dumps(text if len(text) < 500 else text[:20] + '…')}\n"
    for name in ("functions", "unclosed"):
        yield from (f"    {name}: {word.text[:520]} {word.start} {word.end}\n" for word in getattr(found, name))
    for command in found.commands:
        yield f"    command: {[(word.text, word.start, word.end) for word in command]}\n"
    yield from (f"    literal: {start} {end}\n" for start, end in found.literal)
    yield f"    begun: {sorted(found.begun)}\n"
    for chunk in found.chunks:
        flags = [name for name in ("joined", "open", "traps", "dynamic") if getattr(chunk, name)]
        defined = [word.text[:20] for word in chunk.definitions]
        yield f"    chunk: {chunk.start} {chunk.end} {' '.join([*flags, *defined])}\n"


def test_all_that_is_scanned(golden: Callable[[Path, str], None]) -> None:
    texts = [
        *FORMS.values(),
        *NOT_FOOLED.values(),
        *LIBRARIES.values(),
        *json.loads((FOLDER / "texts.json").read_text()),
    ]
    golden(FOLDER / "scanned.txt", "".join(line for text in texts for line in scanned(text)))


def test_all_that_is_sliced(golden: Callable[[Path, str], None]) -> None:
    lines = []
    for text in (*LIBRARIES.values(), SLICED):
        outline = outline_libraries([text, "other() { tool_size; mcpc_call x; }"])
        lines.append(f"{outline.is_open} {sorted(outline.trapping())} {sorted(outline.mentioning('mcpc_call'))}\n")
        for part in outline.parts:
            lines.append(f"    {part.names} {part.removable} {part.traps} {part.dynamic} {sorted(part.words)}\n")
        lines += (f"{name}: {json.dumps(outline.slice(name))}\n" for name in outline.defined)
    golden(FOLDER / "sliced.txt", "".join(lines))


SLICED = """
base() { echo base; }
one() { base; trap 'x' EXIT; }
two() { one; }
three() { "$1"; }
four() { echo three; }
five() { : `base`; }
six() { trap "$x" INT; }
function seven() { base; }; eight() { :; }
nine() { :; } > /dev/null
ten() { :; } && echo six
base() { echo again; }
x=$(one)
eleven() { twelve() { :; }; mcpc_call y; }
"""


@pytest.mark.parametrize("library", LIBRARIES)
def test_bash_defines_the_same(library: str, tmp_path: Path) -> None:
    text = LIBRARIES[library]
    module, found = read_library(source(text))
    assert {name: function.exported for name, function in module.functions.items()} == defined(text, tmp_path)
    assert not [problem for problem in found if problem.code == "MCP204"]


# Bash 4.4 refuses `function a ( … )`; the marks of Windows it takes for letters.
NOT_EVERYWHERE = {"after a byte order mark", "keyword, subshell", "windows"}


@pytest.mark.parametrize("form", sorted(FORMS.keys() - NOT_EVERYWHERE))
def test_bash_defines_the_forms(form: str, tmp_path: Path) -> None:
    text = FORMS[form].replace("x && ", "true && ")
    text = text.replace("if x;", "if false;" if "else" in text else "if true;")
    assert "a" in defined(text, tmp_path)


def test_places() -> None:
    file = source('# größe 😀 \udcff\r\ngröße() { echo "😀"; }\nfunction   b\n{ :; }\n')
    functions = read_library(file)[0].functions
    places = {name: file.text[function.span.start : function.span.end] for name, function in functions.items()}
    assert places == {"größe": "größe", "b": "b"}
    assert [file.position(function.span.start) for function in functions.values()] == [(2, 1), (3, 12)]
    assert {function.span.path for function in functions.values()} == {"tools.bash"}


def test_the_later_of_two_counts() -> None:
    file = source("a() { :; }\na() { :; }\n")
    assert file.position(read_library(file)[0].functions["a"].span.start) == (2, 1)


def test_all_that_is_read(golden: Callable[[Path, str], None]) -> None:
    """What is wrong, with its line and text; functions, `x` before those that are exported; `place` if a file asks for it."""
    needs("bash")
    lines = []
    for text in json.loads((FOLDER / "read.json").read_text("utf-8")):
        module, _ = read_library(Source("tools.bash", text.encode(), 0o644))
        named = [f"{'x ' * function.exported}{name}" for name, function in module.functions.items()]
        lines.append(f"{json.dumps(text)} {'place ' * module.asks_place}{json.dumps(named, ensure_ascii=False)}\n")
        lines += (f"    {code} {line} {covered!r}\n" for code, line, covered in problems(text))
    golden(FOLDER / "read.txt", "".join(lines))


def test_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("bash")
    trace = tmp_path / "trace"
    startup = tmp_path / "startup"
    startup.write_text(f"touch {trace}\n")
    for variable in ("BASH_ENV", "ENV"):
        monkeypatch.setenv(variable, str(startup))
    monkeypatch.setenv("SHELLOPTS", "xtrace")
    assert read_library(source(f"touch {trace}\n$(touch {trace})\ntrap 'touch {trace}' EXIT\n"))[1] == ()
    assert not trace.exists()


def fake_bash(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    program = folder / "bash"
    program.write_text(text)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_what_is_said_of_the_complaints_of_bash(
    monkeypatch: pytest.MonkeyPatch, golden: Callable[[Path, str], None]
) -> None:
    """For Bash of any version, whose messages are given."""
    monkeypatch.setattr(syntax.programs, "find_bash", lambda: "bash")
    lines = []
    for text, output, status in json.loads((FOLDER / "complaints.json").read_text("utf-8")):
        done = subprocess.CompletedProcess([], status, b"", output.encode())
        monkeypatch.setattr(syntax.programs, "run_program", lambda *_args, done=done, **_more: done)
        lines.append(f"{json.dumps([text, output, status])}\n")
        for problem in syntax.check_syntax(source(text), False, scan_library(text).unclosed):
            covered = text[problem.span.start : problem.span.end]
            lines.append(
                f"    {problem.code} {problem.severity} {problem.span.start} {covered!r} {problem.message}; {problem.hint}\n"
            )
    golden(FOLDER / "complaints.txt", "".join(lines))


def test_without_bash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    module, (problem,) = read_library(source("f() { :; }\n"))
    assert list(module.functions) == ["f"]
    assert (problem.code, problem.severity) == ("MCP210", Severity.WARNING)


def test_a_bash_that_cannot_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_bash(tmp_path, monkeypatch, "#!/does/not/exist\n")
    assert the_problem("f() { :; }\n").code == "MCP210"


def test_a_bash_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_bash(tmp_path, monkeypatch, "#!/bin/sh\nexec /bin/sleep 60\n")
    monkeypatch.setattr(syntax, "SECONDS", 0.2)
    assert the_problem("f() { :; }\n").code == "MCP210"


def test_a_bash_that_breaks_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_bash(tmp_path, monkeypatch, "#!/bin/sh\nkill -9 $$\n")
    assert the_problem("f() { :; }\n").code == "MCP204"


PIECES = (
    "f() {", "g()", "{", "}", ";", "\n", "if a", "then", "; fi", "case x in", "a)", "(", ")", "esac", ";;", "$(", "`",
    "((", "))", "$((1<<", "[[ a", "]]", "=~", '"', "'", "$'", "\\", "${x#", "#", "<<E", "<<'E'", "<<-E", "\nE\n", "for i",
    "do", "done", "function h", "x=(", "a[", "]", "[k]=v", " word", "|", "&", ">f", "2>&1", "<(", "<<<x", "coproc",
    "time ", "! ", "\\\n", "\r", "\r\n", "é", "\0", "$x", "export -f f", "exit", "@(", "!(", "\ufeff", "\udcff", "\t",
)  # fmt: skip
SOUP = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@settings(max_examples=400, deadline=None)
@given(SOUP | st.text())
def test_the_lexer_reads_anything(text: str) -> None:
    found = scan_library(text)
    for word in found.functions:
        assert 0 <= word.start < word.end <= len(text)
        assert text[word.start : word.end].replace("\\\r\n", "").replace("\\\n", "") == word.text
    assert all(0 <= start <= end <= len(text) for start, end in found.literal)


@settings(max_examples=60, deadline=None)
@given(SOUP)
def test_a_quoted_here_document_hides_anything(text: str) -> None:
    body = text.replace("E", "").replace("\r", "")
    assert names(f"a() {{ :; }}\ncat <<'E'\n{body}\nE\nb() {{ :; }}\n") == ["a", "b"]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary() | SOUP.map(lambda text: text.encode("utf-8", "surrogateescape")))
def test_reading_never_raises(data: bytes) -> None:
    file = source(data)
    module, found = read_library(file)
    spans = [function.span for function in module.functions.values()]
    spans.extend(problem.span for problem in found if problem.span is not None)
    assert all(0 <= span.start <= span.end <= len(file.text) for span in spans)


ENDLESS = (
    "((", "((a;", "((a)", "$((", '"$(', "`", "'", "<<a ", "<<a\n", "\\", "{ ", "if ", "case x in ", "a=(", "a[", "-[",
    "+(", "(", ")", "f() {\n", "${", "a   ", "a (  ", "<(", "[[ ", "\\\n", "\r\n", "x=$(", "<<E\n\\\n", "} ) ", "exit\n",
    "for x do ", "dirname ", "${BASH_SOURCE ",
)  # fmt: skip


@pytest.mark.parametrize("unit", ENDLESS)
@pytest.mark.sampled(4)
def test_the_lexer_takes_linear_time(unit: str) -> None:
    """With the square of the length these would take minutes."""
    text = unit * (200_000 // len(unit)) + ") " * 50_000
    begun = time.process_time()
    scan_library(text)
    assert time.process_time() - begun < 10


def test_what_is_nested_too_deeply_for_bash() -> None:
    needs("bash")
    assert len(problems("{ " * 200_000, "MCP204", "MCP210")) == 1


def test_the_language_is_a_row() -> None:
    module, found = LANGUAGES["bash"](source("f() { :; }"))
    assert list(module.functions) == ["f"]
    assert found == ()
