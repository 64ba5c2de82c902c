"""What code of a project finds beside itself in a built file: as in the project's folder, and as in an installation."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.artifact import build, mcpc
from support.files import write_files
from support.posts import fetch
from support.serving import served
from support.stdio import initialization, replies


def answers(built: Path, *calls: tuple[str, Mapping[str, Any]]) -> list[Any]:
    """Return the text of each call's result, or what its structured content says."""
    rows = [("tools/call", {"name": name, "arguments": given}) for name, given in calls]
    found = replies([sys.executable, built], [("initialize", initialization("2025-11-25")), *rows])[1:]
    return [answer["result"]["content"][0]["text"] for answer in found]


DATA = yaml.safe_load(Path(__file__).with_name("project_files.yaml").read_text("utf-8"))
OWN = DATA["OWN"]


def test_a_server_of_ours_finds_the_files_beside_its_code(tmp_path: Path) -> None:
    built = build(write_files(tmp_path / "project", OWN), tmp_path / "server.pyz")
    calls: list[tuple[str, dict[str, str]]] = [
        ("read", {"name": "a.txt"}),
        ("packaged", {}),
        ("source", {}),
        ("late", {}),
    ]
    helper = OWN["pkg/helper.py"]
    assert answers(built, *calls) == ["5 A", "a note", helper + helper, "deep"]


PROGRAM = DATA["PROGRAM"]


def test_a_program_finds_all_that_is_in_its_folder(tmp_path: Path) -> None:
    built = build(write_files(tmp_path / "project", PROGRAM), tmp_path / "server.pyz")
    paths = ["docs/guide.md", "tests/data/one.txt", "README.md", "images/logo.png"]
    found = answers(built, *(("read", {"path": path}) for path in paths), ("run", {"number": 4}))
    assert found == ["# Guide", "1", "read me", "PNG", "8\n"]


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "A tool.", "inputSchema": {"type": "object"}, **more}


BASH = {
    "server.json": json.dumps({"serverInfo": {"name": "ops", "version": "1"}}),
    "tools.json": json.dumps(
        {
            "tools": [
                *map(tool, ("started", "read", "relative")),
                tool("alone", _meta={"mcpc/handler": {"isolated": True}}),
                tool("program", _meta={"mcpc/handler": {"command": "scripts/note.sh"}}),
            ]
        }
    ),
    "tools.bash": """
tool_started() { "$MCPC_FILES/scripts/note.sh"; }
tool_read() { cat -- "${BASH_SOURCE[0]%/*}/note.txt"; }
tool_alone() { cat -- "$MCPC_FILES/note.txt"; }
tool_relative() { cat note.txt; }
""",
    "scripts/note.sh": '#!/bin/sh\necho "script: $(cat "$MCPC_FILES/note.txt")"\n',
    "note.txt": "a note",
    "tests/cases.yaml": "tests:\n- {tool: relative, expect: {error: true}}\n- {tool: read, expect: {text: a note}}\n",
}


def test_a_bash_library_finds_the_files_of_its_project_and_only_by_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = write_files(tmp_path / "project", BASH)
    (project / "scripts/note.sh").chmod(0o755)
    built = build(project, tmp_path / "server.pyz")
    names = ["started", "read", "alone", "program"]
    assert answers(built, *((name, {}) for name in names)) == ["script: a note", "a note", "a note", "script: a note"]
    monkeypatch.chdir(project)
    assert mcpc("test", ".").returncode == 0
    failed = mcpc("call", ".", "relative")
    assert (failed.returncode, "note.txt: No such file or directory" in failed.stderr + failed.stdout) == (5, True)


INSTALLED = DATA["INSTALLED"]


def test_a_program_finds_the_metadata_of_an_installation_and_what_its_framework_brings(tmp_path: Path) -> None:
    built = build(write_files(tmp_path / "project", INSTALLED), tmp_path / "server.pyz", "--http")
    text = {"text": "aB"}
    upper, lower, versions, places = answers(built, ("upper", text), ("lower", text), ("versions", {}), ("places", {}))
    assert (upper, lower) == ("AB", "ab")
    known = {"my_own": "4.5.6", "fastmcp": "4.1.2", "mcp": "2.3.0", "httpx": "0.28.1"}
    assert known.items() <= json.loads(versions).items()
    own = ["my_own/__init__.py", "my_own/app.py", "my_own/plug.py"]
    first = "from .__version__ import __description__, __title__, __version__"
    assert json.loads(places) == [True, True, first, True, True, "ELF", False, own]
    with served(built) as server:
        form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n12345\r\n--x--\r\n'
        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        answer = fetch(f"{server.root}/upload", form, kind)
        assert (answer.status, json.loads(answer.body)) == (200, {"name": "a.txt", "size": 5})


OWN_METADATA = {
    "pyproject.toml": '[project]\nname = "own-meta"\nversion = "7.1"\n[project.entry-points."own.words"]\none = "words:ONE"\n',
    "words.py": "ONE = 1\n",
    "server.py": '''from importlib import metadata

from mcpc import Server

mcp = Server("own", version=metadata.version("own-meta"))


@mcp.tool
def words() -> list[object]:
    """Load what is registered."""
    return [metadata.version("own_meta"), *(point.load() for point in metadata.entry_points(group="own.words"))]
''',
}


def test_a_server_of_ours_finds_its_own_metadata(tmp_path: Path) -> None:
    built = build(write_files(tmp_path / "project", OWN_METADATA), tmp_path / "server.pyz")
    assert answers(built, ("words", {})) == ['["7.1",1]']


JOBS = DATA["JOBS"]
TOOLS = DATA["TOOLS"]
IMPORTS = """import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

"""
CHILDREN = {
    "own": {
        "requirements.txt": "humanize==4.13.0\npydantic==2.12.5\n",
        "server.py": f'{IMPORTS}from mcpc import Server\n\nfrom tasks_of import jobs\n\nmcp = Server("c", version="1")\n{TOOLS}',
        "tasks_of/__init__.py": "",
        "tasks_of/jobs.py": JOBS,
    },
    "program": {
        "pyproject.toml": '[project]\nname = "c"\nversion = "1"\ndependencies = ["fastmcp==4.1.2", "humanize==4.13.0"]\n'
        '[project.scripts]\nc = "tasks_of.server:main"\n',
        "src/tasks_of/__init__.py": "",
        "src/tasks_of/jobs.py": JOBS,
        "src/tasks_of/server.py": f'{IMPORTS}from fastmcp import FastMCP\n\nfrom tasks_of import jobs\n\nmcp = FastMCP("c")\n{TOOLS}'
        "\n\ndef main():\n    mcp.run()\n",
    },
    "script": {
        "requirements.txt": "mcp==1.30.0\nhumanize==4.13.0\n",
        "server.py": f'{IMPORTS}from mcp.server.fastmcp import FastMCP\n\nfrom tasks_of import jobs\n\nmcp = FastMCP("c")\n{TOOLS}'
        "\n\nmcp.run()\n",
        "tasks_of/__init__.py": "",
        "tasks_of/jobs.py": JOBS,
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", CHILDREN)
def test_python_processes_of_handlers_find_what_handlers_find(kind: str, tmp_path: Path) -> None:
    built = build(write_files(tmp_path / "project", CHILDREN[kind]), tmp_path / "server.pyz")
    asked = [
        ("total", {"method": "spawn"}),
        ("total", {"method": "forkserver"}),
        ("run", {"words": ["-m", "tasks_of.jobs", "5000"]}),
        ("run", {"words": ["-c", "import humanize, os; print(humanize.intcomma(7000), os.environ['X'])"]}),
        ("run", {"words": ["-I", "-c", "import humanize"]}),
    ]
    pools, isolated = "14 1,000 2,000", "ModuleNotFoundError: No module named 'humanize'"
    assert answers(built, *asked) == [pools, pools, "5,000 pydantic.main", "7,000 1", isolated]


def test_processes_that_cannot_be_started_end_with_their_call(tmp_path: Path) -> None:
    files = CHILDREN["own"]
    files = {
        **files,
        "server.py": files["server.py"].replace("@mcp.tool()\ndef broken", "@mcp.tool(timeout=3)\ndef broken"),
    }
    built = build(write_files(tmp_path / "project", files), tmp_path / "server.pyz")
    expected = ["broken was stopped: its timeout is 3 s", "14 1,000 2,000"]
    assert answers(built, ("broken", {}), ("total", {"method": "spawn"})) == expected


def test_which_python_processes_have_the_modules_of_the_server(tmp_path: Path) -> None:
    files = {path: text for path, text in CHILDREN["own"].items() if path != "tasks_of/jobs.py"}
    files |= {"tasks_of/jobs.py": "HERE = 1\n", "requirements.txt": ""}
    built = build(write_files(tmp_path / "project", files), tmp_path / "server.pyz")
    hidden = write_files(tmp_path / "hidden", {"sitecustomize.py": "print('theirs', end=' ')\n"})
    places = os.pathsep.join((f"{built}/mcpc_app/children", str(hidden)))
    code = "import sys; from tasks_of import jobs; print(jobs.HERE, sys.modules['sitecustomize'].__file__)"

    def run(executable: str) -> str:
        facts = "\n".join((executable, "", "", f"{built}/handlers"))
        variables = {**os.environ, "PYTHONPATH": places, "MCPC_CHILDREN": facts}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=variables, check=False)
        return done.stdout + (done.stderr.splitlines() or [""])[-1]

    assert run(sys.executable) == f"theirs 1 {hidden}/sitecustomize.py\n"
    assert run("/usr/bin/another") == "theirs ModuleNotFoundError: No module named 'tasks_of'"
