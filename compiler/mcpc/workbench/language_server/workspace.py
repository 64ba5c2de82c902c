"""The open projects of one editor: which project a file belongs to, and when and how it is checked.

A project is checked as a whole, by the compiler's own pipeline, in one thread, when nothing has changed for a pause. A
change ends the check at its next stage. What is published is sent through `publish`, in the thread of the event loop.
Nothing of a project is run unless the user asks for it, and no package is installed.
"""

from __future__ import annotations

import asyncio
import re
import time
import traceback
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from mcpc.frontends import select_frontends
from mcpc.packages import declare_packages
from mcpc.pipeline import analyse, read_project
from mcpc.workbench.language_server.open_project import OpenProject, with_texts
from mcpc.workbench.testing.case_files import FOLDER, SUFFIXES, read_cases, unknown_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from mcpc.diagnostics import Diagnostics
    from mcpc.model.ir import Server
    from mcpc.options import Options
    from mcpc.pipeline import CheckResult
    from mcpc.reading import SourceTree
    from mcpc.workbench.language_server.open_project import BufferEdit, TextBuffer

    Outcome = tuple[SourceTree, CheckResult] | None

PAUSE_SECONDS = 0.3
"""A check begins after so long without a change."""
FIRST_CHECK_SECONDS = 30.0
"""How long a question about definitions waits for the first check."""
NOT_SHOWN = frozenset({"MCP285", "MCP716"})
"""Diagnostics that only say that nothing of the project is run."""
CASE_FILE = re.compile(rf"{FOLDER}/[^/.][^/]*(?:{'|'.join(map(re.escape, SUFFIXES))})")
DEFINED = ("tools", "prompts", "resources", "completions")
MARKERS = frozenset(
    (
        *(f"{kind}.{ending}" for kind in DEFINED for ending in ("json", "d", "bash", "py")),
        *("server.json", "server.py", "servers.json", "server.d", "tools", "skills", "boxlang.json"),
        *("pyproject.toml", "package.json", "dev", "mcpserver_core.sh"),
    )
)
"""Names of which a project has at least one; a folder without any is not read."""
PARTS = ("tools", "prompts", "resources", "skills")
"""Names of folders that belong to the project around them, also if they would be projects alone."""
MAX_LEVELS = 12


def call_later(seconds: float, act: Callable[[], None]) -> asyncio.Handle:
    """Call a function after a time, in the thread of the event loop."""
    return asyncio.get_running_loop().call_later(seconds, act)


@dataclass(slots=True)
class Workspace:
    """`folders`: those that the editor has open; `projects`: by root; `encoding`: the client's unit of positions.

    `log`: receives tracebacks of internal errors. `later`: calls a function after a pause; `waiting`: what will be
    called, by root. `checked` is set by each check.
    """

    options: Options
    publish: Callable[[OpenProject, set[str]], None]
    log: Callable[[str], None]
    encoding: str = "utf-16"
    folders: list[Path] = field(default_factory=list)
    projects: dict[Path, OpenProject] = field(default_factory=dict)
    later: Callable[[float, Callable[[], None]], asyncio.Handle] = call_later
    thread: Executor = field(default_factory=lambda: ThreadPoolExecutor(1, "check"))
    waiting: dict[Path, asyncio.Handle] = field(default_factory=dict)
    checked: asyncio.Event = field(default_factory=asyncio.Event)

    def find(self, file: Path) -> tuple[OpenProject, str] | None:
        """Return the open project that a file belongs to, and its path in it."""
        holders = [root for root in self.projects if file.is_relative_to(root)]
        if not holders:
            return None
        # The innermost: a project may be inside of another one.
        root = max(holders, key=lambda each: len(each.parts))
        path = file.relative_to(root).as_posix()
        project = self.projects[root]
        return (project, path) if project.belongs(path) else None

    async def find_checked(self, file: Path) -> tuple[OpenProject, str] | None:
        """Return what `find` does, after the first check of the project."""
        ends = time.monotonic() + FIRST_CHECK_SECONDS
        while (open_file := self.find(file)) is not None and not open_file[0].is_checked and time.monotonic() < ends:
            self.checked.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.checked.wait(), ends - time.monotonic())
        return open_file

    def open(self, file: Path, text: str) -> None:
        """Open a file, and its project if that is not open; a file outside of any project is left alone."""
        tree = project_of(file, text, self.folders, self.options)
        if tree is None:
            return
        # The root is without links, while the editor's path may lead through some.
        root = next(folder for folder in file.parents if str(folder.resolve()) == tree.root)
        project = self.projects.setdefault(root, OpenProject(root, tree, self.options))
        project.open(file.relative_to(root).as_posix(), text, self.encoding)
        self.check_later(project, 0)

    def change(self, file: Path, changes: Callable[[TextBuffer], list[BufferEdit]]) -> None:
        """Change an open text, and check its project after a pause."""
        open_file = self.find(file)
        if open_file is None or open_file[1] not in open_file[0].buffers:
            return
        project, path = open_file
        for edit in changes(project.buffers[path]):
            project.edited(path, edit)
        self.check_later(project)

    def close(self, file: Path) -> None:
        """Forget an open text; a project without one is closed, and its diagnostics are withdrawn."""
        open_file = self.find(file)
        if open_file is None or open_file[1] not in open_file[0].buffers:
            return
        project, path = open_file
        project.close(path)
        if project.buffers:
            self.check_later(project)
            return
        del self.projects[project.root]
        self._cancel(project)
        # A check that is under way becomes stale by this.
        project.version += 1
        project.found = {}
        self.publish(project, set(project.published))

    def files_changed(self) -> None:
        """Read the projects again: something has changed on disk, or a file was saved."""
        for project in self.projects.values():
            self.check_later(project, 0)

    def check_later(self, project: OpenProject, pause: float = PAUSE_SECONDS) -> None:
        """Check a project after a pause, which begins again if one is under way."""
        self._cancel(project)
        self.waiting[project.root] = self.later(pause, partial(self._check, project))

    def _cancel(self, project: OpenProject) -> None:
        handle = self.waiting.pop(project.root, None)
        if handle is not None:
            handle.cancel()

    def _check(self, project: OpenProject) -> None:
        """Check a project in the thread, with the open texts as they are now."""
        self.waiting.pop(project.root, None)
        # Taken here, in the thread of the event loop: it alone changes the texts.
        version, texts = project.version, {path: buffer.text for path, buffer in project.buffers.items()}

        def check() -> Outcome:
            disk, problems = read_project(project.root)
            tree, is_stale = with_texts(disk, texts), lambda: project.version != version
            try:
                return disk, check_project(tree, problems, project.options, is_stale)
            except StaleError:
                return None

        future = asyncio.get_running_loop().run_in_executor(self.thread, check)
        future.add_done_callback(partial(self._take_over, project, version))

    def _take_over(self, project: OpenProject, version: int, future: asyncio.Future[Outcome]) -> None:
        """Publish what a check found, unless the project has changed since; log an internal error."""
        if future.cancelled():
            return
        problem = future.exception()
        if problem is not None:
            self.log("".join(traceback.format_exception(problem)))
            return
        outcome = future.result()
        if outcome is None or project.version != version or project.root not in self.projects:
            return
        project.accept(*outcome)
        self.checked.set()
        self.publish(project, {*project.found, *project.published, *project.buffers})


class StaleError(Exception):
    """The project has changed: the result of a check would not be used."""


def check_project(
    tree: SourceTree, problems: Diagnostics, options: Options, is_stale: Callable[[], bool] = lambda: False
) -> CheckResult:
    """Return the result of the pipeline up to its checks, and of the test cases; raise StaleError once it is stale."""

    def at_stage(_stage: str) -> None:
        if is_stale():
            raise StaleError

    result = analyse(tree, problems, options, at_stage, declare_packages)
    shown = (problem for problem in result.diagnostics if problem.code not in NOT_SHOWN)
    return replace(result, diagnostics=(*shown, *case_problems(tree, result)))


def case_problems(tree: SourceTree, result: CheckResult) -> Diagnostics:
    """Return what is wrong with the files of test cases, and with the names of what they call."""
    sources = {path: source for path, source in tree.files.items() if CASE_FILE.fullmatch(path)}
    cases, problems = read_cases(sources)
    if result.server is None or not cases:
        return problems
    return (*problems, *unknown_targets(cases, _offered(result.server)))


def _offered(server: Server) -> Mapping[str, list[str]]:
    """Return the names that cases may call, among them the arguments of prompts and templates that are completed."""
    names = [f"{prompt.name} {each.name}" for prompt in server.prompts for each in prompt.arguments]
    names += [f"{template.uri.text} {each.name}" for template in server.templates for each in template.uri.variables]
    return {
        "tool": [tool.name for tool in server.tools],
        "prompt": [prompt.name for prompt in server.prompts],
        "complete": [*dict.fromkeys([*(completion.name for completion in server.completions), *names])],
    }


def project_of(file: Path, text: str, folders: Sequence[Path], options: Options) -> SourceTree | None:
    """Return the files of the project that a file belongs to: of the nearest folder above it that a format recognises.

    `text`: the content of the file, which need not be on disk; `folders`: those of the workspace.
    """
    part: tuple[Path, SourceTree] | None = None
    for folder in _candidates(file, folders):
        # Only the folder directly above can take a part in.
        if part is not None and part[0].parent != folder:
            break
        tree, _ = read_project(folder)
        recognised, _ = select_frontends(with_texts(tree, {file.relative_to(folder).as_posix(): text}), options)
        if not recognised:
            continue
        if folder.name not in PARTS or part is not None:
            return tree
        part = folder, tree
    return part and part[1]


def _candidates(file: Path, folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the folders above a file that may be a project, the nearest first, up to that of the workspace."""
    holders = (folder for folder in folders if file.is_relative_to(folder))
    top = max(holders, key=lambda each: len(each.parts), default=None)
    for folder in [*file.parents][:MAX_LEVELS]:
        if _may_be_project(folder, file):
            yield folder
        if folder == top or (top is None and (folder / ".git").exists()):
            return


def _may_be_project(folder: Path, file: Path) -> bool:
    names = {file.name} if file.parent == folder else set()
    with suppress(OSError):
        names |= {each.name for each in folder.iterdir()}
    return not names.isdisjoint(MARKERS) or file.parent.name in MARKERS
