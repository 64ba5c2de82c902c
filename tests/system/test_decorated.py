"""Servers of marked functions, built and called: types, results, errors; and FastMCP's files with another import."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcpc.schema import compile as compile_schema
from support.artifact import build, carried, mcpc
from support.needs import ROOT
from support.stdio import initialization, replies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HERE = Path(__file__).parent
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

SERVER = """
import dataclasses, datetime, decimal, enum, ipaddress, pathlib, typing, uuid
from typing import Annotated, Any, Literal, NamedTuple, TypedDict
from mcpc import Field, Server, prompt, tool

mcp = Server("types", version="3.2.1")

class Color(enum.Enum):
    RED = "red"
@dataclasses.dataclass
class Point:
    x: int
    y: float = 2.0
    next: "Point | None" = None
class Pair(NamedTuple):
    a: int
    b: str = "b"
class Size(TypedDict, total=False):
    width: int
    since: datetime.date

def told(value: Any) -> str:
    return f"{type(value).__name__} {value!r}"

@tool
def integer(v: int) -> str: return told(v)
@tool
def real(v: float) -> str: return told(v)
@tool
def text(v: str) -> str: return told(v)
@tool
def truth(v: bool) -> str: return told(v)
@tool
def anything(v: Any) -> str: return told(v)
@tool
def literal(v: Literal["a", 1]) -> str: return told(v)
@tool
def maybe(v: int | None = None) -> str: return told(v)
@tool
def unsaid(v: datetime.date = None) -> str: return told(v)
@tool
def field_unsaid(v: Annotated[list[int], "some"] = Field(None, description="numbers")) -> str: return told(v)
@tool
def color(v: Color = Color.RED) -> str: return told(v)
@tool
def day(v: datetime.date) -> str: return told(v)
@tool
def moment(v: datetime.datetime) -> str: return told(v)
@tool
def clock(v: datetime.time) -> str: return told(v)
@tool
def span(v: datetime.timedelta) -> str: return told(v)
@tool
def money(v: decimal.Decimal) -> str: return told(v)
@tool
def identity(v: uuid.UUID) -> str: return told(v)
@tool
def path(v: pathlib.Path) -> str: return told(v)
@tool
def address(v: ipaddress.IPv4Address) -> str: return told(v)
@tool
def raw(v: bytes) -> str: return told(v)
@tool
def many(v: set[int]) -> str: return told(v)
@tool
def frozen(v: frozenset[str]) -> str: return told(v)
@tool
def both(v: tuple[int, str]) -> str: return told(v)
@tool
def point(v: Point) -> str: return told(v)
@tool
def pair(v: Pair) -> str: return told(v)
@tool
def size(v: Size) -> str: return told(v)
@tool
def days(v: dict[str, list[datetime.date]]) -> str: return told(v)
@tool
def keys(v: dict[int, Color]) -> str: return told(v)
@tool
def stated(v: Annotated[int, "how many"] = Field(3, ge=1, le=5), w: list[int] = Field(default_factory=list)) -> str:
    return told(v) + told(w)

@tool
def no_result(): "Nothing."
@tool
def unannotated(): return {"a": 1}
@tool
def a_point() -> Point: return Point(1, 2.5, Point(3))
@tool
def a_color() -> Color: return Color.RED
@tool
def some_days() -> list[datetime.date]: return [datetime.date(2026, 7, 28)]
@tool
def a_set() -> set[str]: return {"b", "a"}
@tool
def no_point() -> Point | None: return None
@tool
def a_mapping() -> dict[str, Any]: return {"b": datetime.datetime(2026, 7, 28, tzinfo=datetime.UTC)}
@tool
def wrong() -> int: return "no integer"
@tool
def odd() -> str: return object()
@tool
def fails() -> str: raise ValueError("not today")
@mcp.tool(name="later.on")
async def later(v: datetime.date) -> datetime.date:
    import asyncio
    await asyncio.sleep(0)
    return v

@prompt
def ask(topic: str, count: int = 3, color: Color = Color.RED) -> str:
    return f"{told(count)} {told(color)} {topic}"
@mcp.prompt
def talk(n: int) -> list: return ["one", {"role": "assistant", "content": "two"}] * n

mcp.run()
"""


class Artifact:
    """A built server, talked to over one connection a time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def ask(self, requests: Sequence[tuple[str, Any]], version: str = "2025-11-25") -> list[Any]:
        """Return the results of some requests."""
        rows = [("initialize", initialization(version)), *requests]
        return [answer.get("result", answer) for answer in replies([sys.executable, self.path], rows)[1:]]

    def call(self, calls: Sequence[tuple[str, Any]], version: str = "2025-11-25") -> list[Any]:
        """Return the results of some calls."""
        return self.ask([("tools/call", {"name": name, "arguments": given}) for name, given in calls], version)


@pytest.fixture(scope="module")
def types(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    project = tmp_path_factory.mktemp("types")
    (project / "server.py").write_text(SERVER)
    return Artifact(build(project, tmp_path_factory.mktemp("built") / "server.pyz"))


GIVEN = [
    ("integer", 1.0, "int 1"),
    ("real", 1, "float 1.0"),
    ("text", "é", "str 'é'"),
    ("truth", True, "bool True"),
    ("anything", [1.0], "list [1.0]"),
    ("literal", 1, "int 1"),
    ("maybe", 2.0, "int 2"),
    ("maybe", None, "NoneType None"),
    ("unsaid", "2026-07-28", "date datetime.date(2026, 7, 28)"),
    ("unsaid", None, "NoneType None"),
    ("field_unsaid", [1.0], "list [1]"),
    ("field_unsaid", None, "NoneType None"),
    ("color", "red", "Color <Color.RED: 'red'>"),
    ("day", "2026-07-28", "date datetime.date(2026, 7, 28)"),
    (
        "moment",
        "2026-07-28T01:02:03Z",
        "datetime datetime.datetime(2026, 7, 28, 1, 2, 3, tzinfo=datetime.timezone.utc)",
    ),
    ("clock", "01:02:03", "time datetime.time(1, 2, 3)"),
    ("span", "PT90M", "timedelta datetime.timedelta(seconds=5400)"),
    ("money", 1.1, "Decimal Decimal('1.1')"),
    ("money", "1.10", "Decimal Decimal('1.10')"),
    ("identity", "12345678-1234-5678-1234-567812345678", "UUID UUID('12345678-1234-5678-1234-567812345678')"),
    ("path", "/x", "PosixPath PosixPath('/x')"),
    ("address", "127.0.0.1", "IPv4Address IPv4Address('127.0.0.1')"),
    ("raw", "é", "bytes b'\\xc3\\xa9'"),
    ("many", [2, 1.0], "set {1, 2}"),
    ("frozen", ["a"], "frozenset frozenset({'a'})"),
    ("both", [1, "a"], "tuple (1, 'a')"),
    ("point", {"x": 1.0, "next": {"x": 2, "y": 3}}, "Point Point(x=1, y=2.0, next=Point(x=2, y=3.0, next=None))"),
    ("pair", [1], "Pair Pair(a=1, b='b')"),
    ("size", {"width": 2.0, "since": "2026-07-28"}, "dict {'width': 2, 'since': datetime.date(2026, 7, 28)}"),
    ("days", {"a": ["2026-07-28"]}, "dict {'a': [datetime.date(2026, 7, 28)]}"),
    ("keys", {"1": "red"}, "dict {1: <Color.RED: 'red'>}"),
    ("stated", 4.0, "int 4list []"),
]


def test_arguments_arrive_as_what_the_hints_say(types: Artifact) -> None:
    results = types.call([(name, {"v": value}) for name, value, _ in GIVEN])
    assert [result["content"][0]["text"] for result in results] == [wanted for _, _, wanted in GIVEN]
    assert all(result["structuredContent"] == {"result": result["content"][0]["text"]} for result in results)


def test_what_is_left_out_is_the_default(types: Artifact) -> None:
    results = types.call([(name, {}) for name in ("maybe", "color", "stated", "unsaid", "field_unsaid")])
    texts = [result["content"][0]["text"] for result in results]
    assert texts == ["NoneType None", "Color <Color.RED: 'red'>", "int 3list []", "NoneType None", "NoneType None"]


def test_defaults_come_without_the_build_option_too(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    plain = Artifact(build(tmp_path, tmp_path.parent / f"{tmp_path.name}.pyz", "--no-defaults"))
    texts = [
        result["content"][0]["text"]
        for result in plain.call([(name, {}) for name in ("maybe", "color", "stated", "unsaid", "field_unsaid")])
    ]
    assert texts == ["NoneType None", "Color <Color.RED: 'red'>", "int 3list []", "NoneType None", "NoneType None"]


RETURNED: list[tuple[str, list[str], Any]] = [
    ("no_result", [], None),
    ("unannotated", ['{"a":1}'], None),
    (
        "a_point",
        ['{"x":1,"y":2.5,"next":{"x":3,"y":2.0,"next":null}}'],
        {"x": 1, "y": 2.5, "next": {"x": 3, "y": 2.0, "next": None}},
    ),
    ("a_color", ["red"], {"result": "red"}),
    ("some_days", ['["2026-07-28"]'], {"result": ["2026-07-28"]}),
    ("a_set", ['["a","b"]'], {"result": ["a", "b"]}),
    ("no_point", [], {"result": None}),
    ("a_mapping", ['{"b":"2026-07-28T00:00:00Z"}'], {"b": "2026-07-28T00:00:00Z"}),
]


@pytest.mark.parametrize("version", REVISIONS)
def test_results_are_json_and_fit_what_was_promised(types: Artifact, version: str) -> None:
    """Where a revision knows structured results they are objects that fit the schema; where not, there is none."""
    results = types.call([(name, {}) for name, _, _ in RETURNED], version)
    (listed,) = types.ask([("tools/list", {})], version)
    promised = {tool["name"]: tool.get("outputSchema") for tool in listed["tools"]}
    for (name, texts, structured), result in zip(RETURNED, results, strict=True):
        assert [block["text"] for block in result["content"]] == texts
        known = version >= "2025-06-18"
        assert result.get("structuredContent") == (structured if known else None)
        assert (promised[name] is not None) == (known and structured is not None)
        assert structured is None or not known or compile_schema(promised[name]).accepts(structured)


def test_an_asynchronous_function(types: Artifact) -> None:
    (result,) = types.call([("later.on", {"v": "2026-07-28"})])
    assert result["structuredContent"] == {"result": "2026-07-28"}


def test_faults_of_a_call(types: Artifact) -> None:
    calls = [
        ("day", {"v": "2026-02-30"}),
        ("day", {"v": 3}),
        ("wrong", {}),
        ("odd", {}),
        ("fails", {}),
        ("integer", {"v": 1.5}),
    ]
    wrong_day, no_text, wrong, odd, fails, no_integer = types.call(calls)
    assert wrong_day["isError"]
    text = wrong_day["content"][0]["text"]
    assert text.startswith("Invalid arguments for day: 1 problem; fix and call again\n- /v: received")
    assert '/v: received "2026-02-30"; day ' in text  # Python says why, since 3.14 in other words
    assert no_text["isError"]
    assert no_integer["isError"]
    assert wrong["error"]["message"].endswith("tool output does not match outputSchema")
    assert odd["isError"]
    assert "object, which cannot be written as JSON" in odd["content"][0]["text"]
    assert fails["content"][0]["text"] == "ValueError: not today"


def test_prompts(types: Artifact) -> None:
    good, defaults, bad, many = types.ask(
        [
            ("prompts/get", {"name": "ask", "arguments": {"topic": "x", "count": "5", "color": "red"}}),
            ("prompts/get", {"name": "ask", "arguments": {"topic": "x"}}),
            ("prompts/get", {"name": "ask", "arguments": {"topic": "x", "count": "five"}}),
            ("prompts/get", {"name": "talk", "arguments": {"n": "1"}}),
        ]
    )
    assert good["messages"][0]["content"]["text"] == "int 5 Color <Color.RED: 'red'> x"
    assert defaults["messages"][0]["content"]["text"] == "int 3 Color <Color.RED: 'red'> x"
    assert bad["error"] == {"code": -32602, "message": 'Invalid params: /count: received "five"; expected an integer'}
    assert [message["role"] for message in many["messages"]] == ["user", "assistant"]


def test_the_artifact_carries_what_it_needs_and_no_more(types: Artifact, tmp_path: Path) -> None:
    names = entries(types.path)
    wanted = {"mcpc/__init__.py", "mcpc_runtime/handlers/python/authoring.py", *BINDINGS}
    assert wanted <= names
    assert not [name for name in names if "pydantic" in name]
    plain = build(ROOT / "templates/new/python", tmp_path / "plain.pyz")
    assert not wanted & entries(plain)


BINDINGS = [f"mcpc_runtime/handlers/python/bindings/{name}.py" for name in ("conversion", "dumping", "hints")]


def entries(artifact: Path) -> set[str]:
    return set(carried(artifact))


def test_the_same_sources_make_the_same_file(tmp_path: Path) -> None:
    made = []
    for name in ("one", "two/deeper"):
        project = tmp_path / name
        project.mkdir(parents=True)
        (project / "server.py").write_text(SERVER)
        made.append(build(project, tmp_path / f"{project.name}.pyz").read_bytes())
    assert made[0] == made[1]


def test_a_new_project_has_one_file_of_code_and_works(tmp_path: Path) -> None:
    project = tmp_path / "mine"
    assert mcpc("new", project).returncode == 0
    assert [path.name for path in project.rglob("*.py")] == ["server.py"]
    made = Artifact(build(project, tmp_path / "mine.pyz", "--strict"))
    (greeting,) = made.call([("greet", {"name": "Ada", "language": "fr"})])
    assert greeting["content"][0]["text"] == "Bonjour, Ada!"


FASTMCP = """
import asyncio, importlib.util, json, sys
from fastmcp import Client
spec = importlib.util.spec_from_file_location("sample", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["sample"] = module
spec.loader.exec_module(module)
async def main():
    async with Client(module.mcp) as client:
        tools = [tool.model_dump(mode="json", by_alias=True) for tool in await client.list_tools()]
        prompts = [prompt.model_dump(mode="json", by_alias=True) for prompt in await client.list_prompts()]
        results = []
        for name, arguments in json.load(sys.stdin):
            result = await client.call_tool_mcp(name, arguments)
            results.append(result.model_dump(mode="json", by_alias=True))
        print(json.dumps({"tools": tools, "prompts": prompts, "results": results}))
asyncio.run(main())
"""

BOOK = {"title": "T", "genre": "novel", "published": "2026-07-28"}
TRIP = {"places": [{"name": "Rome", "nights": 3}, {"name": "Oslo"}]}
DUE = {"since": "2026-07-28T00:00:00Z", "days": "P2D"}
CARD = {"reader": "12345678-1234-5678-1234-567812345678", "seen": [1, 2], "pair": [1, "a"]}

CALLS: Mapping[str, list[tuple[str, Any]]] = {
    "calculator": [
        ("add", {"a": 1, "b": 2}),
        ("mean", {"values": [1, 2.5, 3]}),
        ("mean", {"values": [1, 2, 2], "digits": 4}),
        ("convert", {"degrees": 50}),
        ("convert", {"degrees": 10, "to": "F"}),
        ("divmod_of", {"a": 7, "b": 2, "note": None}),
        ("nothing", {}),
    ],
    "library": [
        ("catalogue", {"book": BOOK}),
        ("catalogue", {"book": {**BOOK, "price": "12.50", "tags": ["x"], "sequel": BOOK}, "copies": 3}),
        ("lend", {"titles": ["A", "B"], **DUE}),
        ("find", {"shelf": [1, 2]}),
        ("find", {"shelf": [1, 2], "by": "essay", "cover": "c"}),
        ("card", CARD),
    ],
    "trips": [
        ("plan", {"trip": TRIP}),
        ("plan", {"trip": TRIP, "people": 9, "currency": "USD"}),
        ("names", {"places": TRIP["places"]}),
        ("longest", {"trip": TRIP}),
        ("longest", {"trip": {"places": []}}),
    ],
}
REFUSED: Mapping[str, list[tuple[str, Any]]] = {
    "calculator": [
        ("add", {"a": 1}),
        ("add", {"a": 1, "b": "x"}),
        ("add", {"a": 1, "b": 2.5}),
        ("add", {"a": 1, "b": 2, "c": 3}),
        ("mean", {"values": "x"}),
        ("mean", {"values": ["x"]}),
        ("convert", {"degrees": 1, "to": "K"}),
        ("nothing", {"a": 1}),
    ],
    "library": [
        ("catalogue", {"book": {**BOOK, "genre": "poem"}}),
        ("catalogue", {"book": {"title": "T"}}),
        ("catalogue", {"book": {**BOOK, "published": "soon"}}),
        ("lend", {"titles": ["A"], "since": "2026-07-28T00:00:00Z", "days": "soon"}),
        ("find", {"shelf": [1, 2, 3]}),
        ("find", {"shelf": [1]}),
        ("card", {**CARD, "reader": "x"}),
        ("card", {**CARD, "pair": [1, "a", 2]}),
    ],
    "trips": [
        ("plan", {"trip": {"places": [{"name": "R"}]}}),
        ("plan", {"trip": {"places": [{"name": "Rome", "nights": 0}]}}),
        ("plan", {"trip": TRIP, "people": 10}),
        ("plan", {"trip": TRIP, "currency": "euro"}),
        ("names", {"places": [1]}),
        ("longest", {}),
    ],
}


def moved(name: str, folder: Path) -> Path:
    """Write a sample with the import changed, and nothing else, as a project."""
    text = (HERE / f"fastmcp/{name}.py").read_text()
    assert text.count("from fastmcp import FastMCP") == 1
    (folder / "server.py").write_text(text.replace("from fastmcp import FastMCP", "from mcpc import Server as FastMCP"))
    wanted = [package for package in ("pydantic", "typing_extensions") if f"from {package} import" in text]
    if wanted:
        (folder / "requirements.txt").write_text("".join(f"{package}\n" for package in wanted))
    return folder


@pytest.fixture(scope="module", params=sorted(CALLS))
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Artifact, Any]:
    """A sample of FastMCP's: its name, the artifact of the moved file, and what FastMCP itself answers."""
    name = request.param
    folder = tmp_path_factory.mktemp(name)
    made = Artifact(build(moved(name, folder), tmp_path_factory.mktemp("built") / f"{name}.pyz"))
    calls = json.dumps([*CALLS[name], *REFUSED[name]])
    words = [sys.executable, "-c", FASTMCP, HERE / f"fastmcp/{name}.py"]
    done = subprocess.run(words, input=calls, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return name, made, json.loads(done.stdout)


@pytest.mark.sampled(3)
def test_a_moved_file_offers_the_same(both: tuple[str, Artifact, Any]) -> None:
    _, made, theirs = both
    tools, prompts = made.ask([("tools/list", {}), ("prompts/list", {})])
    # A server without prompts does not know the method.
    prompts = prompts if theirs["prompts"] else {"prompts": []}
    facts = ("name", "description")
    assert [[tool.get(fact) for fact in facts] for tool in tools["tools"]] == [
        [tool.get(fact) for fact in facts] for tool in theirs["tools"]
    ]
    for mine, other in zip(tools["tools"], theirs["tools"], strict=True):
        assert mine.get("annotations", {}).get("readOnlyHint") == (other["annotations"] or {}).get("readOnlyHint")
        assert list(mine["inputSchema"]["properties"]) == list(other["inputSchema"]["properties"])
        assert mine["inputSchema"].get("required", []) == other["inputSchema"].get("required", [])
        for name, property in other["inputSchema"]["properties"].items():
            assert mine["inputSchema"]["properties"][name].get("description") == described(property, mine, name)
            assert mine["inputSchema"]["properties"][name].get("default") == property.get("default")
        assert bool(mine.get("outputSchema")) == bool(other["outputSchema"])
    assert [(prompt["name"], prompt["description"], prompt["arguments"]) for prompt in prompts["prompts"]] == [
        (prompt["name"], prompt["description"], [present(argument) for argument in prompt["arguments"]])
        for prompt in theirs["prompts"]
    ]


def described(property: Mapping[str, Any], mine: Mapping[str, Any], name: str) -> Any:
    """Return the description there is; FastMCP puts a type's own where the type is used, and the parameter's is lost."""
    own = mine["inputSchema"]["properties"][name]
    target = mine["inputSchema"].get("$defs", {}).get(own.get("$ref", "").rpartition("/")[2], {})
    return (
        own.get("description")
        if target.get("description") == property.get("description")
        else property.get("description")
    )


def present(argument: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in argument.items() if value is not None}


@pytest.mark.sampled(3)
def test_a_moved_file_takes_and_refuses_the_same(both: tuple[str, Artifact, Any]) -> None:
    """By the schemas alone, as a client would judge; what only a type knows (`format`) is told at the call."""
    name, made, theirs = both
    (tools,) = made.ask([("tools/list", {})])
    mine = {tool["name"]: compile_schema(tool["inputSchema"]) for tool in tools["tools"]}
    others = {tool["name"]: compile_schema(tool["inputSchema"]) for tool in theirs["tools"]}
    for tool, arguments in (*CALLS[name], *REFUSED[name]):
        assert mine[tool].accepts(arguments) == others[tool].accepts(arguments), (tool, arguments)
    assert all(mine[tool].accepts(arguments) for tool, arguments in CALLS[name])


def test_a_moved_file_answers_the_same(both: tuple[str, Artifact, Any]) -> None:
    name, made, theirs = both
    results = made.call([*CALLS[name], *REFUSED[name]])
    for (tool, arguments), mine, other in zip((*CALLS[name], *REFUSED[name]), results, theirs["results"], strict=True):
        good = (tool, arguments) in CALLS[name]
        assert (not mine.get("isError")) is good is (not other["isError"]), (tool, arguments, mine, other)
        if good:
            assert unordered(mine.get("structuredContent")) == unordered(other["structuredContent"]), (tool, arguments)
            assert [plain(block) for block in mine["content"]] == [plain(block) for block in other["content"]]


def unordered(value: Any) -> Any:
    """Return JSON in which the tags, which are a set, have one order."""
    if not isinstance(value, dict):
        return value
    return {key: sorted(part) if key == "tags" else unordered(part) for key, part in value.items()}


def plain(block: Mapping[str, Any]) -> Any:
    """Return what a text says, JSON without regard to the order of keys."""
    try:
        return unordered(json.loads(block["text"]))
    except ValueError:
        return block["text"]


@pytest.mark.parametrize("template", ["bash", "functions", "python"])
@pytest.mark.parametrize(
    ("folder", "name"), [("weather", "weather"), ("two words", "my-server"), ('quo"te', "my-server")]
)
@pytest.mark.sampled(4)
def test_a_new_project_is_called_as_its_folder(template: str, folder: str, name: str, tmp_path: Path) -> None:
    assert mcpc("new", tmp_path / folder, "--template", template).returncode == 0
    shown = mcpc("show", tmp_path / folder)
    assert shown.stdout.startswith(f"server {name} 0.1.0"), shown
