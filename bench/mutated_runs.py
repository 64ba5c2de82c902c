"""A plugin of pytest that judges the changes of one module (mutations.py): which of them do the collected tests find?

The tests run once as they are, and what they reach is noted.  Then each change is made, in the file and, by exchanging
the code of functions, in a fork of this process, which runs the tests that reach it and after them the others, until
one fails.  A change of a module's own statements shows only in a new process.  `MUTATIONS` names the plan.
"""

from __future__ import annotations

import ast
import atexit
import builtins
import functools
import gc
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import pytest
from mutations import Change, applied

from mcpc.emit.interpreters import KIND as RUNTIME_BYTECODE

if TYPE_CHECKING:
    from collections.abc import Iterator

STORE = "TESTS_ARTIFACTS"
REACHED = "__reached__"
"""The name by which functions that are recorded find what notes their lines."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
CO_NEWLOCALS = 2
"""The flag of a function's code, which a module's and a class's lack."""
VERDICTS = {0: "survived", 1: "caught", None: "time"}


class Judge:
    """The plugin, for one module."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.module, self.seconds, self.quick = Path(plan["module"]), plan["seconds"], plan["quick"]
        self.changes = [Change(**row) for row in plan["changes"]]
        self.verdicts = Path(plan["verdicts"])
        self.text = self.module.read_text("utf-8")
        self.failed = False
        self.passed = True
        self.sound: dict[pytest.Item, bool] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test ended."""
        self.failed |= report.failed
        self.passed &= report.passed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests as they are, then with each change."""
        reached = self._reached_lines(session)
        with self.verdicts.open("w") as file:
            for change in self.changes:
                print(self._verdict(session, change, reached), file=file, flush=True)
                self.module.write_text(self.text, "utf-8")
        return True

    def _reached_lines(self, session: pytest.Session) -> dict[pytest.Item, set[int]]:
        """Run the tests, and return in which lines of the module each one that passes begins a statement."""
        # Not by a trace function: with one, Python 3.11 hangs while an exception waits for a thread that is blocked.
        file, reached = str(self.module), dict[pytest.Item, set[int]]()
        plain = compile(self.text, file, "exec")
        recording = compile(recorded(ast.parse(self.text)), file, "exec")
        exchange(plain, recording, file)
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            self.passed, lines = True, set[int]()
            setattr(builtins, REACHED, lines.add)
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.passed:
                reached[item] = lines
        exchange(recording, plain, file)
        return reached

    def _verdict(self, session: pytest.Session, change: Change, reached: dict[pytest.Item, set[int]]) -> str:
        place = statement_lines(self.text, change)
        first = [item for item, lines in reached.items() if lines & place]
        items = first if self.quick else [*first, *(item for item in reached if item not in first)]
        text = applied(self.text, change)
        file = str(self.module)
        exchanged = exchanges(compile(self.text, file, "exec"), compile(text, file, "exec"), file)
        if exchanged is not None and not items:
            return "unreached"
        if exchanged is None:
            self.module.write_text(text, "utf-8")
            return self._in_new_process(session)
        while True:
            self.module.write_text(text, "utf-8")
            verdict, failed = self._in_fork(session, items, exchanged)
            self.module.write_text(self.text, "utf-8")
            if failed is None or self._is_sound(session, items[failed]):
                return verdict
            items = [*items[:failed], *items[failed + 1 :]]

    def _is_sound(self, session: pytest.Session, item: pytest.Item) -> bool:
        """Tell whether a test passes in a fork without any change."""
        if item not in self.sound:
            self.sound[item] = self._in_fork(session, [item], [])[0] == "survived"
        return self.sound[item]

    def _in_new_process(self, session: pytest.Session) -> str:
        options = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
        argv = [sys.executable, "-m", "pytest", *options, *session.config.args]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(argv, env=environment, start_new_session=True, **pipes) as process:
            try:
                return "survived" if process.wait(self.seconds) == 0 else "caught"
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return "time"

    def _in_fork(
        self, session: pytest.Session, items: list[pytest.Item], exchanged: list[tuple[FunctionType, CodeType]]
    ) -> tuple[str, int | None]:
        """Return the verdict, and which test failed."""
        store = Path(tempfile.mkdtemp(prefix="mutated-"))
        bytecode = Path(os.environ[STORE]) / "cache" / RUNTIME_BYTECODE
        if bytecode.exists():
            (store / "cache").mkdir(0o700)
            shutil.copytree(bytecode, store / "cache" / RUNTIME_BYTECODE)
        child = os.fork()
        if not child:
            self._become(session, items, exchanged, store)
        ended = os.pidfd_open(child)
        status = None
        if not select.select([ended], [], [], self.seconds)[0]:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
        else:
            status = min(1, abs(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
        os.close(ended)
        note = store / "failed"
        failed = int(note.read_text()) if note.exists() else None
        shutil.rmtree(store, ignore_errors=True)
        return VERDICTS[status], failed

    def _become(
        self,
        session: pytest.Session,
        items: list[pytest.Item],
        exchanged: list[tuple[FunctionType, CodeType]],
        store: Path,
    ) -> None:
        status = 1
        try:
            os.setsid()
            silence = os.open(os.devnull, os.O_RDWR)
            for descriptor in (1, 2):
                os.dup2(silence, descriptor)
            atexit._clear()
            os.environ |= {STORE: str(store), "PYTHONDONTWRITEBYTECODE": "1"}
            for function, code in exchanged:
                function.__code__ = code
            gc.unfreeze()
            kept = [
                each for each in gc.get_objects() if isinstance(each, subprocess.Popen)
            ]  # collected, each would warn
            for cached in [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]:
                cached.cache_clear()
            self.failed = False
            for number, (item, following) in enumerate(zip(items, [*items[1:], None], strict=True)):
                session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.failed:
                    (store / "failed").write_text(str(number))
                    break
            status = int(self.failed)
            kept.clear()
            atexit._run_exitfuncs()
        finally:
            os._exit(status)


def statement_lines(text: str, change: Change) -> set[int]:
    """Return the lines of the statement that a change is in, without those of its body."""
    line, place = text.count("\n", 0, change.start) + 1, set[int]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            last = body[0].lineno - 1 if isinstance(body, list) and body and isinstance(body[0], ast.stmt) else None
            if body and last is None:
                last = node.lineno
            assert node.end_lineno is not None
            found = set(range(node.lineno, max(node.lineno, node.end_lineno if last is None else last) + 1))
            if line in found and (not place or len(found) < len(place)):
                place = found
    return place or {line}


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code and all in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def own(code: CodeType) -> tuple[object, ...]:
    """Return what a code consists of but for the codes in it."""
    constants = tuple((type(each), each) for each in code.co_consts if not isinstance(each, CodeType))
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, constants


def recorded(tree: ast.Module) -> ast.Module:
    """Return a module whose functions note the line of each statement before it runs."""
    for function in [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]:
        waiting: list[ast.AST] = [function]
        while waiting:
            node = waiting.pop()
            inner = [each for each in ast.iter_child_nodes(node) if not isinstance(each, (*FUNCTIONS, ast.ClassDef))]
            waiting += [each for each in inner if isinstance(each, (ast.stmt, ast.excepthandler, ast.match_case))]
            for name in ("body", "orelse", "finalbody"):
                statements = getattr(node, name, ())
                kept = node is function and name == "body" and ast.get_docstring(function, clean=False) is not None
                noted = [part for each in statements[kept:] for part in (note_of(each), each)]
                if noted:
                    setattr(node, name, [*statements[:kept], *noted])
    return ast.fix_missing_locations(tree)


def note_of(statement: ast.stmt) -> ast.stmt:
    """Return the statement that notes the line of another one."""
    call = ast.Call(ast.Name(REACHED, ast.Load()), [ast.Constant(statement.lineno)], [])
    return ast.copy_location(ast.Expr(call), statement)


def exchange(old: CodeType, new: CodeType, file: str) -> None:
    """Give all live functions of a module their code of another version of it."""
    for function, code in exchanges(old, new, file) or ():
        function.__code__ = code


def exchanges(old: CodeType, new: CodeType, file: str) -> list[tuple[FunctionType, CodeType]] | None:
    """Return the live functions whose code differs, with their new code; None if only a new process shows it."""
    pairs = list(zip(codes(old), codes(new), strict=False))
    if any(a.co_qualname != b.co_qualname or a.co_freevars != b.co_freevars for a, b in pairs):
        return None
    if any(own(a) != own(b) for a, b in pairs if not a.co_flags & CO_NEWLOCALS):
        return None
    changed = {(a.co_qualname, a.co_firstlineno): b for a, b in pairs if a != b and a.co_flags & CO_NEWLOCALS}
    gc.unfreeze()
    live = [each for each in gc.get_objects() if isinstance(each, FunctionType) and each.__code__.co_filename == file]
    keyed = [(each, (each.__code__.co_qualname, each.__code__.co_firstlineno)) for each in live]
    return [(each, changed[key]) for each, key in keyed if key in changed]


def pytest_configure(config: pytest.Config) -> None:
    """Judge in place of running the tests, where there is a plan."""
    plan = os.environ.pop("MUTATIONS", None)
    if plan:
        config.pluginmanager.register(Judge(json.loads(Path(plan).read_text())), "mutated_runs judge")
