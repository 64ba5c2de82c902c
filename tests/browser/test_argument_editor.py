"""The argument editor in Chromium: what goes in comes out of the form as it was written, or raw JSON is offered."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from support.browser import page
from support.page_files import ARGUMENTS, served_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

    Json = Any

LIMIT = 76_000
"""The sources of the editor, in bytes."""
OPEN = """
async ({schema, text, value}) => {
  const {createArgumentEditor} = await import('/editor.js');
  window.changes = 0;
  window.editor = createArgumentEditor({schema, text, value, onChange: () => { window.changes += 1; }});
  document.querySelector('main').replaceChildren(window.editor.element);
}
"""
BATCH = """
async (cases) => {
  const {createArgumentEditor} = await import('/editor.js');
  const {parse, write} = await import('/lossless_json.js');
  const main = document.querySelector('main');
  return cases.map(([schema, text]) => {
    const editor = createArgumentEditor({schema, text});
    main.replaceChildren(editor.element);
    for (let left = 80; left > 0; left -= 1) {
      const closed = editor.element.querySelector('[aria-expanded=false]');
      if (closed === null) break;
      closed.click();
    }
    const raw = editor.element.querySelectorAll('textarea.arg-raw').length;
    const exact = editor.text() === text && editor.formText() === write(parse(text));
    editor.setMode('raw');
    const again = editor.text() === text;
    editor.setMode('form');
    const fields = editor.element.querySelectorAll('.arg-field').length;
    return {raw, exact, again, back: editor.text() === text, mode: editor.mode(), fields, shown: editor.formText()};
  });
}
"""
"""For each case: whether the controls show exactly the value, and how many places were given as raw JSON."""


@contextmanager
def opened(**context: Any) -> Iterator[Page]:
    """Yield a tab with the editor's modules at hand."""
    with served_folder(ARGUMENTS) as url, page(**context) as tab:
        tab.goto(url)
        yield tab


def round_trips(cases: list[tuple[Json, str]]) -> list[dict[str, Json]]:
    """Return what the form made of each schema (a value or JSON text) and value's text."""
    with opened() as tab:
        results: list[dict[str, Json]] = tab.evaluate(BATCH, [list(case) for case in cases])
    return results


def failures(cases: list[tuple[Json, str]], results: list[dict[str, Json]]) -> list[Json]:
    return [
        (case, result)
        for case, result in zip(cases, results, strict=True)
        if not (result["exact"] and result["again"] and result["back"])
    ]


def test_the_sources_stay_small() -> None:
    assert sum(path.stat().st_size for path in ARGUMENTS.iterdir()) <= LIMIT


@pytest.mark.parametrize("text", ['{"a": -0, "b": 1.0}', '{"b": 12345678901234567890, "a": "\\u00e9"}'])
def test_what_goes_in_comes_out(text: str) -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {"type": "number"}}}
    cases = [(schema, text)]
    assert not failures(cases, round_trips(cases))
