"""Resources, templates and completions through the compiler: what is written, what it becomes, what is refused."""

from __future__ import annotations

import base64
import json
import marshal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpc.ir import BashFunction, PythonFunction, RootFolder, StaticContents
from mcpc.ir.printer import print_server
from mcpc.revisions import REVISIONS
from mcpc.sources.hidden_characters import hidden_characters
from mcpc_runtime.protocol.session import Session
from support.images import MODERN, archive, ask, image_of, request
from support.messages import validator
from support.projects import SERVER_JSON, Files, checked, lowered, marked, places

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

SHOWN = """\
server demo 1.0.0
  format native, dialect mcp
  tells of changes: contents
  resources can be watched
prompt greet
  handler bash prompt_greet in prompts.bash, contract mcbox
  argument who?
  argument mood?
  description "d"
resource app "config://app"
  text of 10 bytes, text/plain
  description "d"
resource dot "img://dot"
  blob of 9 bytes, image/png
  description "d"
resource guide "doc://guide"
  text of 8 bytes, text/markdown
  title "Guide"
  description "d"
resource logo "img://logo"
  blob of 9 bytes, image/png
  description "d"
  size 7
resource today "log://today"
  file a.txt below $LOGS
  description "d"
resource now "clock://now"
  handler bash resource_now in resources.bash, contract mcbox
  timeout 5 s
  description "d"
  _meta {"x/y": 1}
resource template user "users://{id}{?page}"
  type application/json
  handler python resource_user(id, page?) in resources.py, contract python
  variable id
  variable page?
  description "d"
resource template docs "file:///{+path}"
  file path below /srv/docs
  variable path
  description "d"
completion of mood of the prompt greet
  2 values
completion of who of the prompt greet
  handler python complete_greet_who(value, context_arguments) in completions.py, contract python
completion of id of the resource "users://{id}{?page}"
  handler python complete_user_id(value) in completions.py, contract python
file completions.py python: 99 bytes
file docs/guide.md: 8 bytes
file docs/logo.png: 9 bytes
file prompts.bash bash: 22 bytes
file resources.bash bash: 51 bytes
file resources.py python: 65 bytes
"""


def test_what_is_written_is_understood() -> None:
    server, problems = checked(FILES)
    assert server is not None, problems
    assert print_server(server.server) == SHOWN


def test_contents_are_known_when_the_server_is_built() -> None:
    server, _ = lowered(FILES)
    assert server is not None
    found = {one.name: one.content for one in server.resources}
    assert found["app"] == StaticContents("debug = no", is_blob=False, size=10)
    assert found["guide"] == StaticContents("# Guide\n", is_blob=False, size=8)
    assert found["logo"] == StaticContents(base64.b64encode(PNG).decode(), is_blob=True, size=9)
    assert found["today"] == RootFolder("$LOGS", "a.txt")
    assert found["now"] is None
    handlers = {one.name: one.handler for one in (*server.resources, *server.templates)}
    assert isinstance(handlers["now"], BashFunction)
    assert isinstance(handlers["user"], PythonFunction)
    assert handlers["app"] is handlers["docs"] is None
    assert [one.name for one in server.definitions] == ["greet", "now", "user", "greet who", "users://{id}{?page} id"]


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


def test_definitions_may_be_spread_over_files() -> None:
    files = {
        "server.json": SERVER_JSON,
        "resources.json": '{"resources": []}',
        "resources.d/1.json": '{"name": "one", "uri": "x:1", "description": "d", "text": "1"}',
        "resources.d/2.json": '{"name": "two", "uriTemplate": "x:{a}", "description": "d", "root": "/srv"}',
        "resources.d/3.json": '{"resourceTemplates": [{"name": "3", "uriTemplate": "y:{a}", "root": "/srv"}]}',
    }
    server, _ = checked(files)
    assert server is not None
    assert [one.name for one in server.server.resources] == ["one"]
    assert [one.name for one in server.server.templates] == ["two", "3"]


def test_what_mcbox_does_not_know_changes_nothing_of_its_projects() -> None:
    """A file with the name of a library, or a function called as one for resources, is nobody's handler."""
    files = {
        "server.json": SERVER_JSON,
        "tools.json": '{"tools": [{"name": "a", "description": "d", "inputSchema": {"type": "object"}}]}',
        "tools.bash": "tool_a() { resource_x; }\nresource_x() { :; }\nexport -f tool_a\n",
        "completions.bash": "complete -F _a a\ncomplete_x() { :; }\n",
    }
    server, problems = checked(files)
    assert server is not None
    assert problems == ()
    assert server.server.shell == ("tools.bash",)


def resources(*found: str) -> Files:
    return {"server.json": SERVER_JSON, "resources.json": f'{{"resources": [{", ".join(found)}]}}', "a.txt": "a"}


def templates(*found: str) -> Files:
    return {"server.json": SERVER_JSON, "resources.json": f'{{"resourceTemplates": [{", ".join(found)}]}}'}


def resource(name: str = "r", uri: str = "x:r", more: str = '"text": ""') -> str:
    return f'{{"name": "{name}", "uri": {json.dumps(uri)}, "description": "d", {more}}}'


def template(uri: str = "x:{a}", more: str = '"root": "/srv"', name: str = "t") -> str:
    return f'{{"name": "{name}", "uriTemplate": {json.dumps(uri)}, "description": "d", {more}}}'


def at(text: str, marked_text: str) -> str:
    """Mark a place in a definition."""
    assert marked_text in text
    return text.replace(marked_text, f"»{marked_text}", 1)


FAULTS: dict[str, tuple[Files, tuple[str, ...]]] = {
    "a name that is missing": (resources('»{"uri": "x:r", "text": ""}'), ("MCP102",)),
    "a uri that is missing": (resources('»{"name": "r", "description": "d", "text": ""}'), ("MCP102",)),
    "a uri of the wrong type": (resources('{"name": "r", "description": "d", "uri": »1, "text": ""}'), ("MCP101",)),
    "a uri without a scheme": (resources(at(resource(uri="app"), '"app"')), ("MCP120",)),
    "a uri with a space": (resources(at(resource(uri="x:a b"), '"x:a b"')), ("MCP120",)),
    "a uri with a letter beyond ASCII": (resources(at(resource(uri="x:é"), '"x:\\u00e9"')), ("MCP120",)),
    "a uri that is a template": (resources(at(resource(uri="x:{a}"), '"x:{a}"')), ("MCP120",)),
    "a uri that is too long": (resources(at(resource(uri="x:" + "a" * 5000), '"x:aa')), ("MCP120",)),
    "two of one uri": (resources(resource(), at(resource("s"), '"x:r"')), ("MCP104",)),
    "two of one name": (resources(resource(), at(resource(uri="x:s"), '"r"')), ("MCP104",)),
    "an empty name": (resources(at(resource(""), '""')), ("MCP105",)),
    "a name for people": (resources(resource("Project Files")), ()),
    "no description": (resources('{"name": »"r", "uri": "x:r", "text": ""}'), ("MCP108",)),
    "a media type without a slash": (resources(resource(more='"mimeType": »"text", "text": ""')), ("MCP107",)),
    "an audience that there is not": (
        resources(resource(more='"annotations": {"audience": [»"me"]}, "text": ""')),
        ("MCP107",),
    ),
    "an icon over plain http": (
        resources(resource(more='"icons": [{"src": »"http://a/b.png"}], "text": ""')),
        ("MCP107",),
    ),
    "an unknown field": (resources(resource(more='»"txt": "", "text": ""')), ("MCP103",)),
    "two sources": (resources(resource(more='"text": "", "blob": »""')), ("MCP125",)),
    "three sources": (
        resources(resource(more='"text": "", "file": »"a.txt", "root": »{"folder": "/a", "path": "b"}')),
        ("MCP125", "MCP125"),
    ),
    "a source and a program": (
        resources(resource(more='"text": "", "_meta": {"mcpc/handler": {"command": »"a.txt"}}')),
        ("MCP125", "MCP244"),
    ),
    "a blob that is no base64": (resources(resource(more='"blob": »"#"')), ("MCP125",)),
    "a blob without its padding": (resources(resource(more='"blob": »"aGk"')), ("MCP125",)),
    "a file that is not there": (resources(resource(more='"file": »"b.txt"')), ("MCP125",)),
    "a file outside": (resources(resource(more='"file": »"../a.txt"')), ("MCP125",)),
    "a file by its absolute path": (resources(resource(more='"file": »"/etc/passwd"')), ("MCP125",)),
    "a folder": (resources(resource(more='"file": »"docs"')) | {"docs/a.md": ""}, ("MCP125",)),
    "a root without a path": (resources(resource(more='"root": »"/srv"')), ("MCP129",)),
    "a root with a path that leads out": (
        resources(resource(more='"root": »{"folder": "/srv", "path": "../a"}')),
        ("MCP129",),
    ),
    "a relative root": (resources(resource(more='"root": »{"folder": "srv", "path": "a"}')), ("MCP129",)),
    "a root of no variable's name": (
        resources(resource(more='"root": »{"environment": "A-B", "path": "a"}')),
        ("MCP129",),
    ),
    "a root from two places": (
        resources(resource(more='"root": »{"environment": "A", "folder": "/a", "path": "a"}')),
        ("MCP129",),
    ),
    "no function": (
        resources('{"name": »"r", "uri": "x:r", "description": "d"}') | {"resources.py": ""},
        ("MCP201",),
    ),
    "no file with functions": (resources('»{"name": "r", "uri": "x:r", "description": "d"}'), ("MCP004",)),
    "a name that no function has": (
        resources('{"name": »"a b", "uri": "x:r", "description": "d"}') | {"resources.py": ""},
        ("MCP105",),
    ),
    "a function of no resource": (
        resources(resource()) | {"resources.bash": "»resource_s() { :; }\n"},
        ("MCP202",),
    ),
    "a function that needs something": (
        resources('{"name": "r", "uri": "x:r", "description": "d"}') | {"resources.py": "def »r(a): ...\n"},
        ("MCP206",),
    ),
    "hidden text": (resources(resource(more='"text": »"a\u202eb"')), ("MCP701",)),
    "a template that is ambiguous": (templates(at(template("x:{a}{b}"), '"x:{a}{b}"')), ("MCP124",)),
    "a template without variables": (templates(at(template("x:a"), '"x:a"')), ("MCP124",)),
    "a template with text": (templates(template(more='"text": »"", "root": »"/srv"')), ("MCP125", "MCP125")),
    "a template of one text": (templates(template(more='"text": »""')), ("MCP125",)),
    "two templates of one uri": (templates(template(), at(template(name="u"), '"x:{a}"')), ("MCP104",)),
    "a template with a relative root": (templates(template(more='"root": »"srv"')), ("MCP129",)),
    "a root and two variables": (templates(template("x:{a}/{b}", '"root": »"/srv"')), ("MCP129",)),
    "a root and one wide variable": (templates(template("x:{a}/{+b}")), ()),
    "a root and a variable that is named": (
        templates(template("x:{a}/{b}", '"root": {"folder": "/srv", "path": "b"}')),
        (),
    ),
    "a root and a variable that there is not": (
        templates(template(more='"root": »{"folder": "/srv", "path": "b"}')),
        ("MCP129",),
    ),
    "a variable without a parameter": (
        templates('{"name": "t", »"uriTemplate": "x:{a}", "description": "d"}'.replace("»", "").replace('"t"', '»"t"'))
        | {"resources.py": "def t(): ...\n"},
        ("MCP206",),
    ),
    "a variable that may be absent": (
        templates('{"name": "t", "uriTemplate": "x:y{?a}", "description": "d"}') | {"resources.py": "def »t(a): ...\n"},
        ("MCP206",),
    ),
    "another key": (
        {"server.json": SERVER_JSON, "resources.json": '{"resources": [], »"template": []}'},
        ("MCP107",),
    ),
    "a question of a resource": (
        resources(
            resource(more='"_meta": {"mcpc/handler": {"asks": {"a": {"method": »"ping"}}, "command": »"a.txt"}}')
        ),
        ("MCP128", "MCP244"),
    ),
}


@pytest.mark.parametrize("case", FAULTS.values(), ids=FAULTS)
def test_faults(case: tuple[Files, tuple[str, ...]]) -> None:
    files, marks = marked(case[0])
    _, problems = checked(files)
    found = [place for place in places(problems, files) if place[0] not in ("MCP203", "MCP302")]
    assert tuple(code for code, *_ in found) == case[1], problems
    assert list(dict.fromkeys(tuple(place) for _, *place in found)) == marks, problems


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


LOST: dict[str, tuple[Files, tuple[str, ...]]] = {
    "what is there": (completing(completion("greet", "who"), completion("x:{a}", "a")), ()),
    "a prompt that is not there": (completing(at(completion("gret", "who"), '{"type"')), ("MCP126",)),
    "an argument that is not there": (completing(at(completion("greet", "whom"), '"whom"')), ("MCP126",)),
    "a template that is not there": (completing(at(completion("x:{b}", "b"), '{"type"')), ("MCP126",)),
    "a variable that is not there": (completing(at(completion("x:{a}", "b"), '"b"')), ("MCP126",)),
    "one argument twice": (
        completing(completion("greet", "who"), at(completion("greet", "who"), '"who"')),
        ("MCP104",),
    ),
    "another kind of reference": (
        completing('{"ref": {"type": »"ref/tool", "name": "x"}, "argument": "a", "values": []}'),
        ("MCP107",),
    ),
    "no reference": (completing('»{"argument": "a", "values": []}'), ("MCP102",)),
    "values that are no texts": (completing(completion("greet", "who", '"values": [»1]')), ("MCP101",)),
    "neither values nor a function": (
        completing(at(completion("greet", "who", '"_meta": {}'), '"who"')) | {"completions.py": ""},
        ("MCP201",),
    ),
    "of a template that is not there, nobody looks for a function": (
        completing(at(completion("x:{b}", "b", '"_meta": {}'), '{"type"')) | {"completions.py": ""},
        ("MCP126",),
    ),
    "a function that takes something else": (
        completing(completion("greet", "who", '"_meta": {}')) | {"completions.py": "def »greet_who(text): ...\n"},
        ("MCP206",),
    ),
    "a function that takes one of both": (
        completing(completion("greet", "who", '"_meta": {}'))
        | {"completions.py": "def complete_greet_who(context_arguments): ...\n"},
        (),
    ),
    "a task": (
        completing(completion("greet", "who", '"values": [], "_meta": {"mcpc/handler": {»"task": "optional"}}')),
        ("MCP237",),
    ),
}


@pytest.mark.parametrize("case", LOST.values(), ids=LOST)
def test_completions(case: tuple[Files, tuple[str, ...]]) -> None:
    test_faults(case)


def test_a_completion_is_found_by_the_templates_name() -> None:
    files = completing(completion("x:{a}", "a", '"_meta": {}')) | {
        "completions.bash": "complete_t_a() { echo 1; }\nexport -f complete_t_a\n",
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
