"""A text that changes has the lines and the positions of the same text as a whole, in every unit."""

import random
import tomllib

import pytest
import yaml

from mcpc.workbench.language_server.completion import WRITERS, yaml_text
from mcpc.workbench.language_server.descriptions import CURSORS
from mcpc.workbench.language_server.open_project import BufferEdit, TextBuffer, line_starts

PIECES = ("a", "é", "\u2028", "😀", "\n", "\r", "\r\n", "\ufeff", '"', "x" * 30, "")
TEXT = 'é😀\r\n"b😀c"\n\r\u2028d\x0ce'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_offsets_and_positions_are_inverse(encoding: str) -> None:
    buffer = TextBuffer(TEXT, encoding)
    for offset in range(len(TEXT) + 1):
        if TEXT[offset - 1 : offset + 1] != "\r\n":
            assert buffer.offset(*buffer.position(offset)) == offset


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 7), ("utf-16", 4), ("utf-32", 3)])
def test_units_of_characters_beyond_the_basic_plane(encoding: str, character: int) -> None:
    buffer = TextBuffer('x\n"b😀c"', encoding)
    assert buffer.position(5) == (1, {"utf-8": 6, "utf-16": 4, "utf-32": 3}[encoding])
    assert buffer.offset(1, character) == {"utf-8": 6, "utf-16": 5, "utf-32": 5}[encoding]
    assert buffer.offset(1, 3) == {"utf-8": 4, "utf-16": 4, "utf-32": 5}[encoding]  # inside of it: before it


def test_lines_are_those_of_the_protocol() -> None:
    assert line_starts("a\r\nb\rc\nd\u2028e\x0cf") == [0, 3, 5, 7]
    buffer = TextBuffer("a\r\nb")
    assert buffer.offset(0, 99) == 1
    assert buffer.offset(99, 0) == 4
    assert buffer.offset(-1, 0) == 0


def test_changes_keep_lines_as_a_new_text_has_them() -> None:
    chance = random.Random(7)
    buffer = TextBuffer("")
    for _ in range(3_000):
        start = chance.randint(0, len(buffer.text))
        end = min(len(buffer.text), start + chance.choice((0, 0, 1, 2, 9)))
        new = "".join(chance.choices(PIECES, k=chance.randint(0, 3)))
        wanted = buffer.text[:start] + new + buffer.text[end:]
        buffer.replace(start, end, new)
        assert buffer.text == wanted
        assert buffer.starts == line_starts(wanted), (start, end, new)


def test_a_whole_text_becomes_the_smallest_edit() -> None:
    buffer = TextBuffer("abc\ndef\n")
    assert buffer.replace_all("abc\ndxf\n") == BufferEdit(5, 6, 6)
    assert (buffer.text, buffer.starts) == ("abc\ndxf\n", [0, 4, 8])
    assert buffer.replace_all("abc\ndxf\n") == BufferEdit(8, 8, 8)
    assert buffer.replace_all("") == BufferEdit(0, 8, 0)


def test_an_edit_moves_what_is_behind_it() -> None:
    insertion, removal = BufferEdit(5, 5, 8), BufferEdit(5, 8, 5)
    assert [insertion.moved(offset) for offset in (4, 5, 6)] == [4, 5, 9]
    assert insertion.moved(5, is_start=True) == 8
    assert [removal.moved(offset) for offset in (5, 6, 8, 9)] == [5, 5, 5, 6]


@pytest.mark.parametrize("name", [*CURSORS])
def test_a_cursor_is_found_in_any_text(name: str) -> None:
    chance = random.Random(name)
    for _ in range(300):
        text = "".join(chance.choices("ab:- \n\n{}[],\"'#=.|>&*!%\t\r😀---", k=chance.randrange(40)))
        found = CURSORS[name](text, chance.randint(0, len(text)))
        assert found is None or 0 <= found.start <= found.end <= len(text)


@pytest.mark.parametrize(
    "text", ["a", "a: b", "yes", "null", "1", "a #b", "- a", "x/y.txt", "é\n", '"', "a.b-c d", "", "~", "@a"]
)
def test_a_written_text_is_that_text(text: str) -> None:
    assert yaml.safe_load(f"k: {yaml_text(text)}") == {"k": text}
    written = WRITERS["toml"][1](text)
    assert tomllib.loads(f"k = {written}") == {"k": text}
