"""Requirements that nothing imports: which of them are noted, where, and how many bytes each is said to cost."""

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mcpc.diagnostics import Diagnostics, Severity, Span
from mcpc.model.ir import Layer, PackageContents, PackageRequirement, Server
from mcpc.options import Options
from mcpc.packages import include_packages
from mcpc.packages.cached_packages import StagedFiles
from mcpc.passes.unused import check_unused
from mcpc.reading import Source
from support.artifact import mcpc
from support.projects import SERVER_JSON, lowered, places, tree
from support.wheels import only, variables, wheel

PROJECT: dict[str, str | bytes] = {
    "server.json": SERVER_JSON,
    "tools.json": json.dumps({"tools": [{"name": "demo", "description": "D.", "inputSchema": {"type": "object"}}]}),
}
HANDLER = "def demo(**given): return {}\n"
PACKAGES = {
    "idle": ("idle", "shared", "idle-only"),
    "idle-only": ("idle-only",),
    "shared": ("shared",),
    "used": ("used", "shared"),
}
"""Packages by the name of a requirement, and all that it brings."""


def server_of(handler: str, **files: str) -> Server:
    named = {name.replace("_py", ".py"): text for name, text in files.items()}
    server, problems = lowered({**PROJECT, "tools.py": handler, **named})
    assert server is not None, problems
    return server


def contents(**changes: PackageContents) -> dict[str, PackageContents]:
    """Return packages that are imported by their own names and have 10 MB each."""
    made = {name: PackageContents(frozenset({name.replace("-", "_")}), 10_000_000) for name in PACKAGES}
    return {**made, **{name.replace("_", "-"): value for name, value in changes.items()}}


def noted(handler: str, *asked: str, known: dict[str, PackageContents] | None = None) -> list[str]:
    """Return the notes on a project that asks for some of the packages."""
    wanted = tuple(PackageRequirement(name, Span("requirements.txt"), frozenset(PACKAGES[name])) for name in asked)
    layer = Layer(asked=wanted, contents=known or contents())
    return [problem.message for problem in check_unused(replace(server_of(handler), layer=layer))]


def test_what_nothing_imports_is_noted_with_what_only_it_brings() -> None:
    assert noted(f"import used\n{HANDLER}", "idle", "used") == [
        "nothing imports `idle`; without it the file is about 20.0 MB smaller"
    ]


def test_what_a_used_requirement_needs_is_not_noted() -> None:
    assert noted(f"import used\n{HANDLER}", "shared", "used") == []


def test_of_a_frozen_list_the_needless_root_is_noted_with_what_it_needs() -> None:
    assert noted(f"import used\n{HANDLER}", *PACKAGES) == [
        "nothing imports `idle`; without it and `idle-only`, which only it needs, the file is about 20.0 MB smaller"
    ]


def test_two_needless_requirements_are_each_noted_with_their_own_bytes() -> None:
    assert noted(HANDLER, "idle", "used") == [
        "nothing imports `idle`; without it the file is about 20.0 MB smaller",
        "nothing imports `used`; without it the file is about 10.0 MB smaller",
    ]


def test_a_requirement_that_a_marker_leaves_out_is_neither_noted_nor_waited_for() -> None:
    used = replace(contents()["used"], uses=frozenset({"elsewhere"}))
    elsewhere = PackageRequirement("elsewhere", Span("requirements.txt"), frozenset())
    wanted = PackageRequirement("used", Span("requirements.txt"), frozenset(PACKAGES["used"]))
    layer = Layer(asked=(elsewhere, wanted), contents=contents(used=used))
    assert check_unused(replace(server_of(f"import used\n{HANDLER}"), layer=layer)) == ()


IMPORTS = {
    "at the top": "import idle.deep as d\n",
    "in a function": "def later():\n    from idle.deep import name\n",
    "prepared to fail": "try:\n    import idle\nexcept ImportError:\n    idle = None\n",
    "for types": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from idle import Type\n",
    "import_module": "import importlib\ndef later(): return importlib.import_module('idle.deep')\n",
    "find_spec": "from importlib.util import find_spec\nfound = find_spec('idle')\n",
    "a dotted name": "BACKENDS = {'a': 'idle.deep:Backend'}\n",
}


@pytest.mark.parametrize("name", IMPORTS)
def test_an_import_however_it_is_written(name: str) -> None:
    assert noted(IMPORTS[name] + HANDLER, "idle") == []
    assert noted(IMPORTS[name].replace("idle", "json") + HANDLER, "idle") != []


def test_an_import_in_another_file_of_the_project() -> None:
    layer = Layer(asked=(PackageRequirement("idle", Span("r"), frozenset({"idle"})),), contents=contents())
    assert check_unused(replace(server_of(HANDLER, other_py="import idle\n"), layer=layer)) == ()
    assert len(check_unused(replace(server_of(HANDLER, other_py="import json\n"), layer=layer))) == 1


def test_what_only_a_requirement_of_another_name_brings_is_its_use() -> None:
    assert noted(f"import idle_only\n{HANDLER}", "idle") == []


def test_a_package_that_a_used_one_can_use_is_used() -> None:
    used = replace(contents()["used"], uses=frozenset({"idle"}))
    assert noted(f"import used\n{HANDLER}", "idle", "used", known=contents(used=used)) == []
    assert len(noted(HANDLER, "idle", "used", known=contents(used=used))) == 2


def test_a_package_that_extends_a_used_one_is_used() -> None:
    idle = replace(contents()["idle"], extends=frozenset({"used.plugins"}))
    assert noted(f"import used\n{HANDLER}", "idle", "used", known=contents(idle=idle)) == []


def test_a_package_that_a_used_one_imports_is_used() -> None:
    used = replace(contents()["used"], imports=frozenset({"idle"}))
    assert noted(f"import used\n{HANDLER}", "idle", "used", known=contents(used=used)) == []
    assert len(noted(HANDLER, "idle", "used", known=contents(used=used))) == 2


def test_what_cannot_be_read_leads_to_no_note() -> None:
    layer = Layer(asked=(PackageRequirement("idle", Span("r"), frozenset({"idle"})),), contents=contents())
    server = server_of(HANDLER)
    broken = replace(server.files[0], source=Source("tools.py", b"def (", 0o644))
    assert check_unused(replace(server, files=(broken,), layer=layer)) == ()
    assert check_unused(replace(server, layer=replace(layer, complete=False))) == ()


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels, one of them large for what it needs, and pip that knows of no other."""
    only(tmp_path, monkeypatch)
    code = "".join(f"def function_{number}(a, b):\n    return a + b * {number}\n\n" for number in range(4_000))
    data = random.Random(1).randbytes(1_536_000)
    wheel(tmp_path, "heavy", "1.0", {"heavy/__init__.py": code, "heavy/data.bin": data}, needs=["base"])
    wheel(tmp_path, "demo-web", "1.0", {"demo_web.py": ""}, needs=["heavy", "base", 'tool; extra == "cli"'])
    wheel(tmp_path, "base", "1.0", {"base.py": "value = 1\n"})
    wheel(tmp_path, "tool", "1.0", {"tool.py": "value = 1\n"})
    wheel(tmp_path, "light", "1.0", {"light.py": "import base\n"}, needs=["base", 'plugged; extra == "more"'])
    wheel(tmp_path, "plugged", "1.0", {"plugged.py": "value = 1\n"})
    return tmp_path


REQUIREMENTS = "light==1.0\n# earlier\n  demo-web[cli]==1.0\nplugged==1.0\n"
USING = f"import light\n{HANDLER}"


def test_wheels_that_are_carried_for_nothing(shop: Path) -> None:
    files = {**PROJECT, "tools.py": USING, "requirements.txt": REQUIREMENTS}
    server, problems = lowered(files)
    assert server is not None, problems
    server, problems = include_packages(server, tree(files), Options())
    assert problems == ()
    found = check_unused(server)
    assert places(found, files) == [("MCP412", "requirements.txt", 3, 3)]
    assert found[0].severity is Severity.NOTE
    assert "remove it from `requirements.txt`, unless" in found[0].hint
    assert {name: set(one.modules) for name, one in server.layer.contents.items()} == {
        **{name: {name} for name in ("base", "heavy", "light", "plugged", "tool")},
        "demo-web": {"demo_web"},
    }
    assert {name: set(one.imports) for name, one in server.layer.contents.items() if one.imports} == {"light": {"base"}}
    again, _ = include_packages(replace(server, layer=None), tree(files), Options())
    assert isinstance(again.layer.files, StagedFiles), "kept"
    assert (replace(again.layer, files={}), dict(again.layer.files)) == (
        replace(server.layer, files={}),
        dict(server.layer.files),
    )


@pytest.mark.slow
def test_a_heavy_note_is_told_at_a_build_with_the_bytes_that_the_file_loses(shop: Path) -> None:
    environment = variables(shop) | {"MCPC_CACHE_DIR": str(shop / "cache")}
    project = shop / "project"
    project.mkdir()
    for name, text in {**PROJECT, "tools.py": USING, "requirements.txt": REQUIREMENTS}.items():
        (project / name).write_text(str(text))
    first = mcpc("build", project, "-o", shop / "with.pyz", environment=environment)
    again = mcpc("build", project, "-o", shop / "again.pyz", environment=environment)
    checked = mcpc("check", project, "--format", "json", "--strict", environment=environment)
    quiet = mcpc("build", project, "-q", "-o", shop / "again.pyz", environment=environment)
    (project / "requirements.txt").write_text(REQUIREMENTS.replace("  demo-web[cli]==1.0\n", ""))
    without = mcpc("build", project, "-o", shop / "without.pyz", environment=environment)
    for done in (first, again):
        assert done.returncode == 0
        assert "note[MCP412]: nothing imports `demo-web`; without it the file is about " in done.stderr
        assert re.search(r"requirements\.txt:3:3\n", done.stderr)
    assert [problem["code"] for problem in json.loads(checked.stdout)["diagnostics"]] == ["MCP412"], checked.stdout
    assert checked.returncode == 0
    assert "MCP412" not in without.stderr and quiet.stderr == ""
    told = float(re.search(r"about ([\d.]+) MB", first.stderr)[1]) * 1_000_000  # type: ignore[index]
    lost = (shop / "with.pyz").stat().st_size - (shop / "without.pyz").stat().st_size
    assert lost * 0.8 < told < lost * 1.25, (told, lost)


def test_a_model_is_a_use_of_pydantic() -> None:
    problems: Diagnostics = ()
    typed = "from mcpc import Server\nserver = Server('s')\n@server.tool\ndef area(width: float) -> float:\n"
    files = {"server.py": f'{typed}    """A."""\n    return width\n', "requirements.txt": "annotated-types\n"}
    server, problems = lowered(files)
    assert server is not None, problems
    server, problems = include_packages(server, tree(files), Options())
    assert [one.code for one in problems] == ["MCP404"]
    assert [one.code for one in check_unused(server)] == ["MCP412"]
    models = replace(
        server.tools[0],
        handler=replace(server.tools[0].handler, binding=("models", "area")),  # type: ignore[type-var]
    )
    server, problems = include_packages(replace(server, tools=(models,), layer=None), tree(files), Options())
    assert check_unused(server) == ()
