"""The argument editor in a tab of Chromium: opened on a schema, used as a user does, or given very many cases at once."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Locator, Page

from support.browser import page
from support.editor_cases import Step
from support.page_files import PAGE, served_folder

Json = Any

OPEN = """
async ({schema, text}) => {
  const {ArgumentEditor} = await import('/arguments/editor.js');
  window.changes = 0;
  window.editor = new ArgumentEditor({schema: JSON.parse(schema), onChange: () => { window.changes += 1; }});
  if (text !== null) window.editor.setText(text);
  document.querySelector('main').replaceChildren(window.editor.element);
}
"""
SHOWN = """
const shown = (editor) => new Map([...editor.fields].map(([name, {option, control}]) => {
  if (control === null) return [name, option?.source];
  const isText = option.kind === 'string' && (control.value !== '' || editor.values.has(name));
  return [name, isText ? JSON.stringify(control.value) : control.value || undefined];
}));
const isShown = (editor) => [...shown(editor)].every(([name, source]) => {
  const sent = editor.values.get(name);
  return sent === source || (sent?.startsWith('"') && JSON.parse(sent) === JSON.parse(source));
});
"""
"""What the controls of the form show, as JSON by name, and whether that is what is sent."""
BATCH = """
async (cases) => {
  const {ArgumentEditor} = await import('/arguments/editor.js');
  const {members} = await import('/json.js');
  const main = document.querySelector('main');
  const listed = (text) => JSON.stringify([...members(text)].sort());
  SHOWN
  return cases.map(([schema, text]) => {
    const editor = new ArgumentEditor({schema: JSON.parse(schema)});
    editor.setText(text);
    main.replaceChildren(editor.element);
    if (editor.area !== null) return {json: true, exact: editor.text() === text, again: true, asJson: 0, fields: 0};
    const exact = editor.text() === text && isShown(editor);
    editor.switchTo('json');
    editor.switchTo('form');
    const same = editor.text() === text;
    editor.isEdited = true;
    const again = same && listed(editor.text()) === listed(text);
    const asJson = [...editor.fields.values()].filter(({option}) => option?.kind === 'json').length;
    return {json: false, exact, again, asJson, fields: editor.fields.size};
  });
}
""".replace("SHOWN", SHOWN)
"""For each case: whether it is shown as JSON only, whether the controls show what is sent, and how many fields are JSON."""


@contextmanager
def opened(**context: Any) -> Iterator[Page]:
    """Yield a tab with the editor's modules at hand."""
    with served_folder(PAGE) as url, page(**context) as tab:
        tab.goto(url)
        yield tab


def round_trips(cases: list[tuple[Json, str]]) -> list[dict[str, Json]]:
    """Return what the form made of the JSON texts of each schema and value."""
    with opened() as tab:
        results: list[dict[str, Json]] = tab.evaluate(BATCH, [list(case) for case in cases])
    return results


def failures(cases: list[tuple[Json, str]], results: list[dict[str, Json]]) -> list[Json]:
    return [
        (case, result) for case, result in zip(cases, results, strict=True) if not (result["exact"] and result["again"])
    ]


def edit(tab: Page, schema: Json, text: str | None = None) -> None:
    """Show an editor for a schema; `window.editor` is the editor."""
    tab.evaluate(OPEN, {"schema": json.dumps(schema), "text": text})


def value_text(tab: Page) -> str:
    """Return the text that is sent on one line, after checking that the controls show the same."""
    assert tab.evaluate(f"() => {{ {SHOWN} return editor.area !== null || isShown(editor); }}")
    return (
        " ".join(line.strip() for line in tab.evaluate("editor.text()").splitlines())
        .replace("{ ", "{")
        .replace(" }", "}")
    )


def perform(tab: Page, step: Step) -> None:
    """Do what a user does."""
    action, label, *rest = step
    if action == "click":
        tab.get_by_role("button", name=label, exact=True).click()
        return
    wanted = f"How {label} is given" if action == "give" else label
    field = tab.get_by_label(wanted, exact=True).and_(tab.locator("input, select, textarea"))
    actions = {"fill": field.fill, "key": field.press, "choose": choose(field), "give": choose(field)}
    actions[action](rest[0])


def choose(field: Locator) -> Callable[[str], object]:
    return lambda label: field.select_option(label=label)
