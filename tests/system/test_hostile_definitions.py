"""Whatever a definition says, it stays data: it is refused with a diagnostic, or served as it was written.

`TESTS_HOSTILE` sets how many projects are made (100); all are compiled in this process, and differ only by their seed.
"""

import ast
import io
import json
import keyword
import marshal
import math
import os
import random
import re
import sys
import tokenize
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mcpc import pipeline
from mcpc.diagnostics import has_errors
from mcpc.diagnostics.formats import FORMATS
from mcpc.emit import bytecode
from mcpc.model.ir.printer import print_server
from mcpc.options import Options
from mcpc_runtime import OTHER_PYTHONS
from mcpc_runtime.protocol.effects import StartHandler
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.protocol.session import Session
from support.artifact import build, converse
from support.images import MODERN, archive, ask, image_of, request
from support.needs import needs
from support.projects import tree
from support.scale import seeds
from system import hostile, mixed
from system.hostile import Hostile

Json = Any

COUNT = int(os.environ.get("TESTS_HOSTILE", "100"))
BUNCH = 25
"""So many projects are one test: a failure names the seed."""
SAMPLES = 4
"""So many values of each kind are judged by a compiled schema and by the `jsonschema` library."""

DATA = ("mcpc_app/blob", "mcpc_app/bytecode", "mcpc_app/validators/", "mcpc_app/index.py", "META-INF/", "handlers/")
"""What may differ from server to server; the bytecode of the start is compared without the index it holds."""
START = "__main__.pyc"

LITERALS = (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Load)
NODES = (
    *(ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Expr, ast.Assign, ast.AugAssign),
    *(ast.If, ast.For, ast.Try, ast.ExceptHandler, ast.Raise, ast.Break, ast.Import, ast.ImportFrom, ast.alias, ast.Global),
    *(ast.IfExp, ast.ListComp, ast.GeneratorExp, ast.comprehension, ast.Lambda),
    *(ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Mod),
    *(ast.Pow, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn),
    *(ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred, ast.Name, ast.Load, ast.Store),
    *(ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set),
)  # fmt: skip
"""What a validator may be made of: no class, no f-string, no `with`, no decorator."""
GENERATED = re.compile(
    r"(?:accepts|errors|complete|evaluated|beside)(?:_[0-9]+)?|search_[0-9]+|C[0-9]+|[fikmnstv][0-9]+"
    r"|(?:quick|linear)_[0-9]+|x|path|found|depth|seen|new|LEFT|STEPS"
)
MODULES = frozenset(("mcpc_runtime", "protocol", "union_errors", "validation", "formats", "patterns"))
IMPORTS = {
    "mcpc_runtime.protocol.union_errors": ("closest_branch_errors",),
    "mcpc_runtime.protocol.validation.formats": ("is_of_format",),
    "mcpc_runtime.protocol.validation.patterns": ("PatternMatcher", "pattern_errors"),
}
SUPPORT = frozenset(
    re.findall(
        r"\w+",
        """search same distinct identity multiple step nearest wanted distance number text pattern one other kind items
        value room name item scale digits exponent whole fraction shift branches wants keyword keywords at want values
        weight is_constant is_near n match _ re key kinds i k v w branches about has_format is_of_format get copy
        first pair pairs allowance parts part left error pattern_errors union_errors closest_branch_errors PatternMatcher validation""",
    )
)
BUILTINS = frozenset(
    re.findall(
        r"\w+",
        """type len range str int float bool list dict set frozenset all any map enumerate repr max min hex sorted sum RecursionError OverflowError
        True False None""",
    )
)
METHODS = frozenset(
    re.findall(
        r"\w+",
        """items keys values append extend count issuperset is_integer replace partition search compile match ASCII join bit_length
        setdefault update add get copy""",
    )
)
WORDS = frozenset(
    re.findall(
        r"\w+",
        "def return if elif else for in not and or is try except raise import from global break pass as lambda finally",
    )
)


@pytest.fixture(autouse=True)
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in an empty folder, and find it empty afterwards."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    yield
    assert not hostile.fired(empty), "a definition was obeyed"


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile each of the runtime's files once for all projects: the same source is always the same code."""
    monkeypatch.setattr(bytecode, "code_of", code_once)


@cache
def code_once(source: bytes, label: str, *, strip: bool) -> CodeType:
    return COMPILE(source, label, strip=strip)


COMPILE = bytecode.code_of


def contents(data: bytes) -> dict[str, bytes]:
    """Return the entries of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        names = packed.namelist()
        assert len(names) == len(set(names))
        return {name: packed.read(name) for name in names}


@cache
def benign(pattern: str = "", alternatives: bool = False) -> dict[str, bytes]:
    """The entries of a server that means no harm; the runtime holds more for slow patterns and for alternatives."""
    return contents(archive(in_python(pattern, alternatives)).data)


def in_python(pattern: str = "", alternatives: bool = False) -> dict[str, str | bytes]:
    """Return a project of one Python tool that means no harm."""
    schema: dict[str, Any] = {"type": "object", "properties": {"text": {"pattern": pattern}} if pattern else {}}
    if alternatives:
        schema["anyOf"] = [{"required": ["a"]}, {"required": ["b"]}]
    kept = {path: text for path, text in mixed.FILES.items() if not path.startswith(("tools.d/", "tools.bash"))}
    tools = {"tools": [{"name": "count", "description": "Counts.", "inputSchema": schema}]}
    return {**kept, "tools.json": json.dumps(tools), "tools.py": "def count(**given): pass\n"}


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, COUNT, BUNCH))
def test_hostile_projects_are_refused_or_served_as_written(first: int) -> None:
    for seed in seeds(COUNT)[first : first + BUNCH]:
        try:
            judge(hostile.make(seed), random.Random(seed))
        except Exception as problem:
            problem.add_note(f"hostile project {seed}")
            raise


@pytest.mark.slow
def test_most_projects_are_built_and_many_are_not() -> None:
    """Projects that were all refused, or all built, would prove little."""
    tried = range(100)
    built = [seed for seed in tried if analysed(hostile.make(seed)).checked is not None]
    assert len(tried) * 0.5 < len(built) < len(tried) * 0.95


def analysed(project: Hostile) -> pipeline.CheckResult:
    return pipeline.analyse(tree(project.files), (), options(project))


def options(project: Hostile) -> Options:
    return Options(tools_page_size=project.page_size)


def judge(project: Hostile, chance: random.Random) -> None:
    """Hold one project against everything this module promises."""
    found = analysed(project)
    assert has_errors(found.diagnostics) == (found.checked is None)
    reported(found)
    if found.server is not None:
        assert_printable(print_server(found.server))
    if found.checked is None:
        return
    entries = contents(pipeline.compile_server(found.checked, options(project)).data)
    only_data_differs(entries, project)
    image = image_of_entries(entries)
    index_is_a_literal(entries["mcpc_app/index.py"])
    serves_what_was_written(image, project)
    for tool in project.tools:
        definition = image.tool(tool["name"])
        assert definition.handler[:2] == ("tools.py", f"tool_{tool['name'].replace('-', '_').replace('.', '_')}")
        for schema, codes in ((tool["inputSchema"], definition._input), (tool.get("outputSchema"), definition._output)):
            if codes is not None:
                validator_is_ours(image, codes)
                validator_agrees(image, codes, schema, schema is tool["inputSchema"], project, chance)
    for tool in project.tools:
        calls_are_decided(image, tool, chance)


def reported(found: pipeline.CheckResult) -> None:
    """Report the problems in every format; no line of any is a definition's own."""
    errors = sum(problem.severity == "error" for problem in found.diagnostics)
    texts = {name: render(found.diagnostics, found.sources) for name, render in FORMATS.items()}
    assert_printable(texts["text"])
    report = json.loads(texts["json"])
    assert (report["errors"], len(report["diagnostics"])) == (errors, len(found.diagnostics))
    (run,) = json.loads(texts["sarif"])["runs"]
    assert [result["level"] for result in run["results"]].count("error") == errors
    commands = texts["github"].splitlines()
    assert len(commands) == len(found.diagnostics)
    assert all(re.match(r"::(error|warning|notice) (?:[A-Za-z]+=[^:,]*,)*title=MCP\d{3}::", line) for line in commands)
    assert_printable(texts["github"])


def assert_printable(text: str) -> None:
    """Find no character that a terminal obeys or a person cannot see."""
    wrong = sorted({character for character in text if not character.isprintable() and character != "\n"})
    assert wrong == []


# Only data differs.


def only_data_differs(entries: dict[str, bytes], project: Hostile) -> None:
    """Compare every entry that is not data with that of a benign server, byte for byte."""
    runtime = entries["mcpc_runtime/sources.zip"]
    pattern = "^a*a*b$" if b"mcpc_runtime/protocol/validation/patterns" in runtime else ""
    expected = benign(pattern, b"mcpc_runtime/protocol/union_errors" in runtime)
    assert code_names(entries) == code_names(expected)
    changed = [name for name in code_names(expected) if entries[name] != expected[name]]
    assert {*changed} <= {START, OTHER_PYTHONS}
    assert other_pythons_without_digest(entries) == other_pythons_without_digest(expected)
    assert start_without_index(entries) == start_without_index(expected)
    assert entries[START][:16] == expected[START][:16]
    handlers = {name: data for name, data in entries.items() if name.startswith("handlers/") and name[-4:] != ".pyc"}
    assert handlers == {
        f"handlers/{path}": data
        for path, data in project.files.items()
        if path.endswith(".py") or path.startswith("beside/")
    }


def other_pythons_without_digest(entries: dict[str, bytes]) -> dict[str, Json]:
    """Return what another Python starts with, without the digest of the sources; it has code."""
    facts: dict[str, Json] = marshal.loads(entries[OTHER_PYTHONS])
    assert re.fullmatch("[0-9a-f]{64}", facts.pop("digest"))
    return facts


def code_names(entries: dict[str, bytes]) -> list[str]:
    return sorted(name for name in entries if not name.startswith(DATA))


def start_without_index(entries: dict[str, bytes]) -> CodeType:
    """Return the code of the start with its bundle, the index in it judged and taken out."""
    code: CodeType = marshal.loads(entries[START][16:])
    (bundle,) = (constant for constant in code.co_consts if type(constant) is tuple and len(constant) > 5)
    rows = {name: inner for name, _, inner in bundle}
    index_code_is_data(rows["mcpc_app.index"], entries["mcpc_app/index.py"])
    kept = tuple(row for row in bundle if row[0] != "mcpc_app.index")
    assert len(kept) == len(bundle) - 1
    return code.replace(co_consts=tuple(kept if constant is bundle else constant for constant in code.co_consts))


def index_code_is_data(code: CodeType, source: bytes) -> None:
    """Run nothing: the bytecode of the index has one name, no code inside, and no instruction that could act."""
    assert code.co_names == ("INDEX",)
    assert not any(hasattr(constant, "co_code") for constant in code.co_consts)
    assert code == bytecode.code_of(source, "server.pyz/mcpc_app/index.py", strip=True)


def index_is_a_literal(source: bytes) -> None:
    """Find one docstring, which is ours, and one assignment of a literal."""
    docstring, assignment = ast.parse(source).body
    benign_docstring, _ = ast.parse(benign()["mcpc_app/index.py"]).body
    assert ast.dump(docstring) == ast.dump(benign_docstring)
    assert isinstance(assignment, ast.Assign)
    (target,) = assignment.targets
    assert isinstance(target, ast.Name)
    assert target.id == "INDEX"
    for node in ast.walk(assignment.value):
        is_negative = isinstance(node, ast.USub) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub))
        assert is_negative or isinstance(node, LITERALS), ast.dump(node)
    assert [token for token in tokens(source.decode()) if token.type == tokenize.COMMENT] == []


def tokens(source: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(source).readline))


def validator_is_ours(image: Image, codes: Json) -> None:
    """Hold both modules of a schema against what the compiler may write, and the bytecode against its source."""
    (predicate, number), collector = codes
    for source in (predicate, collector):
        text = image.source(*source).decode("ascii")
        words_are_ours(text)
        for node in ast.walk(ast.parse(text)):
            node_is_ours(node)
    code = marshal.loads(image._bytecode(number) or b"")
    expected = compile(image.source(*predicate), code.co_filename, "exec", dont_inherit=True, optimize=2)
    assert code == bytecode.without_columns(expected)
    assert code.co_filename == "server.pyz/mcpc_app/validator.py"


NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def defaults_in(value: Any) -> Iterator[Any]:
    """Yield every value of a key `default`, wherever it stands."""
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key == "default":
            yield part
        yield from defaults_in(part)


def completed(got: Any, sent: Any, defaults: list[Any]) -> bool:
    """Say whether `got` is what was sent, with nothing added to it but defaults."""
    if isinstance(got, list) and isinstance(sent, list):
        return len(got) == len(sent) and all(completed(*pair, defaults) for pair in zip(got, sent, strict=True))
    if not isinstance(got, dict) or not isinstance(sent, dict):
        # A number that JSON writes in a way of its own is a text where a project is made.
        is_number = isinstance(sent, str) and NUMBER.fullmatch(sent) is not None
        return bool(got == sent or (is_number and got == json.loads(sent)))
    added = [got[name] for name in got.keys() - sent.keys()]
    return (
        sent.keys() <= got.keys()
        and all(completed(got[name], sent[name], defaults) for name in sent)
        and all(any(completed(value, default, defaults) for default in defaults) for value in added)
    )


def words_are_ours(text: str) -> None:
    """Find no comment and no word outside strings that is not the compiler's own."""
    for token in tokens(text):
        assert token.type != tokenize.COMMENT, token
        if token.type == tokenize.NAME:
            known = token.string in SUPPORT | BUILTINS | METHODS | WORDS | MODULES
            assert known or GENERATED.fullmatch(token.string), token
        if token.type == tokenize.STRING:
            assert token.string[0] in "'\"b", token
        if token.type == tokenize.NUMBER:
            assert re.fullmatch(r"0x[0-9a-f]+|[0-9.]+(?:e[+-]?[0-9]+)?", token.string), token


def node_is_ours(node: ast.AST) -> None:
    """Refuse every construct and every name that validators have no need of."""
    assert isinstance(node, NODES), ast.dump(node)
    if isinstance(node, ast.Name):
        assert GENERATED.fullmatch(node.id) or node.id in SUPPORT | BUILTINS, node.id
    elif isinstance(node, ast.Attribute):
        assert node.attr in METHODS, node.attr
    elif isinstance(node, ast.FunctionDef):
        assert GENERATED.fullmatch(node.name) or node.name in SUPPORT, node.name
        assert not node.decorator_list
        assert not node.args.kwonlyargs
        assert node.args.vararg is node.args.kwarg is None
        assert all(argument.annotation is None for argument in node.args.args)
    elif isinstance(node, ast.Call):
        assert isinstance(node.func, ast.Name | ast.Attribute), ast.dump(node)
    elif isinstance(node, ast.ImportFrom):
        assert all(alias.name in IMPORTS[node.module or ""] and alias.asname is None for alias in node.names)
    elif isinstance(node, ast.Global):
        assert all(re.fullmatch("(search|quick|linear)_[0-9]+", name) for name in node.names)
    elif isinstance(node, ast.Import):
        assert [(alias.name, alias.asname) for alias in node.names] == [("re", None)]


# Served as written.


def image_of_entries(entries: dict[str, bytes]) -> Image:
    """Open a server without a file."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        for name, entry in entries.items():
            if name.startswith("mcpc_app/"):
                packed.writestr(name, entry)
    return image_of(data.getvalue())


def serves_what_was_written(image: Image, project: Hostile) -> None:
    """Compare what clients are told with the files, as any JSON parser reads them."""
    definitions = {path: json.loads(text) for path, text in project.files.items() if path.endswith(".json")}
    tools = definitions["tools.json"]["tools"]
    tools += [definitions[path] for path in sorted(definitions) if path.startswith("tools.d/")]
    session = Session(image)
    assert text_of(in_one_form(listed(session, "tools"))) == text_of(in_one_form(tools))
    assert text_of(listed(session, "prompts")) == text_of(definitions["prompts.json"]["prompts"])
    server = definitions["server.json"]
    hello = ask(session, request("initialize", mixed.HELLO))
    assert isinstance(hello, dict)
    for member, value in server.items():
        if member != "capabilities":
            assert text_of(hello["result"][member]) == text_of(value)
    assert text_of(hello["result"]["capabilities"]["experimental"]) == text_of(server["capabilities"]["experimental"])
    discovered = ask(session, request("server/discover", {"_meta": MODERN}))
    assert isinstance(discovered, dict)
    assert discovered["result"].get("instructions", "") == server["instructions"]
    for version in image.handshake_versions:
        assert ask(session, request("initialize", {**mixed.HELLO, "protocolVersion": version}))
        names = [tool["name"] for tool in listed(session, "tools", stateless=False)]
        assert names == [tool["name"] for tool in tools]


def in_one_form(value: Json) -> Json:
    """Return a value whose schemas have none of what the build writes as all clients take it."""
    if isinstance(value, list):
        return [in_one_form(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: in_one_form(member) for key, member in value.items() if key != "$schema"}
    if found.get("items") in ({}, True):
        del found["items"]
    properties = found.get("properties")
    if isinstance(properties, dict):
        found["properties"] = {key: {} if member is True else member for key, member in properties.items()}
    return found


def listed(session: Session, kind: str, *, stateless: bool = True) -> list[Json]:
    params: dict[str, Json] = {"_meta": MODERN} if stateless else {}
    items: list[Json] = []
    while True:
        reply = ask(session, request(f"{kind}/list", params))
        assert isinstance(reply, dict)
        if "error" in reply:
            assert reply["error"]["code"] == -32601
            return []
        items += reply["result"][kind]
        if "nextCursor" not in reply["result"]:
            return items
        params["cursor"] = reply["result"]["nextCursor"]


def text_of(value: Json) -> str:
    """Return a value as text in which 1 is not 1.0 and not true, and the order of members counts."""
    return json.dumps(value)


def calls_are_decided(image: Image, tool: Json, chance: random.Random) -> None:
    """Call a tool: what it accepts would be started, what it refuses is explained in one whole line."""
    session = Session(image)
    definition = image.tool(tool["name"])
    for number in range(SAMPLES):
        arguments = dict_of(instance(tool["inputSchema"], tool["inputSchema"], chance), chance)
        params = {"name": tool["name"], "arguments": arguments, "_meta": MODERN}
        reply = ask(session, request("tools/call", params, number))
        if definition.input.accepts(arguments):
            assert isinstance(reply, StartHandler)
            assert reply.call.definition.name == tool["name"]
            assert completed(reply.call.arguments, arguments, list(defaults_in(tool["inputSchema"])))
        else:
            assert isinstance(reply, dict)
            assert reply["result"]["isError"] is True
            assert_printable(reply["result"]["content"][0]["text"])
    names = (tool["name"] + " ", chance.choice(hostile.ATTACKS), chance.choice(hostile.REFUSED), "\udcff")
    for number, name in enumerate(names, SAMPLES):
        reply = ask(session, request("tools/call", {"name": name, "arguments": {}, "_meta": MODERN}, number))
        assert isinstance(reply, StartHandler | dict)
        assert image.tool(name) is not None or (isinstance(reply, dict) and reply["error"]["code"] == -32602)


def dict_of(value: Json, chance: random.Random) -> dict[str, Json]:
    return value if isinstance(value, dict) else {chance.choice(hostile.ATTACKS): value}


# Decided as the jsonschema library decides.

OPENING = ("additionalProperties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")


def validator_agrees(
    image: Image, codes: Json, schema: Json, closed: bool, project: Hostile, chance: random.Random
) -> None:
    """Judge values by the compiled schema and by the library."""
    judging, collector = codes
    accepts, errors = image.load(*judging)["accepts"], image.load(collector)["errors"]
    if closed and not any(name in schema for name in OPENING):
        schema = {**schema, "additionalProperties": False}
    schema = plain(schema)
    judge = Draft202012Validator(schema)
    for value in [instance(schema, schema, chance) for _ in range(SAMPLES)] + [anything(chance)]:
        accepted, complaints = accepts(value), errors(value)
        assert type(accepted) is bool
        assert accepted == (complaints == [])
        assert all(type(place) is str and type(word) is str for place, word, _ in complaints)
        if project.comparable and is_fair(schema, value):
            assert accepted == judge.is_valid(value), (schema, value)


def plain(value: Json) -> Json:
    """Return a definition as a JSON parser reads it."""
    return json.loads(hostile.written(value, random.Random(0)))


def is_fair(schema: Json, value: Json) -> bool:
    """Leave out what the library gets wrong: `$` before a line break, and whether `[[1], [true], [1]]` is unique."""
    asked, given = text_of(schema), text_of(value)
    is_one_line = re.search(r"\\n|\\r|\\u2028|\\u2029", asked + given) is None
    has_booleans = "true" in given or "false" in given
    return (is_one_line or "attern" not in asked) and not ("uniqueItems" in asked and has_booleans)


def instance(schema: Json, root: Json, chance: random.Random, depth: int = 5) -> Json:
    """Return a value that may well be valid: made along the schema, with a slip here and there."""
    if not isinstance(schema, dict) or not depth or chance.random() < 0.05:
        return anything(chance)
    if "$ref" in schema and chance.random() < 0.7:
        target = root.get("$defs", {})
        name = chance.choice(sorted(target)) if target else ""
        return instance(target.get(name, {}), root, chance, depth - 1)
    if "const" in schema or "enum" in schema:
        return plain(schema["const"] if "const" in schema else chance.choice(schema["enum"]))
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema and chance.random() < 0.5:
            return instance(chance.choice(schema[word]), root, chance, depth - 1)
    types = schema.get("type", guessed(schema))
    kind = chance.choice(types) if isinstance(types, list) else types
    return INSTANCES[kind](schema, root, chance, depth - 1)


def guessed(schema: Json) -> str:
    """Return the type that the keywords of a schema are about."""
    about = {
        "object": ("properties", "required"),
        "array": ("items", "prefixItems"),
        "string": ("pattern", "minLength"),
    }
    return next((kind for kind, words in about.items() if any(word in schema for word in words)), "number")


def an_object(schema: Json, root: Json, chance: random.Random, depth: int) -> Json:
    named = schema.get("properties", {})
    wanted = [*schema.get("required", ()), *(name for name in named if chance.random() < 0.5)]
    if chance.random() < 0.1:
        wanted.append(chance.choice(hostile.ATTACKS))
    if wanted and chance.random() < 0.1:
        wanted.remove(chance.choice(wanted))
    return {name: instance(named.get(name, {}), root, chance, depth) for name in dict.fromkeys(wanted)}


def an_array(schema: Json, root: Json, chance: random.Random, depth: int) -> Json:
    first = [instance(item, root, chance, depth) for item in schema.get("prefixItems", ())]
    rest = schema.get("items", schema.get("contains", {}))
    return first + [instance(rest, root, chance, depth) for _ in range(chance.randrange(3))]


def a_string(schema: Json, root: Json, chance: random.Random, depth: int) -> Json:
    return chance.choice((*hostile.ATTACKS, "ab", "abab", "x1", "{{", "aaa", str(schema.get("pattern", ""))))


INSTANCES: dict[str, Json] = {
    "object": an_object,
    "array": an_array,
    "string": a_string,
    "integer": lambda schema, root, chance, depth: chance.choice((0, 1, 2, 6, -7, 10**20, 3.0)),
    "number": lambda schema, root, chance, depth: chance.choice((0, 1, 2.5, -0.5, 1e9, -3, 1.0, 21)),
    "boolean": lambda schema, root, chance, depth: chance.random() < 0.5,
    "null": lambda schema, root, chance, depth: None,
}


def anything(chance: random.Random) -> Json:
    maker = hostile.Maker(chance, refused=False)
    value = plain(maker.value())
    return value if not isinstance(value, float) or math.isfinite(value) else 0


# For real.


def on_disk(files: Mapping[str, str | bytes], folder: Path) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def replies(server: Path, *requests: tuple[str, dict[str, Json]]) -> dict[int, Json]:
    done = converse([sys.executable, server], mixed.lines(*requests), cwd=Path.cwd())
    told = re.sub(rb"^(?:tool .*: its output does not match its outputSchema|- /.*)\n", b"", done.stderr, flags=re.M)
    assert (done.returncode, told) == (0, b"")
    return {(reply := json.loads(line))["id"]: reply for line in done.stdout.splitlines()}


@pytest.mark.slow
def test_hostile_projects_are_served_by_real_processes(tmp_path: Path) -> None:
    built = (seed for seed in range(1_000) if analysed(hostile.make(seed)).checked is not None)
    for seed in [next(built) for _ in range(3)]:
        project = hostile.make(seed)
        server = build(on_disk(project.files, tmp_path / str(seed)), tmp_path / f"{seed}.pyz")
        calls = [("tools/call", {"name": tool["name"], "arguments": {}}) for tool in project.tools]
        found = replies(server, ("initialize", mixed.HELLO), ("tools/list", {}), *calls)
        assert [tool["name"] for tool in found[1]["result"]["tools"]] == [tool["name"] for tool in project.tools]
        answers = [found[number + 2] for number in range(len(calls))]
        # What a handler returned need not be what its hostile schema wants.
        assert all("result" in answer or answer["error"]["code"] == -32603 for answer in answers)
        assert converse([sys.executable, server, "check"], b"").returncode == 0
        assert converse([sys.executable, server, "list"], b"").returncode == 0


def test_bash_sees_attacks_as_text(tmp_path: Path) -> None:
    """A function gets hostile arguments as they are, and hostile definitions in its environment."""
    needs("bash")
    attacks = list(dict.fromkeys(attack for attack in hostile.ATTACKS if len(attack) < 1_000))
    schema = {"type": "object", "properties": {attack: {} for attack in attacks}, "required": attacks}
    tools = [
        {"name": name, "description": "".join(attacks), "inputSchema": schema, "title": "".join(attacks)}
        for name in ("declare", "-n", "a.b")
    ]
    names = ("declare", "_n", "a_b")
    library = "".join(f"tool_{name}() {{ printf '%s' \"$1\"; }}\n" for name in names)
    library += ': "$MCBOX_TOOLS_CONFIG" "$MCBOX_SERVER_CONFIG" "$MCBOX_PROMPTS_CONFIG"\n'
    server_info = {"serverInfo": {"name": "".join(attacks), "version": "$(exit 1)"}, "instructions": "".join(attacks)}
    files = {"server.json": json.dumps(server_info), "tools.json": json.dumps({"tools": tools}), "tools.bash": library}
    server = build(on_disk(files, tmp_path / "project"), tmp_path / "server.pyz")
    arguments = {attack: attack for attack in attacks}
    found = replies(server, *(("tools/call", {"name": tool["name"], "arguments": arguments}) for tool in tools))
    for number in range(len(tools)):
        (block,) = found[number]["result"]["content"]
        assert json.loads(block["text"]) == arguments


def test_a_configuration_of_any_size_reaches_bash(tmp_path: Path) -> None:
    needs("bash")
    tools = [
        {"name": f"t{number}", "description": "x" * 1_000, "inputSchema": {"type": "object"}} for number in range(200)
    ]
    library = "".join(f"tool_t{number}() {{ printf '%s' \"${{#MCBOX_TOOLS_CONFIG}}\"; }}\n" for number in range(200))
    files = {
        "server.json": mixed.FILES["server.json"],
        "tools.json": json.dumps({"tools": tools}),
        "tools.bash": library,
    }
    server = build(on_disk(files, tmp_path / "project"), tmp_path / "server.pyz")
    reply = replies(server, ("tools/call", {"name": "t1", "arguments": {}}))[0]
    assert int(reply["result"]["content"][0]["text"]) > 200_000


@pytest.mark.parametrize("kind", ["keywords", "attributes"])
def test_python_gets_any_argument_by_name(kind: str, tmp_path: Path) -> None:
    names = keyword.kwlist if kind == "keywords" else ["self", "function", "arguments", "__class__", "call", "é"]
    tool = {
        "name": "take",
        "description": "Takes.",
        "inputSchema": {"type": "object", "properties": {name: {"type": "integer"} for name in names}},
    }
    files = {
        "server.json": mixed.FILES["server.json"],
        "tools.json": json.dumps({"tools": [tool]}),
        "tools.py": "def take(**given):\n    return given\n",
    }
    server = build(on_disk(files, tmp_path / "project"), tmp_path / "server.pyz")
    arguments = {name: number for number, name in enumerate(names)}
    found = replies(server, ("tools/call", {"name": "take", "arguments": arguments}))
    assert json.loads(found[0]["result"]["content"][0]["text"]) == arguments


@pytest.mark.parametrize("name", ["a\nb.txt", "a\rb.txt", "a\u2028b.txt", "a\x1b[31m.txt", "a\x85b.txt", "\u202ea.txt"])
def test_file_names_are_data_too(name: str, tmp_path: Path) -> None:
    """A name that would break a line of the manifest is refused, or the built file still finds itself whole."""
    project = on_disk({**in_python(), name: "x"}, tmp_path / "project")
    try:
        server = build(project, tmp_path / "server.pyz")
    except AssertionError as refused:
        assert "ended with status 1" in str(refused)
        assert_printable(str(refused))
        return
    done = converse([sys.executable, server, "check"], b"")
    assert done.returncode == 0, done.stdout.decode()
