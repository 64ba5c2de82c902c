"""Problems as values, the pages of their codes, and every format they are reported in."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpc import __version__
from mcpc.diagnostics import CODES, Severity, Span, codes, diagnose, explain, has_errors, in_order
from mcpc.diagnostics.formats import FORMATS, relocate_paths, render_text
from mcpc.diagnostics.formats.visible import DEFAULT_WIDTH, excerpt, visible, wrapped
from mcpc.reading import Source, parse_json
from mcpc.sandbox.platforms.posix import start_of_file, write_within
from support.needs import ROOT

PAGES = Path(codes.__file__).with_name("pages")
EXCERPTS = json.loads(Path(__file__).with_name("excerpts.json").read_text("utf-8"))


def sources(**texts: str) -> dict[str, Source]:
    return {name: Source(name, text.encode("utf-8", "surrogateescape"), 0o644) for name, text in texts.items()}


def test_a_problem_has_the_severity_of_its_code() -> None:
    assert diagnose("MCP002", None, "x").severity is Severity.ERROR
    assert diagnose("MCP010", None, "x").severity is Severity.WARNING
    assert diagnose("MCP203", None, "x").severity is Severity.NOTE
    with pytest.raises(KeyError):
        diagnose("MCP000", None, "x")


def test_only_errors_are_errors() -> None:
    note, warning, error = (diagnose(code, None, "x") for code in ("MCP203", "MCP010", "MCP002"))
    assert not has_errors(())
    assert not has_errors((note, warning))
    assert has_errors((note, warning, error))


def test_problems_are_reported_by_file_place_and_code_and_once() -> None:
    ordered = (
        diagnose("MCP301", None, "no place"),
        diagnose("MCP001", Span("a", 5, 6), "z"),
        diagnose("MCP002", Span("a", 5, 6), "a"),
        diagnose("MCP002", Span("a", 5, 6), "b"),
        diagnose("MCP001", Span("a", 10, 11), "x"),
        diagnose("MCP001", Span("b", 0, 1), "x"),
    )
    assert in_order((*ordered[::-1], *ordered)) == ordered


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert sorted(path.name for path in PAGES.iterdir()) == sorted(f"{code}.md" for code in CODES)


@pytest.mark.parametrize("code", CODES)
def test_a_page_is_short_and_says_something(code: str) -> None:
    row = CODES[code]
    text = explain(code)
    head, blank, *lines = text.splitlines()
    assert head == f"{code} ({row.severity}): {row.title}"
    assert blank == ""
    assert 2 <= len([line for line in lines if line]) <= 10
    assert all(len(line) <= 120 and line == line.rstrip() for line in lines)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert row.severity in {severity.value for severity in Severity}
    assert re.fullmatch(r"MCP\d{3}", code)
    assert not row.title.endswith(".")


def test_there_is_no_page_of_an_unknown_code() -> None:
    with pytest.raises(KeyError):
        explain("MCP000")
    with pytest.raises(KeyError):
        explain("../codes")


FILES = {
    "tools.json": '{\n  "tools": [\n    {"name": "echo"},\n    {"name": "echo"}\n  ]\n}\n',
    "a b/é:,%.json": "ab\n日本x",
    "long": "\n" * 99 + "x = y",
}
FOUND = (
    diagnose("MCP104", Span("tools.json", 50, 56), "two tools are called `echo`", hint="rename one of them"),
    diagnose("MCP102", Span("tools.json", 19, 35), "`inputSchema` is missing", "an object", "did you mean `x`?"),
    diagnose("MCP103", Span("tools.json", 4, 11), "`tools` is odd"),
    diagnose("MCP009", None, "no project was recognised", "one of `a`, `b`"),
    diagnose("MCP006", Span("fifo"), "it is a named pipe"),
    diagnose("MCP203", Span("gone", 3, 9), "not read"),
    diagnose("MCP205", Span("long", 103, 104), "odd"),
    diagnose("MCP104", Span("a b/é:,%.json", 4, 6), "50%\r`x`: y", "e", "h"),
    diagnose("MCP010", Span("a b/é:,%.json", 1, 5), "two lines\n"),
    diagnose("MCP203", None, "::error::fake"),
)


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_is_exactly_this(name: str, golden: Callable[[Path, str], None]) -> None:
    folder = ROOT / "tests/golden/diagnostics"
    version = f'"version": "{__version__}"'
    for file, report in ((name, FORMATS[name](FOUND, sources(**FILES))), (f"{name}-nothing", FORMATS[name]((), {}))):
        golden(folder / f"{file}.txt", report.replace(version, '"version": "VERSION"'))


@pytest.mark.parametrize(("text", "start", "end", "line", "carets"), EXCERPTS["marked"])
def test_the_line_and_what_is_marked(text: str, start: int, end: int, line: str, carets: str) -> None:
    found = excerpt(text, start, end)
    assert (found.line, " " * found.indent + "^" * found.marked) == (line, carets)


def long_line(before: int, marked: int, after: int) -> tuple[str, str]:
    """Return the window of a line and what is under its carets."""
    text = "first\n" + "b" * before + "M" * marked + "a" * after + "\nlast"
    found = excerpt(text, 6 + before, 6 + before + marked)
    assert len(found.line) <= DEFAULT_WIDTH + 2
    return found.line, found.line[found.indent : found.indent + found.marked]


@pytest.mark.parametrize(("before", "marked", "after", "line"), EXCERPTS["long"])
def test_a_long_line_is_shown_around_the_place(before: int, marked: int, after: int, line: str) -> None:
    shown, under = long_line(before, marked, after)
    assert shown == line
    assert under == "M" * min(marked, DEFAULT_WIDTH)


def test_a_file_of_one_line_is_not_walked_through() -> None:
    text = "日" * 3_000_000
    file = Source("a", text.encode(), 0o644)
    found = tuple(diagnose("MCP002", Span("a", at, at + 5), "x") for at in range(0, 3_000_000, 10_000))
    assert len(FORMATS["text"](found, {"a": file})) < 300_000


@given(
    st.text(st.characters() | st.sampled_from("\n\r\t\x1b\u202e日"), max_size=400),
    st.integers(0, 400),
    st.integers(0, 9),
)
def test_nothing_reaches_the_terminal_that_could_command_it(text: str, start: int, length: int) -> None:
    text = text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogateescape")
    problem = diagnose("MCP107", Span("a\x1b]0;b\x07", start, start + length), text, text, text)
    report = FORMATS["text"]((problem,), {"a\x1b]0;b\x07": Source("a", text.encode("utf-8", "surrogateescape"), 0)})
    assert all(char == "\n" or char.isprintable() for char in report)
    assert all(line == line.rstrip() for line in report.splitlines())
    report.encode()


@pytest.mark.parametrize(("text", "width", "lines"), [
    ("one two three", 8, ["one two", "  three"]), ("  one two", 6, ["  one", "  two"]),
    ("a-very-long-word b", 4, ["a-very-long-word", "  b"]), ("one two", 0, ["one two"]), ("", 8, [""]),
    ("ああ ああ", 8, ["ああ", "  ああ"]),
])  # fmt: skip
def test_text_is_wrapped_between_words(text: str, width: int, lines: list[str]) -> None:
    assert wrapped(text, width, "  ") == lines


def test_visible_is_short() -> None:
    assert visible("x" * 10_000) == "x" * 500 + "…"
    assert visible("a\nb\u3164") == "a<U+000A>b<U+3164>"


def test_colour_only_adds_escape_sequences() -> None:
    problem = diagnose("MCP107", Span("a", 1, 2), "odd \x1b[31m", "x", "y")
    files = sources(a="abc")
    coloured = render_text((problem,), files, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == FORMATS["text"]((problem,), files)
    assert "\x1b[1;31merror[MCP107]\x1b[0m" in coloured
    assert "<U+001B>[31m" in coloured
    assert "\x1b[1;31m^\x1b[0m" in coloured


@given(st.text(max_size=50), st.text(st.characters(codec="utf-8"), max_size=20))
def test_a_message_cannot_become_a_command(message: str, path: str) -> None:
    problem = diagnose("MCP107", Span(path), message, message, message)
    report = FORMATS["github"]((problem,), {})
    assert report.count("\n") == 1
    assert report.splitlines() == [report[:-1]]
    assert re.match(r"::error file=[^:,]*,title=MCP107::", report)


def test_sarif_says_what_its_names_are_relative_to() -> None:
    base = json.loads(FORMATS["sarif"]((), {}, "file:///a/"))["runs"][0]["originalUriBaseIds"]
    assert base == {"WORKINGDIRECTORY": {"uri": "file:///a/"}}


def test_names_of_files_from_another_folder() -> None:
    found = (
        diagnose("MCP104", Span("b.json", 4, 6), "m"),
        diagnose("MCP203", None, "n"),
        diagnose("MCP009", Span(""), "p"),
    )
    moved, files = relocate_paths(found, sources(**{"b.json": "abcdefgh"}), "../a")
    assert [problem.span and problem.span.path for problem in moved] == ["../a/b.json", None, "../a"]
    assert list(files) == ["../a/b.json"]
    assert relocate_paths(found, {}, ".") == (found, {})


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_report_fits_the_terminal_and_its_carets_stand_under_what_they_mean(width: int) -> None:
    text = "x" * 70 + "日本MARKED" + "y" * 100
    problem = diagnose("MCP107", Span("a", 72, 78), "a message of many words " * 8, "expected " * 20, "a hint " * 30)
    for colour in (False, True):
        report = re.sub(r"\x1b\[[0-9;]*m", "", render_text((problem,), sources(a=text), colour=colour, width=width))
        lines = report.splitlines()
        assert max(map(len, lines)) <= width
        shown = next(number for number, line in enumerate(lines) if "MARKED" in line)
        columns = [2 if char in "日本" else 1 for char in lines[shown]]
        at = sum(columns[: lines[shown].index("MARKED")])
        assert lines[shown + 1].rstrip() == " " * 2 + "|" + " " * (at - 3) + "^" * 6
        assert (len([line for line in lines if line.startswith("   ")]) > 2) is (width != 200)


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_says_the_same_whatever_the_order(format_: str) -> None:
    file = Source("tools.json", b"{'a': [1,], // x\n b: NaN, 'b': \"\\u12\xff\"", 0o644)
    _, found = parse_json(file)
    assert len(found) > 5
    render = FORMATS[format_]
    report = render(found, {"tools.json": file})
    assert report == render((*found[::-1], *found), {"tools.json": file})
    assert report.endswith("\n")
    assert not report.endswith("\n\n")
    report.encode()


def test_a_place_without_offsets_is_the_start_of_its_file() -> None:
    assert Span("a.json") == Span("a.json", 0, 0)


def test_bytes_are_written_if_they_are_taken_in_time() -> None:
    ours, theirs = os.pipe()
    assert write_within(theirs, b"abc", 0)
    assert os.read(ours, 9) == b"abc"
    os.set_blocking(theirs, False)
    while taken := write_within(theirs, b"x" * 4096, 0):
        pass
    assert os.read(ours, 1 << 20)
    os.close(ours)
    assert (taken, write_within(theirs, b"x", 0)) == (False, False)
    os.close(theirs)


def test_a_file_is_started_by_its_path() -> None:
    found = [start_of_file(path) for path in ("a b.pyz", "/a.pyz", "../a.pyz")]
    assert found == ["'./a b.pyz'", "/a.pyz", "../a.pyz"]


MESSAGE_FILES = sorted(path for root in ("compiler", "runtime") for path in (ROOT / root).rglob("messages.py"))


@pytest.mark.parametrize("path", MESSAGE_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_text_is_defined_twice(path) -> None:
    names = re.findall(r"^([A-Z][A-Z_0-9]*) = ", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert names and sorted(set(names)) == sorted(names)
