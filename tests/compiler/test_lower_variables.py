"""Arguments as shell variables: which there are, and what is said about those that there cannot be."""

import json
from pathlib import Path

import pytest

from mcpc.diagnostics import Span
from mcpc.lower.bash_options import names_in, unknown_variables, used_variables, variable_pairs
from mcpc.model.ir import BashFunction
from mcpc.reading import Source
from support.projects import SERVER_JSON, lowered
from support.schemas import node_of

STRING = {"type": "string"}


def project(properties: dict[str, object], body: str, **schema: object) -> dict[str, str]:
    tools = [{"name": "t", "description": "d", "inputSchema": {"type": "object", "properties": properties, **schema}}]
    return {
        "server.json": SERVER_JSON,
        "tools.json": json.dumps({"tools": tools}),
        "tools.bash": f"tool_t() {{ {body}; }}\n",
    }


def variables(
    properties: dict[str, object], body: str, **schema: object
) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    server, problems = lowered(project(properties, body, **schema))
    assert server is not None
    handler = server.tools[0].handler
    assert isinstance(handler, BashFunction)
    said = [(found.code, found.message, found.hint) for found in problems if found.code in ("MCP225", "MCP226")]
    return dict(handler.variables), said


def test_each_property_has_one_if_the_library_asks_for_any() -> None:
    properties = {"path": STRING, "max-size": STRING, "a.b": STRING}
    expected = {"path": "mcpc_arg_path", "max-size": "mcpc_arg_max_size", "a.b": "mcpc_arg_a_b"}
    assert variables(properties, "echo $mcpc_arg_path") == (expected, [])
    assert variables(properties, 'echo "$1"') == ({}, [])


def named(text: str) -> list[tuple[str, str]]:
    """Return the arguments of a schema, each with the text of its place and with how often that was there before."""
    spans = names_in(node_of(text))
    return [(name, f"{text[span.start : span.end]} {text.count(text[span.start : span.end], 0, span.start)}")
            for name, span in spans.items()]  # fmt: skip


@pytest.mark.parametrize(("begin", "end"), [('{"allOf": [', "]}"), ('{"dependentSchemas": {"k": ', "}}")])
def test_names_are_looked_for_to_a_depth(begin: str, end: str) -> None:
    texts = [begin * levels + '{"properties": {"x": {}}}' + end * levels for levels in (32, 33)]
    assert [[*names_in(node_of(text))] for text in texts] == [["x"], []]


NAMED: list[tuple[str, list[str]]] = json.loads(
    (Path(__file__).parent / "lower/names_in_schemas.json").read_text("utf-8")
)


@pytest.mark.parametrize(("schema", "names"), NAMED)
def test_names_that_stand_in_the_schema(schema: str, names: list[str]) -> None:
    assert named(schema) == [(name, f'"{name}" 0') for name in names]


def test_a_variable_is_reported_where_it_is_used_first() -> None:
    libraries = [
        Source("a.bash", b"echo $mcpc_arg_b xmcpc_arg_x mcpc_arg_ ${mcpc_arg_a}$mcpc_arg_b"),
        Source("b.bash", b"mcpc_arg_a mcpc_arg_c"),
    ]
    used = used_variables(libraries)
    assert {name: (span.path, span.start, span.end) for name, span in used.items()} == {
        "mcpc_arg_b": ("a.bash", 6, 16),
        "mcpc_arg_": ("a.bash", 29, 38),
        "mcpc_arg_a": ("a.bash", 41, 51),
        "mcpc_arg_c": ("b.bash", 11, 21),
    }
    found = list(unknown_variables(used, ["mcpc_arg_a", "mcpc_arg_bb"]))
    assert [(problem.span, problem.hint) for problem in found] == [
        (used["mcpc_arg_b"], "did you mean `mcpc_arg_bb`?"),
        (used["mcpc_arg_c"], "did you mean `mcpc_arg_a`?"),
    ]


def test_arguments_that_would_share_a_variable_have_none() -> None:
    names = {
        name: Span("tools.json", number) for number, name in enumerate(("a-b", "c", "a.b", "ä", "a_b", "d-e", "d_e"))
    }
    pairs, problems = variable_pairs("it", names)
    assert pairs == (("c", "mcpc_arg_c"),)
    assert [(problem.code, problem.span) for problem in problems] == [
        ("MCP225", names["ä"]),
        ("MCP225", names["a.b"]),
        ("MCP225", names["d_e"]),
    ]
    assert "`a-b` and `a.b` and `a_b`" in problems[1].message


def test_prompts_have_them_too() -> None:
    files = project({}, "echo $mcpc_arg_name")
    files["prompts.json"] = '{"prompts": [{"name": "p", "description": "d", "arguments": [{"name": "name"}]}]}'
    files["prompts.bash"] = "prompt_p() { echo $mcpc_arg_name; }\n"
    server, problems = lowered(files)
    assert server is not None
    handler = server.prompts[0].handler
    assert isinstance(handler, BashFunction)
    assert handler.variables == (("name", "mcpc_arg_name"),)
    assert not [found for found in problems if found.code in ("MCP225", "MCP226")]


def test_what_the_text_says_of_a_function() -> None:
    files = project({}, "helper")
    files["tools.bash"] += "helper() { trap 'x' EXIT; mcpc_call other; }\nunused() { :; }\n"
    server, _ = lowered(files)
    assert server is not None
    handler = server.tools[0].handler
    assert isinstance(handler, BashFunction)
    assert (handler.traps, handler.calls_tools, handler.slice) == (True, True, "")


def test_only_an_isolated_function_has_a_slice() -> None:
    files = project({}, "helper")
    tools = json.loads(files["tools.json"])
    tools["tools"][0]["_meta"] = {"mcpc/handler": {"isolated": True}}
    files["tools.json"] = json.dumps(tools)
    files["tools.bash"] += "helper() { :; }\nunused() { :; }\n"
    server, _ = lowered(files)
    assert server is not None
    handler = server.tools[0].handler
    assert isinstance(handler, BashFunction)
    assert "helper()" in handler.slice
    assert "unused" not in handler.slice


SERIAL = {"pyproject.toml": "[tool.mcpc]\nconcurrent = false\n"}


def test_a_function_that_names_its_process_has_a_shell_of_its_own_where_calls_run_at_once() -> None:
    """`$$` is one number in all forks of a shell; a comment names nothing, and a helper's `$$` is the function's."""
    files = project({}, "helper")
    files["tools.json"] = json.dumps(
        {"tools": [{**json.loads(files["tools.json"])["tools"][0], "name": name} for name in ("t", "plain")]}
    )
    files["tools.bash"] += (
        "helper() { echo >/tmp/a.${$}; }\nplain_helper() { :; } # $$\ntool_plain() { plain_helper; }\n"
    )
    for more, expected in (({}, [True, False]), (SERIAL, [False, False])):
        server, _ = lowered({**files, **more})
        assert server is not None
        assert [tool.running.isolated for tool in server.tools] == expected
