"""`mcpc inspect --files` lists what is packed: path, size and why, of a project and of a built file."""

import json
from pathlib import Path

from support.artifact import INNER, build, carried, mcpc
from support.files import write_files

FILES = {
    "server.json": '{"serverInfo": {"name": "demo", "version": "1.0.0"}}',
    "tools.json": '{"tools": [{"name": "hello", "description": "Say hello.", "inputSchema": {"type": "object"}}]}',
    "tools.py": "def hello():\n    return 'hello'\n",
    "data/words.txt": "hello\n",
    "notes.md": "not meant for anybody else\n",
    ".gitignore": "notes.md\n",
}


def test_what_is_packed_is_listed(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", FILES)
    made = build(project, tmp_path / "server.pyz")
    of_project = mcpc("inspect", "--files", "--format", "json", project)
    of_file = mcpc("inspect", "--files", "--format", "json", made)
    rows = json.loads(of_file.stdout)
    assert json.loads(of_project.stdout) == rows
    assert {row["path"] for row in rows} == {*carried(made)} - {*INNER}
    assert all(row["why"] for row in rows)
    by_path = {row["path"]: row for row in rows}
    assert by_path["handlers/data/words.txt"]["size"] == len(FILES["data/words.txt"])
    assert "handlers/notes.md" not in by_path
    text = mcpc("inspect", "--files", made).stdout
    assert "6  handlers/data/words.txt  project file: handlers may read it" in text
    assert "mcpc_runtime/  runtime  (" in text
    assert text.splitlines()[-1].endswith(f"  {len(rows)} files")


def test_the_sizes_of_a_file_that_serves_over_http_are_all_its_bytes(tmp_path: Path) -> None:
    made = build(write_files(tmp_path / "project", FILES), tmp_path / "server.pyz", "--http")
    parts = json.loads(mcpc("inspect", "--sizes", "--format", "json", made).stdout)
    assert sum(part["size"] for part in parts) == made.stat().st_size
    assert [part["size"] for part in parts] == sorted((part["size"] for part in parts), reverse=True)
    names = {part["name"]: part for part in parts}
    assert names["uvicorn"]["kind"] == "package"
    assert names["uvicorn"]["version"]
    assert names["h11"]["bytecode"] > 0
    assert "packagePaths" not in mcpc("inspect", "--format", "json", made).stdout
