"""How the servers of a system differ is data: set by its front end, kept when projects are merged."""

import json

import pytest

from mcpc.emit import emit
from mcpc.model.ir import Traits
from mcpc.options import DIALECTS, Options
from support.projects import SMOKETEST, Files, checked

SCRIPTS: Files = {
    "server.d/server.meta.json": '{"name": "demo"}',
    "tools/read/tool.sh": "#!/bin/sh\necho ran\n",
    "tools/read/tool.meta.json": '{"name": "read", "description": "d"}',
}
LENT: Files = {
    "server.json": '{"serverInfo": {"name": "demo", "version": "1"}}',
    "tools.json": json.dumps(
        {
            "tools": [
                {
                    "name": "read",
                    "description": "d",
                    "inputSchema": {"type": "object"},
                    "_meta": {"mcpc/handler": {"contract": "mcp-bash"}},
                }
            ]
        }
    ),
}
PYTHON: Files = {
    "server.json": '{"serverInfo": {"name": "demo", "version": "1"}}',
    "tools.json": json.dumps({"tools": [{"name": "own", "description": "d", "inputSchema": {"type": "object"}}]}),
    "tools.py": "def own(): ...\n",
}


def emitted(files: Files, options: Options) -> tuple[Traits, set[str], dict[str, object]]:
    found, problems = checked(files, options)
    assert found is not None, problems
    modules = emit(found)
    names: dict[str, object] = {}
    exec(next(module.data for module in modules if module.name == "mcpc_app/index.py"), names)
    index = names["INDEX"]
    assert isinstance(index, dict)
    return found.server.traits, {module.name.partition("/")[0] for module in modules}, index


@pytest.mark.parametrize(
    ("files", "folders"),
    [
        (SCRIPTS, {"mcpc_app", "folded"}),
        (SCRIPTS | LENT, {"mcpc_app", "folded"}),
        (SCRIPTS | PYTHON, {"mcpc_app", "handlers"}),
    ],
)
def test_files_are_one_entry_where_every_handler_reads_them_on_disk(files: Files, folders: set[str]) -> None:
    traits, found, index = emitted(files, Options(allow=("*",)))
    assert traits.unpacks_as_one_entry
    assert found == folders
    assert ("folded" in index) is ("folded" in folders)


def test_settings_are_told_the_tools_of_others() -> None:
    _, _, index = emitted(SCRIPTS | PYTHON, Options(allow=("*",)))
    settings = index["mcp_bash"]
    assert isinstance(settings, dict)
    assert settings["others"] == ("own",)


OF_DIALECTS = {
    "mcbox": Traits(keeps_argument_text=True, suspends_errexit=True),
    "mcp-bash": Traits(announces_extensions=True),
    "toolbox": Traits(describes_in_schema=True),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_dialect_has_its_traits_whatever_the_format(dialect: str) -> None:
    traits, _, _ = emitted(SMOKETEST, Options(dialect=dialect))
    assert traits == OF_DIALECTS.get(dialect, Traits())


def test_traits_of_two_systems_are_those_of_both() -> None:
    one = Traits(unpacks_as_one_entry=True, other_tools_of=(("a", "b"),))
    both = one | Traits(announces_extensions=True, other_tools_of=(("c", "d"),))
    assert both == Traits(unpacks_as_one_entry=True, announces_extensions=True, other_tools_of=(("a", "b"), ("c", "d")))
