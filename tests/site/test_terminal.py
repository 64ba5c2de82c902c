"""The picture of a terminal shows what the commands print now."""

from pathlib import Path

import pytest
from rich.text import Text

from generation.terminal import SESSION, TARGET, picture, record, transcript
from support.needs import ROOT


def test_the_picture_shows_what_is_printed_now(tmp_path: Path) -> None:
    now = transcript(picture(record(tmp_path)))
    assert [line for line in now if line.startswith("$ ")] == [f"$ {command}" for command in SESSION]
    assert transcript(TARGET.read_text(encoding="utf-8")) == now, "`make picture` records it again"


def test_the_picture_is_in_the_readme_and_refers_to_nothing() -> None:
    assert TARGET.relative_to(ROOT).as_posix() in (ROOT / "README.md").read_text(encoding="utf-8")
    svg = TARGET.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert "http" not in svg
    assert "url(" not in svg
    assert "@" not in svg


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a <b> & c", "a &lt;b&gt; &amp; c"),
        ("\x1b[1;31merror\x1b[0m: x", '<text x="18" y="58" textLength="42" class="b" style="fill:#ff7b72"'),
    ],
)
def test_text_is_escaped_and_keeps_its_colours(text: str, part: str) -> None:
    assert part in picture([Text.from_ansi(text)])
