"""The picture of a terminal, made from a real run: `python -m generation.terminal` writes `docs/images/terminal.svg`.

The commands run in a terminal of 80 columns, in an empty folder.  What they print becomes text of the picture, with its
colours; the picture refers to no font and to no other file.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from rich.style import Style
from rich.text import Text

from generation.places import DOCS, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TARGET = DOCS / "images/terminal.svg"
COLUMNS, LETTER, LINE, MARGIN, TOP = 80, 8.4, 20, 18, 44
PREPARATION = ("mcpc new my-server", """sed -i 's/= "en")/= "es")/' my-server/server.py""")
"""Commands before the picture begins: a project with a mistake in it."""
SESSION = (
    "mcpc check my-server",
    """sed -i 's/"es"/"en"/' my-server/server.py""",
    "mcpc build my-server -o server.pyz",
    "./server.pyz call greet name=Ada language=fr",
    "./server.pyz call greet name=Ada language=fe",
)
COLOURS = {1: "#ff7b72", 2: "#7ee787", 3: "#e3b341", 4: "#79c0ff", 5: "#d2a8ff", 6: "#76e3ea"}
"""The colours of a terminal, by number, light enough for the dark window."""
PROGRESS = re.compile(r"mcpc: .* …")
"""What a build says only on a slow machine."""
VARIABLE = (
    (re.compile(r"\bin \d+(?:\.\d+)? s\b"), "in 0.0 s"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "0" * 64),
    (re.compile(r"\b\d+\.\d MB\b"), "0.0 MB"),
)
"""What differs between two runs, and what it is compared as."""


def record(folder: Path) -> list[Text]:
    """Run the session in a folder; return the lines of the terminal."""
    (folder / "bin").mkdir()
    program = folder / "bin/mcpc"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mcpc "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    (folder / "bin/python3").symlink_to(sys.executable)
    environment = terminal_environment(folder)
    for command in PREPARATION:
        run(command, folder, environment)
    lines: list[Text] = []
    for command in SESSION:
        printed = [line for line in run(command, folder, environment).splitlines() if not PROGRESS.fullmatch(line)]
        lines += [Text.assemble(("$ ", "green"), (command, "bold")), *map(Text.from_ansi, printed)]
    return lines


def terminal_environment(folder: Path) -> dict[str, str]:
    """Return variables of a user with an empty home."""
    return {
        "HOME": str(folder / "home"),
        "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
        "PYTHONPATH": f"{ROOT / 'compiler'}:{ROOT / 'runtime'}",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }


def run(command: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Return what a command prints on a terminal."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    argv = ["sh", "-c", command]
    with subprocess.Popen(argv, cwd=folder, env=environment, stdin=its, stdout=its, stderr=its):
        os.close(its)
        printed = b"".join(read_all(ours))
    os.close(ours)
    return printed.decode().replace("\r\n", "\n")


def read_all(descriptor: int) -> Iterator[bytes]:
    """Yield what is printed until the terminal is closed, which Linux reports as an error."""
    try:
        while data := os.read(descriptor, 1 << 16):
            yield data
    except OSError:
        return


def picture(lines: list[Text]) -> str:
    """Return the lines as an SVG with a window around them."""
    width, height = round(COLUMNS * LETTER) + 2 * MARGIN, TOP + len(lines) * LINE + MARGIN
    rows = "".join(row(line, TOP + number * LINE + 14) for number, line in enumerate(lines))
    dots = "".join(f'<circle cx="{22 + 20 * at}" cy="22" r="6" fill="#484f58"/>' for at in range(3))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="A terminal in which a project is checked, built and called">\n'
        "<style>text{font:14px ui-monospace,'SF Mono','Cascadia Mono','DejaVu Sans Mono',Menlo,Consolas,monospace;"
        "fill:#e6edf3;white-space:pre}.b{font-weight:bold}</style>\n"
        f'<rect width="{width}" height="{height}" rx="10" fill="#0d1117"/>\n{dots}\n{rows}</svg>\n'
    )


def row(line: Text, y: int) -> str:
    """Return the parts of a line that have one style each, at their columns."""
    parts, column = [], 0
    for part in line.divide(sorted({at for span in line.spans for at in (span.start, span.end)})):
        if part.plain.strip():
            parts.append(one_part(part.plain, part_style(part), column, y))
        column += len(part.plain)
    return "".join(parts)


def part_style(part: Text) -> Style:
    """Return the style of a part, which is the same for all its letters."""
    styles = (span.style if isinstance(span.style, Style) else Style.parse(span.style) for span in part.spans)
    return Style.combine([Style.null(), *styles])


def one_part(plain: str, style: Style, column: int, y: int) -> str:
    """Return one text; its length is fixed, so that columns stay columns in any font."""
    colour = COLOURS.get(style.color.number or 0) if style.color else None
    look = (' class="b"' if style.bold else "") + (f' style="fill:{colour}"' if colour else "")
    place = f'x="{MARGIN + column * LETTER:g}" y="{y}" textLength="{len(plain) * LETTER:g}"'
    return f'<text {place}{look} xml:space="preserve">{escape(plain, quote=False)}</text>\n'


def transcript(svg: str) -> list[str]:
    """Return the lines of a picture, with what differs between runs made the same."""
    lines: dict[str, str] = {}
    for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        lines[text.attrib["y"]] = lines.get(text.attrib["y"], "") + (text.text or "")
    return [comparable(line) for line in lines.values()]


def comparable(line: str) -> str:
    """Return a line as it is compared."""
    for pattern, replacement in VARIABLE:
        line = pattern.sub(replacement, line)
    return line


def main() -> None:
    """Record the session and write the picture."""
    with tempfile.TemporaryDirectory() as folder:
        TARGET.write_text(picture(record(Path(folder))), encoding="utf-8")


if __name__ == "__main__":
    main()
