"""Commands whose words are arguments of a tool: what each mistake says, and at which text it points."""

import json
import re
from typing import Any

import pytest

from mcpc.diagnostics import in_order
from support.projects import checked, lowered

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "path": {"type": "string"},
        "count": {"type": ["integer", "null"]},
        "all": {"type": "boolean"},
        "names": {"type": "array", "items": {"type": "string"}},
        "deep": {"type": "object"},
        "pairs": {"type": "array", "items": {"type": "array", "items": {}}},
    },
}
SERVER = {
    "serverInfo": {"name": "s", "version": "1"},
    "settings": [{"name": "UNITS"}, {"name": "TOKEN", "secret": True}, {"name": "LOUD", "type": "boolean"}],
}


def problems_of(handler: str, used: str = "") -> list[tuple[str, str, str, str, str]]:
    """Return the problems of a tool with this handler and the named arguments: code, text, message, expectation, hint."""
    names = used.split() or [name for name in SCHEMA["properties"] if f'"{name}"' in handler]
    schema = {**SCHEMA, "properties": {name: SCHEMA["properties"][name] for name in names}}
    tool = {"name": "x", "description": "X.", "inputSchema": schema, "_meta": {"mcpc/handler": "@"}}
    text = json.dumps({"tools": [tool]}).replace('"@"', handler)
    files = {"server.json": json.dumps(SERVER), "tools.json": text, "bin/run": "#!/bin/sh\ncat\n"}
    return [
        (problem.code, text[problem.span.start : problem.span.end], problem.message, problem.expected, problem.hint)
        for problem in in_order(checked(files)[1])
        if problem.severity == "error" and problem.span is not None
    ]


WRONG = [
    # The handler with the place of the problem between « and »; a part of what is said.
    ('{"command": «[]», "output": "text"}', "the command is empty"),
    ('{"command": [«{"argument": "path"}»]}', "the program of a command is fixed, and cannot be an object"),
    ('{"command": [«"git log"», {"argument": "path"}]}', "each word is an item of its own"),
    ('{"command": [«"bin/ran"», {"argument": "path"}]}', "did you mean `bin/run`?"),
    ('{"command": [«"/usr/bin/git"», {"argument": "path"}]}', "is not a path inside the project"),
    ('{"command": [«"run.bat"», {"argument": "path"}]}', "is not the name of a program"),
    ('{"command": ["git", «5», {"argument": "path"}]}', 'write `"5"`'),
    ('{"command": ["git", «["log"]», {"argument": "path"}]}', "a word of a command cannot be an array"),
    ('{"command": ["git", {"argument": «"pth"»}]}', "the tool `x` has no argument `pth`"),
    ('{"command": ["git", {"setting": «"UNIT"»}]}', "did you mean `UNITS`?"),
    ('{"command": ["git", {"flag": "--t", "setting": «"TOKEN"»}]}', "every user of the machine could read the secret"),
    ('{"command": ["git", {"setting": «"LOUD"»}]}', "`LOUD` is true or false, which needs a `flag`"),
    ('{"command": ["git", «{"flag": "--all"}»]}', "this place has nothing to fill it with"),
    ('{"command": ["git", «{"argument": "path", "setting": "UNITS"}»]}', "both an argument and a setting"),
    ('{"command": ["git", {"argument": "path", «"flags"»: "-x"}]}', "did you mean `flag`?"),
    ('{"command": ["git", {"flag": «"path"», "argument": "path"}]}', "did you mean `--path`?"),
    ('{"command": ["git", {"flag": «"--path="», "argument": "path"}]}', '`"flag": "--path", "joined": true`'),
    ('{"command": ["git", {"flag": «"--"», "argument": "path"}]}', "`--` is not a flag"),
    ('{"command": ["git", {"argument": "path", "joined": «true»}]}', "`joined` joins a value to a `flag`"),
    ('{"command": ["git", {"argument": "path", "flag": "-x", "joined": «1»}]}', "`joined` must be a boolean"),
    ('{"command": ["git", "--", {"flag": «"-x"», "argument": "path"}]}', "write it before `--`"),
    ('{"command": ["git", {"argument": «"names"»}]}', "`names` may be an array"),
    ('{"command": ["git", {"argument": «"names"», "repeat": true, "join": ","}]}', "has both `repeat` and `join`"),
    ('{"command": ["git", {"argument": "names", "join": «5»}]}', "`join` is the text between two items"),
    ('{"command": ["git", {"argument": «"count"», "repeat": true}]}', "`count` is never an array"),
    ('{"command": ["git", {"argument": «"deep"»}]}', "`deep` may be an object, which is no word"),
    ('{"command": ["git", {"argument": "pairs", "repeat": true}]}', "items of `pairs` are no words"),
    ('{"command": ["git", {"argument": «"all"»}]}', "`all` is true or false, which needs a `flag`"),
    ('{"command": ["git", {"argument": «"all"», "flag": "-a", "joined": true}]}', "has no value to join"),
    ('{"command": ["git", {"argument": "path"}, «"|"», "head"]}', "there is no shell"),
    ('{"command": ["git", «"--in={path}"», {"argument": "path"}]}', "in which no argument is filled in"),
    ('{"command": ["bash", "-c", «{"argument": "path"}»]}', "`bash` would run it"),
    ('{"command": ["SH", «{"flag": "-c", "argument": "path"}»]}', "`SH` would run it"),
    ('{"command": ["git", {"argument": "path"}], "stdin": «"path"»}', "`stdin` is one argument or setting"),
    ('{"command": ["git"], "stdin": {"argument": «"txt"»}}', "has no argument `txt`"),
    ('{"command": ["git"], "output": «"xml"»}', "`output` is `xml`"),
    ('{"output": «"lines"»}', "`output` is of a command, but there is no `command`"),
]  # fmt: skip


@pytest.mark.parametrize(("handler", "said"), WRONG)
def test_a_wrong_command_is_refused_at_its_place(handler: str, said: str) -> None:
    marked = re.findall("«(.*)»", handler)
    plain = handler.replace("«", "").replace("»", "")
    problems = [problem for problem in problems_of(plain) if problem[0] not in ("MCP201", "MCP004")]
    (problem,) = problems
    assert problem[0] in ("MCP167", "MCP243", "MCP107")
    assert said in " | ".join(problem[2:])
    assert [problem[1]] == (marked or ['{"type": "array", "items": {}}'])


def test_every_argument_has_a_place() -> None:
    (problem,) = problems_of('{"command": ["git", {"argument": "path"}]}', "path count")
    assert problem[:3] == ("MCP167", '"count"', "the argument `count` has no place in the command")


@pytest.mark.parametrize(
    ("handler", "facts", "unpacks", "requires"),
    [
        ('{"command": "git", "output": "csv"}', ("git", (), (), "csv"), False, ["git"]),
        ('{"command": ["git", "a"], "stdin": {"argument": "deep"}, "requires": ["git >= 2.30"]}',
         ("git", ("a",), ("argument", "deep"), "text"), False, ["git >= 2.30"]),
        ('{"command": ["git", {"setting": "UNITS"}, {"flag": "-l", "setting": "LOUD"}], "stdin": {"setting": "TOKEN"}}',
         ("git", (("setting", "UNITS", "", False, None, True), ("switch", "LOUD", "-l", False, None, True)),
          ("setting", "TOKEN"), "text"), False, ["git"]),
        ('''{"command": ["bin/run", {"flag": "-n", "argument": "count", "joined": true}, "--",
         {"argument": "names", "join": ","}, {"argument": "names", "repeat": true}, {"argument": "path"}]}''',
         ("", (("argument", "count", "-n", True, None, False), "--", ("argument", "names", "", False, ",", False),
               ("argument", "names", "", False, None, False), ("argument", "path", "", False, None, False)), (), "text"),
         True, []),
    ],
)  # fmt: skip
def test_a_command_is_data(handler: str, facts: object, unpacks: bool, requires: list[str]) -> None:
    names = [name for name in SCHEMA["properties"] if f'"{name}"' in handler]
    schema = {**SCHEMA, "properties": {name: SCHEMA["properties"][name] for name in names}}
    tool = {"name": "x", "description": "X.", "inputSchema": schema, "_meta": {"mcpc/handler": json.loads(handler)}}
    files = {"server.json": json.dumps(SERVER), "tools.json": json.dumps({"tools": [tool]}), "bin/run": "#!/bin/sh\n"}
    server, problems = lowered(files)
    assert server is not None and problems == ()
    bound: Any = server.tools[0].handler
    assert (bound.contract, bound.facts, bound.unpacks) == ("command", facts, unpacks)
    assert bound.file == ("bin/run" if unpacks else "")
    assert [str(item) for item in server.tools[0].running.requires] == requires


@pytest.mark.parametrize(("output", "read"), [("", "json"), (', "output": "lines"', "lines")])
def test_structure_is_what_the_schema_promises(output: str, read: str) -> None:
    tool = {"name": "x", "description": "X.", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}}
    handler = json.loads(f'{{"command": ["git"], "stdin": {{"setting": "UNITS"}}{output}}}')
    files = {
        "server.json": json.dumps(SERVER),
        "tools.json": json.dumps({"tools": [{**tool, "_meta": {"mcpc/handler": handler}}]}),
    }
    server, problems = lowered(files)
    assert server is not None and problems == ()
    bound: Any = server.tools[0].handler
    assert bound.facts[3] == read
    files["tools.json"] = files["tools.json"].replace('"lines"', '"text"')
    assert [problem.code for problem in lowered(files)[1]] == (["MCP167"] if output else [])
