"""The argument editor as a user has it: controls, keyboard, raw JSON, messages of the validator, and hostile schemas."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from support.argument_editor import edit, opened, perform, value_text
from support.editor_cases import CASES, Case

Json = Any

HOSTILE = '<img src=x onerror="document.title = 1"><script>document.title = 1</script>'
RICH = {
    "type": "object",
    "description": "Everything at once.",
    "required": ["text", "list"],
    "properties": {
        "text": {"type": "string", "description": "A long text\n" * 20, "examples": ["one"]},
        "when": {"type": ["string", "null"], "format": "date-time"},
        "number": {"type": "number", "minimum": 0, "default": 4},
        "flag": {"type": "boolean"},
        "choice": {"enum": ["a", "b"]},
        "list": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        "either": {"oneOf": [{"type": "object", "properties": {"k": {"const": "v"}}}, {"type": "integer"}]},
        "any": {},
    },
}
RICH_TEXT = '{"text": "a", "when": null, "list": ["x", "y"], "map": {"m": 1}, "either": {"k": "v"}, "any": [1]}'


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with opened(viewport={"width": 900, "height": 900}) as found:
        yield found


def schema_of(case: Case) -> Json:
    return (
        case.schema
        if case.whole
        else {"type": "object", "properties": {"x": case.schema}, "additionalProperties": False}
    )


@pytest.mark.parametrize("name", CASES)
def test_what_a_user_enters_is_the_expected_json(tab: Page, name: str) -> None:
    case = CASES[name]
    edit(tab, schema_of(case))
    for step in case.steps:
        perform(tab, step)
    assert value_text(tab) == case.expected
    assert tab.evaluate("[editor.error(), changes > 0]") == [None, True]


def is_json(tab: Page) -> bool:
    return bool(tab.evaluate("editor.area !== null"))


def test_broken_json_is_reported_and_not_lost(tab: Page) -> None:
    edit(tab, RICH, '{"text": "a"}')
    perform(tab, ("click", "JSON"))
    perform(tab, ("fill", "Arguments as JSON", '{"text":\n  "b",}'))
    assert "position" in tab.evaluate("editor.error()")
    assert tab.evaluate("editor.text()") == '{"text":\n  "b",}'
    perform(tab, ("click", "Form"))
    assert is_json(tab)
    assert described(tab, "Arguments as JSON") == tab.evaluate("editor.error()")
    assert tab.get_by_label("Arguments as JSON").get_attribute("aria-invalid") == "true"
    perform(tab, ("fill", "Arguments as JSON", '{"text":\n  "b"}'))
    perform(tab, ("click", "Form"))
    assert not is_json(tab)
    assert tab.evaluate("[editor.error(), editor.text()]") == [None, '{"text":\n  "b"}']


@pytest.mark.parametrize("text", ["{", "", "[1.50]", '{"a": 1, "a": 2}'])
def test_a_text_that_the_form_cannot_show_is_shown_as_json(tab: Page, text: str) -> None:
    edit(tab, RICH, text)
    perform(tab, ("click", "Form"))
    assert is_json(tab)
    assert tab.evaluate("editor.text()") == text
    assert described(tab, "Arguments as JSON")


def test_a_wrong_number_and_wrong_json_of_a_field_are_errors_until_corrected(tab: Page) -> None:
    edit(tab, RICH, '{"number": 1}')
    for wrong in ("1x", "01", "+1", "0x1", "1,5", "NaN"):
        perform(tab, ("fill", "number", wrong))
        assert tab.evaluate("editor.error() !== null"), wrong
    assert tab.get_by_label("number", exact=True).get_attribute("aria-invalid") == "true"
    perform(tab, ("fill", "number", "2"))
    perform(tab, ("fill", "any", "[1"))
    assert "position" in described(tab, "any")
    perform(tab, ("click", "JSON"))
    assert not is_json(tab)
    assert tab.evaluate("document.activeElement.value") == "[1"
    perform(tab, ("fill", "any", ""))
    assert tab.evaluate("editor.error()") is None
    assert value_text(tab) == '{"number": 2}'


def test_what_does_not_fit_a_field_is_json_there_and_only_there(tab: Page) -> None:
    edit(tab, RICH, '{"text": {"a": 1.0}, "number": "many", "flag": true}')
    values = {name: tab.get_by_label(name, exact=True).input_value() for name in ("text", "number")}
    assert values == {"text": '{"a": 1.0}', "number": '"many"'}
    assert tab.get_by_label("flag", exact=True).evaluate("(one) => one.selectedOptions[0].label") == "true"
    assert value_text(tab) == '{"text": {"a": 1.0}, "number": "many", "flag": true}'


@pytest.mark.parametrize(
    "text", ['{"text": "a\\r\\nb"}', '{"text": "\\ud800"}', '{"text": "\\u0000\\u007f\\ufeff"}', '{"when": " 2026 "}']
)
def test_texts_that_a_control_would_change_are_not_changed(tab: Page, text: str) -> None:
    edit(tab, RICH, text)
    perform(tab, ("choose", "flag", "true"))
    assert value_text(tab) == text[:-1] + ', "flag": true}'


def test_a_change_keeps_how_everything_else_was_written(tab: Page) -> None:
    others = (
        '"b": 1.50, "a": "\\u00e9", "__proto__": {"constructor": -0}, "": 123456789012345678901, "x": [1E5, "\\/"]}'
    )
    edit(tab, {"properties": {"z": {"type": "string"}}}, "{" + others)
    perform(tab, ("fill", "z", "new"))
    assert value_text(tab) == '{"z": "new", ' + others


def test_names_of_prototypes_are_names_as_any_other(tab: Page) -> None:
    names = ["__proto__", "constructor", "toString", "", "hasOwnProperty"]
    edit(tab, {"type": "object", "properties": {name: {"type": "string"} for name in names}})
    for name in names:
        perform(tab, ("fill", name or '""', f"{name}!"))
    assert value_text(tab) == json.dumps({name: f"{name}!" for name in names})


def test_messages_of_the_validator_stand_beside_their_fields(tab: Page) -> None:
    edit(tab, {"properties": {"a/b": {"type": "object"}, "c": {"type": "string"}}}, '{"a/b": {"~": ["x", "y"]}}')
    problems = [
        {"path": "/a~1b/~0/1", "message": "too short"},
        {"path": "", "message": "of the whole"},
        {"path": "/nowhere/1", "message": HOSTILE},
        {"path": "/c", "message": "is missing"},
    ]
    tab.evaluate("(problems) => editor.setProblems(problems)", problems)
    assert described(tab, "a/b").endswith("/~/1: too short")
    assert described(tab, "c").endswith("is missing")
    assert tab.get_by_label("c", exact=True).get_attribute("aria-invalid") == "true"
    assert tab.get_by_role("alert").locator("p").all_inner_texts() == ["of the whole", f"/nowhere/1: {HOSTILE}"]
    perform(tab, ("fill", "c", "longer"))
    assert not described(tab, "c").endswith("is missing")
    perform(tab, ("click", "JSON"))
    tab.evaluate("(problems) => editor.setProblems(problems)", problems[:1])
    assert tab.get_by_role("alert").locator("p").all_inner_texts() == ["/a~1b/~0/1: too short"]
    tab.evaluate("editor.setProblems([])")
    assert tab.locator("li.arg-problem, [role=alert] > p").count() == 0


def test_nothing_is_wrong_before_it_was_touched(tab: Page) -> None:
    edit(tab, {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]})
    missing = [{"path": path, "message": "is missing"} for path in ("/a", "/b", "")]
    tab.evaluate("(problems) => editor.setProblems(problems, false)", missing)
    assert tab.locator("[aria-invalid], [role=alert] > p").count() == 0
    perform(tab, ("fill", "a", ""))
    perform(tab, ("give", "a", "not set"))
    tab.evaluate("(problems) => editor.setProblems(problems, false)", missing)
    assert (described(tab, "a"), described(tab, "b")) == ("text is missing", "text")
    tab.evaluate("(problems) => editor.setProblems(problems)", missing)
    assert described(tab, "b") == "text is missing"


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"type": "string"}, "not set"),
        ({"type": "integer", "default": 12, "examples": [1]}, "12 by default"),
        ({"type": "string", "examples": ["Bern"]}, "such as Bern"),
        ({"type": "array", "default": []}, "[] by default"),
    ],
)
def test_an_empty_control_says_what_the_server_takes(tab: Page, schema: Json, shown: str) -> None:
    edit(tab, {"properties": {"x": schema, "y": {"type": "string"}}, "required": ["y"]})
    assert [tab.get_by_label(name, exact=True).get_attribute("placeholder") for name in "xy"] == [shown, ""]
    edit(tab, {"properties": {"x": {"enum": ["C", "F"], "default": "C"}, "y": {"enum": ["C", "F"]}}})
    first = [tab.get_by_label(name, exact=True).evaluate("(list) => list.options[0].text") for name in "xy"]
    assert first == ["C by default", "not set"]


def test_a_text_that_is_set_and_empty_says_so(tab: Page) -> None:
    edit(tab, {"properties": {"y": {"type": "string"}}})
    perform(tab, ("give", "y", "text"))
    assert tab.get_by_label("y", exact=True).get_attribute("placeholder") == "empty text"


def described(tab: Page, label: str) -> str:
    """Return what describes a field to those who hear the page."""
    script = "(one) => one.getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id).textContent).join(' ')"
    field = tab.get_by_label(label, exact=True).and_(tab.locator("input, select, textarea"))
    return " ".join(str(field.evaluate(script)).split())


def test_texts_of_a_schema_are_never_html(tab: Page) -> None:
    part = {
        "type": "string", "title": HOSTILE, "description": HOSTILE, "default": HOSTILE, "examples": [HOSTILE],
        "format": HOSTILE,
    }  # fmt: skip
    schema = {
        "title": HOSTILE,
        "properties": {HOSTILE: part, "e": {"enum": [HOSTILE, "b"]}, "p": {"type": "string", "pattern": HOSTILE}},
    }
    edit(tab, schema, json.dumps({HOSTILE: HOSTILE, "other" + HOSTILE: HOSTILE}))
    assert tab.locator("main img, main script").count() == 0
    assert tab.title() == "Arguments"
    assert tab.get_by_label(HOSTILE, exact=True).input_value() == HOSTILE


def test_characters_that_reorder_or_hide_text_are_spelled_out_where_they_are_read(tab: Page) -> None:
    name = "user\u202eresu\u200b"
    edit(tab, {"properties": {name: {"type": "string", "description": f"d{name}", "default": name, "format": name}}})
    shown = tab.locator("main").inner_text()
    assert "\u202e" not in shown
    assert shown.count("user⟨U+202E⟩resu⟨U+200B⟩") == 4
    tab.get_by_label("user⟨U+202E⟩resu⟨U+200B⟩", exact=True).fill(name)
    assert json.loads(value_text(tab)) == {name: name}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}, {"$ref": "#/properties/a"}]}}},
        {"properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}}},
        {"properties": {"a": {"$ref": "#/a%zz"}}, "required": [1, None, "b"]},
        {"properties": [1], "required": "a"},
    ],
)
def test_schemas_that_refer_to_themselves_or_are_wrong_are_shown(tab: Page, schema: Json) -> None:
    edit(tab, schema, '{"a": 1}')
    assert value_text(tab) == '{"a": 1}'


def test_five_thousand_properties_are_given_as_json_but_the_first(tab: Page) -> None:
    names = [f"p{number}" for number in range(5000)]
    edit(tab, {"properties": {name: {"type": "string"} for name in names}}, json.dumps({"p4321": "here"}))
    assert tab.locator(".arg-field").count() == 500
    tab.get_by_text("4500 more properties").wait_for()
    perform(tab, ("fill", "p7", "first"))
    assert value_text(tab) == '{"p7": "first", "p4321": "here"}'
    tab.evaluate("editor.setProblems([{path: '/p4500', message: 'far away'}])")
    assert tab.get_by_role("alert").inner_text().endswith("/p4500: far away")


def test_an_enum_of_thousands_and_a_deep_value_are_shown(tab: Page) -> None:
    edit(tab, {"properties": {"e": {"enum": [f"v{number}" for number in range(5000)]}}})
    perform(tab, ("choose", "e", "v4999"))
    assert value_text(tab) == '{"e": "v4999"}'
    deep = "[" * 400 + "]" * 400
    edit(tab, True, f'{{"a": {deep}}}')
    assert value_text(tab) == f'{{"a": {deep}}}'


def test_all_is_done_by_keyboard(tab: Page) -> None:
    properties = {"a": {"type": "string"}, "b": {"type": "boolean"}, "c": {"type": "array"}}
    edit(tab, {"type": "object", "required": ["a"], "properties": properties})
    tab.get_by_role("button", name="Form", exact=True).focus()
    for key in ["Tab", "Tab", "v", "Tab", "Tab", "t", "Tab", "[", "1", "]"]:
        tab.keyboard.press(key)
    assert value_text(tab) == '{"a": "v", "b": true, "c": [1]}'


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_it_is_accessible_and_fits_in_both_schemes_and_widths(scheme: str, width: int) -> None:
    with opened(viewport={"width": width, "height": 900}, color_scheme=scheme) as tab:
        edit(tab, RICH, RICH_TEXT)
        tab.evaluate("editor.setProblems([{path: '/text', message: 'wrong'}, {path: '', message: 'worse'}])")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        assert serious(tab) == []
        tab.evaluate("editor.setText('{')")
        assert serious(tab) == []


def serious(tab: Page) -> list[str]:
    found = Axe().run(tab).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found if one["impact"] in {"serious", "critical"}]
