"""The open projects and files of one editor: which project a file belongs to, and what is checked when.

A change is checked quickly at once and completely after a pause, in one thread, whose result is dropped if anything has
changed since. What is published is sent through `publish`, in the thread of the event loop.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from mcpc.pipeline import read_project
from mcpc.workbench.language_server.checking import StaleError, case_problems, check_completely, check_quickly
from mcpc.workbench.language_server.open_project import OpenProject
from mcpc.workbench.language_server.projects import project_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcpc.options import Options
    from mcpc.pipeline import CheckResult
    from mcpc.reading import SourceTree
    from mcpc.workbench.language_server.reduction import Slices
    from mcpc.workbench.language_server.text_buffer import BufferEdit, TextBuffer

    Outcome = tuple[SourceTree, CheckResult | None, dict[str, Slices | None], float]

PAUSE_SECONDS = 0.5
"""The complete check begins after so long without a change."""
COALESCED_SECONDS = 0.002
"""Changes that arrive together are checked together."""
FIRST_CHECK_SECONDS = 30.0
"""How long a question about definitions waits for the first complete check."""
MAX_QUICK_BYTES = 4 << 20
"""A larger file is checked after a pause only."""


@dataclass(slots=True)
class Workspace:
    """`folders`: those that the editor has open; `projects`: by root; `encoding`: the client's unit of positions.

    `others`: texts of open files outside of any project, by path. `log`: receives tracebacks of internal errors.
    """

    options: Options
    publish: Callable[[OpenProject, set[str]], None]
    log: Callable[[str], None]
    encoding: str = "utf-16"
    folders: list[Path] = field(default_factory=list)
    projects: dict[Path, OpenProject] = field(default_factory=dict)
    others: dict[Path, str] = field(default_factory=dict)
    thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "check"))
    waiting: dict[tuple[Path, str], asyncio.TimerHandle] = field(default_factory=dict)
    checked: asyncio.Event = field(default_factory=asyncio.Event)  # set by each complete check

    def find(self, file: Path) -> tuple[OpenProject, str] | None:
        """Return the open project that a file belongs to, and its path in it."""
        holders = [root for root in self.projects if file.is_relative_to(root)]
        if not holders:
            return None
        root = max(holders, key=lambda each: len(each.parts))
        path = file.relative_to(root).as_posix()
        project = self.projects[root]
        return (project, path) if project.belongs(path) else None

    async def find_checked(self, file: Path) -> tuple[OpenProject, str] | None:
        """Return what `find` does, after the first complete check of the project."""
        ends = time.monotonic() + FIRST_CHECK_SECONDS
        while (found := self.find(file)) is not None and found[0].checked_version < 0 and time.monotonic() < ends:
            self.checked.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.checked.wait(), ends - time.monotonic())
        return found

    def open(self, file: Path, text: str) -> None:
        """Open a file, and its project if that is not open."""
        known = project_of(file, text, self.folders, self.options)
        if known is None:
            self.others[file] = text
            return
        project = self._project(known, file)
        path = file.relative_to(project.root).as_posix()
        project.open(path, text, self.encoding)
        self.check_soon(project, 0)

    def _project(self, tree: SourceTree, file: Path) -> OpenProject:
        root = next(folder for folder in file.parents if str(folder.resolve()) == tree.root)
        if root not in self.projects:
            self.projects[root] = OpenProject(root, tree, self.options)
        return self.projects[root]

    def change(self, file: Path, changes: Callable[[TextBuffer], list[BufferEdit]]) -> None:
        """Change an open text, and check the change."""
        found = self.find(file)
        if found is None or found[1] not in found[0].buffers:
            return
        project, path = found
        for edit in changes(project.buffers[path]):
            project.edited(path, edit)
        self.check_soon(project)

    def close(self, file: Path) -> None:
        """Forget an open text; a project without one is closed, and its diagnostics are withdrawn."""
        self.others.pop(file, None)
        found = self.find(file)
        if found is None or found[1] not in found[0].buffers:
            return
        project, path = found
        project.close(path)
        if project.buffers:
            self.check_soon(project)
            return
        del self.projects[project.root]
        for name in ("quick", "complete"):
            self._cancel(project, name)
        project.version += 1
        project.found = {}
        self.publish(project, set(project.published))

    def files_changed(self) -> None:
        """Read the projects again: something has changed on disk, or a file was saved."""
        for project in self.projects.values():
            self.check_soon(project, 0)

    def check_soon(self, project: OpenProject, pause: float = PAUSE_SECONDS) -> None:
        """Check a project: what changed at once, all of it after a pause."""
        if project.dirty:
            self._later(project, "quick", COALESCED_SECONDS, self._check_quickly)
        self._later(project, "complete", pause, self._check_completely)

    def _cancel(self, project: OpenProject, name: str) -> None:
        handle = self.waiting.pop((project.root, name), None)
        if handle is not None:
            handle.cancel()

    def _later(self, project: OpenProject, name: str, seconds: float, check: Callable[[OpenProject], None]) -> None:
        if name == "quick" and (project.root, name) in self.waiting:
            return
        self._cancel(project, name)
        loop = asyncio.get_running_loop()
        self.waiting[project.root, name] = loop.call_later(seconds, self._guarded, project, name, check)

    def _guarded(self, project: OpenProject, name: str, check: Callable[[OpenProject], None]) -> None:
        """Run a check; an internal error is logged, and the next change is checked as if nothing had been."""
        self.waiting.pop((project.root, name), None)
        try:
            check(project)
        except Exception:  # noqa: BLE001 - it is logged, and the server keeps running
            self.log(traceback.format_exc())

    def _check_quickly(self, project: OpenProject) -> None:
        if any(len(project.text(path) or "") > MAX_QUICK_BYTES for path in project.dirty):
            return
        self.publish(project, check_quickly(project))

    def _check_completely(self, project: OpenProject) -> None:
        loop = asyncio.get_running_loop()
        version = project.version
        future = loop.run_in_executor(self.thread, partial(self._in_thread, project, version))
        future.add_done_callback(partial(self._completed, project, version))

    def _in_thread(self, project: OpenProject, version: int) -> Outcome:
        """Read the files again, and check the project if nothing on disk has changed the version."""
        began = time.monotonic()
        disk, problems = read_project(project.root)
        tree = project.tree_over(disk)
        try:
            result = check_completely(tree, problems, project.options, lambda: project.version != version)
            result = replace(result, diagnostics=(*result.diagnostics, *case_problems(tree, result)))
        except StaleError:
            result = None
        return disk, result, project.sliced_again(), time.monotonic() - began

    def _completed(self, project: OpenProject, version: int, future: asyncio.Future[Outcome]) -> None:
        if future.cancelled():
            return
        problem = future.exception()
        if problem is not None:
            self.log("".join(traceback.format_exception(problem)))
            return
        disk, result, slices, seconds = future.result()
        if result is None or project.version != version or project.root not in self.projects:
            return
        project.replace_disk(disk)
        project.accept(result, version, seconds, slices)
        self.checked.set()
        self.publish(project, {*project.found, *project.published})
