"""What ToolBox's front end makes of projects: what is recognised, what is shown, and what is told of what is wrong."""

import io
import os
import zipfile
from pathlib import Path
from types import MappingProxyType

import pytest

from mcpc.diagnostics import Diagnostics
from mcpc.frontends import parse_project, toolbox
from mcpc.languages.bundling import module_inspection, node
from mcpc.options import Options
from mcpc.reading import SourceTree, read_tree
from support.artifact import mcpc
from support.needs import needs_node
from support.projects import Files, places, tree

pytestmark = pytest.mark.sampled(2)

TOOL = """export const schema = {description: "Do it.", type: "object", properties: {}};
export default async function (request) { return {content: []}; }
"""
FORCED = Options(format="toolbox")


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(autouse=True)
def _own_cache(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs_node()
    monkeypatch.setenv("MCPC_CACHE_DIR", str(kept))
    node.node_path.cache_clear()


def told(files: Files, options: Options = FORCED) -> Diagnostics:
    return parse_project(tree(files), options)[1]


def names(files: Files, options: Options = FORCED) -> list[str]:
    definition, _ = parse_project(tree(files), options)
    return [str(tool.node.get("name").value) for tool in definition.tools]  # type: ignore[union-attr]


BESIDE: Files = {"src/tools/good.ts": TOOL}
"""A tool that is served whatever is wrong with another one."""
WRONG: dict[str, tuple[Files, list[tuple[str, str, int, int]]]] = {
    "it throws": (
        {"src/tools/bad.ts": TOOL + "const given: string = `no`;\n  throw new Error(given);\n"},
        [("MCP250", "src/tools/bad.ts", 4, 9)],
    ),
    "it ends the process": ({"src/tools/bad.ts": TOOL + "process.exit(3);\n"}, [("MCP250", "src/tools/bad.ts", 1, 1)]),
    "its schema holds itself": (
        {"src/tools/odd.js": "export const schema = {};\nschema.properties = schema;\nexport default () => 1;\n"},
        [("MCP252", "src/tools/odd.js", 1, 14)],
    ),
    "it is no script": ({"src/tools/bad.ts": TOOL + "export const = 5;\n"}, [("MCP256", "src/tools/bad.ts", 3, 14)]),
    "a file is missing": (
        {"src/tools/bad.ts": TOOL + "\nimport { x } from './nowhere.js';\nx();\n"},
        [("MCP256", "src/tools/bad.ts", 4, 19)],
    ),
    "a package is not named": (
        {"src/tools/bad.ts": "import { x } from 'nowhere-at-all/deep';\nx();\n" + TOOL},
        [("MCP409", "src/tools/bad.ts", 1, 19)],
    ),
    "a Python module raises": (
        {"src/tools/bad.py": "schema = dict(type='object')\ndef default(request): ...\nraise ValueError('no')\n"},
        [("MCP250", "src/tools/bad.py", 1, 1)],
    ),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.sampled(5)
def test_what_is_wrong_is_told(name: str) -> None:
    added, expected = WRONG[name]
    files = {**BESIDE, **added}
    definition, problems = parse_project(tree(files), Options(format="toolbox"))
    assert places(problems, files) == expected
    assert definition is not None
    assert "good" in names(files)
    assert all("bad" not in name for name in names(files))


@pytest.mark.slow
def test_a_tool_that_never_ends_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_inspection, "IMPORT_SECONDS", 1)
    monkeypatch.setattr(module_inspection, "IMPORT_GRACE_SECONDS", 1)
    files: Files = {
        **BESIDE,
        "src/tools/bad.ts": "while (true);\n" + TOOL,
        "src/tools/worse.ts": "await new Promise(() => {});\n" + TOOL,
    }
    assert [(problem.code, problem.span and problem.span.path) for problem in told(files)] == [
        ("MCP250", "src/tools/bad.ts"),
        ("MCP250", "src/tools/worse.ts"),
    ]
    assert names(files) == ["good"]


def test_without_node_nothing_is_bundled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [problem.code for problem in told(BESIDE)] == ["MCP408"]
    old = tmp_path / "node"
    old.write_text("#!/bin/sh\necho v18.20.4\n")
    old.chmod(0o755)
    (problem,) = told(BESIDE)
    assert "v18.20.4" in problem.message
    assert "Node 20" in problem.message


def test_esbuild_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not told(BESIDE)  # it is there now
    found = node.shutil.which("node")
    assert found is not None
    (tmp_path / "node").symlink_to(found)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin-without-npm")
    node.node_path.cache_clear()
    node.program_version.cache_clear()
    assert not told(BESIDE)  # and npm is not asked any more
    monkeypatch.setenv("MCPC_CACHE_DIR", str(tmp_path / "empty"))
    (problem,) = told(BESIDE)
    assert (problem.code, "npm" in problem.message) == ("MCP408", True)


def project(root: Path, files: dict[str, str]) -> SourceTree:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    found, problems = read_tree(root)
    assert not problems
    return found


IMPORTS = {
    "package.json": '{"name": "p", "dependencies": {"left": "1.0.0"}}',
    "src/tools/uses.ts": 'import { side } from "left";\n'
    + TOOL.replace("Do it.", "${side}").replace('"${', "`${").replace('}"', "}`"),
    "src/tools/good.ts": TOOL,
}
LEFT = {
    "package.json": '{"name": "left", "main": "index.js", "dependencies": {"right": "1.0.0"}}',
    "index.js": 'exports.side = require("right").side;',
}
RIGHT = {"package.json": '{"name": "right", "main": "index.js"}', "index.js": 'exports.side = "right";'}
FLAT = {
    **{f"node_modules/left/{path}": text for path, text in LEFT.items()},
    **{f"node_modules/right/{path}": text for path, text in RIGHT.items()},
}


def described(root: Path) -> tuple[str, list[str]]:
    definition, problems = parse_project(read_tree(root)[0], Options())
    shown = {tool.node.get("name").value: tool.node.get("description").value for tool in definition.tools}  # type: ignore[union-attr]
    return str(shown.get("uses", "")), [problem.code for problem in problems]


def test_packages_beside_the_project_are_bundled(tmp_path: Path) -> None:
    project(tmp_path, {**IMPORTS, **FLAT})
    assert described(tmp_path) == ("right", [])


def test_packages_behind_links_are_bundled(tmp_path: Path) -> None:
    """As pnpm lays them out: what a package needs lies beside it, elsewhere."""
    store = "node_modules/.pnpm/left@1.0.0/node_modules"
    project(tmp_path, {**IMPORTS, **{path.replace("node_modules", store, 1): text for path, text in FLAT.items()}})
    (tmp_path / "node_modules/left").symlink_to(".pnpm/left@1.0.0/node_modules/left")
    assert described(tmp_path) == ("right", [])


def test_a_package_outside_is_refused(tmp_path: Path) -> None:
    project(tmp_path / "p", {**IMPORTS, **FLAT})
    (tmp_path / "p/node_modules/left").rename(tmp_path / "left")
    (tmp_path / "p/node_modules/left").symlink_to("../../left")
    definition, problems = parse_project(read_tree(tmp_path / "p")[0], Options())
    assert definition is not None
    assert [problem.code for problem in problems] == ["MCP409"]
    assert "leads outside of `node_modules`" in problems[0].message


def test_a_file_of_a_package_that_leads_outside_is_not_read(tmp_path: Path) -> None:
    project(tmp_path / "p", {**IMPORTS, **FLAT})
    (tmp_path / "secret.js").write_text('exports.side = "secret";')
    index = tmp_path / "p/node_modules/left/index.js"
    index.unlink()
    index.symlink_to(tmp_path / "secret.js")
    assert described(tmp_path / "p") == ("", ["MCP409"])


def test_machine_code_is_told(tmp_path: Path) -> None:
    left = "require('./build/left.node');"
    project(
        tmp_path, {**IMPORTS, **FLAT, "node_modules/left/index.js": left, "node_modules/left/build/left.node": "\0"}
    )
    _, (problem,) = parse_project(read_tree(tmp_path)[0], Options())
    assert (problem.code, "`left`" in problem.message) == ("MCP410", True)


def test_a_changed_package_is_another_build(tmp_path: Path) -> None:
    found = project(tmp_path, {**IMPORTS, **FLAT})
    before = toolbox.build_inputs(found)
    (tmp_path / "node_modules/right/index.js").write_text('exports.side = "another";')
    assert toolbox.build_inputs(found) != before
    assert toolbox.build_inputs(SourceTree(MappingProxyType({}), "name")) == ("name",)  # nothing of Node


@pytest.mark.slow
def test_the_same_sources_make_the_same_bytes_anywhere(tmp_path: Path) -> None:
    made = []
    for name in ("one", "another/deeper"):
        place = tmp_path / name / "p"
        project(place, {**IMPORTS, **FLAT})
        target = tmp_path / f"{len(made)}.pyz"
        done = mcpc("build", place, "-o", target, environment={"MCPC_CACHE_DIR": str(tmp_path / f"cache{len(made)}")})
        assert done.returncode == 0, done.stderr
        made.append(target.read_bytes())
    assert made[0] == made[1]
    with zipfile.ZipFile(io.BytesIO(made[0])) as archive:
        texts = [archive.read(name) for name in archive.namelist() if ".mcpc/" in name]
    assert len(texts) >= 5
    assert all(os.fsencode(tmp_path) not in text and b"/tmp/" not in text for text in texts)


def test_secrets_and_sources_stay_behind(tmp_path: Path) -> None:
    kept = {"src/.env": "A=1", "src/words.txt": "hello", ".env": "B=2", "README.md": "no"}
    project(tmp_path / "p", {**IMPORTS, **FLAT, **kept})
    done = mcpc("build", tmp_path / "p", "-o", tmp_path / "s.pyz")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / "s.pyz") as archive:
        carried = {name for name in archive.namelist() if name.startswith("handlers/") and ".mcpc" not in name}
    assert carried == {"handlers/src/words.txt"}


def test_a_module_of_the_projects_own_keeps_what_else_it_exports() -> None:
    files: Files = {
        "src/config.ts": 'export const logFile = "mine";\nexport const colour: string = "green";\n',
        "src/tools/a.ts": 'import { colour, logFile } from "../config.js";\n'
        + TOOL.replace('"Do it."', "`${colour} ${logFile.endsWith('ToolBox.log')}`"),
    }
    definition, problems = parse_project(tree(files), Options())
    assert not problems
    assert definition.tools[0].node.get("description").value == "green true"  # type: ignore[union-attr]
