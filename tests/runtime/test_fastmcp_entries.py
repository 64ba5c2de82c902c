"""The lists of FastMCP and SDK servers, compared with what the real frameworks listed (`fastmcp_lists/record.py`).

The recorded components are made again from the same functions and options, under stand-ins of the same version.
"""

import importlib
import inspect
import json
import sys
import types
import typing
import warnings
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from mcpc_runtime.systems.fastmcp import generation as generations
from mcpc_runtime.systems.fastmcp.engine.docstrings import description_of, divided
from mcpc_runtime.systems.fastmcp.engine.listing import ENTRY_OF
from mcpc_runtime.systems.fastmcp.engine.schema_types import called, function_name
from mcpc_runtime.systems.fastmcp.engine.server import touched
from mcpc_runtime.systems.fastmcp.generation import Generation
from mcpc_runtime.systems.fastmcp.standins import exports

LISTS = Path(__file__).parent / "fastmcp_lists"
RECORDED = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(LISTS.glob("*[0-9].json"))}
DOCSTRINGS = json.loads((LISTS / "docstrings.json").read_text(encoding="utf-8"))
PYDANTIC = version("pydantic").rpartition(".")[0]
NOT_OURS = {
    ("fastmcp2_10", "tool returns_call_result"): "the protocol's types are those of a later SDK",
    ("fastmcp2_10", "tool returns_call_result_of_dict"): "the protocol's types are those of a later SDK",
    ("sdk1_9", "tool optional_context"): "its context is a parameter that clients see",
    ("sdk1_9", "prompt message_context"): "its context is a parameter that clients see",
    ("sdk1_9", "tool text_context"): "its context is a parameter that clients see",
    ("fastmcp4", "tool returns_call_result_of_dict"): "fewer of the protocol's types have a description",
    ("sdk2", "tool structured_content"): "fewer of the protocol's types have a description",
}
"""What a framework does and ours does not."""


@dataclass
class Component:
    """What `engine.components` makes of a decorator's options."""

    name: str
    title: str | None = None
    description: str | None = None
    function: Any = None
    given_parameters: Any = None
    given_output: Any = "unset"
    given_arguments: Any = None
    structured_output: bool | None = None
    annotations: dict[str, Any] | None = None
    icons: list[dict[str, Any]] | None = None
    meta: dict[str, Any] | None = None
    tags: frozenset[str] = frozenset()
    version: str | None = None
    exclude_args: frozenset[str] = frozenset()
    injected: frozenset[str] = frozenset()
    uri: str = ""
    uri_template: str = ""
    mime_type: str | None = None
    size: int | None = None


PLAIN = ("resource", "template")
"""The kinds whose entries have no schema of pydantic."""


def frameworks(generation: Generation) -> types.ModuleType:
    """Return the module `frameworks` of the corpus, with stand-ins."""
    module = types.ModuleType("frameworks")
    package = "mcp.types" if generation.sdk == "sdk1" else "mcp_types"
    exports.install()
    wire = importlib.import_module(f"mcpc_runtime.systems.fastmcp.standins.{package}")
    for name in ("CallToolResult", "EmbeddedResource", "ImageContent", "ResourceLink", "TextContent"):
        setattr(module, name, getattr(wire, name))
    for name in ("Context", "Image", "Audio", "File", "ToolResult"):
        absent = generation.family == "sdk" and name in ("File", "ToolResult")
        setattr(module, name, type(name, (), {"__module__": "absent" if absent else "mcp.fake"}))
    return module


@dataclass
class Corpus:
    rows: dict[str, Any] = field(default_factory=dict)
    context: Any = None


def corpus_of(name: str) -> Corpus:
    """Return the components of the corpus for a recording."""
    numbers = RECORDED[name]["versions"]["fastmcp" if "fastmcp" in name else "mcp"]
    family = name.partition("_")[0]
    generation = generations.select(family, numbers)
    sys.modules["frameworks"] = frameworks(generation)
    sys.path.insert(0, str(LISTS))
    try:
        for module in ("corpus", "corpus_future"):
            sys.modules.pop(module, None)
        found = [*importlib.import_module("corpus").ROWS, *importlib.import_module("corpus_future").ROWS]
    finally:
        sys.path.remove(str(LISTS))
    return Corpus({f"{row[0]} {row[1]}": row for row in found}, sys.modules["frameworks"].Context)


def injected(kind: str, function: Any, context: Any, generation: Generation) -> frozenset[str]:
    """Return the parameters that get the context: in the oldest SDK only those of tools with the class itself."""
    if generation.name == "sdk1" and not generation.at_least(1, 14):
        hints = getattr(function, "__annotations__", {}) if kind == "tool" else {}
        return frozenset(name for name, hint in hints.items() if hint is context)
    try:
        hints = typing.get_type_hints(called(function))
    except (NameError, TypeError, AttributeError):
        return frozenset()
    return frozenset(name for name, hint in hints.items() if hint is context or context in typing.get_args(hint))


def component(row: Any, generation: Generation, context: Any) -> Component:
    kind, _, function, options = row
    given = dict(options)
    given.pop("description", None)
    name = given.pop("name", None) or function_name(function)
    text = description_of(options.get("description"), function, kind, generation)
    made = Component(name, description=text, function=function, injected=injected(kind, function, context, generation))
    for option, value in given.items():
        setattr(made, {"output_schema": "given_output", "uri": "uri"}.get(option, option), value)
    made.uri_template = made.uri
    made.exclude_args = frozenset(made.exclude_args)
    return made


def as_text(entry: Any) -> str:
    """Return an entry as JSON; from Python 3.13 on, docstrings have no indentation before anybody reads them."""
    if sys.version_info >= (3, 13) and isinstance(entry, dict) and "description" in entry:
        entry = {**entry, "description": inspect.cleandoc(entry["description"])}
    return json.dumps(entry)


@pytest.mark.parametrize("name", RECORDED)
def test_entries(name: str) -> None:
    """Each entry is byte for byte the recorded one; what the framework refused may be anything.

    What is made of schemas is compared where the recorded answers are from the pydantic that is installed.
    """
    corpus = corpus_of(name)
    generation = generations.selected()
    other_pydantic = RECORDED[name]["versions"]["pydantic"].rpartition(".")[0] != PYDANTIC
    wrong = {}
    for key, entry in RECORDED[name]["entries"].items():
        if isinstance(entry, str) or (name, key) in NOT_OURS or (other_pydantic and not key.startswith(PLAIN)):
            continue
        row = corpus.rows[key]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                made = ENTRY_OF[row[0]](component(row, generation, corpus.context), generation)
            except Exception as error:  # noqa: BLE001  # it is shown beside the recorded entry
                made = repr(error)
        lacking = [*touched]
        touched.clear()
        if as_text(made) != as_text(entry) and not lacking:
            wrong[key] = (json.dumps(made), json.dumps(entry))
    assert not wrong, "".join(f"\n{key}\n  made     {made}\n  recorded {entry}" for key, (made, entry) in wrong.items())


@pytest.mark.parametrize("recorded", DOCSTRINGS)
def test_docstrings(recorded: dict[str, Any]) -> None:
    """A docstring is divided as FastMCP 4 divides it, or is one that the adapter does not have."""

    def documented() -> None:
        pass

    documented.__doc__ = recorded["text"]
    found = divided(documented, "section")
    if touched:
        assert "---" in recorded["text"]
        touched.clear()
        return
    assert (found.description, found.parameters) == (recorded["description"], recorded["parameters"])
