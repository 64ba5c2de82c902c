"""Tests of the passes: each question, asked of whole projects; a mark » stands where a problem is expected."""

from __future__ import annotations

import json

import pytest

from mcpc.diagnostics import Severity, diagnose
from mcpc.ir import CheckedServer
from mcpc.passes import PASSES, check_server
from support.projects import SMOKETEST, checked, lowered, marked, places

INFO = '"serverInfo": {"name": "demo", "version": "1.0.0"}'
DESCRIPTION = '"description": "What it does."'
OBJECT = '{"type": "object"}'


def tool(name: str = "x", schema: str = OBJECT, *fields: str) -> str:
    """Return a tool whose name and fields are written as given."""
    return "{" + ", ".join((f'"name": "{name}"', DESCRIPTION, f'"inputSchema": {schema}', *fields)) + "}"


def bash(*tools: str, server: str = f"{{{INFO}}}") -> dict[str, str]:
    """Return a project of tools, one a line; every function that their names may want is there."""
    names = [json.loads(line.replace("»", ""))["name"].translate({45: "_", 46: "_"}) for line in tools]
    functions = [f"tool_{name}" for name in dict.fromkeys(names) if name.isidentifier()]
    library = "".join(f"{function}() {{ :; }}\nexport -f {function}\n" for function in functions)
    return {"server.json": server, "tools.json": '{"tools": [\n' + ",\n".join(tools) + "\n]}", "tools.bash": library}


def python(source: str, *tools: str) -> dict[str, str]:
    files = bash(*tools) | {"tools.py": source}
    del files["tools.bash"]
    return files


def prompts(source: str, *lines: str) -> dict[str, str]:
    text = '{"prompts": [\n' + ",\n".join(lines) + "\n]}"
    return {"server.json": f"{{{INFO}}}", "prompts.json": text, "prompts.py": source}


def prompt(name: str, *arguments: str, rest: str = DESCRIPTION) -> str:
    return f'{{"name": "{name}", "arguments": [{", ".join(arguments)}], {rest}}}'


def expect(files: dict[str, str], *codes: str) -> None:
    """Check `files` and compare what is reported with `codes`, one for each mark in the files."""
    unmarked, marks = marked(files)
    server, problems = checked(unmarked)
    expected = [(code, *mark) for code, mark in zip(codes, marks, strict=True)]
    assert places(problems, unmarked) == expected, [problem.message for problem in problems]
    assert (server is None) == any(problem.severity is Severity.ERROR for problem in problems)


def messages(files: dict[str, str], code: str) -> list[str]:
    return [problem.message for problem in checked(marked(files)[0])[1] if problem.code == code]


def hints(files: dict[str, str], code: str) -> list[str]:
    return [problem.hint for problem in checked(marked(files)[0])[1] if problem.code == code]


def test_a_good_project_passes_without_a_word() -> None:
    server, problems = checked(SMOKETEST)
    assert problems == ()
    assert isinstance(server, CheckedServer)
    assert server.server.name == "smoke"


def test_what_was_found_before_is_reported_along_and_forbids_the_server() -> None:
    server, _ = lowered(SMOKETEST)
    assert server is not None
    earlier = diagnose("MCP201", None, "earlier")
    assert check_server(server, found=(earlier,)) == (None, (earlier,))
    note = diagnose("MCP203", None, "only a note")
    assert check_server(server, found=(note,)) == (CheckedServer(server), (note,))


def test_lowering_s_errors_and_the_passes_are_reported_together() -> None:
    files = bash(tool("y", "{}"), tool("z z"), tool("lost")) | {"tools.d/5.json": '{"name": 5}', "server.json": "{}"}
    files["tools.bash"] = files["tools.bash"].replace("tool_lost", "tool_found")
    assert sorted(problem.code for problem in checked(files)[1]) == [
        "MCP101",
        "MCP102",
        "MCP102",
        "MCP105",
        "MCP115",
        "MCP201",
    ]


def test_a_server_that_is_no_object_breaks_no_pass() -> None:
    server, problems = checked(bash(tool(), server="[]"))
    assert server is None
    assert [problem.code for problem in problems] == ["MCP101"]


def test_every_pass_is_a_row_and_leaves_a_good_server_alone() -> None:
    server, _ = lowered(SMOKETEST)
    assert server is not None
    assert [ask(server) for ask in PASSES] == [()] * len(PASSES)


def test_a_tool_and_a_prompt_may_have_one_name() -> None:
    expect(python("def x(): ...\n", tool()) | prompts("def x(): ...\n", prompt("x")))


def test_at_most_50_arguments_of_a_tool_are_reported() -> None:
    names = [f"r{number}" for number in range(51)]
    wanted = bash(tool("x", json.dumps({"type": "object", "required": names})), tool("y", with_properties("", "z")))
    assert [message.split("`")[1] for message in messages(wanted, "MCP156")] == [*names[:50], "z"]


def with_properties(text: str, *required: str) -> str:
    return f'{{"type": "object", "properties": {{{text}}}, "required": {json.dumps(required)}}}'


BOTH = with_properties('"a": {}, "b": {}', "a")

SIGNATURES = {
    "what is required has no default": (python("def x(a, b=1): ...\n", tool("x", BOTH)), ()),
    "keywords only": (python("def x(*, a, b=None): ...\n", tool("x", BOTH)), ()),
    "more parameters with defaults": (python("def x(a, b=1, c=2): ...\n", tool("x", BOTH)), ()),
    "anything": (python("def x(**arguments): ...\n", tool("x", BOTH)), ()),
    "async": (python("async def x(a, b=1): ...\n", tool("x", BOTH)), ()),
    "what another file defines": (
        python("from other import x\n", tool("x", BOTH)) | {"other.py": "def x(a, b=1): ...\n"},
        (),
    ),
    "no default for what may be left out": (python("def »x(a, b): ...\n", tool("x", BOTH)), ("MCP206",)),
    "a parameter nobody sends": (python("def »x(a, b=1, *, c): ...\n", tool("x", BOTH)), ("MCP206",)),
    "two of them": (python("def »»x(a, b, c): ...\n", tool("x", BOTH)), ("MCP206", "MCP206")),
    "positional only": (
        python("def »x(a, /, b=1): ...\n", tool("x", with_properties('»"a": {}, "b": {}', "a"))),
        ("MCP206", "MCP206"),
    ),
    "positional only beside anything": (
        python("def »x(a, /, **arguments): ...\n", tool("x", BOTH)),
        ("MCP206",),
    ),
    "positional only with a default that nobody sends": (
        python("def x(z=1, /, *, a, b=1): ...\n", tool("x", BOTH)),
        (),
    ),
    "no parameter for a property": (
        python("def x(a): ...\n", tool("x", with_properties('"a": {}, »"b": {}', "a"))),
        ("MCP206",),
    ),
    "no parameter for what is only required": (
        python("def x(): ...\n", tool("x", '{"type": "object", "required": [»»"a"]}')),
        ("MCP156", "MCP206"),
    ),
    "a property that is no identifier": (
        python("def x(): ...\n", tool("x", with_properties('»"a-b": {}'))),
        ("MCP206",),
    ),
    "other arguments let through": (
        python("def x(): ...\n", tool("x", '{"type": "object", "additionalProperties": »{"type": "string"}}')),
        ("MCP206",),
    ),
    "other arguments taken": (
        python("def x(**others): ...\n", tool("x", '{"type": "object", "additionalProperties": true}')),
        (),
    ),
    "other arguments kept out": (
        python("def x(): ...\n", tool("x", '{"type": "object", "additionalProperties": false}')),
        (),
    ),
    "patterns let arguments through": (
        python("def x(): ...\n", tool("x", '{"type": "object", "patternProperties": »{"^a": {}}}')),
        ("MCP206",),
    ),
    "what a root cannot tell": (
        python("def x(a, c): ...\n", tool("x", '{"type": "object", "properties": {"a": {}}, "allOf": [{}]}')),
        (),
    ),
    "a prompt's arguments": (
        prompts("def p(a, b=''): ...\n", prompt("p", '{"name": "a", "required": true}', '{"name": "b"}')),
        (),
    ),
    "a prompt's argument that may be left out": (
        prompts("def »p(a, b): ...\n", prompt("p", '{"name": "a", "required": true}', '{"name": "b"}')),
        ("MCP206",),
    ),
    "a prompt's argument without a parameter": (
        prompts("def p(): ...\n", prompt("p", '{"name": »"a"}')),
        ("MCP206",),
    ),
}


@pytest.mark.parametrize("case", SIGNATURES.values(), ids=SIGNATURES)
def test_signatures(case: tuple[dict[str, str], tuple[str, ...]]) -> None:
    expect(case[0], *case[1])


def test_signatures_are_explained() -> None:
    files = python("def x(pth): ...\n", tool("x", with_properties('"path": {}', "path")))
    assert hints(files, "MCP206") == ["the function is at tools.py:1:5", "did you mean `path`?"]
    assert messages(files, "MCP206") == [
        "`x` has no parameter for `path` in the tool `x`",
        "`x` needs `pth`, which the tool `x` does not have",
    ]


MODULES = {
    "the standard library": (python("import json, os.path\nfrom xml.etree import ElementTree\n", tool()), ()),
    "a file beside": (python("import near\n", tool()) | {"near.py": ""}, ()),
    "a package": (python("from pack.inner import y\n", tool()) | {"pack/__init__.py": "", "pack/inner.py": ""}, ()),
    "a package without an init": (python("import pack.inner\n", tool()) | {"pack/inner.py": ""}, ()),
    "a compiled module": (python("import fast\n", tool()) | {"fast.cpython-311-x86_64-linux-gnu.so": ""}, ()),
    "the other library": (python("import prompts\n", tool()) | {"prompts.py": ""}, ()),
    "itself": (python("import tools\n", tool()), ()),
    "nowhere": (python("import »requests\n", tool()), ("MCP209",)),
    "nowhere, from": (python("from »yaml.nodes import Node\n", tool()), ("MCP209",)),
    "nowhere, later": (python("\ndef y():\n    import »requests\n", tool()), ("MCP209",)),
    "nowhere, in a file beside": (python("import near\n", tool()) | {"near.py": "import »requests\n"}, ("MCP209",)),
    "nowhere, two files away": (
        python("import near\n", tool()) | {"near.py": "import far\n", "far.py": "import near, »requests\n"},
        ("MCP209",),
    ),
    "nowhere, inside a package": (
        python("import pack\n", tool()) | {"pack/__init__.py": "", "pack/inner.py": "import »requests\n"},
        ("MCP209",),
    ),
    "a data file is no module": (python("import »data\n", tool()) | {"data.json": "{}"}, ("MCP209",)),
    "a script that nobody imports": (python("", tool()) | {"test_x.py": "import pytest\n"}, ()),
    "prepared for absence": (python("try:\n    import yaml\nexcept ImportError:\n    yaml = None\n", tool()), ()),
    "a broken file": (python("import near\n", tool()) | {"near.py": "import »(\n"}, ("MCP205",)),
    "a broken file that nothing imports": (python("import json\n", tool()) | {"far.py": "import (\n"}, ()),
}


@pytest.mark.parametrize("case", MODULES.values(), ids=MODULES)
def test_modules(case: tuple[dict[str, str], tuple[str, ...]]) -> None:
    files, codes = case
    expect(files | {"tools.py": files["tools.py"] + "def x(): ...\n"}, *codes)


def test_a_module_with_nearly_the_name_is_offered() -> None:
    files = python("import jsn\nimport nearr\nimport zzyzx\ndef x(): ...\n", tool()) | {"near.py": ""}
    found = hints(files, "MCP209")
    assert found[:2] == ["did you mean `json`?", "did you mean `near`?"]
    assert "beside the handlers" in found[2]


def test_what_servers_take_from_fastmcp_is_ours() -> None:
    (hint,) = hints(python("from fastmcp.exceptions import ToolError\ndef x(): ...\n", tool()), "MCP209")
    assert hint.startswith("`mcpc` has what servers use of it (")
    assert all(f"`{name}`" in hint for name in ("Context", "Field", "ToolError"))
    assert "`fastmcp" in hint and "`requirements.txt`" in hint


def declared(text: str, *tools: str) -> dict[str, str]:
    return bash(*(tools or (tool(),)), server=f'{{{INFO}, "capabilities": {{{text}}}}}')


def test_tools_without_one() -> None:
    files = prompts("def p(): ...\n", prompt("p"))
    expect(files | {"server.json": f'{{{INFO}, "capabilities": {{»"tools": {{}}, "prompts": {{}}}}}}'}, "MCP302")


HIDING = {
    "U+0000": "\\u0000",
    "U+001B": "\\u001b",
    "U+007F": "\x7f",
    "U+0085": "\x85",
    "U+200B ZERO WIDTH SPACE": "\u200b",
    "U+200E LEFT-TO-RIGHT MARK": "\u200e",
    "U+202E RIGHT-TO-LEFT OVERRIDE": "\u202e",
    "U+2060 WORD JOINER": "\u2060",
    "U+2066 LEFT-TO-RIGHT ISOLATE": "\\u2066",
    "U+FEFF ZERO WIDTH NO-BREAK SPACE": "\ufeff",
    "U+E0041 TAG LATIN CAPITAL LETTER A": "\U000e0041",
    "U+E007F CANCEL TAG": "\\udb40\\udc7f",
}


@pytest.mark.parametrize("name", HIDING)
def test_what_hides_is_named(name: str) -> None:
    files = bash(tool().replace('"What it does."', f'»"a{HIDING[name]}b"'))
    expect(files, "MCP701")
    (message,) = messages(files, "MCP701")
    assert message.startswith(f"`description` contains {name}, ")


@pytest.mark.parametrize(
    "text",
    [
        "tab\\t, line\\n, return\\r",
        "\u0646\u0645\u06cc\u200c\u062f\u0627\u0646\u0645",
        "\U0001f469\u200d\U0001f680",
        "\u00fcber",
    ],
)
def test_what_people_write_is_allowed(text: str) -> None:
    expect(bash(tool().replace("What it does.", text)))


def test_several_characters_of_one_string_are_one_problem() -> None:
    files = bash(tool().replace('"What it does."', '»"\\u202e \\u202e \\u200b \\u0001"'))
    expect(files, "MCP701")
    assert messages(files, "MCP701") == [
        "`description` contains U+202E RIGHT-TO-LEFT OVERRIDE, which reorders text; also U+200B, U+0001"
    ]


def test_a_hidden_character_in_a_key_does_not_get_into_the_message() -> None:
    files = bash(tool("x", '{"type": "object", »"a\\u202eb": »"c\\u202ed"}'))
    assert [message.split(" contains")[0] for message in messages(files, "MCP701")] == ["a name", "`ab`"]


def test_schemas_as_deep_as_json_may_be_break_no_pass() -> None:
    deep = '{"type": "object", "default": {"a": ' + "[" * 500 + "]" * 500 + "}}"
    server, problems = checked(bash(tool("x", deep)))
    assert server is not None
    assert problems == ()


def test_a_file_of_secrets_that_stays_behind_is_not_reported() -> None:
    assert checked({**SMOKETEST, ".env": "x"})[1] == ()
