"""Pipelines: what each mistake says, and at which text it points."""

import json
import re
from typing import Any

import pytest

from support.projects import checked, lowered

FORECAST: dict[str, Any] = {
    "name": "forecast",
    "description": "F.",
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}, "days": {"type": "integer"}},
        "required": ["city"],
    },
    "outputSchema": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "array", "items": {"$ref": "#/$defs/day"}},
            "wind": {"type": "object", "properties": {"speed": {"type": "number"}}, "additionalProperties": False},
        },
        "$defs": {"day": {"type": "object", "properties": {"date": {"type": "string"}}, "additionalProperties": False}},
    },
    "_meta": {"mcpc/handler": {"command": "bin/run"}},
}
INPUT = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "count": {"type": "integer"}, "names": {"type": "array"}},
}
F = '{"tool": "forecast", "with": {"city": "/arguments/city"}, "as": "f"}'
SERVER = {"serverInfo": {"name": "s", "version": "1"}, "settings": [{"name": "TOKEN", "secret": True}]}


def files_of(handler: str) -> dict[str, str]:
    """Return a project with a tool of this handler, and the named arguments."""
    used = re.findall(r'/arguments/(\w+)|"argument": "(city)"', handler)
    properties = {name: schema for name, schema in INPUT["properties"].items() if any(name in names for names in used)}
    tool = {"name": "x", "description": "X.", "inputSchema": {**INPUT, "properties": properties}}
    other = {**tool, "name": "other", "inputSchema": {"type": "object"}}
    other["_meta"] = {"mcpc/handler": {"pipeline": [{"tool": "x"}]}}
    text = json.dumps({"tools": [FORECAST, {**tool, "_meta": {"mcpc/handler": "@"}}]}).replace('"@"', handler)
    files = {"server.json": json.dumps(SERVER), "tools.json": text, "bin/run": "#!/bin/sh\ncat\n"}
    return {**files, "tools.d/other.json": json.dumps({"tools": [other]})} if '"other"' in handler else files


WRONG = [
    # The handler with the place of the problem between « and »; a part of what is said. F is the step with the forecast.
    ('{"pipeline": «[]»}', "a pipeline of 0 steps"),
    (f'{{"pipeline": «[{", ".join([F] * 33)}]»}}', "a pipeline of 33 steps"),
    ('{"pipeline": [F, «{}»]}', "this step calls nothing"),
    ('{"pipeline": [F, «{"tool": "forecast", "command": ["ls"]}»]}', "this step has `tool` and `command`"),
    ('{"pipeline": [{"tool": «"forecasts"»}]}', "did you mean `forecast`?"),
    ('{"pipeline": [{"tool": «"x"»}]}', "calls itself: x > x"),
    ('{"pipeline": [{"tool": «"other"»}]}', "calls itself: x > other > x"),
    ('{"pipeline": [{"tool": «"forecast"»}]}', "the tool `forecast` requires `city`"),
    ('{"pipeline": [{"tool": "forecast", "with": {"city": "/arguments/city", «"unti"»: "/arguments/city"}}]}',
     "the tool `forecast` has no argument `unti`"),
    ('{"pipeline": [{"tool": "forecast", "with": {"city": «"Bern"»}}]}', '`{"constant": "Bern"}` is the text itself'),
    ('{"pipeline": [{"tool": "forecast", "with": {"city": «"/arguments/ctiy"», "unit": {"constant": "C"}}}]}',
     "`/arguments` has no `ctiy`"),
    ('{"pipeline": [{"tool": "forecast", "with": {"city": «"/arguments/count"»}}]}',
     "this is a number, where a string is expected"),
    ('{"pipeline": [{"tool": "forecast", "with": {"city": «5»}}]}', "this is a number, where a string is expected"),
    ('{"pipeline": [{"tool": "forecast", "with": {"city": {"argument": "city"}, "unit": «{"constant": "K"}»}}]}',
     'this is `"K"`, where one of `"C"`, `"F"` is expected'),
    ('{"pipeline": [{"tool": "forecast", "with": {"city": «{"setting": "TOKEN"}»}}]}', "a value is `setting`"),
    ('{"pipeline": [{"tool": "forecast", "with": {"city": «["a"]»}}]}', "a value cannot be an array"),
    ('{"pipeline": [{"tool": "forecast", "with": {"city": «"/f/city"»}}, F]}', "is not done before this one"),
    ('{"pipeline": [{"tool": "forecast", "with": {"city": «"/item"»}}]}', "`/item` is not known here"),
    ('{"pipeline": [F, {"tool": "forecast", "with": {"city": «"/f/city/name"»}}]}',
     "`/f/city` is a string, which has no `name`"),
    ('{"pipeline": [F, {"tool": "forecast", "with": {"city": «"/f/days/date"»}}]}',
     "`/f/days` is an array, which has no `date`"),
    ('{"pipeline": [F, {"tool": "forecast", "with": {"city": «"/f/days/0/dote"»}}]}', "did you mean `date`?"),
    ('{"pipeline": [F, {"tool": "forecast", "each": «"/f/city"», "with": {"city": "/item"}}]}',
     "`/f/city` is a string, and not a list"),
    ('{"pipeline": [F, {"tool": "forecast", "each": "/f/days", "with": {"city": «"/item"»}}]}',
     "this is an object, where a string is expected"),
    ('{"pipeline": [F, {"tool": "forecast", "each": "/f/days", "maxItems": «1001», "with": {"city": "/item/date"}}]}',
     "an integer from 1 to 1,000"),
    ('{"pipeline": [{"tool": "forecast", "maxItems": «5», "with": {"city": "/arguments/city"}}]}', "has no `each`"),
    ('{"pipeline": [F, {"tool": "forecast", "with": {"city": "/f/city"}, "as": «"f"»}]}', "cannot be named `f`"),
    ('{"pipeline": [{"tool": "forecast", "with": {"city": "/arguments/city"}, "as": «"item"»}]}', "cannot be named"),
    ('{"pipeline": [{"tool": "forecast", "with": {"city": "/arguments/city"}, "as": «"a b"»}]}', "a letter first"),
    ('{"pipeline": [F, {"tool": "forecast", "when": «{"value": "/f/city"}», "with": {"city": "/f/city"}}]}',
     "this is no condition"),
    ('{"pipeline": [F, {"tool": "forecast", "when": {"value": "/f/city", "equals": «5»}, "with": {"city": "/f/city"}}]}',
     "never true: this is a number"),
    ('{"pipeline": [F, {"tool": "forecast", "when": {"value": "/f/city", "exists": «1»}, "with": {"city": "/f/city"}}]}',
     "`exists` is a number"),
    ('{"pipeline": [F, {"command": ["ls", {"argument": "path"}, {"argument": «"pth"»}], "with": {"path": "/f/city"}}]}',
     "`with` of this step has no argument `pth`"),
    ('{"pipeline": [F, {"command": ["ls", {"argument": «"all"»}], "with": {"all": {"constant": true}}}]}',
     "`all` is true or false, which needs a `flag`"),
    ('{"pipeline": [F, {"command": ["ls"], "with": {«"path"»: "/f/city"}}]}', "has no place in the command"),
    ('{"pipeline": [F, {"command": ["ls"], "output": "lines", "as": "a"}], "result": «"/a/rows/0"»}', "MCP169"),
    ('{"pipeline": [F, {"http": {"method": "GET", "base": "https://a.example", "path": «"/{id}"»}}]}',
     "the place `{id}` of the path has no value"),
    ('''{"pipeline": [F, {"http": {"method": "GET", "base": "https://a.example", "path": "/a",
     "query": {"r": {"argument": "r"}, "q": {"argument": «"q"»}}}, "with": {"r": "/f/city"}}]}''',
     "`with` of this step has no argument `q`"),
    ('{"pipeline": [F, {"tool": "forecast", "with": {"city": "/f/city"}, "output": «"text"»}]}', "`output` is of a command"),
    ('{"pipeline": [F], "result": «"/g"»}', "`/g` is not known here"),
    ('{"pipeline": [F], "result": {"members": {"a": «"f"»}}}', "`f` is not a JSON Pointer"),
    ('{"pipeline": [F], "result": {"members": «"/f"»}}', "`members` is a string"),
    ('{"pipeline": [F], «"http"»: {"method": "GET", "base": "https://a.example", "path": "/a"}}',
     "a handler is either `pipeline` or `http`"),
    ('{"command": ["ls"], "output": "text", «"content"»: []}', "a handler is either `command` or `content`"),
    ('{"command": ["ls"], "output": "text", "result": «5»}', "`result` is of a pipeline"),
    ('{"pipeline": [F, {"tool": "forecast", «"inputs"»: {"city": "/f/city"}, "with": {"city": "/f/city"}}]}',
     "unknown field `inputs`"),
]  # fmt: skip


@pytest.mark.parametrize(("handler", "said"), WRONG)
def test_a_wrong_pipeline_is_refused_at_its_place(handler: str, said: str) -> None:
    marked = re.findall("«(.*)»", handler := handler.replace("F,", f"{F},").replace("F]", f"{F}]"))
    files = files_of(handler.replace("«", "").replace("»", ""))
    text = files["tools.json"]
    problems = [problem for problem in checked(files)[1] if problem.span and problem.span.path == "tools.json"]
    assert [text[item.span.start : item.span.end] for item in problems if item.span is not None] == marked
    (problem,) = problems
    assert said in " | ".join((problem.code, problem.message, problem.expected, problem.hint))


def test_every_argument_is_used() -> None:
    files = files_of('{"pipeline": [{"command": ["ls"]}]}')
    files["tools.json"] = files["tools.json"].replace('"properties": {}', '"properties": {"a": {}}')
    (problem,) = checked(files)[1]
    assert (problem.code, problem.message) == ("MCP168", "the argument `a` is nowhere in the pipeline")


def test_a_pipeline_is_data() -> None:
    steps = [
        '{"tool": "forecast", "with": {"city": "/arguments/city", "days": 2}, "as": "f"}',
        '{"each": "/f/days", "maxItems": 7, "command": ["bin/run", {"argument": "d"}], "with": {"d": "/item/date"}}',
        '{"http": {"method": "GET", "base": "https://a.example", "path": "/a"}, "when": {"value": "/f/x~1y", "exists": false}}',
    ]
    result = '{"members": {"a": {"items": [1, "/f"]}, "b": {"constant": [0]}}}'
    server, problems = lowered(files_of(f'{{"timeout": 9, "pipeline": [{", ".join(steps)}], "result": {result}}}'))
    assert server is not None
    assert [problem.code for problem in problems] == ["MCP169"]
    bound: Any = server.tools[1].handler
    assert bound.plan == {
        "steps": (
            {"name": "forecast", "tool": "forecast", "as": "f",
             "with": (("city", ("at", ("arguments", "city"))), ("days", ("constant", 2)))},
            {"name": "bin/run", "record": 0, "each": (("f", "days"), 7), "with": (("d", ("at", ("item", "date"))),)},
            {"name": "GET /a", "record": 1, "with": (), "when": (("f", "x/y"), "exists", False)},
        ),
        "result": ("members", (
            ("a", ("items", (("constant", 1), ("at", ("f",))))), ("b", ("constant", [0])))),
    }  # fmt: skip
    assert [(step.handler.contract, step.running.timeout) for step in bound.steps] == [("command", 9), ("http", 9)]
