"""A cursor in any text, and texts as YAML and TOML have them."""

import random
import tomllib

import pytest
import yaml

from mcpc.workbench.language_server.completion import WRITERS, yaml_text
from mcpc.workbench.language_server.descriptions import CURSORS


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
