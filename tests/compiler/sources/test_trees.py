"""Trees of values with places: what a tree of JSON or YAML knows, and what is built of parts of several files."""

import ast
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from mcpc.diagnostics import Span
from mcpc.lower.skills import read_frontmatter
from mcpc.reading import Member, Node, Source, compact_json, member_of, parse_json
from mcpc.reading.json_tree import (
    KINDS,
    array_node,
    fields_of,
    implied_member,
    implied_node,
    member_at_value,
    object_node,
    text_of,
)
from mcpc.reading.toml import parse_toml, toml_mistake
from mcpc.reading.yaml_tree import MAX_DEPTH, YamlError, read_yaml, scalar_value
from mcpc.release.scan.scanning import project_ignored
from mcpc_runtime.tools.clients.toml_text import has_long_key
from support.artifact import mcpc
from support.files import write_files
from support.needs import ROOT
from support.projects import SMOKETEST

GOLDEN = Path(__file__).parents[2] / "golden/sources"


def node_of(text: str, path: str = "a.json") -> Node:
    node, problems = parse_json(Source(path, text.encode()))
    assert problems == ()
    assert node is not None
    return node


def dumped(node: Node) -> object:
    """Return a node as plain data: the offsets of each value and of each key, without the path."""
    members = [(member.key, (member.key_start, member.key_end), dumped(member.node)) for member in node.members]
    return (node.start, node.end, members or [dumped(item) for item in node.items] or node.value)


TREE = '{"a": [1, {"b/c": null}], "~d": "x", "a": [2, true]}'


def twice(text: str) -> Node:
    node, _ = parse_json(Source("a.json", text.encode()))
    assert node is not None
    return node


def test_a_tree_finds_the_last_member_of_a_name() -> None:
    root = twice(TREE)
    assert [(pointer, node.start) for node, pointer in root.pointers("#")] == [
        ("#", 0),
        ("#/a", 42),
        ("#/a/1", 46),
        ("#/a/0", 43),
        ("#/~0d", 32),
        ("#/a", 6),
        ("#/a/1", 10),
        ("#/a/1/b~1c", 18),
        ("#/a/0", 7),
    ]
    assert root.span_of() == Span("a.json", 0, 52)
    assert root.span_of("a") == Span("a.json", 42, 51)
    assert (root.span_of("a", "b/c"), root.span_of("x"), root.span_of("x", "y")) == (None, None, None)
    first = root.members[0].node.items[1]
    assert first.span_of("b/c") == Span("a.json", 18, 22)
    assert root.members[1].key_span == Span("a.json", 26, 30)
    assert member_of(root, "~d", "string") is member_of(root, "~d") is root.get("~d") is root.members[1].node
    assert [member_of(*row) for row in ((root, "~d", "number"), (root, "x"), (None, "a"))] == [None] * 3
    kinds = {json_type: node_of(text).kind for json_type, text in ((int, "1"), (float, "1.5"), (bool, "true"))}
    assert (
        kinds
        == {json_type: KINDS[json_type] for json_type in kinds}
        == {int: "number", float: "number", bool: "boolean"}
    )


def test_json_is_written_without_spaces_and_a_half_pair_as_an_escape() -> None:
    assert compact_json({"a": [1, 2.5, None], "é": "\ud800"}) == '{"a":[1,2.5,null],"é":"\\ud800"}'.encode()
    with pytest.raises(ValueError, match="compliant"):
        compact_json(float("nan"))


def test_nodes_are_built_of_parts() -> None:
    span = Span("b.json", 3, 5)
    implied = implied_node({"a": [1, {"b": "x"}], "c": None}, span)
    assert dumped(implied) == (
        3,
        5,
        [("a", (3, 5), (3, 5, [(3, 5, 1), (3, 5, [("b", (3, 5), (3, 5, "x"))])])), ("c", (3, 5), (3, 5, None))],
    )
    assert implied.value == {"a": [1, {"b": "x"}], "c": None}
    assert {node.path for node, _ in implied.pointers()} == {"b.json"}
    parts = twice(TREE).members
    whole = object_node([*parts, implied_member("e", True, span)], span)
    assert whole.value == {"a": [2, True], "~d": "x", "e": True}
    assert [(member.key, member.node.path, member.key_start) for member in whole.members] == [
        ("a", "a.json", 37),
        ("~d", "a.json", 26),
        ("e", "b.json", 3),
    ]
    assert (whole.path, whole.start, whole.end) == ("b.json", 3, 5)
    listed = array_node((part.node for part in parts), span)
    assert (listed.value, len(listed.items), listed.span) == ([[1, {"b/c": None}], "x", [2, True]], 3, span)
    moved = member_at_value("k", parts[1].node)
    assert (moved.key, moved.key_start, moved.key_end, moved.node) == ("k", 32, 35, parts[1].node)


def test_fields_are_members_that_are_not_null() -> None:
    node = node_of('{"a": null, "b": "x", "c": 5, "d": ""}')
    fields = fields_of(node)
    assert list(fields) == ["b", "c", "d"]
    assert fields["b"] is node.members[1]
    assert [text_of(fields, key) for key in "abcd"] == ["", "x", "", ""]
    assert fields_of(None) == {}
    assert fields_of(node_of("[1]")) == {}


def printed(text: str) -> str:
    """Return a document of YAML as a tree of offsets, or why it is none."""
    try:
        result = repr(dumped(read_yaml(text, "a.yaml", start=100)))
    except YamlError as problem:
        hint = f"; {problem.hint}" if problem.hint else ""
        result = f"{problem.start}-{problem.end} {'syntax' if problem.is_syntax else 'refused'} {problem}{hint}"
    return f"{text!a}\n  {result}\n"


def test_yaml_is_read_with_places(golden: Callable[[Path, str], None]) -> None:
    cases = [ast.literal_eval(line) for line in (GOLDEN / "yaml.cases").read_text().splitlines()]
    golden(GOLDEN / "yaml.txt", "\n".join(map(printed, cases)))


@pytest.mark.parametrize(("most", "is_read"), [(5, True), (4, False)])
def test_values_of_yaml_count_as_often_as_they_are_used(most: int, is_read: bool) -> None:
    text = "a: &x [1]\nb: *x\n"
    if is_read:
        assert read_yaml(text, "a", most=most).value == {"a": [1], "b": [1]}
    else:
        with pytest.raises(YamlError, match="too large"):
            read_yaml(text, "a", most=most)


@pytest.mark.parametrize(("depth", "is_read"), [(MAX_DEPTH, True), (MAX_DEPTH + 1, False)])
def test_yaml_may_be_nested_but_not_deeper(depth: int, is_read: bool) -> None:
    text = "[" * depth + "1" + "]" * depth
    if is_read:
        node: object = read_yaml(text, "a").value
        for _ in range(depth):
            assert isinstance(node, list)
            (node,) = node
        assert node == 1
    else:
        with pytest.raises(YamlError, match="too large") as raised:
            read_yaml(text, "a")
        assert (raised.value.start, raised.value.end, raised.value.is_syntax) == (MAX_DEPTH + 1, MAX_DEPTH + 2, False)


def test_scalars_of_yaml_are_values_of_json() -> None:
    rows = (("int", "0o17"), ("int", "0x1F"), ("int", "-7"), ("float", "1.5"), ("bool", "True"), ("bool", "false"))
    assert [scalar_value(*row) for row in rows] == [15, 31, -7, 1.5, True, False]
    assert (scalar_value("null", "~"), scalar_value("str", "0x1F")) == (None, "0x1F")


FRONT = "\ufeff---\r\nname: a\nsize:\n  - 1\n---\nname: b\n---\n"


def test_frontmatter_has_places_in_its_file() -> None:
    read, problems = read_frontmatter(Source("SKILL.md", FRONT.encode()))
    assert problems == ()
    assert read.value == {"name": "a", "size": [1]}
    assert {key: FRONT[span.start : span.end] for key, span in read.places.items()} == {
        "name": "name: a",
        "size": "size:\n  - 1",
    }
    assert FRONT[read.span.start : read.span.end] == "name: a\nsize:\n  - 1"
    faults = {
        "no": ("MCP130", 0, 3),
        "---\n- 1\n---\n": ("MCP130", 0, 11),
        "---\na: {}\na: 1\n---\n": ("MCP131", 10, 11),
        "---\na: [1\n---\n": ("MCP131", 9, 9),
    }
    for text, expected in faults.items():
        _, (problem,) = read_frontmatter(Source("SKILL.md", text.encode()))
        assert (problem.code, problem.span.start, problem.span.end) == expected, text


def test_the_same_value_in_two_places_is_two_nodes() -> None:
    node = Node(1, "a", 0, 1)
    assert [node].index(node) == 0
    assert Node(1, "a", 0, 1) != node
    assert Member("k", 0, 1, node) != Member("k", 0, 1, node)


DEEP = f"x = {'[' * 3_000}{']' * 3_000}\n"
PROGRAM = {"server.py": "from fastmcp import FastMCP\nmcp = FastMCP('x')\n"}


def test_what_is_too_deep_is_an_error_of_toml(request: pytest.FixtureRequest) -> None:
    request.addfinalizer(partial(sys.setrecursionlimit, sys.getrecursionlimit()))
    sys.setrecursionlimit(1_000)  # Python's default: libraries raise it in a process that runs other tests, too
    with pytest.raises(tomllib.TOMLDecodeError, match="nested too deeply"):
        parse_toml(DEEP)
    assert parse_toml("x = [[1]]") == {"x": [[1]]}
    assert project_ignored(DEEP) == ()


@pytest.mark.parametrize("form", ["{} = 1", "[{}]", "[[ {} ]]", "x = {{{} = 1}}", "x = {{b = 1, {} = 1}}", "\t{} = 1"])
@pytest.mark.parametrize("part", ["a", '"a.b"', "'='", "a "])
def test_a_key_has_at_most_a_hundred_parts(form: str, part: str) -> None:
    text = "y = 1.5\n" + form.format(".".join([part] * 100))
    assert not has_long_key(text)
    parse_toml(text)
    with pytest.raises(tomllib.TOMLDecodeError, match="nested too deeply"):
        parse_toml("y = 1.5\n" + form.format(".".join([part] * 101)))
    assert not has_long_key("x = '" + ".".join(["a"] * 1000) + "'")


@pytest.mark.parametrize("files", [SMOKETEST, PROGRAM], ids=["native", "a program"])
def test_a_project_file_that_is_too_deep_is_reported(files: dict[str, str], tmp_path: Path) -> None:
    done = mcpc("check", write_files(tmp_path / "project", {**files, "pyproject.toml": DEEP}))
    assert done.returncode == 1
    assert "error[MCP401]: this is not TOML: it is nested too deeply" in done.stderr


@pytest.mark.parametrize("lock", [DEEP, "nonsense"], ids=["too deep", "no TOML"])
def test_a_lock_that_cannot_be_read_is_reported_once(lock: str, tmp_path: Path) -> None:
    project = '[project]\nname = "x"\nversion = "1"\ndependencies = ["a>=1"]\n'
    server = "from mcpc import Server\nmcp = Server('x')\n@mcp.tool\ndef a(): ...\n"
    files = {"server.py": server, "pyproject.toml": project, "uv.lock": lock}
    done = mcpc("check", write_files(tmp_path / "project", files))
    assert done.stderr.count("error[MCP414]: `uv.lock` is not a valid lock file: ") == 1, done.stderr


CASES = ROOT / "tests/golden/sources/toml_mistakes.cases"


def printed_mistake(text: str) -> str:
    with pytest.raises(tomllib.TOMLDecodeError) as raised:
        tomllib.loads(text)
    found = toml_mistake(raised.value, text)
    return f"{text!r}\n  {text[found.start : found.end]!r} at {found.start}: {found.message}; {found.hint}\n"


def test_mistakes_are_named_where_they_are(golden: Callable[[Path, str], None]) -> None:
    cases = [ast.literal_eval(line) for line in CASES.read_text("utf-8").splitlines()]
    golden(CASES.with_suffix(".txt"), "\n".join(map(printed_mistake, cases)))


def test_what_is_not_known_is_said_as_the_parser_says_it() -> None:
    assert toml_mistake(ValueError("Something else (at line 2, column 3)"), "a = 1\nb = 2\n") == (
        8,
        9,
        "Something else",
        "",
    )
    assert toml_mistake(ValueError("It is odd (at end of document)"), "a") == (1, 1, "It is odd", "")
    assert toml_mistake(ValueError("it is nested too deeply"), "") == (0, 0, "it is nested too deeply", "")
