"""Resources, templates and completions through the compiler: what is written, what it becomes, what is refused."""

import json
import marshal
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpc.model.ir import BashFunction
from mcpc.model.ir.uri_templates import MAX_TEMPLATE_LENGTH, TemplateError, parse_template
from mcpc.model.revisions import REVISIONS
from mcpc.reading.hidden_characters import hidden_characters
from mcpc_runtime.protocol.session import Session
from support.images import MODERN, archive, ask, image_of, request
from support.messages import validator
from support.projects import SERVER_JSON, Files, checked

PNG = b"\x89PNG\r\n\x1a\n\0"
RESOURCES = {
    "resources": [
        {"name": "app", "uri": "config://app", "description": "d", "mimeType": "text/plain", "text": "debug = no"},
        {"name": "dot", "uri": "img://dot", "description": "d", "mimeType": "image/png", "blob": "iVBORw0KGgoA"},
        {"name": "guide", "uri": "doc://guide", "title": "Guide", "description": "d", "file": "docs/guide.md"},
        {"name": "logo", "uri": "img://logo", "description": "d", "file": "./docs/logo.png", "size": 7},
        {"name": "today", "uri": "log://today", "description": "d", "root": {"environment": "LOGS", "path": "a.txt"}},
        {"name": "now", "uri": "clock://now", "description": "d", "_meta": {"mcpc/handler": {"timeout": 5}, "x/y": 1}},
    ],
    "resourceTemplates": [
        {"name": "user", "uriTemplate": "users://{id}{?page}", "description": "d", "mimeType": "application/json"},
        {"name": "docs", "uriTemplate": "file:///{+path}", "description": "d", "root": "/srv/docs"},
    ],
}
COMPLETIONS = {
    "completions": [
        {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": "mood", "values": ["well", "ill"]},
        {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": "who"},
        {"ref": {"type": "ref/resource", "uri": "users://{id}{?page}"}, "argument": "id"},
    ]
}
GREET = {"name": "greet", "description": "d", "arguments": [{"name": "who"}, {"name": "mood"}]}
FILES: Files = {
    "server.json": '{"serverInfo": {"name": "demo", "version": "1.0.0"}}',
    "prompts.json": json.dumps({"prompts": [GREET]}),
    "prompts.bash": "prompt_greet() { :; }\n",
    "resources.json": json.dumps(RESOURCES),
    "resources.bash": "resource_now() { date; mcpc_updated clock://now; }\n",
    "resources.py": "def resource_user(id, page='1'): return {'id': id, 'page': page}\n",
    "completions.json": json.dumps(COMPLETIONS),
    "completions.py": (
        "def complete_greet_who(value, context_arguments): return []\ndef complete_user_id(value): return []\n"
    ),
    "docs/guide.md": "# Guide\n",
    "docs/logo.png": PNG,
}


MIMES = {
    "text of a known suffix": ("a.json", b"{}", None, "application/json", False),
    "no text of a textual suffix": ("a.json", b"\xff", None, "application/json", True),
    "text of a binary suffix": ("a.png", b"text", None, "image/png", True),
    "text without a suffix": ("LICENSE", b"text", None, "text/plain", False),
    "bytes without a suffix": ("data", b"\0", None, "application/octet-stream", True),
    "a type that is said": ("a.txt", b"text", "application/x-thing", "application/x-thing", True),
    "a textual type that is said": ("a.bin", b"text", "text/plain; charset=utf-8", "text/plain; charset=utf-8", False),
    "a user interface": ("a.html", b"<p>", "text/html;profile=mcp-app", "text/html;profile=mcp-app", False),
    "nothing": ("empty.txt", b"", None, "text/plain", False),
}


@pytest.mark.parametrize("case", MIMES.values(), ids=MIMES)
def test_a_files_type_says_whether_it_is_text(case: tuple[str, bytes, str | None, str, bool]) -> None:
    path, data, said, mime, is_blob = case
    resource = {"name": "f", "uri": "x:f", "description": "d", "file": path, **({"mimeType": said} if said else {})}
    server, problems = checked(
        {"server.json": SERVER_JSON, "resources.json": json.dumps({"resources": [resource]}), path: data}
    )
    assert server is not None, problems
    (found,) = server.server.resources
    assert (found.mime, found.content.is_blob, found.content.size) == (mime, is_blob, len(data))


def resources(*found: str) -> Files:
    return {"server.json": SERVER_JSON, "resources.json": f'{{"resources": [{", ".join(found)}]}}', "a.txt": "a"}


def templates(*found: str) -> Files:
    return {"server.json": SERVER_JSON, "resources.json": f'{{"resourceTemplates": [{", ".join(found)}]}}'}


def resource(name: str = "r", uri: str = "x:r", more: str = '"text": ""') -> str:
    return f'{{"name": "{name}", "uri": {json.dumps(uri)}, "description": "d", {more}}}'


def template(uri: str = "x:{a}", more: str = '"root": "/srv"', name: str = "t") -> str:
    return f'{{"name": "{name}", "uriTemplate": {json.dumps(uri)}, "description": "d", {more}}}'


COMPLETED = {
    "server.json": SERVER_JSON,
    "prompts.json": json.dumps({"prompts": [GREET]}),
    "prompts.bash": "prompt_greet() { :; }\n",
    "resources.json": f'{{"resourceTemplates": [{template()}]}}',
}


def completing(*found: str) -> Files:
    return COMPLETED | {"completions.json": f'{{"completions": [{", ".join(found)}]}}'}


def completion(ref: str, argument: str, more: str = '"values": ["a"]') -> str:
    kind, key = ("ref/resource", "uri") if ":" in ref else ("ref/prompt", "name")
    return f'{{"ref": {{"type": "{kind}", "{key}": "{ref}"}}, "argument": "{argument}", {more}}}'


def test_a_completion_is_found_by_the_templates_name() -> None:
    files = completing(completion("x:{a}", "a", '"_meta": {}')) | {
        "completions.bash": "complete_t_a() { echo 1; }\nexport -f complete_t_a\n"
    }
    server, problems = checked(files)
    assert server is not None, problems
    (found,) = server.server.completions
    assert isinstance(found.handler, BashFunction)
    assert found.handler.function == "complete_t_a"
    assert found.key == "resource\nx:{a}\na"


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(image_of(archive(FILES).data))


FIRST = {"protocolVersion": "", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
RESULTS = {
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "completion/complete": "CompleteResult",
    "server/discover": "DiscoverResult",
    "initialize": "InitializeResult",
}
ASKED = [
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "config://app"}),
    ("resources/read", {"uri": "img://logo"}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "mood", "value": ""}},
    ),
]


@pytest.mark.parametrize("revision", [revision.version for revision in REVISIONS])
def test_every_answer_is_valid_in_its_revision(session: Session, revision: str) -> None:
    is_modern = revision == REVISIONS[-1].version
    first = ("server/discover", {}) if is_modern else ("initialize", {**FIRST, "protocolVersion": revision})
    for method, params in [first, *ASKED]:
        reply = ask(session, request(method, {**params, "_meta": MODERN} if is_modern else params))
        validator(revision, RESULTS[method]).validate(reply["result"])
        assert not any(key in json.dumps(reply) for key in ("mcpc/", '"root"', '"file"'))


def listed(session: Session, revision: str, method: str = "resources/list") -> dict:
    if revision == REVISIONS[-1].version:
        return ask(session, request(method, {"_meta": MODERN}))["result"]
    ask(session, request("initialize", {**FIRST, "protocolVersion": revision}))
    return ask(session, request(method, {}))["result"]


def test_each_revision_is_shown_what_it_knows(session: Session) -> None:
    old = {one["name"]: one for one in listed(session, "2024-11-05")["resources"]}
    new = {one["name"]: one for one in listed(session, "2026-07-28")["resources"]}
    assert old["guide"] == {
        "name": "guide", "uri": "doc://guide", "description": "d", "mimeType": "text/markdown", "size": 8
    }  # fmt: skip
    assert new["guide"] == {**old["guide"], "title": "Guide"}
    assert new["now"]["_meta"] == {"x/y": 1}
    assert "_meta" not in old["now"]
    assert old["app"]["size"] == 10
    assert old["logo"]["size"] == 7
    assert [*new] == ["app", "dot", "guide", "logo", "today", "now"]


def capabilities(session: Session, revision: str) -> dict:
    if revision == REVISIONS[-1].version:
        return ask(session, request("server/discover", {"_meta": MODERN}))["result"]["capabilities"]
    return ask(session, request("initialize", {**FIRST, "protocolVersion": revision}))["result"]["capabilities"]


TELLING = "def now(): ...\ndef _(context): context.list_changed('resources')\n"
ONE = {
    "server.json": '{"serverInfo": {"name": "demo", "version": "1"}}',
    "resources.json": f'{{"resources": [{resource()}]}}',
}
WITH_HANDLER = ONE | {"resources.json": '{"resources": [{"name": "now", "uri": "x:n", "description": "d"}]}'}
DECLARED = '{"serverInfo": {"name": "demo", "version": "1"}, "capabilities": {"resources": {"subscribe": true}}}'
TOLD = {
    "what is known": (ONE, {}),
    "a handler that says nothing": (WITH_HANDLER | {"resources.py": "def now(): ...\n"}, {}),
    "a handler that tells of a list": (WITH_HANDLER | {"resources.py": TELLING}, {"listChanged": True}),
    "a handler that tells of contents": (
        WITH_HANDLER | {"resources.bash": "resource_now() { mcpc_updated x:n; }\n"},
        {"subscribe": True},
    ),
    "a handler that tells of any list": (
        WITH_HANDLER | {"resources.bash": 'resource_now() { mcpc_changed "$1"; }\n'},
        {"listChanged": True},
    ),
    "a handler that tells of another list": (
        WITH_HANDLER | {"resources.bash": "resource_now() { mcpc_changed tools; }\n"},
        {},
    ),
    "what is declared": (ONE | {"server.json": DECLARED}, {"subscribe": True}),
}


@pytest.mark.parametrize("case", TOLD.values(), ids=TOLD)
@pytest.mark.sampled(4)
def test_a_capability_is_what_the_project_does(case: tuple[Files, dict]) -> None:
    wires = image_of(archive(case[0]).data)
    for revision in REVISIONS:
        assert capabilities(Session(wires), revision.version)["resources"] == case[1]
    methods = wires.revision("2026-07-28").methods
    assert ("subscriptions/listen" in methods) == bool(case[1])
    assert ("resources/subscribe" in wires.revision("2025-11-25").methods) == ("subscribe" in case[1])
    assert "resources/subscribe" not in methods


def test_completions_are_a_capability_since_2025_03_26(session: Session) -> None:
    told = {revision.version: "completions" in capabilities(session, revision.version) for revision in REVISIONS}
    assert told == {version: version != "2024-11-05" for version in told}
    assert "completion/complete" in session.image.revision("2024-11-05").methods


def test_resources_come_in_pages() -> None:
    many = ", ".join(resource(f"r{n}", f"x:{n}") for n in range(5))
    files = ONE | {"resources.json": f'{{"resources": [{many}]}}'}
    session = Session(image_of(archive(files, resources_page_size=2).data))
    first = listed(session, "2026-07-28")
    assert [one["name"] for one in first["resources"]] == ["r0", "r1"]
    second = ask(session, request("resources/list", {"_meta": MODERN, "cursor": first["nextCursor"]}))["result"]
    assert [one["name"] for one in second["resources"]] == ["r2", "r3"]
    assert listed(session, "2026-07-28", "resources/templates/list")["resourceTemplates"] == []


def test_records_hold_what_the_runtime_needs(session: Session) -> None:
    image = session.image
    app, today, now = (image.resource(uri) for uri in ("config://app", "log://today", "clock://now"))
    assert (app.contract, json.loads(image.read(*app.handler))) == (
        "static",
        [{"uri": "config://app", "mimeType": "text/plain", "text": "debug = no"}],
    )
    assert (today.contract, today.handler) == ("file", ("$LOGS", "a.txt"))
    assert (now.contract, now.handler[:2], now.seconds) == ("mcbox", ("resources.bash", "resource_now"), 5)
    rows = {row[0]: row for row in image.index["templates"]}
    assert rows["users://{id}{?page}"][2] == (("id", ""), ("page", "?"))
    record = marshal.loads(image.read(*rows["file:///{+path}"][3]))
    assert record[:2] == ("file", ("/srv/docs", "path"))
    assert record[6] == {"uri": "file:///{+path}"}
    assert image.completion("prompt\ngreet\nmood").handler == ("well", "ill")
    assert image.completion("resource\nusers://{id}{?page}\nid").contract == "python"


def test_a_long_uri_is_found() -> None:
    uri = "x:" + "a" * 2000
    image = image_of(archive(ONE | {"resources.json": f'{{"resources": [{resource(uri=uri)}]}}'}).data)
    assert image.resource(uri) is not None
    assert image.resource(uri + "a") is None


def test_what_a_server_has_not_is_not_in_its_index() -> None:
    files = {
        "server.json": SERVER_JSON,
        "tools.json": '{"tools": [{"name": "a", "description": "d", "inputSchema": {"type": "object"}}]}',
        "tools.py": "def a(): ...\n",
    }
    index = image_of(archive(files).data).index
    assert not {"resources", "templates", "completions", "skills"} & index.keys()


HOSTILE = (
    st.text(st.characters(exclude_categories=("Cc", "Cs", "Cf", "Co", "Cn")), max_size=60)
    .map(lambda text: f'{text}{{{{ "{{%" }}}} \\ """ \' # {{text}}')
    .filter(lambda text: not hidden_characters(text))
)


@settings(max_examples=8, deadline=None)
@given(text=HOSTILE, values=st.lists(HOSTILE, max_size=3), name=HOSTILE)
def test_what_a_project_writes_arrives_as_it_was_written(text: str, values: list[str], name: str) -> None:
    """Texts, values and templates are data: nothing of them is read as source."""
    resources = {
        "resources": [{"name": name, "uri": "x:r", "description": text, "text": text}],
        "resourceTemplates": [{"name": "t", "uriTemplate": "x:$'(){a}", "description": text, "root": f"/{text}"}],
    }
    completion = {"ref": {"type": "ref/resource", "uri": "x:$'(){a}"}, "argument": "a", "values": values}
    files = {
        "server.json": '{"serverInfo": {"name": "n", "version": "1"}}',
        "resources.json": json.dumps(resources),
        "completions.json": json.dumps({"completions": [completion]}),
    }
    image = image_of(archive(files).data)
    assert json.loads(image.read(*image.resource("x:r").handler)) == [{"uri": "x:r", "text": text}]
    assert image.completion("resource\nx:$'(){a}\na").handler == tuple(values)
    definition, variables = image.template("x:$'()b")
    assert (definition.handler, variables) == ((f"/{text}", "a"), {"a": "b"})
    assert listed(Session(image), "2026-07-28")["resources"][0]["name"] == name


GOLDEN = Path(__file__).parents[1] / "golden/sources"
TABLES = json.loads((Path(__file__).parent / "sources/uri_templates.json").read_text("utf-8"))

MATCHES: list[tuple[str, str, dict[str, str] | None]] = TABLES["matches"]


@pytest.mark.parametrize(("template", "uri", "found"), MATCHES)
def test_a_uri_is_taken_apart(template: str, uri: str, found: dict[str, str] | None) -> None:
    assert parse_template(template).match(uri) == found


@pytest.mark.parametrize(("template", "uri", "found"), MATCHES)
def test_nothing_may_follow(template: str, uri: str, found: dict[str, str] | None) -> None:
    for ending in ("\n", "\x00", " "):
        assert parse_template(template).match(uri + ending) is None


REFUSED: list[str] = TABLES["refused"]


def printed(text: str) -> str:
    """Return the pattern of a template and its variables, or why it is none."""
    try:
        template = parse_template(text)
    except TemplateError as problem:
        return f"{text}\n  {problem}\n"
    assert template.text == text
    rows = ((one.name, one.kind, one.longest, one.optional, one.exploded) for one in template.variables)
    return f"{text}\n  {template.pattern}\n" + "".join(f"  {row}\n" for row in rows)


def test_what_is_made_of_templates(golden: Callable[[Path, str], None]) -> None:
    texts = dict.fromkeys((*(template for template, _, _ in MATCHES), *(row[0] for row in SLOW), *REFUSED))
    golden(GOLDEN / "uri_templates.txt", "\n".join(map(printed, texts)))


def test_a_template_may_be_long_but_not_longer() -> None:
    longest = "x:".ljust(MAX_TEMPLATE_LENGTH - 3, "a") + "{b}"
    assert parse_template(longest).match(longest.replace("{b}", "c")) == {"b": "c"}
    with pytest.raises(TemplateError, match=f"more than {MAX_TEMPLATE_LENGTH}"):
        parse_template(longest + "a")


def test_kinds_and_what_may_be_absent() -> None:
    template = parse_template("x:{a}{/c*}{?d,e}{#f:3}")
    rows = [(one.name, one.kind, one.optional, one.longest) for one in template.variables]
    assert rows == [
        ("a", "", False, 0),
        ("c", "/*", True, 0),
        ("d", "?", True, 0),
        ("e", "?", True, 0),
        ("f", "#", True, 3),
    ]


SLOW = [
    ("x:{a}-{b}-{c}-{d}", "x:" + "-a" * 20_000 + "/"),
    ("x:{+a}/versions/{b}", "x:" + "/versions" * 5_000 + "?"),
    ("x:a{?b,c,d}", "x:a?" + "b=1&" * 10_000 + "e"),
    ("x:a{;b,c}", "x:a" + ";b=1" * 10_000 + "/"),
    ("x:{a}.json", "x:" + ".json" * 10_000 + "/"),
    ("x:a{/b,c,d}/e", "x:a" + "/" * 40_000),
    ("x:a{.b*}", "x:a" + "." * 40_000 + "/"),
    ("x:{a:9}{.b}", "x:" + "%E2%82%AC" * 10_000),
]
"""Templates, and uris of ten times the length that a server takes, which they nearly match."""


@pytest.mark.parametrize(("template", "uri"), SLOW)
def test_no_uri_takes_long(template: str, uri: str) -> None:
    """A value that may end at several places is the only one such, and in no loop; each is looked at once."""
    parsed = parse_template(template)
    assert len(re.findall(r"\][+*](?![+?])", parsed.pattern)) <= 1, parsed.pattern
    assert parsed.match(uri) is None
