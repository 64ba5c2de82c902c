"""Python modules: which functions they hold, how these may be called, what they import, and what keeps them from it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpc.diagnostics import Span
from mcpc.languages import LANGUAGES, imports, loads, mentions
from mcpc.languages.executable import binary_system, how_to_fix, interpreter_of, is_binary, not_runnable
from mcpc.languages.python import read
from mcpc.model.ir import FunctionParameter
from mcpc.reading import Source
from support.expressions import check_expressions
from support.needs import ROOT


def source(text: str | bytes) -> Source:
    return Source("tools.py", text if isinstance(text, bytes) else text.encode())


def covered(file: Source, start: int, end: int) -> str:
    return file.text[start:end]


def functions(text: str | bytes) -> dict[str, str]:
    file = source(text)
    module, problems = read(file)
    assert problems == ()
    return {name: covered(file, found.span.start, found.span.end) for name, found in module.functions.items()}


def test_what_only_running_could_tell_accepts_anything() -> None:
    module, _ = read(source("a = partial(f)\nb = lambda x: x\nfrom x import c\n"))
    found = {name: (function.accepts_any, function.parameters) for name, function in module.functions.items()}
    assert found == dict.fromkeys("abc", (True, ()))


def test_the_later_of_two_counts() -> None:
    file = source("def a(b): pass\ntry:\n    def a(c): pass\nexcept E: pass\n")
    (function,) = read(file)[0].functions.values()
    assert function.parameters == (FunctionParameter("c", True),)
    assert file.position(function.span.start) == (3, 9)


def test_a_name_is_what_python_makes_of_it() -> None:
    """Identifiers are normalised: U+FB01 is `fi`; the place is that of what is written."""
    assert functions("def \ufb01le(): pass\n") == {"file": "\ufb01le"}


def test_another_encoding() -> None:
    assert functions("# coding: latin-1\ndef gr\xf6\xdfe(): pass\n".encode("latin-1")).keys() == {"größe"}


def test_warnings_of_the_parser_are_nothing() -> None:
    """The whole suite turns warnings into errors."""
    assert functions("def a(): return '\\d' is 'x', 1if 1else 2\n") == {"a": "a"}


def test_nothing_is_run() -> None:
    assert functions("raise SystemExit('run')\ndef a(): pass\n") == {"a": "a"}


MISTAKES: dict[str, tuple[str | bytes, tuple[int, int], str]] = {
    "colon": ("def f()\n    pass\n", (1, 8), "`:`"),
    "never closed": ("x = 1\ny = (\n", (2, 5), "`(`"),
    "behind wide letters": ("x = 'é😀' + )\n", (1, 12), "`)`"),
    "behind a byte order mark": ("\ufeffx = )\n", (1, 6), "`)`"),
    "windows": ("a\r\nb\r\nx = )\r\n", (3, 5), "`)`"),
    "indentation": ("  x\n", (1, 2), ""),
    "unterminated": ("x = '''\n", (1, 5), ""),
    "found by the compiler": ("x = 1\nreturn x\n", (2, 1), "`return`"),
    "await": ("await x\n", (1, 1), "`await`"),
    "parameter twice": ("def f(a, a): pass\n", (1, 10), "`a`"),
    "null byte": (b"x = 1\ny\0 = 2\n", (2, 2), ""),
    "null byte in a comment": (b"# \0\n", (1, 3), ""),
    "not UTF-8": (b"a = 1\nx = 'ab\xff'\n", (2, 8), "0xff"),
    "unknown encoding": (b"# coding: nope\n", (1, 11), "nope"),
    "unknown encoding below": (b"#!/usr/bin/python3\n# -*- coding: no-pe -*-\n", (2, 15), "no-pe"),
    "encoding against mark": (b"\xef\xbb\xbf# coding: latin-1\n", (1, 1), ""),
    "parentheses": ("x = 1\n" + "(" * 5_000, (2, 201), ""),
    "indentation too deep": ("".join(" " * i + "if x:\n" for i in range(110)), (101, 1), ""),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case: str) -> None:
    text, place, named = MISTAKES[case]
    file = source(text)
    module, (problem,) = read(file)
    assert dict(module.functions) == {}
    assert problem.code == "MCP205"
    assert named in problem.message
    assert problem.span.start <= problem.span.end <= len(file.text)
    # Python 3.11 points at the end of an indentation, later ones at its beginning.
    line, column = file.position(problem.span.start)
    assert (line, column) == place or (case == "indentation too deep" and line == place[0])
    assert imports(file) == ()


@pytest.mark.parametrize(
    "text",
    ["-" * 100_000 + "1", "x" + ".y" * 100_000, "1" + "+1" * 100_000, "not " * 50_000 + "x", "lambda: " * 20_000 + "x"],
)
def test_too_deep(text: str) -> None:
    """Whatever limit of Python's is met, it is a mistake of the file."""
    (problem,) = read(source(text))[1]
    assert problem.code == "MCP205"
    assert imports(source(text)) == ()


def test_a_long_chain_is_read_or_refused() -> None:
    module, problems = read(source("if x: pass\n" + "elif x: pass\n" * 3_000 + "def a(): pass\n"))
    found = (list(module.functions), [problem.code for problem in problems])
    assert found in ((["a"], []), ([], ["MCP205"]))


def everything(text: str) -> Iterator[str]:
    file = source(text)
    module, problems = read(file)
    assert problems == ()

    def at(span: Span) -> str:
        return f"{span.start} {covered(file, span.start, span.end)!r}"

    yield f"{json.dumps(text if len(text) < 3000 else text[:50])}\n"
    for name, found in module.functions.items():
        given = [(each.name, each.required, each.keyword) for each in found.parameters]
        yield f"    {name} {at(found.span)} {found.is_async} {given} {found.accepts_any} {found.context!r}\n"
        for each in found.annotations:
            yield f"        {each.parameter}: {each.name} of {each.origin!r} {at(each.span)}\n"
    yield from (f"    imports {name} {at(span)}\n" for name, span in imports(file))
    yield f"    loads {sorted(loads(file) or ())}\n    mentions {sorted(mentions(file))}\n"


def test_all_that_is_read(golden: Callable[[Path, str], None]) -> None:
    folder = ROOT / "tests/golden/python"
    texts = json.loads((folder / "texts.json").read_text("utf-8"))
    golden(folder / "read.txt", "".join(line for text in texts for line in everything(text)))


def test_many_on_one_line_take_linear_time() -> None:
    assert len(imports(source("import a;" * 20_000))) == 20_000


LINES = st.sampled_from(
    ["def f(a, *, b=1): pass\n", "x = f()\n", "if x:\n", "    import é\n", "try:\n", "    pass\n", "except X:\n", "'é😀\udcff'\n", "\0", "\r", "(\n", "\ufeff", "# coding: x\n", "\tpass\n"]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.binary() | st.lists(LINES, max_size=8).map(lambda lines: "".join(lines).encode("utf-8", "surrogateescape")))
def test_reading_never_raises(data: bytes) -> None:
    file = source(data)
    module, problems = read(file)
    spans = [function.span for function in module.functions.values()]
    spans.extend(problem.span for problem in problems if problem.span is not None)
    spans.extend(span for _, span in imports(file))
    assert all(0 <= span.start <= span.end <= len(file.text) for span in spans)


def test_the_language_is_a_row() -> None:
    module, problems = LANGUAGES["python"](source("def f(): pass\n"))
    assert list(module.functions) == ["f"]
    assert problems == ()


def about(path: str, data: bytes) -> tuple[str, str, str, str]:
    source = Source(path, data)
    system, reason = binary_system(source), not_runnable(source)
    assert is_binary(source) is bool(system)
    return system, interpreter_of(source), reason, how_to_fix(reason) if reason else ""


def test_what_runs_a_file(golden: Callable[[Path, str], None]) -> None:
    check_expressions(golden, ROOT / "tests/golden/bash/executables.txt", about=about)
