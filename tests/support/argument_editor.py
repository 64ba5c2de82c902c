"""The argument editor in a tab of Chromium: opened on a schema, used as a user does, or given very many cases at once."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from support.browser import page
from support.page_files import PAGE, served_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Locator, Page

    from support.editor_cases import Step

    Json = Any

OPEN = """
async ({schema, text}) => {
  const {createArgumentEditor} = await import('/arguments/editor.js');
  window.changes = 0;
  window.editor = createArgumentEditor({schema, text: text ?? undefined, onChange: () => { window.changes += 1; }});
  document.querySelector('main').replaceChildren(window.editor.element);
}
"""
BATCH = """
async (cases) => {
  const {createArgumentEditor} = await import('/arguments/editor.js');
  const {parse, write} = await import('/arguments/lossless_json.js');
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


TEXTS = """
async () => {
  const {parse, write} = await import('/arguments/lossless_json.js');
  const one = (text) => write(parse(text), 0);
  return {sent: one(editor.text()), form: editor.mode() === 'raw' ? null : one(editor.formText())};
}
"""


@contextmanager
def opened(**context: Any) -> Iterator[Page]:
    """Yield a tab with the editor's modules at hand."""
    with served_folder(PAGE) as url, page(**context) as tab:
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


def edit(tab: Page, schema: Json, text: str | None = None) -> None:
    """Show an editor for a schema, a value or its JSON text; `window.editor` is the editor."""
    tab.evaluate(OPEN, {"schema": json.dumps(schema), "text": text})


def value_text(tab: Page) -> str:
    """Return the value's JSON on one line, after checking that the controls show the same."""
    texts = tab.evaluate(TEXTS)
    assert texts["form"] in {texts["sent"], None}
    return str(texts["sent"])


def perform(tab: Page, step: Step) -> None:
    """Do what a user does."""
    action, name, *rest = step
    label, _, nth = name.partition(" >> ")
    if action == "click":
        tab.get_by_role("button", name=label, exact=True).click()
        return
    wanted = f"How {label} is given" if action == "give" else label
    field = tab.get_by_label(wanted, exact=True)
    field = field.nth(int(nth)) if nth else field.and_(tab.locator("input, select, textarea"))
    actions = {"fill": field.fill, "key": field.press, "choose": choose(field), "give": choose(field)}
    actions[action](rest[0])


def choose(field: Locator) -> Callable[[str], object]:
    return lambda label: field.select_option(label=label)
