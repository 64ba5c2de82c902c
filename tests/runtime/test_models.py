"""The models of a server: found by name, made once, and given to functions and taken back as JSON."""

import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from mcpc_runtime.handlers.python.bindings import models
from mcpc_runtime.handlers.python.bindings.dumping import to_json

SOURCE = b"""from __future__ import annotations
from pydantic import BaseModel, ConfigDict, Field
from typing import Annotated

class Item(BaseModel):
    model_config = ConfigDict(extra='allow', validate_by_name=True)
    tags: list[str] = []

class Input(BaseModel):
    model_config = ConfigDict(extra='allow', validate_by_name=True)
    a_b: Annotated[int | None, Field(alias='a b')] = None
    item: Item | None = None
    items: list[Item] = []
    n: int = 1
    next: Input | None = None
"""
BROKEN = b"raise RuntimeError('once')\n"


class Loader:
    def __init__(self) -> None:
        self.reads = 0

    def get_data(self, path: str) -> bytes:
        assert path == "folder/sources"
        self.reads += 1
        return SOURCE + BROKEN


PACKAGE = "mcpc_app.models"


@pytest.fixture
def found() -> Iterator[models.ModelClasses]:
    places = {"Tool": (0, len(SOURCE)), "Broken": (len(SOURCE), len(SOURCE + BROKEN))}
    yield models.ModelClasses(PACKAGE, Loader(), "folder", {"Input": "Tool", "Item": "Tool", "Bad": "Broken"}, places)
    for name in places:
        sys.modules.pop(f"{PACKAGE}.{name}", None)


def test_a_class_is_made_once_whoever_asks_first(found: models.ModelClasses) -> None:
    seen: list[Any] = []
    threads = [threading.Thread(target=lambda: seen.append(found.find("Input"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert len(set(seen)) == 1
    assert found.find("Item").__module__ == "mcpc_app.models.Tool"


def test_a_name_that_is_no_class(found: models.ModelClasses) -> None:
    with pytest.raises(AttributeError, match="unknown model Nothing"):
        found.find("Nothing")


def test_a_module_that_fails_is_not_left_behind(found: models.ModelClasses) -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError, match="once"):
            found.find("Bad")


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"a b": 1, "n": 1, "more": {"x": [1]}},
        {"item": {}, "items": [{"tags": []}, {"y": None}], "next": {"next": {}}},
        {"a b": None, "a_b": "another"},
    ],
)
def test_what_was_absent_stays_absent(found: models.ModelClasses, value: dict[str, Any]) -> None:
    model = found.find("Input").model_validate(value, by_alias=True, by_name=False)
    assert to_json([model]) == [value]


def test_what_is_changed_in_place_counts_as_set(found: models.ModelClasses) -> None:
    model = found.find("Input")(item={}, items=[{}], next={}, more=1)
    model.item.tags.append("a")
    model.next.n = 2
    model.items[0].tags.append("b")
    assert models.dump_model(model) == {
        "item": {"tags": ["a"]},
        "items": [{"tags": ["b"]}],
        "next": {"n": 2},
        "more": 1,
    }


def test_a_class_made_from_a_model_is_one(found: models.ModelClasses) -> None:
    class Own(found.find("Input")):  # type: ignore[misc]
        pass

    assert to_json(Own(n=3)) == {"n": 3}


def test_a_refusal_is_told_in_words_and_at_most_five(
    found: models.ModelClasses, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = type(sys)("some.models")
    module.Input = found.find("Input")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "some.models", module)
    wrong = {"a b": "x", "item": 1, "items": [1, 2, 3], "n": "y", "next": 1}
    result = models.call_with_model(lambda _: pytest.fail("called"), wrong, {}, "some.models", "Input")
    assert result["isError"]
    lines = result["content"][0]["text"].splitlines()
    assert len(lines) == 7
    assert lines[1].startswith("- /a b: ")
    assert lines[-1] == "- and 2 more"
    assert models.call_with_model(lambda given: given.n, {"n": 2}, {}, "some.models", "Input") == 2


def test_a_function_of_its_own_that_raises_is_not_taken_for_a_refusal(
    found: models.ModelClasses, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = type(sys)("some.models")
    module.Input = found.find("Input")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "some.models", module)
    with pytest.raises(ValueError, match="invalid literal"):
        models.call_with_model(lambda _: int("x"), {}, {}, "some.models", "Input")
