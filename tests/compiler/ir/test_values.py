"""Values of the IR: what a server, its definitions and its metadata say of themselves."""

from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from mcpc.diagnostics import Span
from mcpc.model.ir import BashFunction, CheckedServer, ExternalHandler, Server, Tool
from mcpc.model.ir.handlers import DEFAULT, INHERITING, Environment, HandlerOptions, ProgramRequirement, default_options
from mcpc.model.ir.layer import Layer, LocalPackage, Package
from mcpc.model.ir.metadata import Annotations, Capability, FieldOrder, Icon, Implementation, Metadata, ToolAnnotations
from mcpc.model.ir.nodes import (
    Completion,
    HandlerFile,
    Prompt,
    Resource,
    ResourceTemplate,
    RootFolder,
    RunTimeDefinitions,
    Schema,
    Skill,
    SkillFile,
    StaticContents,
)
from mcpc.model.ir.project import (
    NO_TRAITS,
    Author,
    ProjectMetadata,
    RegistryEntry,
    Setting,
    Traits,
    metadata_from_facts,
    texts,
    variable_text,
)
from mcpc.model.ir.uri_templates import parse_template
from mcpc.reading import Source
from mcpc.reading.json_tree import implied_node

SPAN = Span("a", 1, 2)
NODE = implied_node({"type": "object", "description": 5}, SPAN)
HANDLER = ExternalHandler("a", SPAN, "known")


def tool(name: str, **options: Any) -> Tool:
    running, annotations = options.get("running", DEFAULT), options.get("annotations", ToolAnnotations())
    return Tool(name, SPAN, NODE, Schema(NODE), None, HANDLER, running, Metadata(), annotations)


def resource(handler: ExternalHandler | None) -> Resource:
    content = None if handler else StaticContents("x", is_blob=False, size=1)
    return Resource("r", "x:r", SPAN, NODE, "", content, handler, DEFAULT, Metadata(), Annotations())


def template(handler: ExternalHandler | None) -> ResourceTemplate:
    uri, content = parse_template("x:{a}"), None if handler else RootFolder("/", "a")
    return ResourceTemplate("t", uri, SPAN, NODE, "", content, handler, DEFAULT, Metadata(), Annotations())


def completion(handler: ExternalHandler | None) -> Completion:
    return Completion("prompt", "p", "a", SPAN, NODE, (), handler, DEFAULT)


EMPTY = Server("native", "mcp", NODE, Implementation("n", "v"), Metadata(), "", (), (), ())
PROMPT = Prompt("p", SPAN, NODE, (), HANDLER, DEFAULT, Metadata())
SKILL = Skill(
    "s", "skill://a/s/SKILL.md", SPAN, {}, (SkillFile("skill://a/s/SKILL.md", Source("s", b""), "text/markdown"),)
)
LISTS = RunTimeDefinitions(frozenset({"tools"}), frozenset({"resources"}), SPAN, NODE, HANDLER, DEFAULT)


def test_a_server_has_every_definition_with_a_handler() -> None:
    with_handlers = (resource(HANDLER), template(HANDLER), completion(HANDLER))
    server = replace(
        EMPTY,
        tools=(tool("t"),),
        prompts=(PROMPT,),
        resources=(resource(None), with_handlers[0]),
        templates=(template(None), with_handlers[1]),
        completions=(completion(None), with_handlers[2]),
    )
    assert server.definitions == (*server.tools, PROMPT, *with_handlers)
    assert replace(server, run_time=LISTS).definitions == (*server.definitions, LISTS)
    assert server.readable == (*server.resources, *server.templates)
    assert (EMPTY.definitions, EMPTY.readable, EMPTY.name, EMPTY.version) == ((), (), "n", "v")
    assert (EMPTY.tools_page_size, EMPTY.prompts_page_size, EMPTY.resources_page_size) == (0, 0, 0)
    assert CheckedServer(server).server is server


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, (False, False, False, False)),
        ({"resources": (resource(None),)}, (True, False, False, False)),
        ({"templates": (template(None),)}, (True, False, False, False)),
        ({"skills": (SKILL,)}, (True, False, False, False)),
        ({"serves": frozenset({"resources"})}, (True, False, False, False)),
        ({"run_time": LISTS}, (True, False, False, False)),
        ({"run_time": replace(LISTS, changing=frozenset({"prompts"}))}, (False, False, False, False)),
        ({"changes": frozenset({"contents"})}, (False, True, False, False)),
        ({"changes": frozenset({"resources"})}, (False, False, False, False)),
        ({"capabilities": (Capability("resources", SPAN, subscribe=True),)}, (False, True, False, False)),
        ({"capabilities": (Capability("tools", SPAN, subscribe=True),)}, (False, False, False, False)),
        ({"capabilities": (Capability("resources", SPAN, list_changed=True),)}, (False, False, False, False)),
        ({"tools": (tool("a"), tool("b", running=HandlerOptions(task="optional")))}, (False, False, True, False)),
        ({"tools": (tool("a"),)}, (False, False, False, False)),
        ({"completions": (completion(None),)}, (False, False, False, True)),
        ({"serves": frozenset({"completions"})}, (False, False, False, True)),
    ],
)
def test_what_a_server_offers(change: dict[str, Any], expected: tuple[bool, ...]) -> None:
    server = replace(EMPTY, **change)
    assert (server.has_resources, server.is_watched, server.has_tasks, server.completes) == expected


def test_lists_of_run_time_are_built_later_or_change() -> None:
    server = replace(EMPTY, run_time=LISTS)
    assert [server.lists_later(kind) for kind in ("tools", "resources", "prompts")] == [True, True, False]
    assert not EMPTY.lists_later("tools")


@pytest.mark.parametrize(
    ("annotations", "repeatable"),
    [
        (ToolAnnotations(), False),
        (ToolAnnotations(read_only=False, idempotent=False), False),
        (ToolAnnotations(read_only=True), True),
        (ToolAnnotations(idempotent=True), True),
        (ToolAnnotations(destructive=True, open_world=True), False),
    ],
)
def test_which_calls_run_again(annotations: ToolAnnotations, repeatable: bool) -> None:
    assert annotations.repeatable is repeatable
    assert tool("a", annotations=annotations, running=HandlerOptions(task="required")).may_run_again is repeatable
    assert not tool("a", annotations=annotations).may_run_again


def test_definitions_have_names_and_keys() -> None:
    assert (completion(None).name, completion(None).key) == ("p a", "prompt\np\na")
    assert SKILL.folder == "skill://a/s"
    schema = Schema(NODE)
    assert (schema.value, schema.type, schema.description) == (NODE.value, "object", "5")
    empty = Schema(implied_node({}, SPAN))
    assert (empty.value, empty.type, empty.description) == ({}, None, "")
    file = HandlerFile(Source("a", b""))
    assert (file.language, LISTS.name) == ("", "lists")


def test_options_of_handlers() -> None:
    assert [str(ProgramRequirement("jq", version, SPAN)) for version in ("", "1.6")] == ["jq", "jq >= 1.6"]
    functions = [BashFunction("f", "a", SPAN, inherits=inherits) for inherits in (True, False)]
    assert [default_options(handler) for handler in (*functions, HANDLER)] == [INHERITING, DEFAULT, DEFAULT]
    assert (DEFAULT.timeout, DEFAULT.environment, INHERITING.environment) == (
        60.0,
        Environment(),
        Environment(inherit=True),
    )


def test_fields_are_shown_as_they_were_written() -> None:
    order = FieldOrder(("b", "unknown", "a", "missing"), (("unknown", 5), ("a", 6)))
    assert list(order.arranged({"a": 1, "b": 2, "c": 3}).items()) == [("b", 2), ("unknown", 5), ("a", 6)]
    every = {
        Icon("s", "m", ("1x1",), "dark"): {"src": "s", "mimeType": "m", "sizes": ["1x1"], "theme": "dark"},
        ToolAnnotations("t", read_only=True, destructive=False, idempotent=None, open_world=True): {
            "title": "t",
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": None,
            "openWorldHint": True,
        },
        Annotations(("user",), 0.5, "now"): {"audience": ["user"], "priority": 0.5, "lastModified": "now"},
    }
    for item, fields in every.items():
        keys = tuple(reversed(fields))
        assert list(replace(item, order=FieldOrder(keys)).fields().items()) == list(reversed(fields.items()))
        assert item.fields() == {}
    keys = ("_meta", "icons", "description", "title", "name", "version", "websiteUrl")
    metadata = Metadata("t", "d", (Icon("s", order=FieldOrder(("src",))),), {"m": 1}, FieldOrder(keys))
    common = {"_meta": {"m": 1}, "icons": [{"src": "s"}], "description": "d", "title": "t"}
    assert metadata.fields({"name": "own"}) == {**common, "name": "own"}
    assert list(metadata.fields({"title": "own"}).items()) == list({**common, "title": "own"}.items())
    info = Implementation("n", "v", "w", metadata)
    assert info.fields() == {**common, "name": "n", "version": "v", "websiteUrl": "w"}


def test_traits_of_two_systems_are_combined() -> None:
    one = Traits(
        unpacks_as_one_entry=True,
        describes_in_schema=True,
        other_tools_of=(("a", "b"),),
        hooks=(("h", "one"), ("g", "one")),
        contracts=("z", "a"),
        whole_packages=("p",),
        notes=("one",),
    )
    other = Traits(
        announces_extensions=True,
        keeps_argument_text=True,
        takes_arguments=True,
        other_tools_of=(("c", "d"),),
        hooks=(("h", "one"), ("h", "two")),
        contracts=("a", "b"),
        whole_packages=("q", "o"),
        notes=("two", "one"),
    )
    assert one | other == Traits(
        unpacks_as_one_entry=True,
        announces_extensions=True,
        describes_in_schema=True,
        keeps_argument_text=True,
        other_tools_of=(("a", "b"), ("c", "d")),
        hooks=(("h", "one"), ("g", "one"), ("h", "two")),
        contracts=("a", "b", "z"),
        whole_packages=("o", "p", "q"),
        takes_arguments=True,
        notes=("one", "two", "one"),
    )
    assert other | NO_TRAITS == replace(other, whole_packages=("o", "q")) == NO_TRAITS | other
    assert NO_TRAITS | NO_TRAITS == NO_TRAITS


def test_settings_are_shown_without_what_is_not_set() -> None:
    assert [variable_text(value) for value in (True, False, 1, 1.5, "True")] == ["true", "false", "1", "1.5", "True"]
    assert Setting("A", "string", SPAN).as_json() == {"name": "A", "type": "string"}
    whole = Setting("A", "boolean", SPAN, "t", "d", required=True, secret=True, default=False, choices=(True, False))
    assert whole.as_json() == {
        "name": "A",
        "type": "boolean",
        "title": "t",
        "description": "d",
        "required": True,
        "secret": True,
        "choices": [True, False],
        "default": False,
    }
    assert "default" not in replace(whole, default=None).as_json()  # type: ignore[operator]


PROJECT = ProjectMetadata(
    "d",
    (Author("n", "e"), Author("n"), Author(email="e")),
    "MIT",
    (("Home", "https://a"), ("Code", "https://b")),
    ("k", "l"),
    RegistryEntry("a/b", ("m1", "m2"), ("o",), ("r",)),
)


def test_metadata_of_a_project_is_written_and_read() -> None:
    facts = PROJECT.as_json()
    assert facts == {
        "description": "d",
        "authors": [{"name": "n", "email": "e"}, {"name": "n"}, {"email": "e"}],
        "license": "MIT",
        "urls": {"Home": "https://a", "Code": "https://b"},
        "keywords": ["k", "l"],
    }
    registry = PROJECT.registry.as_json()
    assert registry == {"name": "a/b", "mcpb": ["m1", "m2"], "oci": ["o"], "remotes": ["r"]}
    assert metadata_from_facts(facts, registry) == PROJECT
    assert (ProjectMetadata().as_json(), RegistryEntry().as_json()) == ({}, {})
    assert metadata_from_facts({}, {}) == ProjectMetadata()
    odd = {"authors": ["n", {"name": 5}], "urls": ["x"], "keywords": "k", "description": 5}
    assert metadata_from_facts(odd, {"mcpb": 5, "oci": ["a", 1]}) == ProjectMetadata(  # type: ignore[arg-type]
        "5", (Author("5"),), registry=RegistryEntry(oci=("a",))
    )
    assert metadata_from_facts({"authors": {"name": "n"}}, {}).authors == ()
    assert (texts(["a", 1, "b"]), texts("a"), texts(None)) == (("a", "b"), (), ())


def test_what_is_bundled_is_compared_without_its_files() -> None:
    package = Package("a", "1", "MIT", is_spdx=True, tags=("py3-none-any",))
    assert package == replace(package, paths=("a.py",))
    assert package != replace(package, version="2")
    assert hash(Layer(files={"a": b""})) == hash(Layer(files={"b": b""}))
    assert Layer().complete


def test_a_local_package_is_known_by_its_files() -> None:
    files = {"b.py": b"2", "a.py": b"1"}
    one, other = LocalPackage("lib", files), LocalPackage("lib.whl", dict(sorted(files.items())))
    lines = "".join(f"{sha256(data).hexdigest()}  {path}\n" for path, data in (("a.py", b"1"), ("b.py", b"2")))
    assert one.digest() == other.digest() == sha256(lines.encode()).hexdigest()
    assert one.digest() != LocalPackage("lib", {**files, "a.py": b"3"}).digest()
    assert (one.is_wheel, other.is_wheel) == (False, True)
