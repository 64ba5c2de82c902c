"""When the projects of an editor are checked, what is dropped, and what is published; a test lets time pass."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from mcpc.options import Options
from mcpc.workbench.language_server import workspace
from mcpc.workbench.language_server.open_project import OpenProject
from mcpc.workbench.language_server.workspace import PAUSE_SECONDS, Workspace
from support.files import write_files

TOOLS = '{"tools": [{"name": "greet", "description": "d", "inputSchema": {"type": "object"}}]}\n'
PYTHON = "def greet():\n    return 1\n"
FILES = {
    "server.json": '{"serverInfo": {"name": "demo", "version": "1.0.0"}}\n',
    "tools.json": TOOLS,
    "tools.py": PYTHON,
}
WRONG = TOOLS.replace('"description"', '"descriptionn"')


class Checks(Executor):
    """What a workspace lets a thread do, which is done when a test says so."""

    def __init__(self) -> None:
        self.given: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, work: Callable[..., Any], /, *values: Any, **more: Any) -> Future[Any]:
        future = Future[Any]()
        self.given.append((future, work))
        return future

    async def run(self, then: Callable[[], None] = lambda: None) -> None:
        """Do the first; `then`: what happens before its result is taken over."""
        future, work = self.given.pop(0)
        try:
            future.set_result(work())
        except ZeroDivisionError as problem:
            future.set_exception(problem)
        then()
        await asyncio.wait([asyncio.wrap_future(future)])  # what waited for it before runs before


class Editor:
    """A workspace with a project of `FILES`, and all that it does to its surroundings."""

    def __init__(self, folder: Path) -> None:
        write_files(folder, FILES)
        self.folder, self.now, self.log = folder, 0.0, list[str]()
        self.timers: list[tuple[float, asyncio.Handle, Callable[[], None]]] = []
        self.published: list[dict[str, list[str]]] = []
        self.checks = Checks()
        self.space = Workspace(
            Options(imports=False), self.publish, self.log.append, later=self.later, thread=self.checks
        )
        self.space.folders = [folder]

    def publish(self, project: OpenProject, paths: set[str]) -> None:
        found = {path: sorted(problem.code for problem in project.found.get(path, ())) for path in paths}
        self.published.append(found)
        project.published = {path for path in paths if found[path]}

    def later(self, seconds: float, act: Callable[[], None]) -> asyncio.Handle:
        handle = asyncio.Handle(act, (), asyncio.get_running_loop())
        self.timers.append((self.now + seconds, handle, act))
        return handle

    def wait(self, seconds: float) -> int:
        """Let time pass; return how many checks wait for the thread."""
        self.now += seconds
        due = [act for when, handle, act in self.timers if when <= self.now and not handle.cancelled()]
        self.timers = [each for each in self.timers if each[0] > self.now]
        for act in due:
            act()
        return len(self.checks.given)

    def type(self, path: str, old: str, new: str) -> None:
        def change(buffer: Any) -> list[Any]:
            start = buffer.text.index(old)
            return [buffer.replace(start, start + len(old), new)]

        self.space.change(self.folder / path, change)


def run(folder: Path, story: Callable[[Editor], Awaitable[None]]) -> None:
    async def told() -> None:
        await story(Editor(folder))

    asyncio.run(told())


def test_a_check_begins_after_a_pause_without_a_change(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        editor.space.open(tmp_path / "tools.json", TOOLS)
        assert editor.wait(0) == 1, "a file that is opened is checked at once"
        await editor.checks.run()
        assert editor.published == [{"tools.json": []}]
        editor.type("tools.json", "description", "descripti")
        assert editor.wait(0.2) == 0
        editor.type("tools.json", "descripti", "descriptionn")
        assert (editor.wait(0.2), editor.wait(0.099), editor.wait(0.002)) == (0, 0, 1)
        await editor.checks.run()
        assert editor.published[1:] == [{"tools.json": ["MCP103", "MCP108"]}]
        editor.type("tools.json", "descriptionn", "description")
        assert editor.wait(PAUSE_SECONDS) == 1
        await editor.checks.run()
        assert editor.published[2:] == [{"tools.json": []}]
        assert editor.wait(9) == 0

    run(tmp_path, story)


def test_the_diagnostics_of_all_files_follow_from_unsaved_texts(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        editor.space.open(tmp_path / "tools.py", PYTHON)
        editor.space.open(tmp_path / "prompts.json", '{"prompts": 1}')
        editor.type("tools.py", "greet", "great")
        assert editor.wait(PAUSE_SECONDS) == 1
        await editor.checks.run()
        assert editor.published == [{"tools.json": ["MCP201"], "prompts.json": ["MCP101"], "tools.py": []}]
        editor.type("tools.py", "great", "greet")
        editor.space.close(tmp_path / "prompts.json")
        editor.wait(PAUSE_SECONDS)
        await editor.checks.run()
        assert editor.published[1:] == [{"tools.json": [], "prompts.json": [], "tools.py": []}]
        (tmp_path / "tools.py").unlink()
        editor.space.close(tmp_path / "tools.py")
        assert editor.published[2:] == [{}], "a project without an open text is closed"
        assert (editor.wait(9), editor.space.projects) == (0, {})

    run(tmp_path, story)


def test_a_change_ends_the_check_at_its_next_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stages, analyse = list[str](), workspace.analyse
    edits: list[Callable[[], None]] = []

    def watched(tree: Any, found: Any, options: Any, progress: Callable[[str], None], bundle: Any) -> Any:
        def at_stage(stage: str) -> None:
            stages.append(stage)
            if stage == "bundling packages" and edits:
                edits.pop()()
            progress(stage)

        return analyse(tree, found, options, at_stage, bundle)

    monkeypatch.setattr(workspace, "analyse", watched)

    async def story(editor: Editor) -> None:
        edits.append(lambda: editor.type("tools.json", "descriptionn", "description"))
        editor.space.open(tmp_path / "tools.json", WRONG)
        editor.wait(0)
        await editor.checks.run()
        assert (stages, editor.published, editor.log) == (["parsing", "bundling packages"], [], [])
        assert editor.wait(PAUSE_SECONDS) == 1
        await editor.checks.run()
        assert (stages[2:], editor.published) == (["parsing", "bundling packages", "checking"], [{"tools.json": []}])

    run(tmp_path, story)


@pytest.mark.parametrize("is_closed", [False, True])
def test_what_a_stale_check_found_is_dropped(tmp_path: Path, is_closed: bool) -> None:
    async def story(editor: Editor) -> None:
        editor.space.open(tmp_path / "tools.json", WRONG)
        project = editor.space.projects[tmp_path]
        editor.wait(0)
        if is_closed:
            await editor.checks.run(lambda: editor.space.close(tmp_path / "tools.json"))
        else:
            await editor.checks.run(lambda: editor.type("tools.json", "descriptionn", "description"))
        assert editor.published == [{}] * is_closed
        assert not project.is_checked

    run(tmp_path, story)


def test_an_error_of_a_check_is_logged_and_the_next_one_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(editor: Editor) -> None:
        editor.space.open(tmp_path / "tools.json", WRONG)
        with monkeypatch.context() as patch:
            patch.setattr(workspace, "case_problems", lambda *_values: 1 // 0)
            editor.wait(0)
            await editor.checks.run()
        assert editor.published == []
        assert [each.rsplit("\n", 2)[1].partition(":")[0] for each in editor.log] == ["ZeroDivisionError"]
        editor.space.files_changed()
        assert editor.wait(0) == 1
        await editor.checks.run()
        assert editor.published == [{"tools.json": ["MCP103", "MCP108"]}]

    run(tmp_path, story)


def test_a_question_waits_for_the_first_check(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        file = tmp_path / "tools.json"
        assert await editor.space.find_checked(file) is None
        editor.space.open(file, TOOLS)
        asked = asyncio.create_task(editor.space.find_checked(file))
        editor.wait(0)
        await editor.checks.run()
        assert await asked == (editor.space.projects[tmp_path], "tools.json")

    run(tmp_path, story)


def test_a_text_that_is_not_open_is_closed_and_changed_without_effect(tmp_path: Path) -> None:
    async def story(editor: Editor) -> None:
        outside = tmp_path.with_name(f"{tmp_path.name}-outside") / "notes.md"
        editor.space.folders.append(outside.parent)
        editor.space.open(outside, "x")
        editor.space.open(tmp_path / "tools.json", TOOLS)
        for file in (outside, tmp_path / "tools.py", tmp_path / ".git/tools.json"):
            editor.space.close(file)
            editor.space.change(file, lambda _buffer: 1 // 0)
        assert [*editor.space.projects] == [tmp_path]
        assert [*editor.space.projects[tmp_path].buffers] == ["tools.json"]
        assert editor.published == []

    run(tmp_path, story)
