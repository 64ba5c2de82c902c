"""Programs that cannot be described: each is a diagnostic with its place and advice, and leaves nothing behind."""

import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from mcpc.frontends.fastmcp import program
from mcpc.options import Options
from support.processes import processes_with
from support.projects import checked, lowered, marked, parsed, places

HEAD = "import os, sys, time\nfrom mcp.server.lowlevel import Server\nserver = Server('x')\n"
LATER = """from mcp.server.fastmcp import FastMCP
server = FastMCP('y')
def add():
    class Local: ...
    try:
        »@server.tool()
        def a(x: 'Local'): ...
    except NameError:
        pass
add()
server.run()
"""
DATA = yaml.safe_load(Path(__file__).with_name("program_faults.yaml").read_text("utf-8"))
FAULTS = DATA["FAULTS"]


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name: str) -> None:
    written, code, message, hint = FAULTS[name]
    files, marks = marked({"server.py": f"{HEAD}{written}"})
    found, problems = parsed(files)
    assert found is None
    (problem,) = [problem for problem in problems if problem.severity == "error"]
    assert problem.code == code
    assert message in problem.message
    assert hint in problem.hint
    if marks:
        (place,) = places([problem], files)
        assert place[1:3] == marks[0][:2]
    assert not Path("/var/tmp/mcpc-was-here").exists()


PREFAB = {
    "imports": """from fastmcp import FastMCP
from »prefab_ui.app import PrefabApp

from views import view

mcp = FastMCP("x")


@mcp.tool
def show() -> PrefabApp:
    return PrefabApp(view=view())
""",
    "option": """from fastmcp import FastMCP

mcp = FastMCP("x")


»@mcp.tool(app=True)
def show():
    return {}
""",
}
VIEWS = "def view():\n    import »prefab_ui.components\n    return prefab_ui.components.Column()\n"


@pytest.mark.parametrize("name", PREFAB)
def test_results_with_prefab_are_errors_at_their_places(name: str) -> None:
    written = {"server.py": PREFAB[name], "requirements.txt": "fastmcp[apps]==4.2.999\n"}  # no such version
    files, marks = marked({**written, **({"views.py": VIEWS} if name == "imports" else {})})
    found, problems = parsed(files)
    assert found is None
    errors = [problem for problem in problems if problem.severity == "error"]
    assert [place[1:] for place in places(errors, files)] == marks
    for problem in errors:
        assert problem.code == "MCP290"
        assert "the adapter does not" in problem.message
        assert "`--framework original`" in problem.hint


def test_what_a_command_returns_is_its_status() -> None:
    code = f"{HEAD}def main():\n    print('cannot start')\n    print('API_URL is not set', file=sys.stderr)\n    return STATUS\n"
    project = '[project]\nname = "x"\nversion = "1"\n[project.scripts]\nx = "server:main"\n'
    for status, message in (("3", "exits with status 3 before it serves"), ("'why'", "exits before it serves: why")):
        found, problems = parsed({"server.py": code.replace("STATUS", status), "pyproject.toml": project})
        assert found is None
        (problem,) = [problem for problem in problems if problem.severity == "error"]
        printed = ": cannot start / API_URL is not set" if status == "3" else ""
        assert problem.message == f"the program `server:main` {message}{printed}"
        assert "--build-env API_URL=VALUE" in problem.hint
    found, problems = parsed({"server.py": code.replace("STATUS", "0"), "pyproject.toml": project})
    assert found is not None, problems


def test_a_program_that_blocks_is_ended_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "SECONDS", 1)
    files, marks = marked({"server.py": f"{HEAD}»time.sleep(1000)\n"})
    began = time.monotonic()
    _, problems = parsed(files)
    assert time.monotonic() - began < 300
    assert [problem.code for problem in problems if problem.severity == "error"] == ["MCP284"]
    assert places(problems, files)[-1][1:3] == marks[0][:2]


FAILING_LIST = """
from mcp.types import Tool

@server.list_tools()
async def tools():
    return [Tool(name="query", description="Ask.", inputSchema={"type": "object"})]

@server.list_resources()
async def resources():
    raise ConnectionError("no database")
"""


def test_a_list_that_needs_a_service_is_made_at_run_time_with_a_note() -> None:
    found, problems = parsed({"server.py": HEAD + FAILING_LIST})
    assert found is not None, problems
    assert (len(found.tools), len(found.resources)) == (1, 0)
    assert found.run_time.kinds == {"resources"}
    (problem,) = [problem for problem in problems if problem.code == "MCP287"]
    assert "list of resources" in problem.message
    assert "no database" in problem.message


SCHEMAS = """
import mcp.types as types

@server.list_tools()
async def tools():
    rows = ({%s})
    return [types.Tool(name=name, description='d', inputSchema=schema) for name, schema in rows.items()]
server_main = server
"""
MADE = DATA["MADE"]


def test_schemas_that_a_framework_made_are_repaired_or_loosened() -> None:
    """One that has a null as the default of another type is valid, and stays."""
    rows = ", ".join(f"{name!r}: {schema!r}" for name, (schema, _, _) in MADE.items())
    text = HEAD + SCHEMAS.replace("%s", rows)
    settings = '[project]\nname = "x"\nversion = "1"\ndependencies = ["mcp<2"]\n[tool.mcpc]\nlists = "static"\n'
    server, problems = checked({"server.py": text, "pyproject.toml": settings})
    assert server is not None, problems
    made = {tool.name: tool.input.value for tool in server.server.tools}
    assert made == {name: schema for name, (_, schema, _) in MADE.items()}
    told = [problem.message for problem in problems if problem.code == "MCP319"]
    wanted = [words for _, _, words in MADE.values() if words]
    assert [any(words in message for message in told) for words in wanted] == [True] * len(told) == [True, True]


def test_what_a_program_starts_ends_with_it(tmp_path: Path) -> None:
    mark = f"mcpc-left-{os.getpid()}"
    code = f"import subprocess\nsubprocess.Popen(['sh', '-c', 'exec -a {mark} sleep 300'], start_new_session=True)\n1 / 0\n"
    _, problems = parsed({"server.py": HEAD + code})
    assert [problem.code for problem in problems if problem.severity == "error"] == ["MCP286"]
    assert processes_with(mark.encode(), "cmdline") == []


def test_a_daemon_of_a_program_that_is_described_ends_with_it() -> None:
    mark = f"mcpc-daemon-{os.getpid()}"
    code = f"if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.execvp('sleep', ['{mark}', '300'])\n    os._exit(0)\nos.wait()\n"
    found, _ = parsed({"server.py": HEAD + code})
    assert found is not None
    assert processes_with(mark.encode(), "cmdline") == []


def test_files_that_a_program_writes_are_in_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    code = "from pathlib import Path\nfor place in (Path('here'), Path.home() / 'home', Path(__file__).parent / 'beside'):\n    place.write_text('x')\n"
    found, _ = parsed({"server.py": HEAD + code})
    assert found is not None
    assert {path.name for path in tmp_path.iterdir()} <= {".cache"}


def test_a_variable_for_the_build_is_given_and_not_kept() -> None:
    code = HEAD + "key = os.environ['API_KEY']\nserver.instructions = 'with a key'\n"
    found, problems = parsed({"server.py": code}, Options(build_environment=(("API_KEY", "secret-value"),)))
    assert [problem for problem in problems if problem.severity == "error"] == []
    assert found is not None
    assert "secret-value" not in repr(found)


CONNECTING = """import urllib.request
try:
    answer = urllib.request.urlopen('http://127.0.0.1:PORT/x', timeout=30).read().decode()
except OSError:
    sys.exit(1)

@server.list_tools()
async def tools():
    return [Tool(name='now', description=answer, inputSchema={'type': 'object'})]
"""


class Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"from the service")

    def log_message(self, *_: object) -> None: ...


def test_a_program_may_use_the_network_if_that_is_asked_for() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        code = f"from mcp.types import Tool\n{HEAD}{CONNECTING.replace('PORT', str(service.server_port))}"
        files = {"server.py": code, "requirements.txt": "mcp<2"}
        found, problems = parsed(files)
        assert found is None
        assert [problem.code for problem in problems if problem.severity == "error"] == ["MCP284"]
        assert "`--build-network`" in problems[-1].hint
        found, problems = parsed(files, Options(build_network=True))
        service.shutdown()
    assert found is not None, problems
    assert [tool.node.value["description"] for tool in found.tools] == ["from the service"]
    (note,) = [problem for problem in problems if problem.code == "MCP305"]
    assert note.severity == "note"


TEMPLATES = """@server.list_resource_templates()
async def templates():
    from mcp.types import ResourceTemplate
    return [ResourceTemplate(uriTemplate=f'{word}://{{a b}}', name=word) for word in ('v', 'w', 'x', 'y', 'z')]

@server.list_resources()
async def resources():
    return []
"""


def test_templates_with_one_fault_are_one_warning() -> None:
    _, problems = lowered({"server.py": HEAD + TEMPLATES})
    (problem,) = [problem for problem in problems if problem.code == "MCP288"]
    assert problem.severity == "warning"
    assert "the URI templates `v://{a b}`, `w://{a b}`, `x://{a b}` and 2 more are listed" in problem.message
    _, problems = lowered({"server.py": HEAD + TEMPLATES.replace("'v', 'w', 'x', 'y', 'z'", "'v'")})
    (problem,) = [problem for problem in problems if problem.code == "MCP288"]
    assert problem.message.startswith("the URI template `v://{a b}` is listed, but no client can request it: ")
