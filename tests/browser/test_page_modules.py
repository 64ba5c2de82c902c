"""Modules of the page by themselves, in Chromium: JSON as text, templates of addresses, headers, words of a shell."""

import pytest

from support.page_steps import choose, fill_raw


@pytest.fixture(scope="module")
def run(everything):
    """Run an expression with the names of a module of the page."""
    from support.browser import page as browser_page  # noqa: PLC0415 - not before Chromium is needed

    with browser_page() as tab:
        tab.goto(f"{everything.root}/ui/")
        yield lambda module, expression, given=None: tab.evaluate(
            f"async (given) => {{ const it = await import('/ui/{module}'); return {expression}; }}", given
        )


def test_json_keeps_every_digit_and_member(run):
    text = (
        '{"a":{"b":[1.10,12345678901234567890,{"c":"\\"}"}]},"b":5,"result":{"x":[1,{"result":2}],"deep":{"b":1e400}}}'
    )
    assert run("json.js", "it.member(given, ['result', 'deep', 'b'])", text) == "1e400"
    assert run("json.js", "it.member(given, ['a', 'b'])", text) == '[1.10,12345678901234567890,{"c":"\\"}"}]'
    assert run("json.js", "it.member(given, ['absent'])", text) is None
    found = run("json.js", "it.indented(given, 10000).pieces.map(([, text]) => text).join('')", text)
    assert found.replace("\n", "").replace(" ", "") == text
    assert run("json.js", "[...it.members(given)].slice(1)", text) == [
        ["b", "5"],
        ["result", '{"x":[1,{"result":2}],"deep":{"b":1e400}}'],
    ]
    assert run("json.js", "it.encode({ a: new it.Raw('1.00'), b: [undefined, 'x'] })") == '{"a":1.00,"b":[null,"x"]}'


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("x://{a}/{b}", "x://v%20w%2F1/"),
        ("x://{+a}", "x://v%20w/1"),
        ("x://h{/a,c}", "x://h/v%20w%2F1/red%2Cblue"),
        ("x://h{?a,b,c}", "x://h?a=v%20w%2F1&c=red%2Cblue"),
        ("x://h{?c*}", "x://h?c=red&c=blue"),
        ("x://{a:3}{#c}", "x://v%20w#red,blue"),
        ("x://h{;a}{&c}{.b}", "x://h;a=v%20w%2F1&c=red%2Cblue"),
    ],
)
def test_templates_of_addresses_are_expanded(run, template, expected):
    values = {"a": "v w/1", "c": "red,blue"}
    assert run("uri-template.js", f"it.expand(given, {values})", template) == expected


def test_headers_repeat_any_text(run):
    assert run("client/headers.js", "it.headerValue(given)", "plain text") == "plain text"
    assert run("client/headers.js", "it.headerValue(given)", " ü") == "=?base64?IMO8?="


CHAINED = [
    "Traceback (1",
    "KeyError: 1",
    "",
    "During handling of it another occurred:",
    "",
    "Traceback (2",
    "ValueError: 2",
]


def test_lines_of_standard_error_are_an_entry_for_each_traceback(run):
    entries = "(log => (given.forEach(log.hear), log.refresh(), [...log.element.querySelectorAll('.data')].map(each => each.textContent)))"
    found = run("views/log.js", f"{entries}(it.logView())", ["started", *CHAINED, "Traceback (3"])
    assert found == ["Traceback (3", "\n".join(CHAINED), "started"]


def test_a_result_is_checked_against_the_output_schema(page):
    with page() as tab:
        choose(tab, "greet")
        fill_raw(tab, '{"name": "Ada"}')
        tab.keyboard.press("Control+Enter")
        tab.wait_for_selector(".outcome .checked.good >> text=matches its output schema")
